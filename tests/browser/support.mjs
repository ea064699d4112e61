// What the browser tests share: Chromium, reports written by the binary, and pages that tell
// whether they stay quiet. A test file exits with 77 (skipped) where something it needs is missing.

import { execFile, execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const EXAMPLE = join(ROOT, "examples/h100_vit_inference.json.gz");
const SKIPPED = 77;
const PATIENCE_MS = 600_000; // nothing waits for it where all is well
const BROWSERS = ["chromium", "chromium-browser", "google-chrome"];

function skip(why) {
  console.log(`skipped: ${why}`);
  process.exit(SKIPPED);
}

function browserPath() {
  if (process.env.ASSAY_CHROMIUM) return process.env.ASSAY_CHROMIUM;
  for (const folder of (process.env.PATH ?? "").split(":")) {
    for (const name of BROWSERS) {
      if (existsSync(join(folder, name))) return join(folder, name);
    }
  }
  return null;
}

function playwright() {
  try {
    return createRequire(join(ROOT, "web/package.json"))("playwright-core");
  } catch {
    return skip("playwright-core is not installed (npm ci --prefix web)");
  }
}

export const assay = process.argv[2] ?? join(ROOT, "build/release/assay");
if (!existsSync(assay)) throw new Error(`${assay} is not built`);

const folder = mkdtempSync(join(tmpdir(), "assay-browser-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
export const path = (name) => join(folder, name);

// Runs the binary; its standard output.
export function run(...args) {
  return execFileSync(assay, args, { encoding: "utf8", maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "pipe"] });
}

// The same beside the browser, for many reports.
export const runAside = (...args) => promisify(execFile)(assay, args, { maxBuffer: 1 << 30 });

// A trace of its own making: events of PyTorch's profiler.
export function writeTrace(name, events) {
  writeFileSync(path(name), JSON.stringify({ traceEvents: events }));
  return path(name);
}

// An operator that launches a kernel, `at` microseconds from the start.
export function launch(number, at, kernel, { op = "aten::mul", wait = 6, run: duration = 4 } = {}) {
  const args = { correlation: number, "External id": number };
  return [
    { ph: "X", cat: "cpu_op", name: op, pid: 1, tid: 1, ts: at, dur: 9, args: { "External id": number } },
    { ph: "X", cat: "cuda_runtime", name: "cudaLaunchKernel", pid: 1, tid: 1, ts: at + 2, dur: 4, args },
    { ph: "X", cat: "kernel", name: kernel, pid: 0, tid: 7, ts: at + 2 + wait, dur: duration, args: { ...args, device: 0, stream: 7 } },
  ];
}

export function report(input, output = "report.html", ...flags) {
  run("report", input, "-o", path(output), ...flags);
  return path(output);
}

const { chromium } = playwright() ?? {};
const executablePath = browserPath();
if (!executablePath) skip("no Chromium here (tools/install_deps.sh test)");

// When a page last did something.
let lastSign = 0;
const sign = () => { lastSign = performance.now(); };
const STALLED_MS = 300_000;

let browser;
export async function openBrowser() {
  browser = await chromium.launch({ executablePath, timeout: PATIENCE_MS, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
  return browser;
}

export async function reopenBrowser() {
  await browser.close();
  await openBrowser();
}

export async function newContext({ width, height }) {
  sign();
  const context = await browser.newContext({ viewport: { width, height } });
  context.setDefaultTimeout(PATIENCE_MS);
  return context;
}

// Opens every folded section of a page.
export async function openAll(page) {
  const all = page.getByRole("button", { name: "Open all" });
  if ((await all.count()) > 0) await all.evaluate((button) => button.click());
}

// A page on a file, with all that it says and asks for. ready: wait until the report is built. rooms: open them all.
export async function openReport(file, { width = 1280, height = 900, dark = false, ready = true, rooms = true, hash = "", setUp } = {}) {
  sign();
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", acceptDownloads: true });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const said = [];
  const asked = [];
  page.on("console", (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => said.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    said.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url().split("#")[0] !== pathToFileURL(file).href && !request.url().startsWith("blob:")) asked.push(request.url());
  });
  if (setUp) await setUp(page);
  await page.goto(pathToFileURL(file).href + hash);
  if (ready) await page.waitForSelector("html[data-ready]");
  if (ready && rooms) await openAll(page);
  return { page, said, asked, close: () => { sign(); return context.close(); } };
}

// After the next frame is drawn.
export const settled = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// Everything comes into sight once, so that every chart has been drawn: the page goes on when those in sight are, or
// never will be. false: Chromium stopped drawing frames, which it does at times (seen once in some hundred runs) and
// which is no fault of the page.
export async function scrollThrough(page) {
  return page.evaluate(async (patience) => {
    const until = performance.now() + patience;
    let drawn = true;
    const frame = () => new Promise((done) => {
      const stalled = setTimeout(() => { drawn = false; done(); }, patience);
      requestAnimationFrame(() => { clearTimeout(stalled); setTimeout(done, 10); });
    });
    const inSight = (box) => {
      const { width, top, bottom } = box.getBoundingClientRect();
      return width > 0 && bottom > 0 && top < window.innerHeight;
    };
    const waiting = () => Array.from(document.querySelectorAll(".canvas")).some((box) => inSight(box) && !box.querySelector("canvas"));
    for (let y = 0; y < document.documentElement.scrollHeight; y += 600) {
      window.scrollTo(0, y);
      do await frame();
      while (drawn && waiting() && performance.now() < until);
      if (!drawn) return false;
    }
    window.scrollTo(0, 0);
    await frame();
    return drawn;
  }, 60_000);
}

// What the button of a table copies. It says so for a moment, which a slow machine would miss by looking afterwards.
export async function copyCsv(page, grid) {
  const copy = grid.getByRole("button", { name: "Copy CSV" });
  await copy.evaluate((button) => {
    window.copied = new Promise((done) => {
      new MutationObserver(() => button.textContent === "Copied" && done()).observe(button, { childList: true });
    });
  });
  await copy.click();
  await page.evaluate(() => window.copied);
  return page.evaluate(() => navigator.clipboard.readText());
}

const failures = [];
export function check(condition, what) {
  if (!condition) failures.push(what);
}
export function equal(actual, expected, what) {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)];
  check(a === b, `${what}: ${a?.slice(0, 300)} instead of ${b?.slice(0, 300)}`);
}

// A Chromium that draws no more answers nothing either, and a test would wait for it until its time is over.
// Whether the test ended; false: no page was opened or closed for so long.
async function ended(test) {
  let watch;
  sign();
  const stalled = new Promise((done) => {
    watch = setInterval(() => performance.now() - lastSign > STALLED_MS && done(false), 1000);
  });
  try {
    return await Promise.race([test().then(() => true), stalled]);
  } finally {
    clearInterval(watch);
  }
}

// Once more with another Chromium where the first stalled.
async function attempt(test) {
  if (await ended(test)) return;
  console.log("     Chromium stalled: opened anew");
  await Promise.race([browser.close(), new Promise((done) => setTimeout(done, 10_000))]);
  await openBrowser();
  if (!await ended(test)) throw new Error("stalled twice");
}

// Runs the tests one after the other and ends the process; of them those whose name has a word that is given behind the
// binary.
export async function main(tests) {
  await openBrowser();
  for (const [name, test] of Object.entries(tests)) {
    if (!name.includes(process.argv.slice(3).find((word) => !word.startsWith("--")) ?? "")) continue;
    const before = failures.length;
    try {
      await attempt(test);
    } catch (error) {
      failures.push(`${error.stack ?? error}`);
    }
    console.log(`${failures.length === before ? "ok  " : "FAIL"} ${name}`);
    for (const failure of failures.slice(before)) console.log(`     ${failure}`);
  }
  await Promise.race([browser.close(), new Promise((done) => setTimeout(done, 10_000))]);
  process.exit(failures.length > 0 ? 1 : 0);
}
