// The engine's worker: one run of `assay report FILES -o PAGE` on files that stay where they are, in a fresh instance.
// In: {module, files: [{name, data}], inputs: [...]}. Out: {read, of} while it reads; then {status, page, words}:
// the exit status of the command line, the bytes of the page, and what it said on standard error.
// `Assay` is the loader that emscripten made; it is a part of the same script.
/* global Assay */
"use strict";
const OUTPUT = "/report.html";

self.onmessage = async ({ data: { module, files, inputs } }) => {
  const words = [];
  let status;
  try {
    const engine = await Assay({
      instantiateWasm(imports, done) {
        WebAssembly.instantiate(module, imports).then((instance) => done(instance));
        return {};
      },
      print: () => {}, // the first screen, which the page has too
      printErr: (line) => words.push(line),
    });
    tellProgress(engine.WORKERFS, files);
    engine.FS.mkdir("/in");
    engine.FS.mount(engine.WORKERFS, { blobs: files }, "/in");
    engine.FS.chdir("/in");
    status = engine.callMain(["report", ...inputs, "-o", OUTPUT]);
    const page = engine.FS.analyzePath(OUTPUT).exists ? engine.FS.readFile(OUTPUT) : null;
    self.postMessage({ status, page, words: words.join("\n") }, page ? [page.buffer] : []);
  } catch (error) {
    // A fault of the engine: its instance is spent, and with it this worker.
    words.push(`assay: ${error && error.message ? error.message : error}`);
    self.postMessage({ status: 2, page: null, words: words.join("\n") });
  }
};

function tellProgress(workerFs, files) {
  const of = files.reduce((sum, file) => sum + file.data.size, 0);
  const read = workerFs.stream_ops.read;
  let done = 0;
  let told = 0;
  workerFs.stream_ops.read = (...request) => {
    const got = read(...request);
    done += got;
    const now = performance.now();
    if (now - told > 100) {
      told = now;
      self.postMessage({ read: Math.min(done, of), of });
    }
    return got;
  };
}
