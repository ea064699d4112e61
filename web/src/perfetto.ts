// An interval of the timeline as a file for ui.perfetto.dev: the events of this page, with the times of its
// ruler. `assay FILE --perfetto` writes the whole trace with arguments, arrows and Assay's tracks
// (docs/page.md).

import { type CauseRow, type EventRow, type Lanes, subLanes } from "./lanes.ts";
import { causeWord } from "./palette.ts";

interface Span {
  start: number;
  end: number;
  name: string;
  kind: string;
}

const PROCESSES = ["why the GPU was busy or idle", "GPU streams", "host threads"];

function within(row: { start: Float64Array; end: Float64Array }, from: number, to: number): number[] {
  const found: number[] = [];
  for (let i = 0; i < row.start.length && row.start[i]! < to; i++) if (row.end[i]! > from) found.push(i);
  return found;
}

function causeSpans(lanes: Lanes, row: CauseRow, from: number, to: number): Span[] {
  if (!row.exact) return []; // bins have shares, not intervals
  return within(row, from, to).map((i) => ({ start: row.start[i]!, end: row.end[i]!, name: causeWord(lanes.states[row.state[i]!]!), kind: "cause" }));
}

// Tracks of Perfetto must nest: each sub-lane of a stream is one track, without seams.
function eventTracks(lanes: Lanes, row: EventRow, kinds: readonly string[], from: number, to: number) {
  const inside = within(row, from, to);
  const span = (i: number): Span => ({ start: row.start[i]!, end: row.end[i]!, name: lanes.names[row.label[i]!] ?? "", kind: kinds[row.type[i]!] ?? "" });
  if (row.kind === "thread") return [{ process: 2, name: row.name, spans: inside.map(span) }];
  const held = new Set(inside);
  return subLanes(row.start, row.end, 0).map((events, lane) => ({
    process: 1,
    name: lane === 0 ? row.name : `${row.name} (${lane + 1})`,
    spans: [...events].filter((i) => held.has(i)).map(span),
  }));
}

// Microseconds with nanosecond digits.
const micro = (ns: number) => Number((ns / 1000).toFixed(3));

// kinds: of events, by their type. Returns the count without the intervals of causes.
export function perfettoFile(lanes: Lanes, kinds: readonly string[], from: number, to: number): { json: string; count: number } {
  const rows = [
    ...lanes.causes.map((row) => ({ process: 0, name: row.name, spans: causeSpans(lanes, row, from, to) })),
    ...lanes.events.flatMap((row) => eventTracks(lanes, row, kinds, from, to)),
  ].filter((row) => row.spans.length > 0);
  const named = PROCESSES.map((name, pid) => ({ ph: "M", name: "process_name", pid: pid + 1, tid: 0, args: { name } }));
  const events = rows.flatMap((row, tid) => [
    { ph: "M", name: "thread_name", pid: row.process + 1, tid: tid + 1, args: { name: row.name } },
    ...row.spans.map((span) => ({ ph: "X", cat: span.kind, name: span.name, pid: row.process + 1, tid: tid + 1, ts: micro(span.start), dur: micro(span.end - span.start) })),
  ]);
  const count = rows.reduce((sum, row) => sum + (row.process > 0 ? row.spans.length : 0), 0);
  return { json: JSON.stringify({ displayTimeUnit: "ns", traceEvents: [...named, ...events] }), count };
}
