// Paints one lane of the timeline and returns the time that it painted.

import type { EventRow, Rest } from "./lanes.ts";

const PALE = 0.2; // opacity of events outside the selection
const FAINTEST = 0.3; // opacity of a nearly empty column
const HAIR_NS = 0.001; // the length that an event of zero length counts with, to be visible
const GAP = 0.7; // pixels between neighbours that are wide enough

export interface View {
  from: number; // ns
  to: number;
  width: number; // pixels
}

export interface LanePaint {
  row: EventRow;
  list: Uint32Array; // the lane's events
  top: number;
  height: number;
  colour: (event: number) => string;
  lit: ((event: number) => boolean) | null; // null: nothing is selected
  // Called for an event wide enough for text, with the space for it.
  words: (event: number, left: number, right: number, middle: number) => void;
}

// The first index in `list` of an event that ends after `time`. Ends of a lane ascend.
export function firstEndingAfter(row: EventRow, list: Uint32Array, time: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row.end[list[middle]!]! > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The overlap with the next event of the lane, in ns.
function seamAfter(row: EventRow, list: Uint32Array, at: number): number {
  return at + 1 < list.length ? Math.max(0, row.end[list[at]!]! - row.start[list[at + 1]!]!) : 0;
}

// In a seam the earlier event is in the upper half and the later one in the lower half.
export function halfOf(row: EventRow, list: Uint32Array, at: number, time: number): "whole" | "upper" | "lower" {
  if (at > 0 && time < row.end[list[at - 1]!]!) return "lower";
  return at + 1 < list.length && time >= row.start[list[at + 1]!]! ? "upper" : "whole";
}

// Draws the events of the lane. An event wider than a pixel spans its start to its end; the two events of a
// seam have half the height where they overlap. Narrower events share columns, in the colour that fills most
// of each. Returns the drawn time in ns.
export function paintLane(paint: CanvasRenderingContext2D, lane: LanePaint, view: View): number {
  const { row, list, top, height } = lane;
  const scale = view.width / (view.to - view.from);
  const columns = Math.ceil(view.width);
  const filled = new Float64Array(columns);
  const most = new Float64Array(columns);
  const shown = new Int32Array(columns).fill(-1);
  const isLit = new Uint8Array(columns);
  let painted = 0;
  const half = height / 2;
  for (let at = firstEndingAfter(row, list, view.from - 1); at < list.length; at++) {
    const event = list[at]!;
    const start = row.start[event]!;
    const end = row.end[event]!;
    if (start >= view.to) break;
    const inside = Math.min(end, view.to) - Math.max(start, view.from);
    if (inside < 0 || (inside === 0 && (end > start || start < view.from))) continue;
    painted += inside;
    const left = (start - view.from) * scale;
    const right = (end - view.from) * scale;
    const lit = lane.lit === null || lane.lit(event);
    if (right - left < 1) {
      const column = Math.min(columns - 1, Math.max(0, Math.floor(left)));
      filled[column]! += inside;
      const weight = inside + HAIR_NS + (lane.lit !== null && lit ? view.to - view.from : 0);
      if (weight > most[column]!) {
        most[column] = weight;
        shown[column] = event;
      }
      if (lane.lit !== null && lit) isLit[column] = 1;
      continue;
    }
    paint.fillStyle = lane.colour(event);
    paint.globalAlpha = lit ? 1 : PALE;
    const before = at > 0 ? Math.max(0, row.end[list[at - 1]!]! - start) * scale : 0;
    const after = seamAfter(row, list, at) * scale;
    const last = right - (right - left > 4 ? GAP : 0);
    const box = (from: number, to: number, y: number, tall: number) => {
      const x = Math.max(from, -2);
      const wide = Math.min(to, view.width + 2) - x;
      if (wide > 0) paint.fillRect(x, y, wide, tall);
    };
    if (before > 0) box(left, Math.min(left + before, last), top + half, half);
    if (after > 0) box(Math.max(left + before, right - after), right, top, half);
    box(left + before, after > 0 ? right - after : last, top, height);
    if (right - left > 26) lane.words(event, left + before, right - after, top + height / 2 + 0.5);
    paint.globalAlpha = 1;
  }
  const pixel = (view.to - view.from) / view.width;
  for (let column = 0; column < columns; column++) {
    if (shown[column]! < 0) continue;
    paint.fillStyle = lane.colour(shown[column]!);
    const strength = Math.max(FAINTEST, Math.min(1, filled[column]! / pixel));
    paint.globalAlpha = lane.lit === null ? strength : isLit[column] ? 1 : PALE;
    paint.fillRect(column, top, 1, height);
  }
  paint.globalAlpha = 1;
  return painted;
}

// Draws the activities that are not listed as events, as the filled share of each column. Returns their time
// in the view in ns; a bin at the edge counts in proportion.
export function paintRest(paint: CanvasRenderingContext2D, rest: Rest, top: number, height: number, view: View): number {
  const scale = view.width / (view.to - view.from);
  let painted = 0;
  for (let bin = Math.max(0, Math.floor(view.from / rest.bin)); bin < rest.covered.length && bin * rest.bin < view.to; bin++) {
    const covered = rest.covered[bin]!;
    if (covered === 0 && rest.begins[bin] === 0) continue;
    const from = Math.max(bin * rest.bin, view.from);
    const to = Math.min((bin + 1) * rest.bin, view.to);
    const whole = from === bin * rest.bin && to === (bin + 1) * rest.bin;
    painted += whole ? covered : (covered * (to - from)) / rest.bin;
    const share = Math.max(0.04, Math.min(1, covered / rest.bin));
    paint.fillRect((from - view.from) * scale, top + height * (1 - share), Math.max((to - from) * scale, 0.5), height * share);
  }
  return painted;
}
