// The panel of a selected event or interval.

import { AREA_BY, type AreaBy, causeTotals, type Stretch, type Total, workTotals } from "./area.ts";
import type { Details, Launch } from "./details.ts";
import { button, type Child, copyText, h } from "./dom.ts";
import type { CauseRow, EventRow, Lanes } from "./lanes.ts";
import { causeColour, causeWord } from "./palette.ts";
import { nameButton } from "./text.ts";
import { exactTime, formatValue } from "./units.ts";

export interface Picked {
  row: EventRow;
  event: number;
}

// Actions of the timeline that the panel offers.
export interface PanelHost {
  goTo: (picked: Picked) => void;
  lightAll: (name: string) => void;
  close: () => void;
  trace: string | null; // the trace as a command names it; null if the page has several
}

const NAME_WIDTH = 46;
const CELL_WIDTH = 26;
const MOST_ROWS = 12;
const MOST_STACK = 8;

const count = (n: number) => formatValue(n, "count", true);
const times = (n: number) => (n === 1 ? "once" : `${count(n)} times`);
const share = (part: number, whole: number) => formatValue(whole > 0 ? part / whole : 0, "share", false);

function copyButton(label: string, text: () => string): HTMLButtonElement {
  const element = button(label, async () => {
    element.textContent = (await copyText(text())) ? "Copied" : "Copy failed";
    setTimeout(() => (element.textContent = label), 1500);
  }, { class: "lane-button" });
  return element;
}

function lines(entries: [string, Child[]][]): HTMLElement {
  return h("dl", { class: "panel-lines" }, ...entries.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, ...value)]));
}

function frame(title: Child, host: PanelHost, ...content: Child[]): HTMLElement[] {
  const close = button("\u00d7", host.close, { class: "lane-button", title: "Close (Esc)" });
  close.setAttribute("aria-label", "Close");
  return [h("div", { class: "panel-head" }, title, close), ...content.filter((one): one is HTMLElement => one instanceof HTMLElement)];
}

// ---- one event ----

// "[[16,559,1024],[]]" as "16×559×1024, scalar".
function shapesOf(dims: string, types: string): string {
  let sizes: unknown;
  let names: unknown;
  try {
    sizes = JSON.parse(dims);
    names = types ? JSON.parse(types) : [];
  } catch {
    return dims;
  }
  if (!Array.isArray(sizes)) return dims;
  return sizes.map((size, i) => {
    const type = Array.isArray(names) && typeof names[i] === "string" ? names[i] : "";
    if (!Array.isArray(size) || size.length === 0) return type;
    return `${type ? `${type} ` : ""}[${JSON.stringify(size).slice(1, -1)}]`;
  }).filter(Boolean).join(", ");
}

function product(fields: string[]): string {
  const numbers = fields.map(Number);
  while (numbers.length > 1 && numbers[numbers.length - 1] === 1) numbers.pop();
  return numbers.map(count).join(" \u00d7 ");
}

// The idle intervals that end at the start of the event, the nearest first.
export function waitBefore(lanes: Lanes, row: EventRow, begin: number): { key: string; ns: number }[] {
  const device = /^GPU (\S+), /.exec(row.name)?.[1];
  const causes: CauseRow | undefined = lanes.causes.find((one) => one.exact && one.name === `GPU ${device}`);
  const waits: { key: string; ns: number }[] = [];
  if (!causes) return waits;
  let at = begin;
  for (let i = causes.start.length - 1; i >= 0; i--) {
    if (causes.end[i]! > at) continue;
    const key = lanes.states[causes.state[i]!]!;
    if (causes.end[i] !== at || key === "compute" || key === "collective" || key === "copy") break;
    waits.push({ key, ns: causes.end[i]! - causes.start[i]! });
    at = causes.start[i]!;
  }
  return waits;
}

// Names of the events that enclose a moment of a thread, innermost first.
function around(lanes: Lanes, row: EventRow, start: number, end: number, without = -1): string[] {
  const names: string[] = [];
  for (const list of row.byDepth) {
    for (const event of list) {
      if (row.start[event]! > start) break;
      if (event !== without && row.end[event]! >= end && row.end[event]! > start) names.push(lanes.names[row.label[event]!] ?? "");
    }
  }
  return names.reverse();
}

function stackElement(names: string[]): Child[] {
  const list = (some: string[]) => h("ol", { class: "panel-stack" }, ...some.map((name) => h("li", {}, nameButton(name, NAME_WIDTH))));
  const inner = list(names.slice(0, MOST_STACK));
  const outer = names.slice(MOST_STACK);
  return [inner, outer.length > 0 ? h("details", {}, h("summary", {}, `${count(outer.length)} outer`), list(outer)) : null];
}

// The event of the launch call on the lane of its thread. Null if there is none.
export function callOf(lanes: Lanes, launch: Launch): Picked | null {
  const { lane } = launch;
  if (!lane) return null;
  const start = Math.max(0, launch.start);
  for (const list of lane.byDepth) {
    let low = 0;
    for (let high = list.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (lane.start[list[middle]!]! >= start) high = middle;
      else low = middle + 1;
    }
    for (; low < list.length && lane.start[list[low]!] === start; low++) {
      if (lanes.names[lane.label[list[low]!]!] === launch.call) return { row: lane, event: list[low]! };
    }
  }
  return null;
}

function namesakes(lanes: Lanes, { row, event }: Picked) {
  const lengths: number[] = [];
  for (const other of lanes.events) {
    for (let i = 0; i < other.start.length; i++) if (other.label[i] === row.label[event]) lengths.push(other.end[i]! - other.start[i]!);
  }
  lengths.sort((a, b) => a - b);
  const half = lengths.length >> 1;
  const median = lengths.length % 2 === 1 ? lengths[half]! : Math.round((lengths[half - 1]! + lengths[half]!) / 2);
  return { n: lengths.length, total: lengths.reduce((sum, one) => sum + one, 0), shortest: lengths[0]!, median, longest: lengths[lengths.length - 1]!, below: lengths.filter((one) => one < row.end[event]! - row.start[event]!).length };
}

// Self times of the events inside a host event, by name.
function insideTotals(lanes: Lanes, { row, event }: Picked): Total[] {
  const totals = new Map<string, Total>();
  const [from, to] = [row.start[event]!, row.end[event]!];
  const stack: { end: number; name: string }[] = [];
  for (let i = event + 1; i < row.start.length && row.start[i]! < to; i++) {
    const [start, end] = [row.start[i]!, Math.min(row.end[i]!, to)];
    while (stack.length > 0 && stack[stack.length - 1]!.end <= start) stack.pop();
    const parent = stack[stack.length - 1];
    if (parent) totals.get(parent.name)!.ns -= Math.min(end, parent.end) - start;
    const name = lanes.names[row.label[i]!]!;
    const total = totals.get(name) ?? { name, ns: 0, count: 0 };
    total.ns += end - Math.max(start, from);
    total.count++;
    totals.set(name, total);
    stack.push({ end, name });
  }
  return [...totals.values()].sort((a, b) => b.ns - a.ns);
}

// The recorded values of an event, and the same as JSON to copy. details: null if the file has none.
export function eventPanel(lanes: Lanes, details: Details | null, picked: Picked, kind: string, lane: string, host: PanelHost): HTMLElement[] {
  const { row, event } = picked;
  const shown = lanes.names[row.label[event]!] ?? "";
  const full = details?.text(row, "name", event) || shown;
  const begin = details ? details.begin(row, event) : row.start[event]!;
  const end = details ? details.end(row, event) : row.end[event]!;
  const data: Record<string, unknown> = { name: full, kind, lane, start_ns: begin, end_ns: end, dur_ns: end - begin };
  const entries: [string, Child[]][] = [];
  const say = (name: string, ...value: Child[]) => entries.push([name, value]);
  say("begins", exactTime(begin));
  say("ends", exactTime(end));
  say("lasts", h("b", {}, exactTime(end - begin)));
  say("where", lane);
  if (full !== shown) say("full name", nameButton(full, 2 * NAME_WIDTH));
  const step = lanes.steps.find((one) => one.start <= row.start[event]! && row.start[event]! < one.end);
  if (step) say("iteration", step.name);
  let launch: Launch | null = null;
  if (details) {
    const note = (name: string, key: string, value: string, ...show: Child[]) => {
      if (value === "") return;
      data[key] = value;
      say(name, ...(show.length > 0 ? show : [value]));
    };
    const text = (column: Parameters<Details["text"]>[1]) => details.text(row, column, event);
    const [cls, layer, stack, path] = details.fields(row, "module", event);
    note("operator", "op", text("op"));
    note("shapes", "dims", text("dims"), shapesOf(text("dims"), text("types")));
    if (text("types")) data.types = text("types");
    note("values", "concrete", /[^\[\]",\s]/.test(text("concrete")) ? text("concrete") : "");
    if (cls) note("module", "module", path || cls, [cls, path && path !== cls ? path : "", Number(layer) >= 0 ? `layer ${layer} of ${stack}` : ""].filter(Boolean).join(", "));
    const shape = details.fields(row, "shape", event);
    if (shape.length === 8) {
      note("grid \u00d7 block", "grid_block", shape.slice(0, 6).join(","), `(${product(shape.slice(0, 3))}) \u00d7 (${product(shape.slice(3, 6))})`);
      if (shape[6] !== "0") note("registers", "registers", shape[6]!);
      if (shape[7] !== "0") note("shared memory", "shared_memory_bytes", shape[7]!, `${formatValue(Number(shape[7]), "bytes", true)} a block`);
    }
    const node = details.count(row, "node", event);
    note("graph", "graph", text("graph"), node === null || node > Number.MAX_SAFE_INTEGER ? text("graph") : `${text("graph")}, node ${node}`);
    const bytes = details.count(row, "bytes", event);
    if (bytes !== null) {
      const rate = end > begin ? ` at ${formatValue(bytes / (end - begin), "ratio", false)} GB/s` : "";
      note("bytes", "bytes", String(bytes), `${count(bytes)} B (${formatValue(bytes, "bytes", true)})${rate}`);
    }
    const [collective, type, group, ranks, into] = details.fields(row, "collective", event);
    if (collective !== undefined) {
      note("collective", "collective", [collective, type, group && `group ${group}`, Number(ranks) > 0 && `${ranks} ranks`, Number(into) >= 0 && `${count(Number(into))} elements in`].filter(Boolean).join(", "));
    }
    launch = details.launch(row, event);
    if (launch) {
      const lead = begin - launch.start;
      const call = callOf(lanes, launch);
      data.call = { name: launch.call, thread: launch.thread, start_ns: launch.start, dur_ns: launch.length };
      say("launched by", launch.call, ` on ${launch.thread}, begins ${exactTime(launch.start)}, `,
        h("b", {}, lead >= 0 ? `${exactTime(lead)} before` : `${exactTime(-lead)} after this begins: the clocks differ`), " ",
        call ? button("Go there", () => host.goTo(call), { class: "lane-button", title: "Go to the launch call (,)" }) : null);
    }
  }
  if (row.kind === "stream") {
    const waits = waitBefore(lanes, row, row.start[event]!);
    const [longest, culprit] = details?.fields(row, "wait", event) ?? [];
    if (waits.length > 0) {
      data.waited = waits.map((one) => ({ cause: one.key, ns: one.ns }));
      say("GPU idle before it", h("b", {}, exactTime(waits.reduce((sum, one) => sum + one.ns, 0))), ": ",
        waits.map((one) => `${exactTime(one.ns)} ${causeWord(one.key)}${culprit && one.key === longest ? ` (${culprit})` : ""}`).join(", "));
    }
  }
  const launched = row.kind === "thread" && details ? details.launched(row, begin, Math.max(end, begin + 1)) : [];
  if (launched.length > 0) {
    const first = launched[0]!;
    const ns = launched.reduce((sum, one) => sum + one.row.end[one.event]! - one.row.start[one.event]!, 0);
    say("launched", `${count(launched.length)} on the GPU, ${exactTime(ns)} there `, button("Go to the first", () => host.goTo(first), { class: "lane-button", title: "Go to what it launched (.)" }));
  }
  const same = namesakes(lanes, picked);
  const spread = same.n > 1 ? ` in all. From ${exactTime(same.shortest)} to ${exactTime(same.longest)}, median ${exactTime(same.median)}; ${count(same.below)} are shorter than this one` : "";
  say("same name", `${times(same.n)}, ${exactTime(same.total)}${spread}`, lanes.shortest.some((limit) => limit > 0) ? " (of the events that this file holds)" : "", " ",
    button("Light all", () => host.lightAll(shown), { class: "lane-button", title: "Light all events of this name" }));
  const stackRow = launch?.lane ?? (row.kind === "thread" ? row : null);
  const stackAt = launch ? Math.max(0, launch.start) : row.start[event]!;
  const names = stackRow ? around(lanes, stackRow, stackAt, launch ? stackAt + launch.length : row.end[event]!, row.kind === "thread" ? event : -1) : [];
  if (names.length > 0) say(launch ? "around the call" : "inside", ...stackElement(names));
  const inside = row.kind === "thread" ? insideTotals(lanes, picked) : [];
  const content: Child[] = [lines(entries)];
  if (inside.length > 0) content.push(totalsTable(inside.slice(0, MOST_ROWS), "inside, by own time", end - begin, (name) => name));
  content.push(h("div", { class: "panel-tools" }, copyButton("Copy name", () => full), copyButton("Copy as JSON", () => JSON.stringify(data, null, 1))));
  return frame(h("h2", {}, nameButton(shown, NAME_WIDTH), " ", h("small", {}, kind)), host, ...content);
}

// ---- a stretch ----

function totalsTable(totals: Total[], title: string, whole: number, word: (name: string) => string): HTMLElement {
  return h("table", { class: "panel-table" },
    h("thead", {}, h("tr", {}, ...[title, "time", "calls", "share"].map((name) => h("th", { attributes: { scope: "col" } }, name)))),
    h("tbody", {}, ...totals.map((one) => {
      const row = h("tr", {}, h("td", {}, nameButton(word(one.name), CELL_WIDTH)), h("td", {}, exactTime(one.ns)), h("td", {}, count(one.count)), h("td", {}, share(one.ns, whole)));
      row.dataset.ns = String(one.ns);
      row.dataset.name = one.name;
      return row;
    })));
}

function causeBar(totals: Total[]): HTMLElement {
  const whole = totals.reduce((sum, one) => sum + one.ns, 0);
  return h("div", { class: "bar panel-bar", attributes: { role: "img", "aria-label": totals.map((one) => `${causeWord(one.name)} ${share(one.ns, whole)}`).join(", ") } },
    ...totals.map((one) => {
      const part = h("div", { class: "segment" });
      part.style.flexGrow = String(one.ns);
      part.style.background = causeColour(one.name);
      return part;
    }));
}

// details: null if the file has none; operators are then unavailable.
export function areaPanel(lanes: Lanes, details: Details | null, stretch: Stretch, by: AreaBy, choose: (by: AreaBy) => void, host: PanelHost): HTMLElement[] {
  const length = stretch.to - stretch.from;
  const causes = causeTotals(lanes, stretch);
  const kernels = workTotals(lanes, stretch, null);
  const choices = AREA_BY.filter((one) => (one === "operator" ? details !== null : one === "cause" ? causes !== null : true));
  const totals = by === "cause" ? (causes ?? []) : by === "operator" ? workTotals(lanes, stretch, details) : kernels;
  const deviceNs = kernels.reduce((sum, one) => sum + one.ns, 0);
  const judge = host.trace === null ? null : `assay ${host.trace} --between ${lanes.begin + stretch.from}ns..${lanes.begin + stretch.to}ns`;
  const buttons = choices.map((one) => {
    const element = button(`By ${one}`, () => choose(one), { class: "lane-button" });
    element.setAttribute("aria-pressed", String(one === by));
    return element;
  });
  const whole = by === "cause" ? totals.reduce((sum, one) => sum + one.ns, 0) : length;
  const rest = totals.slice(MOST_ROWS);
  const some = lanes.events.some((row) => row.rest !== null);
  const name = (one: string) => (by === "cause" ? causeWord(one) : one);
  return frame(h("h2", {}, `${exactTime(length)} chosen`), host,
    lines([
      ["from", [exactTime(stretch.from)]],
      ["to", [exactTime(stretch.to)]],
      ["streams", [stretch.rows.map((row) => row.name).join("; ") || "none"]],
      ["device time", [h("b", {}, exactTime(deviceNs)), some ? " of the events that this file holds" : ""]],
    ]),
    causes && causes.length > 0 ? causeBar(causes) : null,
    h("div", { class: "panel-tools" }, ...buttons),
    totalsTable(totals.slice(0, MOST_ROWS), by, whole, name),
    rest.length > 0 ? h("p", { class: "meta" }, `and ${count(rest.length)} more, ${exactTime(rest.reduce((sum, one) => sum + one.ns, 0))}`) : null,
    judge ? h("p", { class: "meta" }, "To analyze this stretch alone: ", h("code", {}, judge)) : null,
    h("div", { class: "panel-tools" }, judge ? copyButton("Copy command", () => judge) : null, copyButton("Copy as JSON", () => JSON.stringify({ from_ns: stretch.from, to_ns: stretch.to, streams: stretch.rows.map((row) => row.name), by, totals: totals.map((one) => ({ [by]: one.name, ns: one.ns, count: one.count })) }, null, 1))));
}
