// Perfetto's own trace processor, the importer and query engine behind ui.perfetto.dev, as a filter. Every line of
// standard input is {"trace": path, "sql": {name: query, …}}; the answer is one line {name: [row, …], …}, rows as lists
// and integers as numbers where those are exact, else as text; or {"error": why}.
//
// The engine is the WebAssembly build of the UI in engine/ (tools/install_deps.sh test), made for a worker of a browser:
// this program gives it the few names of one that it asks for. Exits with 77 where the engine is not there.

import { existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { runInThisContext } from "node:vm";
import { MessageChannel } from "node:worker_threads";

const ENGINE = new URL("engine/", import.meta.url);
const CHUNK_BYTES = 1 << 25;
const NO_LIMITS = {
  cropTrackEvents: false,
  ingestFtraceInRawTable: false,
  analyzeTraceProtoContent: false,
  ftraceDropUntilAllCpusValid: false,
};

// The bundle as it has to be for Node: 32-bit memory, the program's bytes from here, the bridge within reach.
const FOR_NODE = [
  ["this.useMemory64 = hasMemory64Support();", "this.useMemory64 = false;"],
  ["locateFile: (s) => s,", "locateFile: (s) => s, wasmBinary: globalThis.engineBytes,"],
  ["onRuntimeInitialized: () => deferredRuntimeInitialized.resolve(),",
    "onRuntimeInitialized: () => { deferredRuntimeInitialized.resolve(); setTimeout(globalThis.engineReady); },"],
  ["const wasmBridge =", "const wasmBridge = globalThis.engineBridge ="],
];

function bundle() {
  let text = readFileSync(new URL("engine_bundle.node.js", ENGINE), "utf8");
  for (const [from, to] of FOR_NODE) {
    if (!text.includes(from)) throw new Error(`the engine's bundle has no '${from}'`);
    text = text.replace(from, to);
  }
  return text;
}

async function connect() {
  globalThis.self = globalThis;
  globalThis.WorkerGlobalScope = function WorkerGlobalScope() {};
  Object.defineProperty(globalThis, "location", { value: { href: ENGINE.href }, configurable: true });
  globalThis.engineBytes = new Uint8Array(readFileSync(new URL("trace_processor.wasm", ENGINE)));
  const ready = new Promise((resolve) => { globalThis.engineReady = resolve; });
  runInThisContext(bundle());
  const { EngineBase } = await import(new URL("engine.mjs", ENGINE));
  const channel = new MessageChannel();
  globalThis.engineBridge.initialize(channel.port1);
  await ready;
  class Engine extends EngineBase {
    mode = "WASM";
    id = "test";
    rpcSendRequestBytes(data) { channel.port2.postMessage(data); }
  }
  const engine = new Engine();
  channel.port2.onmessage = (message) => {
    if (message.data instanceof Uint8Array) engine.onRpcResponseBytes(message.data);
  };
  return engine;
}

function cell(value) {
  if (typeof value !== "bigint") return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

async function rows(engine, sql) {
  const result = await engine.query(sql);
  const columns = result.columns();
  const found = [];
  for (const it = result.iter({}); it.valid(); it.next()) found.push(columns.map((name) => cell(it.get(name))));
  return found;
}

async function answer(engine, { trace, sql }) {
  await engine.resetTraceProcessor(NO_LIMITS);
  const bytes = new Uint8Array(readFileSync(trace));
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) await engine.parse(bytes.slice(at, at + CHUNK_BYTES));
  await engine.notifyEof();
  const found = {};
  for (const [name, query] of Object.entries(sql)) found[name] = await rows(engine, query);
  return found;
}

if (!existsSync(new URL("trace_processor.wasm", ENGINE))) process.exit(77);
console.warn = () => {};  // the engine's own remarks on missing system calls
const engine = await connect();
for await (const line of createInterface({ input: process.stdin })) {
  const found = await answer(engine, JSON.parse(line)).catch((error) => ({ error: String(error) }));
  console.log(JSON.stringify(found));
}
process.exit(0);
