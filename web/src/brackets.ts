// Where on the timeline each lever acts, as a row of brackets: the stretches in which the device
// waits for what the lever changes, or the kernels that it makes cheaper.

import type { CauseRow, EventRow, Lanes } from "./lanes.ts";
import type { Lever } from "./view.ts";

export interface Stretches {
  start: Float64Array;
  end: Float64Array;
}

// Overlapping or touching ones become one.
function merged(pieces: [number, number][]): Stretches {
  pieces.sort((a, b) => a[0] - b[0]);
  const whole: [number, number][] = [];
  for (const [start, end] of pieces) {
    const last = whole[whole.length - 1];
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else whole.push([start, end]);
  }
  return { start: Float64Array.from(whole, (one) => one[0]), end: Float64Array.from(whole, (one) => one[1]) };
}

function ofStates(rows: CauseRow[], states: Set<number>): [number, number][] {
  const pieces: [number, number][] = [];
  for (const row of rows) {
    for (let i = 0; i < row.start.length; i++) {
      if (states.has(row.state[i]!)) pieces.push([row.start[i]!, row.end[i]!]);
    }
  }
  return pieces;
}

function ofNames(rows: EventRow[], names: Set<number>): [number, number][] {
  const pieces: [number, number][] = [];
  for (const row of rows) {
    if (row.kind !== "stream") continue;
    for (let i = 0; i < row.start.length; i++) {
      if (names.has(row.label[i]!)) pieces.push([row.start[i]!, row.end[i]!]);
    }
  }
  return pieces;
}

// None where a lever acts nowhere in particular.
export function stretchesOf(lanes: Lanes, lever: Lever): Stretches {
  if (lever.states.length > 0) {
    const wanted = new Set(lever.states.map((key) => lanes.states.indexOf(key)));
    return merged(ofStates(lanes.causes, wanted));
  }
  const names = lever.kernel_kind
    ? (lanes.kinds[lever.kernel_kind] ?? [])
    : lanes.names.flatMap((name, i) => (lever.kernel_name !== "" && name === lever.kernel_name ? [i] : []));
  return merged(ofNames(lanes.events, new Set(names)));
}

const CLOSE = 2; // pixels: nearer ones are one bracket
const LEAST_TICKS = 5;

// What is nearer than a pixel or two is drawn as one bracket, the paler the less of it is covered.
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
