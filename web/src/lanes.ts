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

// Events of a stream or thread by start, the longer first; depth is how many lie around it.
export interface EventRow {
  kind: "stream" | "thread";
  name: string;
  count: number;
  start: Float64Array;
  end: Float64Array;
  label: Uint32Array;
  type: Uint8Array;
  depth: Uint8Array;
  depths: number;
  byDepth: Uint32Array[]; // indices of events, per depth
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
  events: EventRow[];
}

const MOST_DEPTH = 64; // Python stacks are often 30 deep

class Reader {
  private at: number;
  constructor(
    private readonly bytes: Uint8Array,
    at: number,
  ) {
    this.at = at;
  }
  number(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.bytes[this.at++]!;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  }
  byte(): number {
    return this.bytes[this.at++]!;
  }
}

function causeRuns(row: RowHead, reader: Reader): CauseRow {
  const start = new Float64Array(row.held);
  const end = new Float64Array(row.held);
  const state = new Uint8Array(row.held);
  let time = 0;
  for (let i = 0; i < row.held; i++) {
    time += reader.number();
    start[i] = time;
    time += reader.number();
    end[i] = time;
    state[i] = reader.number();
  }
  return { name: row.name, exact: true, start, end, state, share: null };
}

function causeBins(row: RowHead, reader: Reader, window: number): CauseRow {
  const start: number[] = [];
  const end: number[] = [];
  const state: number[] = [];
  const share: number[] = [];
  for (let bin = 0; bin < row.held; bin++) {
    const count = reader.number();
    for (let i = 0; i < count; i++) {
      start.push((bin * window) / row.held);
      end.push(((bin + 1) * window) / row.held);
      state.push(reader.number());
      share.push(reader.number() / 255);
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

function eventRow(row: RowHead, reader: Reader): EventRow {
  const n = row.held;
  const start = new Float64Array(n);
  const end = new Float64Array(n);
  const label = new Uint32Array(n);
  const type = new Uint8Array(n);
  const depth = new Uint8Array(n);
  let time = 0;
  for (let i = 0; i < n; i++) start[i] = time += reader.number();
  for (let i = 0; i < n; i++) end[i] = start[i]! + reader.number();
  for (let i = 0; i < n; i++) label[i] = reader.number();
  for (let i = 0; i < n; i++) type[i] = reader.byte();
  const open: number[] = [];
  let depths = 0;
  const byDepth: number[][] = [];
  for (let i = 0; i < n; i++) {
    while (open.length > 0 && open[open.length - 1]! <= start[i]!) open.pop();
    depth[i] = Math.min(open.length, MOST_DEPTH - 1);
    open.push(end[i]!);
    depths = Math.max(depths, depth[i]! + 1);
    (byDepth[depth[i]!] ??= []).push(i);
  }
  return {
    kind: row.kind === "thread" ? "thread" : "stream",
    name: row.name,
    count: row.count,
    start,
    end,
    label,
    type,
    depth,
    depths,
    byDepth: byDepth.map((list) => Uint32Array.from(list)),
    busy: null,
  };
}

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
  };
  const busy = new Map<string, Uint8Array>();
  for (const row of head.rows) {
    const at = 4 + size + row.at;
    const reader = new Reader(bytes, at);
    if (row.kind === "causes") lanes.causes.push(causeRuns(row, reader));
    else if (row.kind === "cause_bins") lanes.causes.push(causeBins(row, reader, head.window_ns));
    else if (row.kind === "busy") busy.set(row.name, bytes.subarray(at, at + row.bytes));
    else lanes.events.push(eventRow(row, reader));
  }
  for (const row of lanes.events) row.busy = busy.get(row.name) ?? null;
  return lanes;
}
