// The report page of a large trace, in Chromium: how long it takes to make beside the answer in the terminal, how large
// it is, how long until it can be read, how fast it pans and zooms. Of other files only the size.
//
//     node bench/page.mjs ASSAY TRACE [more TRACES or folders ...]
//
// Made: wall time of `assay report TRACE -o page` without that of `assay info TRACE` (reading) and of `assay report TRACE`
// (reading and judging), taken in turns, medians of five. Loads: from the begin of navigation to the frame with the answer,
// and to the built page, medians of nine visits by one window; the first of them while the browser still makes its window.
// Pans: 120 key presses at three zooms; the time that the page takes to draw, and the frames.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, openWindow, visit } from "./open.mjs";

const [assay, ...inputs] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "assay-bench-page-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const shown = (visits) => `${median(visits.map((one) => one.shown)).toFixed(0)} ms, all built in ${median(visits.map((one) => one.at)).toFixed(0)} ms`;
function took(...args) {
  const begun = performance.now();
  execFileSync(assay, args, { stdio: "ignore" });
  return performance.now() - begun;
}
// Medians of n times for each command: what else the machine does meets all alike.
function inTurns(n, commands) {
  const all = commands.map(() => []);
  for (let i = 0; i < n; ++i) commands.forEach((args, k) => all[k].push(took(...args)));
  return all.map(median);
}

// Presses a key once a frame: what drawing took, and what lay between frames.
const pan = (page, presses, key) => page.evaluate(async ([presses, key]) => {
  const canvas = document.querySelector(".lane-canvas");
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const drawn = [];
  const apart = [];
  let before = await frame();
  for (let i = 0; i < presses; ++i) {
    canvas.dispatchEvent(new KeyboardEvent("keydown", { key: i % 30 < 15 ? key : "ArrowLeft" }));
    const now = await frame();
    apart.push(now - before);
    before = now;
    drawn.push(Number(canvas.dataset.drawMs));
  }
  return { drawn, apart };
}, [presses, key]);

const browser = await launch();
for (const [i, input] of inputs.entries()) {
  const html = join(folder, `page${i}.html`);
  const [reading, answer, whole] = inTurns(5, [["info", input], ["report", input], ["report", input, "-o", html]]);
  const told = [`${input.split("/").pop()}: ${(statSync(html).size / 1e6).toFixed(2)} MB`];
  told.push(`page ${(whole - answer).toFixed(0)} ms beside the answer`);
  if (!statSync(input).isDirectory()) told.push(`${(whole - reading).toFixed(0)} ms after reading`);
  const { page, close } = await openWindow(browser);
  const opened = [];
  for (let k = 0; k < 9; ++k) {
    opened.push(await visit(page, html));
    await page.goto("about:blank");
    await page.waitForTimeout(500);
  }
  told.push(`shows the answer in ${shown(opened)}; ${shown(opened.slice(0, 1))} in a window that has just opened`);
  await visit(page, html);
  if (await page.locator(".lane-canvas").count() > 0) {
    for (const zooms of [0, 3, 9]) {
      await page.evaluate((n) => { for (let k = 0; k < n; ++k) document.querySelector(".lane-canvas").dispatchEvent(new KeyboardEvent("keydown", { key: "+" })); }, zooms === 0 ? 1 : zooms);
      const { drawn, apart } = await pan(page, 120, "ArrowRight");
      told.push(`pans at zoom ${zooms}: draws ${median(drawn).toFixed(1)} ms, frame ${median(apart).toFixed(1)} ms, ${(100 * apart.filter((ms) => ms < 18).length / apart.length).toFixed(0)} % of frames within 18 ms`);
    }
  }
  await close();
  console.log(told.join("\n  "));
}
await browser.close();
