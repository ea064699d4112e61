// The page on which a trace is dropped. The engine answers in a worker, and its page is shown in a frame.
"use strict";
const $ = (id) => document.getElementById(id);
let worker = null;
let shown = null; // the address of the page in the frame

// ---- the engine: from elements of this page where it is one file, else from files next to it ----

async function engineParts() {
  const packed = document.getElementById("assay-wasm");
  if (packed) {
    const bytes = Uint8Array.from(atob(packed.textContent.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return [await new Response(stream).arrayBuffer(), $("assay-worker").textContent];
  }
  const get = async (name) => {
    const answer = await fetch(name);
    if (!answer.ok) throw new Error(`${name}: ${answer.status} ${answer.statusText}`);
    return answer;
  };
  const [wasm, script] = await Promise.all([get("assay_web.wasm"), get("worker.js")]);
  return [await wasm.arrayBuffer(), await script.text()];
}

// A worker from a Blob has the policy of this page: it may reach no other host.
async function loadEngine() {
  const [wasm, script] = await engineParts();
  const module = await WebAssembly.compile(wasm);
  return { module, address: URL.createObjectURL(new Blob([script], { type: "text/javascript" })) };
}
const engine = loadEngine();
engine.catch((error) => fail(`assay: the engine was not loaded: ${error.message}`));

// ---- what was dropped ----

function show(state) {
  document.body.dataset.state = state;
}

function fail(words) {
  $("words").textContent = words;
  show("failed");
}

// All files below an entry of a drop, with their paths.
async function filesBelow(entry, above = "") {
  const name = above + entry.name;
  if (entry.isFile) return [{ name, data: await new Promise((ok, no) => entry.file(ok, no)) }];
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((ok, no) => reader.readEntries(ok, no));
    if (some.length === 0) return found;
    for (const below of some) found.push(...(await filesBelow(below, `${name}/`)));
  }
}

// files: [{name, data}], names with the folders above them. The command line gets what was dropped: files, or folders.
async function answer(files) {
  if (files.length === 0) return fail("assay: nothing was dropped that has a file in it");
  const inputs = [...new Set(files.map(({ name }) => name.split("/")[0]))];
  show("busy");
  $("busy-words").textContent = `Reading ${inputs.join(", ")}`;
  const { module, address } = await engine;
  stop();
  worker = new Worker(address);
  worker.onerror = (event) => fail(`assay: ${event.message}`);
  worker.onmessage = ({ data }) => {
    if (data.of !== undefined) {
      $("progress").max = data.of;
      $("progress").value = data.read;
      return;
    }
    stop();
    if (!data.page) return fail(data.words);
    openPage(data.page, inputs);
  };
  worker.postMessage({ module, files, inputs });
}

function stop() {
  if (worker) worker.terminate();
  worker = null;
  $("progress").removeAttribute("value");
}

function openPage(bytes, inputs) {
  if (shown) URL.revokeObjectURL(shown);
  shown = URL.createObjectURL(new Blob([bytes], { type: "text/html" }));
  $("page").src = shown;
  $("save").href = shown;
  $("save").download = `${inputs[0].replace(/\.json(\.gz|\.zst)?$/, "")}-report.html`;
  show("answered");
}

function ask() {
  stop();
  $("page").removeAttribute("src");
  show("asking");
}

// ---- the page ----

for (const id of ["files", "folder"]) {
  $(id).onchange = ({ target }) =>
    answer([...target.files].map((data) => ({ name: data.webkitRelativePath || data.name, data })));
}
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", async (event) => {
  event.preventDefault();
  const dropped = [...event.dataTransfer.items].filter((item) => item.kind === "file");
  // Both are asked for at once: items end with the event.
  const entries = dropped.map((item) => [item.webkitGetAsEntry?.(), item.getAsFile()]);
  const found = await Promise.all(entries.map(([entry, data]) => (entry ? filesBelow(entry) : [{ name: data.name, data }])));
  answer(found.flat());
});
for (const id of ["again", "stop", "back"]) $(id).onclick = ask;
show("asking");
