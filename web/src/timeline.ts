// The run on a time axis: why each GPU was idle, its streams, the threads that give it work. One
// canvas; zoomed out, columns hold shares, zoomed in, every event is there. Drag, wheel, keys and
// fingers move it; the address follows.

import { drawStretches, stretchesOf, type Stretches } from "./brackets.ts";
import { chooseName, chosenName, knowNames, onChosen } from "./chosen.ts";
import { announce, button, h, saveFile } from "./dom.ts";
import { type CauseRow, type EventRow, type Lanes } from "./lanes.ts";
import { causeColour, causeWord, inkOn, isHatched } from "./palette.ts";
import { perfettoFile } from "./perfetto.ts";
import { type Range, type RangeChoice } from "./range.ts";
import { shortenMiddle } from "./text.ts";
import { color, onTheme } from "./theme.ts";
import { formatValue } from "./units.ts";
import type { Lever } from "./view.ts";

const OVERVIEW = 30;
const RULER = 20;
const STEPS = 18;
const CAUSES = 66;
const STREAM = 20;
const DEPTH = 14;
const GAP = 5;
const LEVER = 13;
const WORDS = 14; // above a lane, where there is no column for its name
const LONGEST_NAME = 14;
const PALE = 0.2; // what is not chosen
const STILL = 4; // pixels: who moves less has not dragged
const SHOWN_DEPTHS = 5;
const PHONE_DEPTHS = 3;
const LEAST_NS = 2000;
const FONT = "11px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const TYPES = ["kernel", "collective", "copy", "operator", "call", "frame", "label"] as const;

type Band =
  | { kind: "overview" | "ruler" | "steps"; top: number; height: number; name: string; about: string }
  | { kind: "lever"; lever: number; top: number; height: number; name: string; about: string }
  | { kind: "causes"; row: CauseRow; top: number; height: number; name: string; about: string }
  | { kind: "events"; row: EventRow; first: number; depths: number; top: number; height: number; name: string; about: string };

const time = (ns: number) => formatValue(Math.round(ns), "ns", true);

// First index whose value is above `limit`.
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

// A lane's name as its column holds it. Numbers of GPUs differ at their ends. That it is a thread stands below; numbers of threads differ at their ends.
function laneWords(name: string): string {
  const stream = /^GPU (\d+) (stream .*)$/.exec(name);
  if (stream && name.length > LONGEST_NAME) return shortenMiddle(`\u2026${stream[1]!.slice(-3)}, ${stream[2]!}`, LONGEST_NAME + 4);
  const thread = /^thread (-?\d+)(.*)$/.exec(name);
  if (!thread) return shortenMiddle(name, LONGEST_NAME);
  const [, number, process] = thread as unknown as [string, string, string];
  const short = number.length > LONGEST_NAME - 4 ? `\u2026${number.slice(-6)}` : number;
  return short.length + process.length <= LONGEST_NAME ? short + process : short;
}

// How often a name occurs, how long in all, and where.
interface Occurrences {
  spans: [number, number][];
  ns: number;
}

export class Timeline {
  readonly element: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly names = h("div", { class: "lane-names", attributes: { "aria-hidden": "true" } });
  private readonly tip = h("div", { class: "lane-tip", attributes: { "aria-hidden": "true" } });
  private readonly shown = h("span", { class: "lane-range" });
  private bands: Band[] = [];
  private order: number[] = []; // of states from the bottom of a column
  private painted: { name: string; ns: number }[] = []; // time of the events drawn, by stream
  private allDepths = false;
  private depthsButton!: HTMLButtonElement;
  private pending = false;
  private width = 0;
  private height = 0;
  private stretches: Stretches[];
  private readonly found = new Map<string, Occurrences>();
  private readonly saved = h("span", { class: "lane-saved" });
  private readonly picked = h("span", { class: "lane-picked" });

  // isOn: whether a lever is counted in.
  constructor(
    private readonly lanes: Lanes,
    private readonly range: RangeChoice,
    causes: string[],
    private readonly levers: Lever[] = [],
    private readonly isOn: (lever: number) => boolean = () => true,
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
          "Timeline of the run. Arrow keys move, plus and minus zoom, 0 shows all, digits show a step, n and p go to the next and the previous gap, Enter says what is shown.",
      },
    });
    this.element = h(
      "section",
      { class: "timeline", attributes: { "aria-label": "Timeline" } },
      this.toolbar(),
      h("div", { class: "lanes" }, this.names, h("div", { class: "lane-view" }, this.canvas, this.tip)),
      this.footer(),
    );
    this.listen();
    range.onChange(() => this.ask());
    onTheme(() => this.ask());
    onChosen(this.element, () => {
      this.showPicked();
      const name = chosenName();
      if (name !== null && this.isHidden(name)) this.showDepths(true);
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
      this.picked,
      button("Whole run", () => this.range.show(0, this.lanes.window), { class: "lane-button" }),
      ...(steps.length > 1 ? steps : []),
      button("\u2039 gap", () => this.goToGap(-1), { class: "lane-button", title: "previous gap (p)" }),
      button("gap \u203a", () => this.goToGap(1), { class: "lane-button", title: "next gap (n)" }),
      depths,
      button("Perfetto", () => this.savePerfetto(), { class: "lane-button", title: "Save what is shown here as a file for ui.perfetto.dev" }),
    );
  }

  private showDepths(all: boolean): void {
    this.allDepths = all;
    this.depthsButton.setAttribute("aria-pressed", String(all));
    this.resize();
  }

  // Whether an event of that name lies in a depth that is not drawn.
  private isHidden(name: string): boolean {
    const label = this.lanes.names.indexOf(name);
    return this.bands.some(
      (band) =>
        band.kind === "events" &&
        band.row.byDepth.some(
          (list, depth) => (depth < band.first || depth >= band.first + band.depths) && list.some((event) => band.row.label[event] === label),
        ),
    );
  }

  private showDepthsButton(): void {
    this.depthsButton.hidden = !this.lanes.events.some((row) => row.kind === "thread" && row.depths > SHOWN_DEPTHS);
  }

  // The events are read: what was drawn without them is drawn anew.
  complete(): void {
    this.stretches = this.levers.map((lever) => stretchesOf(this.lanes, lever));
    this.found.clear();
    this.showDepthsButton();
    this.resize();
  }

  private footer(): HTMLElement {
    const { held, total, shortest } = this.lanes;
    const count = (n: number) => formatValue(n, "count", true);
    const holds =
      held === total
        ? `all ${count(total)} events, exact`
        : `${count(held)} of ${count(total)} events exact, all of ${time(shortest)} and more; zoomed out: all of them, as shares`;
    const key = (name: string, what: string) => [h("kbd", {}, name), ` ${what} `];
    return h(
      "div",
      { class: "lane-foot" },
      h("span", { class: "lane-keys" }, ...key("drag", "move"), ...key("Ctrl", "+ wheel,"), ...key("+", ""), ...key("\u2212", "zoom"), ...key("n", ""), ...key("p", "gaps"), ...key("1\u20139", "step"), ...key("0", "whole run")),
      h("span", {}, holds),
      this.saved,
    );
  }

  private savePerfetto(): void {
    const { from, to } = this.range.get();
    const { json, count } = perfettoFile(this.lanes, TYPES, from, to);
    const name = `assay-${Math.round(from)}-${Math.round(to)}ns.json`;
    saveFile(name, "application/json", json);
    const some = this.lanes.held < this.lanes.total ? ` of those held here (${formatValue(this.lanes.held, "count", true)} of ${formatValue(this.lanes.total, "count", true)})` : "";
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
      const most = this.allDepths ? row.depths : phone ? PHONE_DEPTHS : SHOWN_DEPTHS;
      const first = this.allDepths ? 0 : this.outermost(row);
      const depths = row.kind === "stream" ? Math.max(1, row.depths) : Math.max(1, Math.min(row.depths - first, most));
      const height = depths * (row.kind === "stream" ? STREAM : DEPTH);
      const name = row.kind === "stream" ? row.name.replace(/^GPU \d+, /, this.lanes.causes.length > 1 ? row.name.split(",")[0]! + " " : "") : row.name;
      const about = row.kind === "stream" ? (depths > 1 ? `${depths} at once` : "") : first > 0 ? `${first} outer hidden` : "host thread";
      bands.push({ kind: "events", row, first, depths, name, about, ...add(height, GAP, true) });
    }
    this.bands = bands;
    this.height = top;
  }

  // How many depths say nothing of when what happened: one event that fills nearly all of the window.
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
    this.draw(); // in the frame that shows the new size
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
      if (this.phone()) this.drawName(paint, band);
    }
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

  // Words in a stretch, as far as they fit.
  private text(paint: CanvasRenderingContext2D, words: string, left: number, right: number, middle: number): void {
    const begin = Math.max(left, 0) + 4;
    const room = Math.min(right, this.width) - begin - 3;
    if (room < 22) return;
    const most = Math.floor(room / 5.6);
    let shown = words.length > most ? `${words.slice(0, Math.max(1, most - 1))}\u2026` : words;
    while (shown.length > 2 && paint.measureText(shown).width > room) shown = `${shown.slice(0, -2)}\u2026`;
    if (shown.length > 2) paint.fillText(shown, begin, middle);
  }

  // Per pixel column the shares of the states, compute at the bottom.
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

  private drawEvents(paint: CanvasRenderingContext2D, band: Band & { kind: "events" }, range: Range): void {
    const row = band.row;
    if (row.busy) this.drawBusy(paint, row.busy, band, range);
    const each = row.kind === "stream" ? STREAM : DEPTH;
    let painted = 0;
    for (let depth = 0; depth < band.depths; depth++) {
      const list = row.byDepth[band.first + depth];
      if (list) painted += this.drawDepth(paint, row, list, band.top + depth * each, each - 1, range);
    }
    if (row.kind === "stream") this.painted.push({ name: row.name, ns: painted });
  }

  private drawLever(paint: CanvasRenderingContext2D, band: Band & { kind: "lever" }, range: Range): void {
    paint.fillStyle = color(this.isOn(band.lever) ? "accent" : "muted");
    const box = { top: band.top, height: band.height, width: this.width };
    drawStretches(paint, this.stretches[band.lever]!, box, range.from, range.to);
  }

  // Above its lane, where there is no column of names.
  private drawName(paint: CanvasRenderingContext2D, band: Band): void {
    if (band.kind === "overview" || band.kind === "ruler" || band.kind === "steps") return;
    const words = band.kind === "lever" ? `${band.name}: ${this.levers[band.lever]!.title}` : [band.name, band.about].filter(Boolean).join(", ");
    paint.fillStyle = color("paper");
    paint.fillRect(0, band.top - WORDS, this.width, WORDS);
    paint.fillStyle = color("ink");
    this.text(paint, words, 0, this.width, band.top - WORDS / 2);
  }

  // How busy a stream is by all its events, where only the longest are held.
  private drawBusy(paint: CanvasRenderingContext2D, busy: Uint8Array, band: Band, range: Range): void {
    paint.fillStyle = color("kernel-2");
    const bin = this.lanes.window / busy.length;
    const scale = this.width / (range.to - range.from);
    for (let i = Math.max(0, Math.floor(range.from / bin)); i < busy.length && i * bin < range.to; i++) {
      const share = busy[i]! / 255;
      const left = (i * bin - range.from) * scale;
      paint.fillRect(left, band.top + band.height * (1 - share), Math.max(bin * scale, 1), band.height * share);
    }
  }

  // Events of one depth do not overlap: what is narrower than a pixel is drawn once per pixel. The
  // time of the events that it has drawn, as far as they lie in the range.
  private drawDepth(paint: CanvasRenderingContext2D, row: EventRow, list: Uint32Array, top: number, height: number, range: Range): number {
    const scale = this.width / (range.to - range.from);
    let painted = 0;
    const inRange = (event: number) => Math.min(row.end[event]!, range.to) - Math.max(row.start[event]!, range.from);
    const name = chosenName();
    const wanted = name !== null && this.occurrences(name).spans.length > 0 ? this.lanes.names.indexOf(name) : -1;
    const isPale = (event: number) => wanted >= 0 && row.label[event]! !== wanted;
    const pixel = 1 / scale;
    let low = 0;
    let high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (row.end[list[middle]!]! > range.from) high = middle;
      else low = middle + 1;
    }
    let at = low;
    while (at < list.length) {
      const event = list[at]!;
      const start = row.start[event]!;
      if (start >= range.to) break;
      const end = row.end[event]!;
      const left = (start - range.from) * scale;
      const wide = (end - start) * scale;
      paint.fillStyle = this.typeColour(row.type[event]!, row.label[event]!);
      if (wide >= 1) {
        paint.globalAlpha = isPale(event) ? PALE : 1;
        paint.fillRect(Math.max(left, -2), top, Math.min(wide, this.width - left + 4) - (wide > 4 ? 0.7 : 0), height);
        if (wide > 26) {
          paint.fillStyle = inkOn(paint.fillStyle as string);
          this.text(paint, this.lanes.names[row.label[event]!] ?? "", left, left + wide, top + height / 2 + 0.5);
        }
        paint.globalAlpha = 1;
        painted += inRange(event);
        at++;
        continue;
      }
      // All that begin within this pixel, by the time that they fill.
      const limit = start + pixel;
      let filled = 0;
      let pale = isPale(event);
      while (at < list.length && row.start[list[at]!]! < limit) {
        const next = list[at]!;
        filled += Math.min(row.end[next]!, limit) - row.start[next]!;
        if ((row.end[next]! - row.start[next]!) * scale >= 1 && next !== event) break;
        pale = pale && isPale(next);
        painted += inRange(next);
        at++;
      }
      if (wanted >= 0 && !pale) paint.fillStyle = this.typeColour(row.type[event]!, wanted);
      paint.globalAlpha = wanted >= 0 ? (pale ? PALE : 1) : Math.max(0.25, Math.min(1, filled / pixel));
      paint.fillRect(left, top, 1, height);
      paint.globalAlpha = 1;
    }
    return painted;
  }

  // ---- what is chosen by name ----

  private occurrences(name: string): Occurrences {
    const known = this.found.get(name);
    if (known) return known;
    const label = this.lanes.names.indexOf(name);
    const spans: [number, number][] = [];
    let ns = 0;
    for (const row of label < 0 ? [] : this.lanes.events) {
      for (let i = 0; i < row.start.length; i++) {
        if (row.label[i]! !== label) continue;
        spans.push([row.start[i]!, row.end[i]!]);
        ns += row.end[i]! - row.start[i]!;
      }
    }
    spans.sort((a, b) => a[0] - b[0]);
    const all = { spans, ns };
    this.found.set(name, all);
    return all;
  }

  // The name that is chosen, how often it is here, and the way from one to the next.
  private showPicked(): void {
    const name = chosenName();
    if (name === null) return this.picked.replaceChildren();
    const { spans, ns } = this.occurrences(name);
    const times = spans.length === 1 ? "once" : `${formatValue(spans.length, "count", true)} times`;
    this.picked.replaceChildren(
      h("b", {}, shortenMiddle(name, 40)),
      spans.length > 0 ? ` ${times}, ${time(ns)} ` : " is not on this timeline ",
      ...(spans.length > 0
        ? [
            button("\u2039", () => this.goToName(-1), { class: "lane-button", title: "the one before (p)" }),
            button("\u203a", () => this.goToName(1), { class: "lane-button", title: "the next one (n)" }),
          ]
        : []),
      button("\u00d7", () => chooseName(null), { class: "lane-button", title: "choose nothing (Esc)" }),
    );
  }

  // Shows one occurrence of the chosen name: the one behind or before the middle of what is seen.
  private goToName(direction: 1 | -1): void {
    const { spans } = this.occurrences(chosenName() ?? "");
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

  // What a click picks out: an event's name, a cause; on nothing, nothing.
  private pick(x: number, y: number): void {
    const band = this.bands.find((one) => y >= one.top && y < one.top + one.height);
    if (band?.kind === "causes") {
      const key = this.causeAt(band.row, this.timeAt(x));
      if (key) this.range.choose(this.range.get().cause === key ? null : key);
      return;
    }
    if (band?.kind !== "events") return;
    const event = this.eventAt(band, x, y);
    const name = event < 0 ? null : (this.lanes.names[band.row.label[event]!] ?? null);
    chooseName(name === chosenName() ? null : name);
  }

  // ---- what is under the pointer ----

  private timeAt(x: number): number {
    const range = this.range.get();
    return range.from + (x / this.width) * (range.to - range.from);
  }

  // What lies at a place, in words: heading, then lines.
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
    return [this.lanes.names[band.row.label[event]!] ?? "", `${TYPES[band.row.type[event]!]}, ${time(length)} at ${time(band.row.start[event]!)}`];
  }

  // The event at a place, or within two pixels of it; -1: none.
  private eventAt(band: Band & { kind: "events" }, x: number, y: number): number {
    const at = this.timeAt(x);
    const depth = band.first + Math.floor((y - band.top) / (band.row.kind === "stream" ? STREAM : DEPTH));
    const slack = ((this.range.get().to - this.range.get().from) / this.width) * 2;
    let near = -1;
    for (const event of band.row.byDepth[depth] ?? []) {
      if (band.row.start[event]! > at + slack) break;
      if (band.row.end[event]! < at - slack) continue;
      if (band.row.start[event]! <= at && at < band.row.end[event]!) return event;
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
    const told = this.describe(x, y);
    this.tip.hidden = !told;
    if (!told) return;
    this.tip.replaceChildren(h("b", {}, told[0]!), ...told.slice(1).map((line) => h("div", {}, line)));
    const box = this.tip.getBoundingClientRect();
    this.tip.style.left = `${Math.max(0, Math.min(x + 12, this.width - box.width - 4))}px`;
    this.tip.style.top = `${y + 18}px`;
  }

  // ---- moving ----

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

  // The next stretch of idle time, of the chosen cause where there is one, that can be seen.
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
      w: () => this.zoom(0.5, 0.5),
      "-": () => this.zoom(2, 0.5),
      s: () => this.zoom(2, 0.5),
      "0": () => this.range.show(0, this.lanes.window),
      n: () => (chosenName() === null ? this.goToGap(1) : this.goToName(1)),
      p: () => (chosenName() === null ? this.goToGap(-1) : this.goToName(-1)),
      Enter: () => this.say(),
      Escape: () => (chosenName() === null ? this.canvas.blur() : chooseName(null)),
    };
    const action = known[event.key];
    const wanted = step >= 1 ? this.lanes.steps[step - 1] : undefined;
    if (action) action();
    else if (wanted) this.range.show(wanted.start, wanted.end, LEAST_NS);
    else return;
    event.preventDefault();
  }

  private listen(): void {
    const fingers = new Map<number, { x: number; y: number }>();
    let pressed: { x: number; y: number } | null = null; // still a click
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("wheel", (event) => {
      const zooms = event.ctrlKey || event.metaKey;
      if (!zooms && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return; // the page scrolls
      event.preventDefault();
      if (zooms) this.zoom(Math.exp(event.deltaY * 0.004), this.point(event).x / this.width);
      else this.move(event.deltaX / this.width);
    }, { passive: false });
    this.canvas.addEventListener("dblclick", (event) => this.zoom(0.4, this.point(event).x / this.width));
    this.canvas.addEventListener("pointerdown", (event) => {
      fingers.set(event.pointerId, this.point(event));
      pressed = fingers.size === 1 ? this.point(event) : null;
      this.canvas.setPointerCapture(event.pointerId);
      if (this.inOverview(this.point(event).y)) this.jumpTo(this.point(event).x);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return this.hover(event);
      const now = this.point(event);
      if (pressed && Math.hypot(now.x - pressed.x, now.y - pressed.y) < STILL) return;
      pressed = null;
      this.drag(fingers, event.pointerId, this.point(event));
    });
    const lift = (event: PointerEvent) => fingers.delete(event.pointerId);
    this.canvas.addEventListener("pointerup", (event) => {
      lift(event);
      if (pressed) this.pick(pressed.x, pressed.y);
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

  // One finger or the mouse moves; two zoom around their middle.
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

  // Another lever is counted in, or no longer.
  redraw(): void {
    this.ask();
  }

  focus(): void {
    this.canvas.focus({ preventScroll: true });
    this.element.scrollIntoView({ block: "nearest" });
  }
}
