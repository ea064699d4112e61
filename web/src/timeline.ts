// The run on a time axis: causes of idle time per GPU, streams, and the threads that submit work. One canvas:
// zoomed out, columns show shares; zoomed in, every event is drawn. Mouse, wheel, keys and touch move it, and
// the address follows.

import type { AreaBy } from "./area.ts";
import { drawStretches, stretchesOf, type Stretches } from "./brackets.ts";
import { chooseName, chosenName, chosenWords, knowNames, nameFilter, onChosen } from "./chosen.ts";
import { Details } from "./details.ts";
import { announce, button, h, saveFile } from "./dom.ts";
import { type CauseRow, type EventRow, type Lanes } from "./lanes.ts";
import { firstEndingAfter, halfOf, paintLane, paintRest } from "./paint.ts";
import { causeColour, causeWord, inkOn, isHatched } from "./palette.ts";
import { areaPanel, callOf, eventPanel, type PanelHost, type Picked } from "./panel.ts";
import { perfettoFile } from "./perfetto.ts";
import { type Range, type RangeChoice } from "./range.ts";
import { shortenMiddle } from "./text.ts";
import { color, onTheme } from "./theme.ts";
import { exactTime, formatValue } from "./units.ts";
import type { Lever } from "./view.ts";

const OVERVIEW = 30;
const RULER = 20;
const STEPS = 18;
const CAUSES = 66;
const STREAM = 20;
const DEPTH = 14;
const GAP = 5;
const LEVER = 13;
const WORDS = 14; // above a lane, on narrow pages without a name column
const LONGEST_NAME = 14;
const STRIP = 6; // of ticks for matches in depths that are not drawn
const MOST_DEPTHS = 200; // drawn at most; deeper ones are counted
const STILL = 4; // pixels: a shorter movement is a click, not a drag
const SHOWN_DEPTHS = 5;
const PHONE_DEPTHS = 3;
const LEAST_NS = 2000;
const FONT = "11px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const TYPES = ["kernel", "collective", "copy", "operator", "call", "frame", "label"] as const;

type Band =
  | { kind: "overview" | "ruler" | "steps"; top: number; height: number; name: string; about: string }
  | { kind: "lever"; lever: number; top: number; height: number; name: string; about: string }
  | { kind: "causes"; row: CauseRow; top: number; height: number; name: string; about: string }
  | { kind: "strip"; row: EventRow; top: number; height: number; name: string; about: string }
  | { kind: "events"; row: EventRow; first: number; depths: number; top: number; height: number; name: string; about: string };
type EventBand = Band & { kind: "events" };

const HELP: [string, string][] = [
  ["W S", "zoom in and out at the pointer"], ["A D", "move; also the arrow keys"], ["drag", "choose a stretch; with Shift or on the ruler, move"],
  ["Ctrl + wheel", "zoom at the pointer"], ["F", "fit what is chosen"], ["M", "mark its length"], ["[ ]", "the event before and after in its row"],
  [", .", "to the launch call, and to what a call launched"], ["/", "search"], ["n p", "next and previous match, or gap"], ["g G", "next and previous gap"],
  ["1\u20139", "an iteration"], ["0", "the whole run"], ["Enter", "say what is shown"], ["Q", "close the panel"], ["Esc", "let go of what is chosen"], ["?", "these keys"],
];

const time = (ns: number) => formatValue(Math.round(ns), "ns", true);

// First index with a value above `limit`.
function above(values: Float64Array | Uint32Array, limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The name of a lane, shortened for its column. GPU numbers and thread numbers differ in their last digits.
// The line below the name says that it is a thread.
function laneWords(name: string): string {
  const stream = /^GPU (\d+) (stream .*)$/.exec(name);
  if (stream && name.length > LONGEST_NAME) return shortenMiddle(`\u2026${stream[1]!.slice(-3)}, ${stream[2]!}`, LONGEST_NAME + 4);
  const thread = /^thread (-?\d+)(.*)$/.exec(name);
  if (!thread) return shortenMiddle(name, LONGEST_NAME);
  const [, number, process] = thread as unknown as [string, string, string];
  const short = number.length > LONGEST_NAME - 4 ? `\u2026${number.slice(-6)}` : number;
  return short.length + process.length <= LONGEST_NAME ? short + process : short;
}

// Matches of the selected name: count, total time and places.
interface Occurrences {
  names: number;
  spans: [number, number][];
  ns: number;
  places: Map<EventRow, Uint8Array>; // per event: 1 for a match
}

export class Timeline {
  readonly element: HTMLElement;
  private readonly panel = h("aside", { class: "lane-panel", attributes: { "aria-label": "Details of what is chosen" } });
  private readonly help = h("dl", { class: "lane-help", attributes: { "aria-label": "Keys of the timeline" } }, ...HELP.map(([key, what]) => h("div", {}, h("dt", {}, h("kbd", {}, key)), h("dd", {}, what))));
  private readonly counts = h("span", { class: "lane-counts" });
  private picked: Picked | null = null;
  private area: { from: number; to: number; rows: EventRow[] } | null = null;
  private areaBy: AreaBy = "kernel";
  private mark: [number, number] | null = null;
  private cursor = 0.5; // position of the pointer as a share of the width
  private details: Details | null | undefined; // undefined before the first event is selected
  private readonly canvas: HTMLCanvasElement;
  private readonly names = h("div", { class: "lane-names", attributes: { "aria-hidden": "true" } });
  private readonly tip = h("div", { class: "lane-tip", attributes: { "aria-hidden": "true" } });
  private readonly shown = h("span", { class: "lane-range" });
  private bands: Band[] = [];
  private order: number[] = []; // of states, from the bottom of a column
  private painted: { name: string; lane: number; ns: number }[] = []; // per drawn lane; lane -1: activities that are not listed as events
  private allDepths = false;
  private depthsButton!: HTMLButtonElement;
  private pending = false;
  private width = 0;
  private height = 0;
  private stretches: Stretches[];
  private readonly found = new Map<string, Occurrences>();
  private readonly saved = h("span", { class: "lane-saved" });
  private readonly lit = h("span", { class: "lane-picked" });

  // isOn: whether an action is applied. readDetails: unpacks details of single events; empty if the file has
  // none.
  constructor(
    private readonly lanes: Lanes,
    private readonly range: RangeChoice,
    causes: string[],
    private readonly levers: Lever[] = [],
    private readonly isOn: (lever: number) => boolean = () => true,
    private readonly readDetails: () => Promise<Uint8Array> = async () => new Uint8Array(),
    private readonly trace: string | null = null,
  ) {
    knowNames(lanes.names);
    this.stretches = levers.map((lever) => stretchesOf(lanes, lever));
    const rank = new Map(causes.map((key, i) => [key, i]));
    this.order = lanes.states
      .map((_, i) => i)
      .sort((a, b) => (rank.get(lanes.states[a]!) ?? 99) - (rank.get(lanes.states[b]!) ?? 99));
    this.canvas = h("canvas", {
      class: "lane-canvas",
      attributes: {
        tabindex: "0",
        role: "application",
        "aria-label":
          "Timeline of the run. Arrow keys move, plus and minus zoom, 0 shows all, digits show a step, n and p go to the next and the previous gap, brackets choose an event, question mark lists all keys.",
      },
    });
    this.panel.hidden = true;
    this.help.hidden = true;
    this.element = h(
      "section",
      { class: "timeline", attributes: { "aria-label": "Timeline" } },
      this.toolbar(),
      this.help,
      h("div", { class: "lanes" }, this.names, h("div", { class: "lane-view" }, this.canvas, this.tip)),
      this.footer(),
      this.panel,
    );
    this.listen();
    range.onChange(() => this.ask());
    onTheme(() => this.ask());
    onChosen(this.element, () => {
      this.showLit();
      this.ask();
    });
    new ResizeObserver(() => this.resize()).observe(this.canvas.parentElement!);
  }

  // ---- around the canvas ----

  private toolbar(): HTMLElement {
    const steps = this.lanes.steps.slice(0, 9).map((step, i) =>
      button(String(i + 1), () => this.range.show(step.start, step.end, LEAST_NS), {
        class: "lane-button",
        title: `${step.name}, ${time(step.end - step.start)}`,
      }),
    );
    const depths = button("All depths", () => this.showDepths(!this.allDepths), { class: "lane-button" });
    depths.setAttribute("aria-pressed", "false");
    this.depthsButton = depths;
    this.showDepthsButton();
    return h(
      "div",
      { class: "lane-bar" },
      this.shown,
      this.lit,
      button("Whole run", () => this.range.show(0, this.lanes.window), { class: "lane-button" }),
      ...(steps.length > 1 ? steps : []),
      button("\u2039 gap", () => this.goToGap(-1), { class: "lane-button", title: "previous gap (p)" }),
      button("gap \u203a", () => this.goToGap(1), { class: "lane-button", title: "next gap (n)" }),
      depths,
      button("Keys", () => this.showHelp(), { class: "lane-button", title: "Keys and pointer (?)" }),
      button("Perfetto", () => this.savePerfetto(), { class: "lane-button", title: "Save what is shown here as a file for ui.perfetto.dev" }),
    );
  }

  private showDepths(all: boolean): void {
    this.allDepths = all;
    this.depthsButton.setAttribute("aria-pressed", String(all));
    this.resize();
    this.showLit();
  }

  // The number of matches in depths that are not drawn, and of those depths.
  private hiddenMatches(found: Occurrences): { events: number; depths: number } {
    const hidden = { events: 0, depths: 0 };
    for (const band of this.bands) {
      if (band.kind !== "events") continue;
      const places = found.places.get(band.row);
      band.row.byDepth.forEach((list, depth) => {
        if (!places || this.isDrawn(band, depth)) return;
        const events = list.reduce((sum, event) => sum + places[event]!, 0);
        hidden.events += events;
        if (events > 0) hidden.depths++;
      });
    }
    return hidden;
  }

  private isDrawn(band: EventBand, depth: number): boolean {
    return depth >= band.first && depth < band.first + band.depths;
  }

  private showDepthsButton(): void {
    this.depthsButton.hidden = !this.lanes.events.some((row) => row.kind === "thread" && row.depths > SHOWN_DEPTHS);
  }

  // Redraws after the events are read.
  complete(): void {
    this.stretches = this.levers.map((lever) => stretchesOf(this.lanes, lever));
    this.found.clear();
    this.showLit();
    this.showDepthsButton();
    this.resize();
  }

  private footer(): HTMLElement {
    const key = (name: string, what: string) => [h("kbd", {}, name), ` ${what} `];
    return h(
      "div",
      { class: "lane-foot" },
      h("span", { class: "lane-keys" }, ...key("drag", "choose a stretch"), ...key("Shift", "+ drag: move"), ...key("W", ""), ...key("S", "zoom"), ...key("n", ""), ...key("p", "gaps"), ...key("0", "whole run"), ...key("?", "all keys")),
      this.counts,
      this.saved,
    );
  }

  // Numbers of recorded, drawn and omitted events, with the reason.
  private showCounts(): void {
    const { held, total, shortest, others, events } = this.lanes;
    if (events.length === 0) return;
    const count = (n: number) => formatValue(n, "count", true);
    let drawn = 0;
    let deeper = 0;
    for (const band of this.bands) {
      if (band.kind === "events") band.row.byDepth.forEach((list, depth) => (this.isDrawn(band, depth) ? (drawn += list.length) : (deeper += list.length)));
    }
    const inShares = events.reduce((sum, row) => sum + (row.rest ? row.rest.begins.reduce((a, b) => a + b, 0) : 0), 0);
    const left = total - held - others.rows - inShares;
    const of = (what: string, limit: number) => `${what} shorter than ${exactTime(limit)}`;
    const folded = [
      deeper > 0 ? `${count(deeper)} in hidden depths` : "",
      others.rows > 0 ? `${count(others.rows)} of ${count(others.threads)} ${others.threads === 1 ? "thread" : "threads"} without a lane` : "",
      left > 0 ? of(`${count(left)} of threads`, shortest[1]) : "",
    ].filter(Boolean);
    this.counts.textContent = folded.length + inShares === 0
      ? `all ${count(total)} events are drawn, to the nanosecond`
      : `${count(drawn)} of ${count(total)} events are drawn, to the nanosecond${inShares > 0 ? `; ${of(`${count(inShares)} of streams`, shortest[0])} as the share that they fill` : ""}${folded.length > 0 ? `; not drawn: ${folded.join(", ")}` : ""}`;
    this.canvas.dataset.rows = JSON.stringify({ recorded: total, drawn, folded: deeper + others.rows + left, shares: inShares });
  }

  private savePerfetto(): void {
    const { from, to } = this.range.get();
    const { json, count } = perfettoFile(this.lanes, TYPES, from, to);
    const name = `assay-${Math.round(from)}-${Math.round(to)}ns.json`;
    saveFile(name, "application/json", json);
    const some = this.lanes.held < this.lanes.total ? ` of the ${formatValue(this.lanes.held, "count", true)} that this file holds` : "";
    const told = `Saved ${name}: ${formatValue(count, "count", true)} ${count === 1 ? "event" : "events"}${some} from ${time(from)} to ${time(to)}, times as on the ruler. Open it at ui.perfetto.dev.`;
    this.saved.replaceChildren(told, " The whole trace with all tracks: ", h("code", {}, "assay FILE --perfetto timeline.json.gz"));
    announce(told);
  }

  // ---- layout ----

  private phone(): boolean {
    return this.width < 560;
  }

  private layout(): void {
    const phone = this.phone();
    const bands: Band[] = [];
    let top = 0;
    const add = (height: number, gap: number, named = false) => {
      const at = top + (named && phone ? WORDS : 0);
      top = at + height + gap;
      return { top: at, height };
    };
    bands.push({ kind: "overview", name: "whole run", about: "", ...add(OVERVIEW, 2) });
    bands.push({ kind: "ruler", name: "", about: "", ...add(RULER, 0) });
    if (this.lanes.steps.length > 1) bands.push({ kind: "steps", name: "steps", about: "", ...add(STEPS, GAP) });
    const causes = this.lanes.causes.length > 3 ? 34 : CAUSES;
    for (const row of this.lanes.causes) bands.push({ kind: "causes", row, name: row.name, about: "by cause", ...add(causes, GAP, true) });
    this.stretches.forEach((where, i) => {
      if (where.start.length === 0) return;
      bands.push({ kind: "lever", lever: i, name: `action ${i + 1}`, about: "", ...add(LEVER, 2, true) });
    });
    for (const row of this.lanes.events) {
      const most = row.kind === "stream" || this.allDepths ? MOST_DEPTHS : phone ? PHONE_DEPTHS : SHOWN_DEPTHS;
      const first = this.allDepths ? 0 : this.outermost(row);
      const depths = Math.max(1, Math.min(row.depths - first, most));
      if (depths < row.depths) bands.push({ kind: "strip", row, name: "", about: "", ...add(STRIP, 0) });
      const height = depths * (row.kind === "stream" ? STREAM : DEPTH);
      const name = row.kind === "stream" ? row.name.replace(/^GPU \d+, /, this.lanes.causes.length > 1 ? row.name.split(",")[0]! + " " : "") : row.name;
      const about = row.kind === "stream" ? (depths > 1 ? `${depths} at once` : "") : first > 0 ? `${first} outer hidden` : "host thread";
      bands.push({ kind: "events", row, first, depths, name, about, ...add(height, GAP, true) });
    }
    this.bands = bands;
    this.height = top;
    this.showCounts();
  }

  // The number of outer depths with a single event that fills nearly all of the window: they carry no
  // information.
  private outermost(row: EventRow): number {
    let depth = 0;
    const fills = (list: Uint32Array | undefined) =>
      list?.length === 1 && row.end[list[0]!]! - row.start[list[0]!]! >= 0.9 * this.lanes.window;
    while (row.kind === "thread" && depth + 1 < row.depths && fills(row.byDepth[depth])) depth++;
    return depth;
  }

  private resize(): void {
    const box = this.canvas.parentElement!.clientWidth;
    if (box === 0) return;
    this.width = box;
    this.layout();
    const scale = Math.min(globalThis.devicePixelRatio || 1, 2);
    this.canvas.width = Math.round(box * scale);
    this.canvas.height = Math.round(this.height * scale);
    this.canvas.style.height = `${this.height}px`;
    this.names.style.height = `${this.height}px`;
    this.names.replaceChildren(
      ...this.bands.filter((band) => band.name).map((band) => {
        const label = h("div", { class: "lane-name" }, h("b", {}, laneWords(band.name)), band.about && band.height > 28 ? h("span", {}, band.about) : null);
        label.style.top = `${band.top + Math.max(0, (band.height - (band.about && band.height > 28 ? 30 : 15)) / 2)}px`;
        label.title = band.kind === "lever" ? this.levers[band.lever]!.title : band.name;
        return label;
      }),
    );
    this.draw(); // in the same frame as the new size
  }

  private ask(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.draw();
    });
  }

  // ---- drawing ----

  draw(): void {
    const begun = performance.now();
    const paint = this.canvas.getContext("2d");
    if (!paint || this.width === 0) return;
    const scale = this.canvas.width / this.width;
    paint.setTransform(scale, 0, 0, scale, 0, 0);
    paint.clearRect(0, 0, this.width, this.height);
    paint.font = FONT;
    paint.textBaseline = "middle";
    const range = this.range.get();
    this.painted = [];
    for (const band of this.bands) {
      if (band.kind === "overview") this.drawOverview(paint, band, range);
      else if (band.kind === "ruler") this.drawRuler(paint, band, range);
      else if (band.kind === "steps") this.drawSteps(paint, band, range);
      else if (band.kind === "causes") this.drawCauses(paint, band.row, band.top, band.height, range.from, range.to, range.cause);
      else if (band.kind === "events") this.drawEvents(paint, band, range);
      else if (band.kind === "lever") this.drawLever(paint, band, range);
      else if (band.kind === "strip") this.drawStrip(paint, band, range);
      if (this.phone()) this.drawName(paint, band);
    }
    this.drawChosen(paint, range);
    const whole = range.from <= 0 && range.to >= this.lanes.window;
    this.shown.replaceChildren(
      h("b", {}, whole ? "Whole run" : `${time(range.from)} to ${time(range.to)}`),
      `, ${time(range.to - range.from)}`,
      range.cause ? h("span", { class: "lane-cause" }, ` \u00b7 ${causeWord(range.cause)}`) : "",
    );
    this.canvas.dataset.from = String(Math.round(range.from));
    this.canvas.dataset.to = String(Math.round(range.to));
    this.canvas.dataset.painted = JSON.stringify(this.painted);
    this.canvas.dataset.drawMs = (performance.now() - begun).toFixed(2);
  }

  private drawOverview(paint: CanvasRenderingContext2D, band: Band, range: Range): void {
    const row = this.lanes.causes[0];
    if (row) this.drawCauses(paint, row, band.top, band.height, 0, this.lanes.window, range.cause);
    if (range.from <= 0 && range.to >= this.lanes.window) return;
    const left = (range.from / this.lanes.window) * this.width;
    const right = Math.max((range.to / this.lanes.window) * this.width, left + 3);
    paint.fillStyle = color("paper");
    paint.globalAlpha = 0.62;
    paint.fillRect(0, band.top, left, band.height);
    paint.fillRect(right, band.top, this.width - right, band.height);
    paint.globalAlpha = 1;
    paint.strokeStyle = color("ink");
    paint.lineWidth = 1.5;
    paint.strokeRect(left, band.top + 1, right - left, band.height - 2);
  }

  private drawRuler(paint: CanvasRenderingContext2D, band: Band, range: Range): void {
    const length = range.to - range.from;
    const rough = (length * 110) / this.width;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? power * 10;
    paint.fillStyle = color("muted");
    paint.strokeStyle = color("rule");
    paint.lineWidth = 1;
    const unit: [number, string] = step >= 1e9 ? [1e9, "s"] : step >= 1e6 ? [1e6, "ms"] : step >= 1e3 ? [1e3, "\u00b5s"] : [1, "ns"];
    for (let at = Math.ceil(range.from / step) * step; at <= range.to; at += step) {
      const x = ((at - range.from) / length) * this.width;
      paint.beginPath();
      paint.moveTo(x, band.top + band.height - 4);
      paint.lineTo(x, this.height);
      paint.stroke();
      const text = `${Number((at / unit[0]).toFixed(6)).toLocaleString("en-US")} ${unit[1]}`;
      if (x + paint.measureText(text).width + 6 < this.width) paint.fillText(text, x + 4, band.top + 10);
    }
  }

  private drawSteps(paint: CanvasRenderingContext2D, band: Band, range: Range): void {
    const scale = this.width / (range.to - range.from);
    this.lanes.steps.forEach((step, i) => {
      const left = (step.start - range.from) * scale;
      const right = (step.end - range.from) * scale;
      if (right < 0 || left > this.width) return;
      paint.fillStyle = color(i % 2 === 0 ? "shade" : "sunk");
      paint.fillRect(left, band.top, right - left - 1, band.height);
      paint.fillStyle = color("ink");
      this.text(paint, `${step.name} \u00b7 ${time(step.end - step.start)}`, left, right, band.top + band.height / 2);
    });
  }

  // Draws text in an interval as far as it fits.
  private text(paint: CanvasRenderingContext2D, words: string, left: number, right: number, middle: number): void {
    const begin = Math.max(left, 0) + 4;
    const room = Math.min(right, this.width) - begin - 3;
    if (room < 22) return;
    const most = Math.floor(room / 5.6);
    let shown = words.length > most ? `${words.slice(0, Math.max(1, most - 1))}\u2026` : words;
    while (shown.length > 2 && paint.measureText(shown).width > room) shown = `${shown.slice(0, -2)}\u2026`;
    if (shown.length > 2) paint.fillText(shown, begin, middle);
  }

  // Draws the shares of the states per pixel column, compute at the bottom.
  private drawCauses(paint: CanvasRenderingContext2D, row: CauseRow, top: number, height: number, from: number, to: number, chosen: string | null): void {
    const columns = Math.ceil(this.width);
    const states = this.lanes.states.length;
    const shares = new Float32Array(columns * states);
    const scale = this.width / (to - from);
    const first = above(row.end, from);
    for (let i = first; i < row.start.length && row.start[i]! < to; i++) {
      const left = Math.max((row.start[i]! - from) * scale, 0);
      const right = Math.min((row.end[i]! - from) * scale, columns);
      const weight = row.share ? row.share[i]! : 1;
      for (let column = Math.floor(left); column < right && column < columns; column++) {
        const part = Math.min(right, column + 1) - Math.max(left, column);
        shares[column * states + row.state[i]!]! += part * weight;
      }
    }
    for (const state of [...this.order].reverse()) this.drawState(paint, shares, state, columns, top, height, chosen);
    if (!row.share && height >= 30) this.labelRuns(paint, row, first, top, height, from, to, scale);
  }

  private drawState(paint: CanvasRenderingContext2D, shares: Float32Array, state: number, columns: number, top: number, height: number, chosen: string | null): void {
    const states = this.lanes.states.length;
    const key = this.lanes.states[state]!;
    const below = this.order.slice(0, this.order.indexOf(state));
    paint.fillStyle = causeColour(key);
    paint.globalAlpha = chosen && chosen !== key ? 0.22 : 1;
    let runFrom = -1;
    let runTop = 0;
    let runBottom = 0;
    const flush = (end: number) => {
      if (runFrom < 0) return;
      paint.fillRect(runFrom, runTop, end - runFrom, runBottom - runTop);
      if (isHatched(key) && end - runFrom >= 4) this.hatch(paint, runFrom, runTop, end - runFrom, runBottom - runTop);
      runFrom = -1;
    };
    for (let column = 0; column < columns; column++) {
      const share = shares[column * states + state]!;
      if (share < 0.004) {
        flush(column);
        continue;
      }
      let under = 0;
      for (const other of below) under += shares[column * states + other]!;
      const bottom = top + height * (1 - Math.min(under, 1));
      const upper = Math.max(top, bottom - Math.max(height * share, 0.6));
      if (runFrom >= 0 && Math.abs(upper - runTop) < 0.25 && Math.abs(bottom - runBottom) < 0.25) continue;
      flush(column);
      runFrom = column;
      runTop = upper;
      runBottom = bottom;
    }
    flush(columns);
    paint.globalAlpha = 1;
  }

  private hatch(paint: CanvasRenderingContext2D, left: number, top: number, width: number, height: number): void {
    paint.save();
    paint.beginPath();
    paint.rect(left, top, width, height);
    paint.clip();
    paint.strokeStyle = color("paper");
    paint.globalAlpha *= 0.5;
    paint.lineWidth = 1.4;
    paint.beginPath();
    for (let x = left - height; x < left + width; x += 6) {
      paint.moveTo(x, top + height);
      paint.lineTo(x + height, top);
    }
    paint.stroke();
    paint.restore();
  }

  private labelRuns(paint: CanvasRenderingContext2D, row: CauseRow, first: number, top: number, height: number, from: number, to: number, scale: number): void {
    const wide = 46 / scale;
    let looked = 0;
    for (let i = first; i < row.start.length && row.start[i]! < to && looked < 4000; i++, looked++) {
      const length = row.end[i]! - row.start[i]!;
      if (length < wide) continue;
      const key = this.lanes.states[row.state[i]!]!;
      paint.fillStyle = inkOn(causeColour(key));
      const left = (row.start[i]! - from) * scale;
      const right = (row.end[i]! - from) * scale;
      this.text(paint, `${causeWord(key)} ${time(length)}`, left, right, top + height / 2);
    }
  }

  private typeColour(type: number, label: number): string {
    switch (TYPES[type]) {
      case "collective":
        return causeColour("collective");
      case "copy":
        return causeColour("copy");
      case "operator":
        return causeColour("dispatch");
      case "call":
        return causeColour("call");
      case "frame":
        return causeColour("python");
      case "label":
        return color("muted");
      default:
        return color(`kernel-${label % 5}`);
    }
  }

  private drawEvents(paint: CanvasRenderingContext2D, band: EventBand, range: Range): void {
    const { row } = band;
    const view = { from: range.from, to: range.to, width: this.width };
    if (row.rest) {
      paint.fillStyle = color("kernel-4");
      this.painted.push({ name: row.name, lane: -1, ns: paintRest(paint, row.rest, band.top, band.height - 1, view) });
    }
    const found = this.occurrences();
    const places = found?.places.get(row);
    const each = row.kind === "stream" ? STREAM : DEPTH;
    for (let depth = 0; depth < band.depths; depth++) {
      const list = row.byDepth[band.first + depth];
      if (!list) continue;
      const ns = paintLane(paint, {
        row, list, top: band.top + depth * each, height: each - 1,
        colour: (event) => this.typeColour(row.type[event]!, row.label[event]!),
        lit: found ? (event) => places?.[event] === 1 : null,
        words: (event, left, right, middle) => {
          paint.fillStyle = inkOn(paint.fillStyle as string);
          this.text(paint, this.lanes.names[row.label[event]!] ?? "", left, right, middle);
        },
      }, view);
      this.painted.push({ name: row.name, lane: band.first + depth, ns });
    }
  }

  // Draws a tick for every match in a depth that is not drawn.
  private drawStrip(paint: CanvasRenderingContext2D, band: Band & { kind: "strip" }, range: Range): void {
    const places = this.occurrences()?.places.get(band.row);
    const lanes = this.bands.find((one): one is EventBand => one.kind === "events" && one.row === band.row);
    if (!places || !lanes) return;
    const scale = this.width / (range.to - range.from);
    paint.fillStyle = color("accent");
    band.row.byDepth.forEach((list, depth) => {
      if (this.isDrawn(lanes, depth)) return;
      for (let at = firstEndingAfter(band.row, list, range.from - 1); at < list.length && band.row.start[list[at]!]! < range.to; at++) {
        const event = list[at]!;
        if (places[event] !== 1) continue;
        const left = Math.max((band.row.start[event]! - range.from) * scale, 0);
        paint.fillRect(left, band.top, Math.max((band.row.end[event]! - range.from) * scale - left, 1.5), band.height - 1);
      }
    });
  }

  // The pixels of an event's lane, or of its strip. Null if neither is drawn.
  private placeOf({ row, event }: Picked): { top: number; height: number } | null {
    const band = this.bands.find((one): one is EventBand => one.kind === "events" && one.row === row);
    const depth = row.byDepth.findIndex((list) => list[firstEndingAfter(row, list, row.start[event]!)] === event || list.includes(event));
    if (!band) return null;
    const each = row.kind === "stream" ? STREAM : DEPTH;
    if (this.isDrawn(band, depth)) return { top: band.top + (depth - band.first) * each, height: each - 1 };
    const strip = this.bands.find((one) => one.kind === "strip" && one.row === row);
    return strip ? { top: strip.top, height: strip.height } : null;
  }

  // Draws the selected interval, the mark, the selected event and the arrow from its launch.
  private drawChosen(paint: CanvasRenderingContext2D, range: Range): void {
    const scale = this.width / (range.to - range.from);
    const x = (ns: number) => (ns - range.from) * scale;
    if (this.area) {
      paint.fillStyle = color("accent");
      paint.globalAlpha = 0.14;
      paint.fillRect(x(this.area.from), OVERVIEW, x(this.area.to) - x(this.area.from), this.height - OVERVIEW);
      paint.globalAlpha = 1;
      this.drawLength(paint, "accent", x(this.area.from), x(this.area.to), this.area.to - this.area.from);
    }
    if (this.mark) this.drawLength(paint, "bad", x(this.mark[0]), x(this.mark[1]), this.mark[1] - this.mark[0]);
    if (!this.picked) return;
    const { row, event } = this.picked;
    const place = this.placeOf(this.picked);
    if (!place) return;
    paint.strokeStyle = color("ink");
    paint.lineWidth = 2;
    paint.strokeRect(x(row.start[event]!) - 0.5, place.top, Math.max(3, (row.end[event]! - row.start[event]!) * scale), place.height);
    const other = this.partner();
    const there = other && this.placeOf(other);
    if (!other || !there) return;
    const forward = row.kind === "thread";
    const [from, to] = forward ? [this.picked, other] : [other, this.picked];
    const [fromPlace, toPlace] = forward ? [place, there] : [there, place];
    this.drawArrow(paint, x(from.row.start[from.event]!), fromPlace.top + fromPlace.height / 2, x(to.row.start[to.event]!), toPlace.top + toPlace.height / 2);
  }

  private drawLength(paint: CanvasRenderingContext2D, colour: string, left: number, right: number, ns: number): void {
    paint.fillStyle = color(colour);
    paint.fillRect(left, OVERVIEW, 1, this.height - OVERVIEW);
    paint.fillRect(right, OVERVIEW, 1, this.height - OVERVIEW);
    const words = exactTime(ns);
    const wide = paint.measureText(words).width;
    const at = Math.max(2, Math.min((left + right - wide) / 2, this.width - wide - 6));
    paint.fillStyle = color("paper");
    paint.fillRect(at - 3, OVERVIEW + 3, wide + 6, 15);
    paint.fillStyle = color(colour);
    paint.fillText(words, at, OVERVIEW + 11);
  }

  private drawArrow(paint: CanvasRenderingContext2D, fromX: number, fromY: number, toX: number, toY: number): void {
    paint.strokeStyle = paint.fillStyle = color("ink");
    paint.lineWidth = 1.5;
    const bend = Math.max(24, Math.min(200, Math.abs(toX - fromX) * 0.4));
    paint.beginPath();
    paint.moveTo(fromX, fromY);
    paint.bezierCurveTo(fromX + bend, fromY, toX - bend, toY, toX - 4, toY);
    paint.stroke();
    paint.beginPath();
    paint.moveTo(toX, toY);
    paint.lineTo(toX - 8, toY - 4);
    paint.lineTo(toX - 8, toY + 4);
    paint.fill();
  }

  private drawLever(paint: CanvasRenderingContext2D, band: Band & { kind: "lever" }, range: Range): void {
    paint.fillStyle = color(this.isOn(band.lever) ? "accent" : "muted");
    const box = { top: band.top, height: band.height, width: this.width };
    drawStretches(paint, this.stretches[band.lever]!, box, range.from, range.to);
  }

  // Draws the name above the lane, on pages without a name column.
  private drawName(paint: CanvasRenderingContext2D, band: Band): void {
    if (band.kind === "overview" || band.kind === "ruler" || band.kind === "steps" || band.kind === "strip") return;
    const words = band.kind === "lever" ? `${band.name}: ${this.levers[band.lever]!.title}` : [band.name, band.about].filter(Boolean).join(", ");
    paint.fillStyle = color("paper");
    paint.fillRect(0, band.top - WORDS, this.width, WORDS);
    paint.fillStyle = color("ink");
    this.text(paint, words, 0, this.width, band.top - WORDS / 2);
  }

  // ---- selection by name ----

  // The matches of the selected name or words. Null without a selection or matches.
  private occurrences(): Occurrences | null {
    const filter = nameFilter();
    if (!filter) return null;
    const key = JSON.stringify([chosenName(), chosenWords()]);
    const known = this.found.get(key);
    if (known) return known.names > 0 ? known : null;
    const wanted = this.lanes.names.map((name) => filter(name));
    const all: Occurrences = { names: 0, spans: [], ns: 0, places: new Map() };
    const seen = new Set<number>();
    for (const row of this.lanes.events) {
      const places = new Uint8Array(row.start.length);
      for (let i = 0; i < row.start.length; i++) {
        if (!wanted[row.label[i]!]) continue;
        seen.add(row.label[i]!);
        places[i] = 1;
        all.spans.push([row.start[i]!, row.end[i]!]);
        all.ns += row.end[i]! - row.start[i]!;
      }
      all.places.set(row, places);
    }
    all.names = seen.size;
    all.spans.sort((a, b) => a[0] - b[0]);
    this.found.set(key, all);
    return all.names > 0 ? all : null;
  }

  // The selected name, its number of matches, and buttons for the next and previous one.
  private showLit(): void {
    const words = chosenName() ?? chosenWords();
    if (words === null) return this.lit.replaceChildren();
    const found = this.occurrences();
    const n = found?.spans.length ?? 0;
    const times = n === 1 ? "once" : `${formatValue(n, "count", true)} times`;
    const names = found && found.names > 1 ? ` in ${formatValue(found.names, "count", true)} names` : "";
    const hidden = found ? this.hiddenMatches(found) : { events: 0, depths: 0 };
    this.lit.replaceChildren(
      h("b", {}, shortenMiddle(words, 40)),
      found ? ` ${times}${names}, ${time(found.ns)} ` : " is not on this timeline ",
      ...(hidden.events > 0
        ? [`\u00b7 ${formatValue(hidden.events, "count", true)} in ${hidden.depths} hidden ${hidden.depths === 1 ? "depth" : "depths"} `, button("Show them", () => this.showDepths(true), { class: "lane-button" }), " "]
        : []),
      ...(found
        ? [
            button("\u2039", () => this.goToName(-1), { class: "lane-button", title: "the one before (p)" }),
            button("\u203a", () => this.goToName(1), { class: "lane-button", title: "the next one (n)" }),
          ]
        : []),
      button("\u00d7", () => chooseName(null), { class: "lane-button", title: "choose nothing (Esc)" }),
    );
  }

  // Shows the match after or before the centre of the view.
  private goToName(direction: 1 | -1): void {
    const spans = this.occurrences()?.spans ?? [];
    const { from, to } = this.range.get();
    const whole = to - from >= this.lanes.window * 0.999;
    const middle = whole ? (direction > 0 ? -1 : this.lanes.window + 1) : (from + to) / 2;
    const centre = ([start, end]: [number, number]) => (start + end) / 2;
    const beyond = spans.filter((span) => (direction > 0 ? centre(span) > middle + 0.5 : centre(span) < middle - 0.5));
    const next = direction > 0 ? beyond[0] : beyond[beyond.length - 1];
    if (!next) return announce("No further one.");
    const around = Math.max(next[1] - next[0], LEAST_NS / 4) * 2;
    const middleOfNext = centre(next);
    const half = (next[1] - next[0]) / 2 + around;
    this.range.show(middleOfNext - half, middleOfNext + half, LEAST_NS);
    this.say();
  }

  // A click selects an event or a cause; elsewhere it clears the selection.
  private pick(x: number, y: number): void {
    const band = this.bands.find((one) => y >= one.top && y < one.top + one.height);
    this.area = null;
    if (band?.kind === "causes") {
      const key = this.causeAt(band.row, this.timeAt(x));
      if (key) this.range.choose(this.range.get().cause === key ? null : key);
    }
    const event = band?.kind === "events" ? this.eventAt(band, x, y) : -1;
    void this.choose(band?.kind === "events" && event >= 0 ? { row: band.row, event } : null);
  }

  // ---- the selected event or interval ----

  private async choose(picked: Picked | null): Promise<void> {
    this.picked = picked;
    if (picked) this.area = null;
    await this.showPanel();
    if (picked && this.picked === picked) announce(this.panel.querySelector("h2")?.textContent ?? "");
  }

  private async showPanel(): Promise<void> {
    this.ask();
    this.panel.hidden = this.picked === null && this.area === null;
    if (this.panel.hidden) return this.panel.replaceChildren();
    if (this.details === undefined) {
      this.details = null;
      const bytes = await this.readDetails().catch(() => new Uint8Array());
      this.details = bytes.length > 4 ? new Details(bytes, this.lanes.events) : null;
      this.ask();
    }
    const host: PanelHost = {
      goTo: (picked) => this.goTo(picked),
      lightAll: (name) => chooseName(name),
      close: () => this.letGo(),
      trace: this.trace,
    };
    if (this.picked) {
      const { row, event } = this.picked;
      this.panel.replaceChildren(...eventPanel(this.lanes, this.details, this.picked, TYPES[row.type[event]!]!, this.whereIs(this.picked), host));
    } else if (this.area) {
      const choose = (by: AreaBy) => {
        this.areaBy = by;
        void this.showPanel();
      };
      this.panel.replaceChildren(...areaPanel(this.lanes, this.details, this.area, this.areaBy, choose, host));
    }
  }

  // The lane of an event, and its overlap with the event before it.
  private whereIs({ row, event }: Picked): string {
    const depth = row.byDepth.findIndex((list) => list.includes(event));
    if (row.kind === "thread") return `${row.name}, depth ${depth + 1} of ${row.depths}`;
    const list = row.byDepth[depth]!;
    const before = list[list.indexOf(event) - 1];
    const seam = before === undefined ? 0 : row.end[before]! - row.start[event]!;
    const lane = row.depths > 1 ? `, lane ${depth + 1} of ${row.depths}` : "";
    return `${row.name}${lane}${seam > 0 ? `; begins ${exactTime(seam)} before the end of the one before it` : ""}`;
  }

  // The other end of the arrow: the launch call of a GPU activity, or the first activity that a host event
  // launched.
  private partner(): Picked | null {
    if (!this.picked || !this.details) return null;
    const { row, event } = this.picked;
    if (row.kind === "thread") {
      const begin = this.details.begin(row, event);
      return this.details.launched(row, begin, Math.max(this.details.end(row, event), begin + 1))[0] ?? null;
    }
    const launch = this.details.launch(row, event);
    return launch && callOf(this.lanes, launch);
  }

  // Selects an event and brings it into view. Keeps the zoom unless the event would not fit.
  private goTo(picked: Picked): void {
    const { from, to } = this.range.get();
    const [start, end] = [picked.row.start[picked.event]!, picked.row.end[picked.event]!];
    const length = Math.max(to - from, (end - start) * 1.2);
    if (start < from || end > to) this.range.show((start + end - length) / 2, (start + end + length) / 2, LEAST_NS);
    const place = this.placeOf(picked);
    if (!place || (place.height < DEPTH - 1 && !this.allDepths)) this.showDepths(true);
    void this.choose(picked);
  }

  private goToPartner(kind: "stream" | "thread"): void {
    const other = this.picked?.row.kind === kind ? this.partner() : null;
    if (other) this.goTo(other);
    else announce(kind === "stream" ? "No launch call is known." : "Nothing that it launched is known.");
  }

  private goToNeighbour(by: 1 | -1): void {
    if (!this.picked) {
      const band = this.bands.find((one): one is EventBand => one.kind === "events" && one.row.start.length > 0);
      const first = band && band.row.byDepth[band.first]?.[firstEndingAfter(band.row, band.row.byDepth[band.first]!, this.range.get().from)];
      return void (band && first !== undefined && this.goTo({ row: band.row, event: first }));
    }
    const { row, event } = this.picked;
    const list = row.byDepth.find((one) => one.includes(event))!;
    const next = list[list.indexOf(event) + by];
    if (next === undefined) announce("No further one in this row.");
    else this.goTo({ row, event: next });
  }

  private chosenSpan(): [number, number] | null {
    if (this.area) return [this.area.from, this.area.to];
    return this.picked ? [this.picked.row.start[this.picked.event]!, this.picked.row.end[this.picked.event]!] : null;
  }

  private fit(): void {
    const span = this.chosenSpan();
    if (!span) return announce("Nothing is chosen.");
    const around = Math.max((span[1] - span[0]) * 0.3, LEAST_NS / 8);
    this.range.show(span[0] - around, span[1] + around, LEAST_NS);
  }

  private letGo(): void {
    this.area = this.mark = null;
    void this.choose(null);
  }

  private chooseArea(fromX: number, toX: number, fromY: number, toY: number): void {
    const [left, right] = [Math.min(fromX, toX), Math.max(fromX, toX)].map((x) => Math.round(Math.min(Math.max(this.timeAt(x), 0), this.lanes.window)));
    const [top, bottom] = [Math.min(fromY, toY), Math.max(fromY, toY)];
    const streams = this.bands.filter((one): one is EventBand => one.kind === "events" && one.row.kind === "stream");
    const touched = streams.filter((band) => band.top < bottom && band.top + band.height > top);
    this.picked = null;
    this.area = { from: left!, to: Math.max(right!, left! + 1), rows: (touched.length > 0 ? touched : streams).map((band) => band.row) };
  }

  // ---- under the pointer ----

  private timeAt(x: number): number {
    const range = this.range.get();
    return range.from + (x / this.width) * (range.to - range.from);
  }

  // Describes a position: heading, then lines.
  describe(x: number, y: number): string[] | null {
    const band = this.bands.find((one) => y >= one.top && y < one.top + one.height);
    if (!band) return null;
    const at = band.kind === "overview" ? (x / this.width) * this.lanes.window : this.timeAt(x);
    if (band.kind === "causes" || band.kind === "overview") {
      const row = band.kind === "causes" ? band.row : this.lanes.causes[0];
      return row ? this.describeCause(row, at) : null;
    }
    if (band.kind === "steps") {
      const step = this.lanes.steps.find((one) => one.start <= at && at < one.end);
      return step ? [step.name, time(step.end - step.start)] : null;
    }
    if (band.kind === "lever") {
      const lever = this.levers[band.lever]!;
      return [`${band.name}: ${lever.title}`, `\u2212${time(lever.gain_ns)}, ${lever.grade}; it acts under the brackets`];
    }
    if (band.kind !== "events") return null;
    const event = this.eventAt(band, x, y);
    if (event < 0) return null;
    const length = band.row.end[event]! - band.row.start[event]!;
    const about = `${TYPES[band.row.type[event]!]}, ${exactTime(length)} at ${exactTime(band.row.start[event]!)}`;
    const near = this.sameColumn(band, event, x, y);
    return [this.lanes.names[band.row.label[event]!] ?? "", about, ...(near > 1 ? [`${formatValue(near, "count", true)} events in this pixel; zoom in`] : [])];
  }

  private laneAt(band: EventBand, y: number): Uint32Array | undefined {
    return band.row.byDepth[band.first + Math.floor((y - band.top) / (band.row.kind === "stream" ? STREAM : DEPTH))];
  }

  // The number of events that share the pixel of a narrow event.
  private sameColumn(band: EventBand, event: number, x: number, y: number): number {
    const range = this.range.get();
    const pixel = (range.to - range.from) / this.width;
    const list = this.laneAt(band, y);
    if (!list || band.row.end[event]! - band.row.start[event]! >= pixel) return 1;
    const from = range.from + Math.floor(x) * pixel;
    let count = 0;
    for (let at = firstEndingAfter(band.row, list, from - 1); at < list.length && band.row.start[list[at]!]! < from + pixel; at++) {
      if (band.row.start[list[at]!]! >= from) count++;
    }
    return count;
  }

  // The event at a position or within two pixels; -1 if there is none. The upper half of a seam is the
  // earlier event.
  private eventAt(band: EventBand, x: number, y: number): number {
    const at = this.timeAt(x);
    const { row } = band;
    const list = this.laneAt(band, y);
    if (!list) return -1;
    const each = row.kind === "stream" ? STREAM : DEPTH;
    const isLower = (y - band.top) % each >= each / 2;
    const slack = ((this.range.get().to - this.range.get().from) / this.width) * 2;
    let near = -1;
    for (let i = firstEndingAfter(row, list, at - slack - 1); i < list.length && row.start[list[i]!]! <= at + slack; i++) {
      const event = list[i]!;
      const over = row.start[event]! <= at && at < row.end[event]!;
      const half = over ? halfOf(row, list, i, at) : "whole";
      if (over && (half === "whole" || (half === "lower") === isLower)) return event;
      if (near < 0) near = event;
    }
    return near;
  }

  private causeAt(row: CauseRow, at: number): string | null {
    const i = above(row.end, at);
    return i < row.start.length && row.start[i]! <= at ? this.lanes.states[row.state[i]!]! : null;
  }

  private describeCause(row: CauseRow, at: number): string[] | null {
    const i = above(row.end, at);
    if (i >= row.start.length || row.start[i]! > at) return null;
    const key = this.lanes.states[row.state[i]!]!;
    const word = causeWord(key);
    if (row.share) return [word, "one of several in this stretch: zoomed in no further than shares"];
    return [word, `${time(row.end[i]! - row.start[i]!)} at ${time(row.start[i]!)}`];
  }

  private point(event: { clientX: number; clientY: number }): { x: number; y: number } {
    const box = this.canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private hover(event: PointerEvent): void {
    const { x, y } = this.point(event);
    this.cursor = Math.min(1, Math.max(0, x / this.width));
    const told = this.describe(x, y);
    this.tip.hidden = !told;
    if (!told) return;
    this.tip.replaceChildren(h("b", {}, told[0]!), ...told.slice(1).map((line) => h("div", {}, line)));
    const box = this.tip.getBoundingClientRect();
    this.tip.style.left = `${Math.max(0, Math.min(x + 12, this.width - box.width - 4))}px`;
    this.tip.style.top = `${y + 18}px`;
  }

  private showHelp(): void {
    this.help.hidden = !this.help.hidden;
  }

  // ---- navigation ----

  private zoom(factor: number, around: number): void {
    const { from, to } = this.range.get();
    const middle = from + (to - from) * around;
    const length = Math.max((to - from) * factor, LEAST_NS);
    this.range.show(middle - length * around, middle + length * (1 - around), LEAST_NS);
  }
  private move(share: number): void {
    const { from, to } = this.range.get();
    this.range.show(from + (to - from) * share, to + (to - from) * share, LEAST_NS);
  }

  // Shows the next idle interval that is long enough to see, or the next one of the selected cause.
  goToGap(direction: 1 | -1): void {
    const row = this.lanes.causes[0];
    if (!row) return;
    const { from, to, cause } = this.range.get();
    const middle = (from + to) / 2;
    const whole = to - from >= this.lanes.window * 0.999;
    const least = this.lanes.window / 2000;
    const fits = (i: number) => {
      const key = this.lanes.states[row.state[i]!]!;
      return cause ? key === cause : key !== "compute" && row.end[i]! - row.start[i]! >= least;
    };
    const n = row.start.length;
    let i = whole ? (direction > 0 ? 0 : n - 1) : above(row.start, middle) - (direction > 0 ? 0 : 1);
    while (i >= 0 && i < n) {
      const centre = (row.start[i]! + row.end[i]!) / 2;
      const beyond = whole || (direction > 0 ? centre > middle * 1.0000001 : centre < middle * 0.9999999);
      if (beyond && fits(i)) {
        const length = row.end[i]! - row.start[i]!;
        this.range.show(row.start[i]! - length * 0.6, row.end[i]! + length * 0.6, LEAST_NS);
        this.say();
        return;
      }
      i += direction;
    }
    announce("No further gap.");
  }

  private say(): void {
    const range = this.range.get();
    const row = this.lanes.causes[0];
    const told = row ? this.describeCause(row, (range.from + range.to) / 2) : null;
    announce(`${time(range.from)} to ${time(range.to)}. ${told ? `In the middle: ${told.join(", ")}.` : ""}`);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = Number(event.key);
    const known: Record<string, () => void> = {
      ArrowLeft: () => this.move(-0.2),
      a: () => this.move(-0.2),
      ArrowRight: () => this.move(0.2),
      d: () => this.move(0.2),
      "+": () => this.zoom(0.5, 0.5),
      "=": () => this.zoom(0.5, 0.5),
      w: () => this.zoom(0.5, this.cursor),
      "-": () => this.zoom(2, 0.5),
      s: () => this.zoom(2, this.cursor),
      "0": () => this.range.show(0, this.lanes.window),
      f: () => this.fit(),
      m: () => {
        this.mark = this.chosenSpan();
        this.ask();
      },
      "[": () => this.goToNeighbour(-1),
      "]": () => this.goToNeighbour(1),
      ",": () => this.goToPartner("stream"),
      ".": () => this.goToPartner("thread"),
      g: () => this.goToGap(1),
      G: () => this.goToGap(-1),
      n: () => (nameFilter() === null ? this.goToGap(1) : this.goToName(1)),
      p: () => (nameFilter() === null ? this.goToGap(-1) : this.goToName(-1)),
      q: () => this.letGo(),
      "?": () => this.showHelp(),
      Enter: () => this.say(),
      Escape: () => {
        if (!this.help.hidden) this.showHelp();
        else if (this.picked || this.area || this.mark) this.letGo();
        else if (nameFilter() !== null) chooseName(null);
        else this.canvas.blur();
      },
    };
    const action = known[event.key] ?? (event.shiftKey ? undefined : known[event.key.toLowerCase()]);
    const wanted = step >= 1 ? this.lanes.steps[step - 1] : undefined;
    if (action) action();
    else if (wanted) this.range.show(wanted.start, wanted.end, LEAST_NS);
    else return;
    event.preventDefault();
  }

  private listen(): void {
    const fingers = new Map<number, { x: number; y: number }>();
    let pressed: { x: number; y: number } | null = null; // start of a one-finger or mouse drag
    let moved = false;
    let chooses = false; // the interval, during a drag
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("wheel", (event) => {
      const zooms = event.ctrlKey || event.metaKey;
      if (!zooms && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return; // vertical wheel: the page
                                                                              // scrolls
      event.preventDefault();
      if (zooms) this.zoom(Math.exp(event.deltaY * 0.004), this.point(event).x / this.width);
      else this.move(event.deltaX / this.width);
    }, { passive: false });
    this.canvas.addEventListener("dblclick", () => this.chosenSpan() && this.fit());
    this.canvas.addEventListener("pointerdown", (event) => {
      const at = this.point(event);
      fingers.set(event.pointerId, at);
      pressed = fingers.size === 1 ? at : null;
      moved = false;
      chooses = event.pointerType !== "touch" && !event.shiftKey && !this.bands.some((band) => (band.kind === "ruler" || band.kind === "overview") && at.y >= band.top && at.y < band.top + band.height);
      this.canvas.setPointerCapture(event.pointerId);
      if (this.inOverview(at.y)) this.jumpTo(at.x);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return this.hover(event);
      const now = this.point(event);
      if (pressed && !moved && Math.hypot(now.x - pressed.x, now.y - pressed.y) < STILL) return;
      moved = true;
      this.tip.hidden = true;
      if (!chooses || !pressed) return this.drag(fingers, event.pointerId, now);
      this.chooseArea(pressed.x, now.x, pressed.y, now.y);
      this.ask();
    });
    const lift = (event: PointerEvent) => fingers.delete(event.pointerId);
    this.canvas.addEventListener("pointerup", (event) => {
      lift(event);
      if (pressed && !moved) this.pick(pressed.x, pressed.y);
      else if (pressed && chooses) void this.showPanel();
      pressed = null;
    });
    this.canvas.addEventListener("pointercancel", lift);
    this.canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    this.tip.hidden = true;
  }

  private inOverview(y: number): boolean {
    return y < OVERVIEW;
  }
  private jumpTo(x: number): void {
    const { from, to } = this.range.get();
    const middle = (x / this.width) * this.lanes.window;
    if (to - from < this.lanes.window) this.range.show(middle - (to - from) / 2, middle + (to - from) / 2, LEAST_NS);
  }

  // One pointer moves or selects; two pointers zoom around their midpoint.
  private drag(fingers: Map<number, { x: number; y: number }>, id: number, now: { x: number; y: number }): void {
    const before = fingers.get(id)!;
    if (fingers.size === 2) {
      const other = [...fingers].find(([key]) => key !== id)![1];
      const was = Math.max(Math.abs(before.x - other.x), 10);
      const is = Math.max(Math.abs(now.x - other.x), 10);
      this.zoom(was / is, (now.x + other.x) / 2 / this.width);
    } else if (this.inOverview(before.y)) {
      this.jumpTo(now.x);
    } else {
      this.move((before.x - now.x) / this.width);
    }
    fingers.set(id, now);
  }

  // After an action was switched on or off.
  redraw(): void {
    this.ask();
  }

  focus(): void {
    this.canvas.focus({ preventScroll: true });
    this.element.scrollIntoView({ block: "nearest" });
  }
}
