// The report of every trace there is: it builds, draws, has nothing to complain about, and its timeline is what was
// recorded. In two halves, for two cores.
//
// The corpus is where the golden tests look for it (ASSAY_DATA, else ../shared/data); without it,
// the traces of the repository are taken. Left out: DERIVED_concat4, four times another one.

import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { compareLanes } from "./lanes.mjs";
import { ROOT, check, equal, main, openAll, openReport, path, reopenBrowser, runAside, scrollThrough } from "./support.mjs";

const CORPUS = process.env.ASSAY_DATA || join(ROOT, "../shared/data");
const FOLDERS = ["kineto", "odd", "nsys", "perf"];
const LEFT_OUT = /DERIVED_concat4/;
const TRACE = /\.(json|json\.gz|sqlite)$/;

function* files(folder) {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder).sort()) {
    const file = join(folder, entry);
    if (statSync(file).isDirectory()) yield* files(file);
    else if (TRACE.test(entry) && !LEFT_OUT.test(entry)) yield file;
  }
}

const folders = existsSync(CORPUS) ? FOLDERS.map((name) => join(CORPUS, name)) : [join(ROOT, "tests/data/kineto"), join(ROOT, "examples")];
const traces = folders.flatMap((folder) => Array.from(files(folder)));
if (!existsSync(CORPUS)) console.log("the trace corpus is not here: only the traces of the repository are shown");

// The page of one trace: what was compared of its timeline, "refused" where the file is no trace that can be read. A
// browser that stops drawing is opened anew, once.
async function show(trace, seed, browsers = 2) {
  const html = path("trace.html");
  try {
    await runAside("report", trace, "-o", html);
  } catch (error) {
    check(error.code === 2, `${trace}: exit code ${error.code}`);
    return "refused";
  }
  const { page, said, asked, close } = await openReport(html, { width: 1440, rooms: false });
  const compared = await compareLanes(page, trace, seed);
  await page.setViewportSize({ width: 1280, height: 900 });
  await openAll(page);
  if (!await scrollThrough(page) && browsers > 1) {
    await reopenBrowser();
    return show(trace, seed, browsers - 1);
  }
  const name = trace.slice(-60);
  equal(said, [], `${name}: the console`);
  equal(asked, [], `${name}: requests`);
  const seen = await page.evaluate(() => ({
    answer: document.querySelector(".answer")?.textContent ?? "",
    empty: Array.from(document.querySelectorAll(".canvas")).filter((box) => !box.querySelector("canvas")).length,
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    nonsense: /\b(NaN|undefined|Infinity|\[object)/.exec(document.body.innerText)?.[0] ?? "",
  }));
  check(seen.answer.length > 10, `${name}: no verdict`);
  equal([seen.empty, seen.wide, seen.nonsense], [0, 0, ""], `${name}: charts not drawn, overhang, nonsense`);
  await close();
  return compared;
}

async function showAll(some) {
  const kinds = { ns: 0, rows: 0, none: 0, refused: 0 };
  for (const trace of some) kinds[await show(trace, traces.indexOf(trace) + 1)]++;
  console.log(`     ${some.length - kinds.refused} shown, ${kinds.refused} refused by the reader; timelines: ${kinds.ns} to the nanosecond, ${kinds.rows} by rows alone, ${kinds.none} none`);
  check(kinds.refused <= (2 * some.length) / 3, `${kinds.refused} of ${some.length} were refused`);
  check(kinds.ns > 0, "no timeline was compared to the nanosecond");
}

const HALVES = 2;
await main(Object.fromEntries(Array.from({ length: HALVES }, (_, half) => {
  const some = traces.filter((_, i) => i % HALVES === half);
  return [`half ${half + 1}: reports of ${some.length} files`, () => showAll(some)];
})));
