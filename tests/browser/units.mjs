// The page's numbers are scaled and rounded as the terminal's are: both are held to the same file.
// Needs node and esbuild, which vite brings along.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
let esbuild;
try {
  esbuild = createRequire(join(ROOT, "web/package.json"))("esbuild");
} catch {
  console.log("skipped: web/node_modules is not installed (npm ci --prefix web)");
  process.exit(77);
}

const source = readFileSync(join(ROOT, "web/src/units.ts"), "utf8");
const { code } = esbuild.transformSync(source, { loader: "ts", format: "esm" });
const { formatValue, formatCell, scaleColumn } = await import(`data:text/javascript,${encodeURIComponent(code)}`);

const { values, columns } = JSON.parse(readFileSync(join(ROOT, "tests/data/unit_vectors.json"), "utf8"));
let wrong = 0;
const expect = (actual, expected, what) => {
  if (actual === expected) return;
  ++wrong;
  console.log(`${what}: "${actual}" instead of "${expected}"`);
};
for (const { unit, value, whole, text } of values) {
  expect(formatValue(value, unit, whole), text, `${JSON.stringify(value)} ${unit}`);
}
for (const { unit, cells, whole, symbol, texts } of columns) {
  const scale = scaleColumn(unit, cells, whole);
  const what = `column ${JSON.stringify(cells)} ${unit}`;
  expect(scale.symbol, symbol, what);
  cells.forEach((cell, i) => expect(formatCell(cell, scale), texts[i], what));
}
console.log(`${values.length} values and ${columns.length} columns, ${wrong} wrong`);
process.exit(wrong > 0 || values.length === 0 ? 1 : 0);
