// The npm package, installed from its archive into an empty folder: the first screen, a page, a comparison, errors and
// verbs that are not in it, each as the native program has them.
//
//   node npm.mjs NATIVE

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

import { EXAMPLE, ROOT, built, skip } from "./engine.mjs";

const [native] = process.argv.slice(2);
const { version } = JSON.parse(readFileSync(join(ROOT, "npm/package.json"), "utf8"));
const archive = built(`assay-trace-${version}.tgz`);
if (spawnSync("npm", ["--version"]).status !== 0) skip("npm is missing");

const folder = mkdtempSync(join(tmpdir(), "assay-npm-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
writeFileSync(join(folder, "package.json"), '{"private": true}');
execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund", "--silent", archive], { cwd: folder });

const options = { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "pipe"] };
const bytes = readFileSync(EXAMPLE);
const installed = (...args) => spawnSync("npx", ["--no-install", "assay-trace", ...args], options);
const expected = (...args) => spawnSync(native, args, options);
const piped = (program, ...args) => spawnSync(program, args, { ...options, input: bytes, stdio: "pipe" }).stdout;
const problems = [];
function check(ok, what) {
  if (!ok) problems.push(what);
}
function sameAsNative(...args) {
  const [a, b] = [expected(...args), installed(...args)];
  for (const part of ["status", "stdout", "stderr"]) {
    check(a[part] === b[part], `${args.join(" ")}: ${part} is ${JSON.stringify(b[part])}, not ${JSON.stringify(a[part])}`);
  }
}

sameAsNative(EXAMPLE);
sameAsNative("--version");
sameAsNative("explain", "dispatch");
sameAsNative("diff", EXAMPLE, EXAMPLE);
sameAsNative("report", "not-here.json");
sameAsNative("launch", EXAMPLE, "--no-such-option");
sameAsNative(join(ROOT, "tests/data/kineto"));
// The words of a full pipe arrive whole.
sameAsNative("report", EXAMPLE, "--format", "json");

check(piped("npx", "--no-install", "assay-trace", "-") === piped(native, "-"), "a trace from standard input: another answer");

check(expected(EXAMPLE, "-o", "native.html").status === 0, "the native program writes no page");
check(installed(EXAMPLE, "-o", "report.html").status === 0, "the package writes no page");
// gzip chooses other matches without the processor's own instructions: the elements are compared unpacked.
const unpacked = (name) =>
  readFileSync(join(folder, name), "utf8").replace(/(application\/gzip" id="[^"]*">)([^<]*)/g, (_, head, data) =>
    head + (data ? gunzipSync(Buffer.from(data, "base64")).toString("utf8") : ""));
const [page, other] = [unpacked("report.html"), unpacked("native.html")];
check(page === other, `the pages differ: ${page.length} and ${other.length} characters`);
check(page.startsWith("<!doctype html>"), "the page is no HTML");

for (const verb of ["record", "sample", "replay", "null-kernel", "sql", "mcp", "doctor"]) {
  const refused = installed(verb, "--any", "words");
  check(refused.status === 2 && refused.stderr.includes("Install Assay for Linux"), `${verb}: ${refused.status} ${refused.stderr}`);
}

for (const problem of problems) console.error(problem);
console.log(problems.length === 0 ? "npm: the installed package answers as the native program" : `npm: ${problems.length} faults`);
process.exit(problems.length === 0 ? 0 : 1);
