// Reads the timeline data (docs/formats/report_html.md): a JSON header, then columns of variable-length
// integers.

export type RowKind = "causes" | "cause_bins" | "stream" | "thread" | "rest";

interface RowHead {
  kind: RowKind;
  name: string;
  count: number;
  held: number;
  at: number;
  bytes: number;
}

interface Head {
  version: number;
  begin_ns: number;
  window_ns: number;
  total: number;
  held: number;
  shortest_ns: [number, number];
  other_threads: number;
  other_rows: number;
  states: string[];
  steps: [number, number, string][];
  rows: RowHead[];
  names: string[];
  kinds: Record<string, number[]>;
}

// The states of a device, in time order.
export interface CauseRow {
  name: string;
  exact: boolean;
  start: Float64Array;
  end: Float64Array;
  state: Uint8Array;
  // For bins only: the share of the bin in this state. The states of a bin are consecutive.
  share: Float32Array | null;
}

// Events of a stream or thread by start, longer events first.
export interface EventRow {
  kind: "stream" | "thread";
  name: string;
  count: number;
  start: Float64Array;
  end: Float64Array;
  label: Uint32Array;
  type: Uint8Array;
  depths: number;
  // Event indices: of a thread by nesting depth, of a stream by sub-lane. In a sub-lane at most two events
  // overlap, by a seam. Starts and ends ascend.
  byDepth: Uint32Array[];
  rest: Rest | null; // of a stream: activities that are not listed as events
}

// Per bin of equal length: time and number of the activities that are not listed as events.
export interface Rest {
  bin: number; // ns
  covered: Float64Array;
  begins: Float64Array;
}

export interface Lanes {
  begin: number; // of this window, relative to the whole recording
  window: number;
  total: number;
  held: number;
  shortest: [number, number]; // ns: the shortest listed event of streams and of threads; 0: all are listed
  others: { threads: number; rows: number }; // threads and events without a lane
  states: string[];
  steps: { start: number; end: number; name: string }[];
  names: string[];
  kinds: Record<string, number[]>; // indices into `names`, by kind of kernel
  causes: CauseRow[];
  events: EventRow[]; // empty before readEvents()
  readEvents: () => void;
}

const SEAM_NS = 1000;

// Reads `count` integers of seven bits a byte, least significant first. Returns the offset after them.
export function readNumbers(bytes: Uint8Array, at: number, count: number, into: Float64Array | Uint32Array): number {
  for (let i = 0; i < count; i++) {
    let byte = bytes[at++]!;
    let value = byte & 127;
    for (let scale = 128; byte >= 128; scale *= 128) {
      byte = bytes[at++]!;
      value += (byte & 127) * scale;
    }
    into[i] = value;
  }
  return at;
}

function causeRuns(row: RowHead, bytes: Uint8Array, at: number): CauseRow {
  const numbers = new Float64Array(3 * row.held);
  readNumbers(bytes, at, numbers.length, numbers);
  const start = new Float64Array(row.held);
  const end = new Float64Array(row.held);
  const state = new Uint8Array(row.held);
  let time = 0;
  for (let i = 0; i < row.held; i++) {
    start[i] = time += numbers[3 * i]!;
    end[i] = time += numbers[3 * i + 1]!;
    state[i] = numbers[3 * i + 2]!;
  }
  return { name: row.name, exact: true, start, end, state, share: null };
}

function causeBins(row: RowHead, bytes: Uint8Array, at: number, window: number): CauseRow {
  const start: number[] = [];
  const end: number[] = [];
  const state: number[] = [];
  const share: number[] = [];
  const number = new Uint32Array(1);
  const next = () => {
    at = readNumbers(bytes, at, 1, number);
    return number[0]!;
  };
  for (let bin = 0; bin < row.held; bin++) {
    const count = next();
    for (let i = 0; i < count; i++) {
      start.push((bin * window) / row.held);
      end.push(((bin + 1) * window) / row.held);
      state.push(next());
      share.push(next() / 255);
    }
  }
  return {
    name: row.name,
    exact: false,
    start: Float64Array.from(start),
    end: Float64Array.from(end),
    state: Uint8Array.from(state),
    share: Float32Array.from(share),
  };
}

// The events by nesting depth. An event that ends after its parent keeps its depth.
function nest(start: Float64Array, end: Float64Array): Uint32Array[] {
  const byDepth: number[][] = [];
  const open: number[] = []; // ends of the enclosing events
  for (let i = 0; i < start.length; i++) {
    while (open.length > 0 && open[open.length - 1]! <= start[i]!) open.pop();
    (byDepth[open.length] ??= []).push(i);
    open.push(end[i]!);
  }
  return byDepth.map((events) => Uint32Array.from(events));
}

// Assigns each event to the first free sub-lane. An event may overlap the last one there by a seam: at most 1
// us and a tenth of the shorter event. So a stream stays one row if kernels start slightly early. At most two
// events share a seam. An event of zero length takes one nanosecond. Without seams the number of sub-lanes is
// the largest number of concurrent events.
export function subLanes(start: Float64Array, end: Float64Array, seam = SEAM_NS): Uint32Array[] {
  const lanes: { events: number[]; length: number; end: number; before: number }[] = [];
  for (let i = 0; i < start.length; i++) {
    const begin = start[i]!;
    const length = end[i]! - begin;
    const fits = (lane: (typeof lanes)[0]) =>
      lane.end <= begin || (lane.before <= begin && lane.end - begin <= Math.min(seam, Math.min(lane.length, length) / 10));
    let lane = lanes.find(fits);
    if (!lane) lanes.push((lane = { events: [], length: 0, end: -1, before: -1 }));
    lane.before = lane.end;
    lane.end = Math.max(end[i]!, begin + 1);
    lane.length = length;
    lane.events.push(i);
  }
  return lanes.map((lane) => Uint32Array.from(lane.events));
}

function eventRow(row: RowHead, bytes: Uint8Array, at: number): EventRow {
  const n = row.held;
  const start = new Float64Array(n);
  const end = new Float64Array(n);
  const label = new Uint32Array(n);
  at = readNumbers(bytes, at, n, start);
  at = readNumbers(bytes, at, n, end);
  at = readNumbers(bytes, at, n, label);
  let time = 0;
  for (let i = 0; i < n; i++) {
    start[i] = time += start[i]!;
    end[i] = time + end[i]!;
  }
  const byDepth = row.kind === "thread" ? nest(start, end) : subLanes(start, end);
  return {
    kind: row.kind === "thread" ? "thread" : "stream",
    name: row.name,
    count: row.count,
    start,
    end,
    label,
    type: bytes.subarray(at, at + n),
    depths: byDepth.length,
    byDepth,
    rest: null,
  };
}

function eventRows(rows: RowHead[], bytes: Uint8Array, first: number, window: number): EventRow[] {
  const isEvents = (row: RowHead) => row.kind === "stream" || row.kind === "thread";
  const events = rows.filter(isEvents).map((row) => eventRow(row, bytes, first + row.at));
  for (const rest of rows.filter((row) => row.kind === "rest")) {
    const row = events.find((one) => one.kind === "stream" && one.name === rest.name);
    if (!row) continue;
    const covered = new Float64Array(rest.held);
    const begins = new Float64Array(rest.held);
    readNumbers(bytes, readNumbers(bytes, first + rest.at, rest.held, covered), rest.held, begins);
    row.rest = { bin: Math.ceil(window / rest.held), covered, begins };
  }
  return events;
}

// Reads the states of each device. The events are many more and are read on demand.
export function readLanes(bytes: Uint8Array): Lanes | null {
  if (bytes.length < 4) return null;
  const size = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size))) as Head;
  if (head.version !== 2) return null;
  const lanes: Lanes = {
    begin: head.begin_ns,
    window: head.window_ns,
    total: head.total,
    held: head.held,
    shortest: head.shortest_ns,
    others: { threads: head.other_threads, rows: head.other_rows },
    states: head.states,
    steps: head.steps.map(([start, end, name]) => ({ start, end, name })),
    names: head.names,
    kinds: head.kinds,
    causes: [],
    events: [],
    readEvents: () => {
      if (lanes.events.length === 0) lanes.events = eventRows(head.rows, bytes, 4 + size, head.window_ns);
    },
  };
  for (const row of head.rows) {
    const at = 4 + size + row.at;
    if (row.kind === "causes") lanes.causes.push(causeRuns(row, bytes, at));
    else if (row.kind === "cause_bins") lanes.causes.push(causeBins(row, bytes, at, head.window_ns));
  }
  return lanes;
}
