// The lanes of a page against the tables of its trace: what is painted, to the nanosecond.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { check, equal, path, runAside, settled } from "./support.mjs";

const WINDOWS = 6;

// A generator of known definition: the same numbers everywhere.
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export const canvas = (page) => page.locator(".lane-canvas").first();
export const drawn = (page) => canvas(page).evaluate((c) => ({ painted: JSON.parse(c.dataset.painted), rows: JSON.parse(c.dataset.rows ?? "null"), from: Number(c.dataset.from), to: Number(c.dataset.to) }));
const windowOf = (page) => canvas(page).evaluate((c) => Number(c.dataset.to));
export async function show(page, from, to) {
  await page.evaluate((hash) => { location.hash = hash; }, `#t=${from}-${to}`);
  await page.waitForFunction(([a, b]) => { const c = document.querySelector(".lane-canvas"); return c.dataset.from === a && c.dataset.to === b; }, [String(from), String(to)]);
  await settled(page);
}

// The tables of a trace as the program reads it: columns by name. Fields in quotes have no line breaks here.
function table(folder, name) {
  const [head, ...lines] = readFileSync(join(folder, `${name}.csv`), "utf8").trimEnd().split("\n");
  const names = head.split(",");
  return lines.map((line) => {
    const cells = line.match(/("(?:[^"]|"")*"|[^,]*)(,|$)/g).map((cell) => cell.replace(/,$/, "").replace(/^"(.*)"$/, "$1").replaceAll('""', '"'));
    return Object.fromEntries(names.map((key, i) => [key, cells[i]]));
  });
}
let exported = 0;
async function tablesOf(trace) {
  const folder = path(`tables${exported++}`);
  await runAside("export", trace, "-o", folder, "--format", "csv");
  const ranks = readdirSync(folder).filter((name) => name.startsWith("rank="));
  return ranks.length === 1 ? join(folder, ranks[0]) : null;
}

// Device work by the name of its lane, in ns from the first begin of all.
function workOf(folder) {
  const streams = table(folder, "streams").map((row) => `GPU ${row.device}, stream ${row.stream}`);
  const work = table(folder, "activities").filter((row) => row.kind !== "sync");
  if (work.length === 0) return { lanes: new Map(), first: 0n };
  const first = work.reduce((least, row) => (BigInt(row.start_ns) < least ? BigInt(row.start_ns) : least), BigInt(work[0].start_ns));
  const lanes = new Map();
  for (const row of work) {
    const name = streams[Number(row.stream)];
    lanes.set(name, [...(lanes.get(name) ?? []), { id: row.id, name: row.name, start: Number(BigInt(row.start_ns) - first), length: Number(row.dur_ns) }]);
  }
  return { lanes, first };
}
const covered = (rows, from, to) => rows.reduce((sum, row) => sum + Math.max(0, Math.min(row.start + row.length, to) - Math.max(row.start, from)), 0);
export function paintedOf(painted) {
  const sums = new Map();
  for (const { name, ns } of painted) sums.set(name, (sums.get(name) ?? 0) + ns);
  return sums;
}

export const pressed = async (page, key) => { await canvas(page).focus(); await page.keyboard.press(key); await settled(page); };
// What the panel says of the chosen event, as its button copies it.
export async function copied(page) {
  const copy = page.locator(".lane-panel").first().getByRole("button", { name: /Cop/ }).last();
  await copy.evaluate((button) => {
    window.written = new Promise((done) => { navigator.clipboard.writeText = async (text) => done(text); });
    button.click();
  });
  return JSON.parse(await page.evaluate(() => window.written));
}
// Where the window begins, in ns from the first work: by the first event that the page shows of a stream. Several work
// rows may have its length; the one where everything else fits is it.
async function beginOf(page, lanes, window, painted) {
  await pressed(page, "]");
  const event = await copied(page);
  await pressed(page, "Escape");
  const rows = lanes.get(event.lane.split(/, lane |; /)[0]) ?? [];
  for (const row of rows) {
    if (row.length !== event.dur_ns) continue;
    const begin = row.start - event.start_ns;
    if ([...lanes].every(([name, all]) => covered(all, begin, begin + window) === (painted.get(name) ?? 0))) return begin;
  }
  return null;
}

// The timeline of an open page against the tables of its trace: whole, and in windows. What was compared: "ns", "rows"
// where the tables are of several ranks or hold no device work, "none" without a timeline.
export async function compareLanes(page, trace, seed) {
  if ((await page.locator(".lane-canvas").count()) === 0) return "none";
  const name = trace.slice(-50);
  await settled(page);
  const { rows, painted } = await drawn(page);
  if (rows === null) return "none";
  equal(rows.drawn + rows.folded + rows.shares, rows.recorded, `${name}: events drawn, as shares and not drawn`);
  const folder = await tablesOf(trace);
  if (folder === null) return "rows";
  const { lanes } = workOf(folder);
  if (lanes.size === 0) return "rows";
  const window = await windowOf(page);
  const begin = await beginOf(page, lanes, window, paintedOf(painted));
  check(begin !== null, `${name}: what is painted is not what was recorded: ${JSON.stringify([...paintedOf(painted)].slice(0, 3))}`);
  if (begin === null || window < 4000) return "ns";
  const next = random(seed);
  for (let i = 0; i < WINDOWS; i++) {
    const length = Math.max(2000, Math.floor(window * next() ** 4));
    const from = Math.floor((window - length) * next());
    await show(page, from, from + length);
    const now = paintedOf((await drawn(page)).painted);
    for (const [lane, all] of lanes) equal(now.get(lane) ?? 0, covered(all, begin + from, begin + from + length), `${name}: ${lane} from ${from} for ${length} ns`);
  }
  return "ns";
}
