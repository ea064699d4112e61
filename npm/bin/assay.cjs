#!/usr/bin/env node
// The command line of Assay, compiled to WebAssembly. Standard output is written by file descriptor: process.stdout would
// make a pipe non-blocking, and a full pipe an error.
"use strict";
const fs = require("fs");
const path = require("path");
const zlib = require("zlib");

const engine = path.join(__dirname, "..", "engine");
const wasmBinary = zlib.brotliDecompressSync(fs.readFileSync(path.join(engine, "assay.wasm.br")));
require(path.join(engine, "assay.js"))({ wasmBinary, thisProgram: "assay" })
  .then((assay) => assay.callMain(process.argv.slice(2)))
  .catch((error) => {
    fs.writeSync(2, `assay: ${error && error.message ? error.message : error}\n`);
    process.exit(2);
  });
