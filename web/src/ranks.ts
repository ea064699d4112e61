// The ranks of a job over time: computing, idle or communicating. One row per rank; its name opens the page
// of the rank.

import { button, h } from "./dom.ts";
import { causeColour, causeWord } from "./palette.ts";
import { color, onTheme } from "./theme.ts";
import { formatValue } from "./units.ts";
import type { Answer, RankStrip } from "./view.ts";

const ROW = 20;
const STATES = 3;
const BUSY = new Set(["compute", "copy", "collective", "comm_wait", "transfer"]);

// Idle time has the colour of its largest cause.
function coloursOf(answer: Answer): { keys: string[]; words: string[] } {
  const idle = answer.causes.find((cause) => !BUSY.has(cause.key))?.key ?? "no_evidence";
  return { keys: ["compute", idle, "comm_wait"], words: ["computes or copies", `idle, mostly ${causeWord(idle)}`, "communicates"] };
}

// open: shows the page of a rank, by index.
export function ranksElement(answer: Answer, open: (place: number) => void): HTMLElement | null {
  const { ranks } = answer;
  if (ranks.length === 0) return null;
  const { keys, words } = coloursOf(answer);
  const swatches = keys.map(() => h("span", { class: "swatch" }));
  const canvases: HTMLCanvasElement[] = [];
  const grid = h("div", { class: "rank-grid" });
  ranks.forEach((rank, place) => {
    const canvas = h("canvas", { class: "rank-canvas", attributes: { "aria-hidden": "true" } });
    canvas.addEventListener("click", () => open(place));
    canvases.push(canvas);
    grid.append(
      button(rank.name, () => open(place), { class: "rank-name", title: `Open ${rank.name}` }),
      h("div", { class: "rank-view" }, canvas),
      h("div", { class: "rank-remark" }, rank.remark),
    );
  });
  if (answer.strip_ns > 0) grid.append(h("div", { class: "rank-ruler" }, ...ticks(answer.strip_ns)));
  const draw = () => {
    ranks.forEach((rank, i) => drawRank(canvases[i]!, rank, keys));
    keys.forEach((key, i) => (swatches[i]!.style.background = causeColour(key)));
  };
  onTheme(draw);
  new ResizeObserver(draw).observe(grid);
  const legend = h("p", { class: "legend rank-legend" }, ...words.map((word, i) => h("span", {}, swatches[i]!, word)));
  return h("section", { class: "ranks", attributes: { "aria-label": "Ranks over time" } }, grid, legend);
}

function ticks(span: number): HTMLElement[] {
  const rough = span / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough)!;
  const marks: HTMLElement[] = [];
  for (let at = 0; at < span * 0.86; at += step) {
    const mark = h("span", {}, at === 0 ? "0" : formatValue(at, "ns", true).replace(/\.0+(?= )/, ""));
    mark.style.left = `${(100 * at) / span}%`;
    marks.push(mark);
  }
  return marks;
}

function drawRank(canvas: HTMLCanvasElement, rank: RankStrip, keys: string[]): void {
  const width = canvas.parentElement!.clientWidth;
  if (width === 0) return;
  const scale = Math.min(globalThis.devicePixelRatio || 1, 2);
  canvas.width = Math.round(width * scale);
  canvas.height = ROW * scale;
  const paint = canvas.getContext("2d")!;
  paint.setTransform(scale, 0, 0, scale, 0, 0);
  paint.fillStyle = color("shade");
  paint.fillRect(0, 0, width, ROW);
  const bins = rank.bins.length / STATES;
  for (let bin = 0; bin < bins; bin++) {
    let bottom = ROW;
    for (let state = 0; state < STATES; state++) {
      const height = (ROW * rank.bins[bin * STATES + state]!) / 255;
      paint.fillStyle = causeColour(keys[state]!);
      paint.fillRect((bin * width) / bins, bottom - height, width / bins + 0.5, height);
      bottom -= height;
    }
  }
}
