// Totals within an interval of time: GPU activity by kernel or operator, and idle time by cause, exact to the
// nanosecond.

import type { Details } from "./details.ts";
import type { EventRow, Lanes } from "./lanes.ts";

export interface Total {
  name: string;
  ns: number;
  count: number;
}

export const AREA_BY = ["kernel", "operator", "cause"] as const;
export type AreaBy = (typeof AREA_BY)[number];

export interface Stretch {
  from: number; // whole ns from the start of the window
  to: number;
  rows: EventRow[]; // the streams to count
}

// Longest first; ties by name.
function sorted(totals: Map<string, Total>): Total[] {
  return [...totals.values()].sort((a, b) => b.ns - a.ns || (a.name < b.name ? -1 : 1));
}

function add(totals: Map<string, Total>, name: string, ns: number): void {
  const total = totals.get(name) ?? { name, ns: 0, count: 0 };
  total.ns += ns;
  total.count += 1;
  totals.set(name, total);
}

// Sums the parts of events inside the interval. An event of zero length counts with 0 ns. Concurrent streams
// count separately. details: null for totals by kernel.
export function workTotals(lanes: Lanes, { from, to, rows }: Stretch, details: Details | null): Total[] {
  const totals = new Map<string, Total>();
  for (const row of rows) {
    for (let i = 0; i < row.start.length && row.start[i]! < to; i++) {
      const start = row.start[i]!;
      const end = row.end[i]!;
      const part = Math.min(end, to) - Math.max(start, from);
      if (part < 0 || (part === 0 && (end > start || start < from))) continue;
      const name = details ? details.text(row, "op", i) || "no operator" : lanes.names[row.label[i]!]!;
      add(totals, name, part);
    }
  }
  return sorted(totals);
}

// By state key, over all devices. Null if the file has only shares.
export function causeTotals(lanes: Lanes, { from, to }: Stretch): Total[] | null {
  if (lanes.causes.some((row) => !row.exact)) return null;
  const totals = new Map<string, Total>();
  for (const row of lanes.causes) {
    for (let i = 0; i < row.start.length && row.start[i]! < to; i++) {
      const part = Math.min(row.end[i]!, to) - Math.max(row.start[i]!, from);
      if (part > 0) add(totals, lanes.states[row.state[i]!]!, part);
    }
  }
  return sorted(totals);
}
