// The report of every trace there is: it builds, draws, and has nothing to complain about.
//
// The corpus is where the golden tests look for it (ASSAY_DATA, else ../shared/data); without it,
// the traces of the repository are taken. Left out: DERIVED_concat4, four times another one.

import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { ROOT, check, equal, main, openReport, path, reopenBrowser, runAside, scrollThrough } from "./support.mjs";

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

// The page of one trace; false where the file is no trace that can be read. A browser that stops drawing is opened anew,
// once.
async function show(trace, browsers = 2) {
  const html = path("trace.html");
  try {
    await runAside("report", trace, "-o", html);
  } catch (error) {
    check(error.code === 2, `${trace}: exit code ${error.code}`);
    return false;
  }
  const { page, said, asked, close } = await openReport(html);
  if (!await scrollThrough(page) && browsers > 1) {
    await reopenBrowser();
    return show(trace, browsers - 1);
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
  return true;
}

await main({
  async [`reports of ${traces.length} files`]() {
    let shown = 0;
    for (const trace of traces) shown += await show(trace);
    console.log(`     ${shown} shown, ${traces.length - shown} refused by the reader`);
    check(shown > 0 && shown >= traces.length / 3, `only ${shown} of ${traces.length} could be shown`);
  },
});
