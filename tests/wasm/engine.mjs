// What the tests of the WebAssembly build share: where it is, and the command line run inside of this process, a fresh
// instance of one compiled module for each run.

import fs, { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const EXAMPLE = join(ROOT, "examples/h100_vit_inference.json.gz");
const SKIPPED = 77;

export function skip(why) {
  console.log(`skipped: ${why}`);
  process.exit(SKIPPED);
}

export const build = process.env.ASSAY_WASM ?? join(ROOT, "build/wasm");

// A file of the build; without it the test is skipped.
export function built(name) {
  const file = join(build, name);
  if (!existsSync(file)) skip(`${name} is not built (make wasm, which needs emscripten)`);
  return file;
}

// A function that runs the command line: {status, out, err}, with the bytes of both streams.
export async function loadCommandLine() {
  const require = createRequire(import.meta.url);
  const make = require(built("assay.js"));
  const module = await WebAssembly.compile(readFileSync(built("assay.wasm")));
  const { writeSync: write, closeSync: close } = fs;
  return async (args, cwd) => {
    const streams = { 1: [], 2: [] };
    let status = null;
    process.chdir(cwd);
    fs.writeSync = (fd, buffer, offset, length, ...rest) => {
      if (!(fd in streams)) return write(fd, buffer, offset, length, ...rest);
      streams[fd].push(Buffer.from(buffer.slice(offset, offset + length)));
      return length;
    };
    // An instance that ends closes the streams, which are those of this process.
    fs.closeSync = (fd) => (fd in streams || fd === 0 ? undefined : close(fd));
    try {
      const engine = await make({
        instantiateWasm(imports, done) {
          WebAssembly.instantiate(module, imports).then((instance) => done(instance));
          return {};
        },
        thisProgram: "assay",
        quit(code, thrown) {
          status = code;
          throw thrown;
        },
      });
      const returned = engine.callMain(args);
      status ??= returned;
    } catch (error) {
      if (status === null) return { status: `a fault: ${error.message}`, out: Buffer.alloc(0), err: Buffer.alloc(0) };
    } finally {
      Object.assign(fs, { writeSync: write, closeSync: close });
      process.removeAllListeners("uncaughtException");
      process.removeAllListeners("unhandledRejection");
    }
    return { status, out: Buffer.concat(streams[1]), err: Buffer.concat(streams[2]) };
  };
}
