// A row of brackets per action: the intervals in which the device waits for what the action changes, or the
// kernels that it makes cheaper.

import type { Lanes } from "./lanes.ts";
import type { Lever } from "./view.ts";

export interface Stretches {
  start: Float64Array;
  end: Float64Array;
}

// Intervals of one row, by start.
interface Pieces {
  start: Float64Array;
  end: Float64Array;
}

function piecesOf(row: Pieces, wanted: (i: number) => boolean): Pieces {
  const start = new Float64Array(row.start.length);
  const end = new Float64Array(row.start.length);
  let n = 0;
  for (let i = 0; i < row.start.length; i++) {
    if (!wanted(i)) continue;
    start[n] = row.start[i]!;
    end[n++] = row.end[i]!;
  }
  return { start: start.subarray(0, n), end: end.subarray(0, n) };
}

// The row with the earliest next interval; -1 if all rows are exhausted.
function nextRow(rows: Pieces[], at: Uint32Array): number {
  let first = -1;
  for (let r = 0; r < rows.length; r++) {
    if (at[r]! >= rows[r]!.start.length) continue;
    if (first < 0 || rows[r]!.start[at[r]!]! < rows[first]!.start[at[first]!]!) first = r;
  }
  return first;
}

// Merges overlapping and adjacent intervals.
function merged(rows: Pieces[]): Stretches {
  const most = rows.reduce((sum, row) => sum + row.start.length, 0);
  const start = new Float64Array(most);
  const end = new Float64Array(most);
  const at = new Uint32Array(rows.length);
  let n = 0;
  for (let r = nextRow(rows, at); r >= 0; r = nextRow(rows, at)) {
    const i = at[r]!++;
    const [from, to] = [rows[r]!.start[i]!, rows[r]!.end[i]!];
    if (n > 0 && from <= end[n - 1]!) {
      if (to > end[n - 1]!) end[n - 1] = to;
    } else {
      start[n] = from;
      end[n++] = to;
    }
  }
  return { start: start.subarray(0, n), end: end.subarray(0, n) };
}

// Empty if the action has no specific place on the timeline.
export function stretchesOf(lanes: Lanes, lever: Lever): Stretches {
  if (lever.states.length > 0) {
    const wanted = lanes.states.map((key) => lever.states.includes(key));
    return merged(lanes.causes.map((row) => piecesOf(row, (i) => wanted[row.state[i]!]!)));
  }
  const wanted = new Uint8Array(lanes.names.length);
  if (lever.kernel_kind) for (const name of lanes.kinds[lever.kernel_kind] ?? []) wanted[name] = 1;
  else if (lever.kernel_name) lanes.names.forEach((name, i) => (wanted[i] = name === lever.kernel_name ? 1 : 0));
  const streams = lanes.events.filter((row) => row.kind === "stream");
  return merged(streams.map((row) => piecesOf(row, (i) => wanted[row.label[i]!] === 1)));
}

const CLOSE = 2; // pixels: a smaller gap is drawn as one bracket
const LEAST_TICKS = 5;

// Draws intervals less than CLOSE pixels apart as one bracket, paler the less of it they cover.
export function drawStretches(
  paint: CanvasRenderingContext2D,
  { start, end }: Stretches,
  box: { top: number; height: number; width: number },
  from: number,
  to: number,
): void {
  const scale = box.width / (to - from);
  const middle = box.top + box.height / 2;
  let i = 0;
  for (let high = end.length; i < high; ) {
    const half = (i + high) >> 1;
    if (end[half]! > from) high = half;
    else i = half + 1;
  }
  while (i < start.length && start[i]! < to) {
    const left = Math.max((start[i]! - from) * scale, -2);
    let right = (end[i]! - from) * scale;
    let covered = end[i]! - start[i]!;
    let first = start[i]!;
    let last = end[i]!;
    for (i++; i < start.length && (start[i]! - from) * scale - right < CLOSE; i++) {
      right = (end[i]! - from) * scale;
      covered += end[i]! - start[i]!;
      last = end[i]!;
    }
    const wide = Math.max(Math.min(right, box.width + 2) - left, 1);
    paint.globalAlpha = Math.max(0.3, Math.min(1, covered / (last - first)));
    paint.fillRect(left, middle - 1.5, wide, 3);
    if (wide < LEAST_TICKS) continue;
    paint.fillRect(left, box.top + 1, 1.5, box.height - 2);
    paint.fillRect(left + wide - 1.5, box.top + 1, 1.5, box.height - 2);
  }
  paint.globalAlpha = 1;
}
