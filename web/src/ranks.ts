// The ranks of a job over time: who computes, who is idle, who communicates.

import { h } from "./dom.ts";
import { causeColour } from "./palette.ts";
import { color, onTheme } from "./theme.ts";
import type { RankStrip } from "./view.ts";

const ROW = 22;
const STATES = ["compute", "dispatch", "comm_wait"];
const WORDS = ["computes or copies", "idle", "communicates"];

export function ranksElement(ranks: RankStrip[]): HTMLElement | null {
  if (ranks.length === 0) return null;
  const canvas = h("canvas", {
    class: "rank-canvas",
    attributes: { role: "img", "aria-label": `What ${ranks.length} ranks did over time; the remarks beside it say who is late` },
  });
  const names = h("div", { class: "rank-names" }, ...ranks.map((rank) => h("div", {}, rank.name)));
  const remarks = h("div", { class: "rank-remarks" }, ...ranks.map((rank) => h("div", {}, rank.remark)));
  const swatches = STATES.map(() => h("span", { class: "swatch" }));
  const legend = h("p", { class: "legend rank-legend" }, ...WORDS.map((word, i) => h("span", {}, swatches[i]!, word)));
  const draw = () => {
    const width = canvas.parentElement!.clientWidth;
    if (width === 0) return;
    const scale = Math.min(globalThis.devicePixelRatio || 1, 2);
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(ranks.length * ROW * scale);
    canvas.style.height = `${ranks.length * ROW}px`;
    const paint = canvas.getContext("2d")!;
    paint.setTransform(scale, 0, 0, scale, 0, 0);
    ranks.forEach((rank, row) => drawRank(paint, rank, row * ROW, width));
    STATES.forEach((state, i) => (swatches[i]!.style.background = causeColour(state)));
  };
  onTheme(draw);
  const view = h("div", { class: "rank-view" }, canvas);
  new ResizeObserver(draw).observe(view);
  return h("section", { class: "ranks", attributes: { "aria-label": "Ranks over time" } }, h("div", { class: "rank-grid" }, names, view, remarks), legend);
}

function drawRank(paint: CanvasRenderingContext2D, rank: RankStrip, top: number, width: number): void {
  const bins = rank.bins.length / 3;
  paint.fillStyle = color("shade");
  paint.fillRect(0, top, width, ROW - 3);
  for (let bin = 0; bin < bins; bin++) {
    const left = (bin * width) / bins;
    let bottom = top + ROW - 3;
    for (let state = 0; state < 3; state++) {
      const height = ((ROW - 3) * rank.bins[bin * 3 + state]!) / 255;
      paint.fillStyle = causeColour(STATES[state]!);
      paint.fillRect(left, bottom - height, width / bins + 0.5, height);
      bottom -= height;
    }
  }
}
