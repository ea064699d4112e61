// The timeline's data as the tool packed it (docs/formats/report_html.md): columns of variable-length
// numbers behind a head in JSON.

export type RowKind = "causes" | "cause_bins" | "stream" | "thread" | "busy";

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
  window_ns: number;
  total: number;
  held: number;
  shortest_ns: number;
  states: string[];
  steps: [number, number, string][];
  rows: RowHead[];
  names: string[];
  kinds: Record<string, number[]>;
}

// What a device did, one state after the other.
export interface CauseRow {
  name: string;
  exact: boolean;
  start: Float64Array;
  end: Float64Array;
  state: Uint8Array;
  // Only of bins: the share of the stretch that has the state; states of one bin follow each other.
  share: Float32Array | null;
}

// Events of a stream or thread by start, the longer first.
export interface EventRow {
  kind: "stream" | "thread";
  name: string;
  count: number;
  start: Float64Array;
  end: Float64Array;
  label: Uint32Array;
  type: Uint8Array;
  depths: number;
  // Indices of events: of a thread by how many lie around them; of a stream by sub-lane, in each of
  // which none lies over another.
  byDepth: Uint32Array[];
  busy: Uint8Array | null; // share of all events per bin, where only the longest are held
}

export interface Lanes {
  window: number;
  total: number;
  held: number;
  shortest: number;
  states: string[];
  steps: { start: number; end: number; name: string }[];
  names: string[];
  kinds: Record<string, number[]>; // places in `names` of kernels, by what they are
  causes: CauseRow[];
  events: EventRow[]; // none until readEvents()
  readEvents: () => void;
}

const MOST_DEPTH = 64; // Python stacks are often 30 deep

// Reads `count` numbers of seven bits a byte, the lowest first; where the next one lies.
function readNumbers(bytes: Uint8Array, at: number, count: number, into: Float64Array | Uint32Array): number {
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

// The events of every depth: how many lie around them.
function nest(start: Float64Array, end: Float64Array): Uint32Array[] {
  const depth = new Uint8Array(start.length);
  const counts = new Uint32Array(MOST_DEPTH);
  const open = new Float64Array(start.length);
  let opened = 0;
  let depths = 0;
  for (let i = 0; i < start.length; i++) {
    while (opened > 0 && open[opened - 1]! <= start[i]!) opened--;
    const here = opened < MOST_DEPTH ? opened : MOST_DEPTH - 1;
    depth[i] = here;
    counts[here]!++;
    open[opened++] = end[i]!;
    if (here >= depths) depths = here + 1;
  }
  const byDepth = Array.from({ length: depths }, (_, d) => new Uint32Array(counts[d]!));
  counts.fill(0);
  for (let i = 0; i < depth.length; i++) {
    const here = depth[i]!;
    byDepth[here]![counts[here]!++] = i;
  }
  return byDepth;
}

// The events of every sub-lane: each goes to the first one whose last event has ended. One without
// length takes the nanosecond in which it lies. There are as many as events that overlap at once.
function subLanes(start: Float64Array, end: Float64Array): Uint32Array[] {
  const ends: number[] = [];
  const lanes: number[][] = [];
  for (let i = 0; i < start.length; i++) {
    let lane = ends.findIndex((until) => until <= start[i]!);
    if (lane < 0) lane = lanes.push([]) - 1;
    ends[lane] = Math.max(end[i]!, start[i]! + 1);
    lanes[lane]!.push(i);
  }
  return lanes.map((events) => Uint32Array.from(events));
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
    busy: null,
  };
}

function eventRows(rows: RowHead[], bytes: Uint8Array, first: number): EventRow[] {
  const isEvents = (row: RowHead) => row.kind === "stream" || row.kind === "thread";
  const events = rows.filter(isEvents).map((row) => eventRow(row, bytes, first + row.at));
  for (const busy of rows.filter((row) => row.kind === "busy")) {
    const row = events.find((one) => one.name === busy.name);
    if (row) row.busy = bytes.subarray(first + busy.at, first + busy.at + busy.bytes);
  }
  return events;
}

// What each device did; events, which are many more, when somebody asks for them.
export function readLanes(bytes: Uint8Array): Lanes | null {
  if (bytes.length < 4) return null;
  const size = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size))) as Head;
  if (head.version !== 1) return null;
  const lanes: Lanes = {
    window: head.window_ns,
    total: head.total,
    held: head.held,
    shortest: head.shortest_ns,
    states: head.states,
    steps: head.steps.map(([start, end, name]) => ({ start, end, name })),
    names: head.names,
    kinds: head.kinds,
    causes: [],
    events: [],
    readEvents: () => {
      if (lanes.events.length === 0) lanes.events = eventRows(head.rows, bytes, 4 + size);
    },
  };
  for (const row of head.rows) {
    const at = 4 + size + row.at;
    if (row.kind === "causes") lanes.causes.push(causeRuns(row, bytes, at));
    else if (row.kind === "cause_bins") lanes.causes.push(causeBins(row, bytes, at, head.window_ns));
  }
  return lanes;
}
