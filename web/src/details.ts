// Details of single events (docs/formats/report_html.md): a JSON header, then columns of numbers, each stored
// as value + 1. A column is unpacked at its first use.

import { type EventRow, readNumbers } from "./lanes.ts";

interface Head {
  version: number;
  texts: (string | (string | number)[])[]; // a list holds several values
  threads: string[]; // first those with a lane, in lane order
  rows: number[][]; // offset of each column of an event lane; -1 if absent
}

const COLUMNS = ["name", "op", "dims", "types", "concrete", "module", "shape", "graph", "collective", "wait", "call", "thread", "lead", "callLength", "bytes", "node", "before", "after"] as const;
type Column = (typeof COLUMNS)[number];

export interface Launch {
  call: string;
  thread: string;
  lane: EventRow | null; // of the thread, if it has one
  start: number; // of the call
  length: number;
}

export class Details {
  private readonly columns = new Map<string, Float64Array>();
  private readonly body: Uint8Array;
  private readonly head: Head;
  private readonly threadLanes: EventRow[];

  // lanes: of the same file, with their events.
  constructor(bytes: Uint8Array, private readonly lanes: EventRow[]) {
    const size = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
    this.head = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size))) as Head;
    this.body = bytes.subarray(4 + size);
    this.threadLanes = lanes.filter((row) => row.kind === "thread");
  }

  private number(row: EventRow, column: Column, event: number): number {
    const lane = this.lanes.indexOf(row);
    const key = `${lane}.${column}`;
    let values = this.columns.get(key);
    if (!values) {
      const at = this.head.rows[lane]?.[COLUMNS.indexOf(column)] ?? -1;
      values = new Float64Array(at < 0 ? 0 : row.start.length);
      if (at >= 0) readNumbers(this.body, at, values.length, values);
      this.columns.set(key, values);
    }
    return values[event] ?? 0;
  }

  // Empty if not recorded.
  text(row: EventRow, column: Column, event: number): string {
    const text = this.head.texts[this.number(row, column, event) - 1];
    return typeof text === "string" ? text : "";
  }
  // Empty if not recorded.
  fields(row: EventRow, column: Column, event: number): string[] {
    const fields = this.head.texts[this.number(row, column, event) - 1];
    return Array.isArray(fields) ? fields.map(String) : [];
  }
  count(row: EventRow, column: "bytes" | "node", event: number): number | null {
    const value = this.number(row, column, event);
    return value > 0 ? value - 1 : null;
  }

  // The recorded times of the event: the lane has them clipped to the window.
  begin(row: EventRow, event: number): number {
    return row.start[event]! - Math.max(0, this.number(row, "before", event) - 1);
  }
  end(row: EventRow, event: number): number {
    return row.end[event]! + Math.max(0, this.number(row, "after", event) - 1);
  }

  launch(row: EventRow, event: number): Launch | null {
    const coded = this.number(row, "lead", event);
    if (coded === 0) return null;
    const lead = (coded - 1) % 2 === 0 ? (coded - 1) / 2 : -coded / 2;
    const place = this.number(row, "thread", event) - 1;
    return {
      call: this.text(row, "call", event),
      thread: this.head.threads[place] ?? "",
      lane: this.threadLanes[place] ?? null,
      start: this.begin(row, event) - lead,
      length: this.number(row, "callLength", event) - 1,
    };
  }

  // GPU activities launched by a thread, for calls that start in [from, to), by call time.
  launched(thread: EventRow, from: number, to: number): { row: EventRow; event: number; call: number }[] {
    const all = this.launches.get(thread) ?? [];
    return all.filter((one) => one.call >= from && one.call < to);
  }
  private made: Map<EventRow, { row: EventRow; event: number; call: number }[]> | null = null;
  private get launches() {
    if (this.made) return this.made;
    this.made = new Map();
    for (const row of this.lanes) {
      for (let event = 0; row.kind === "stream" && event < row.start.length; event++) {
        const launch = this.launch(row, event);
        if (!launch?.lane) continue;
        const list = this.made.get(launch.lane) ?? [];
        list.push({ row, event, call: launch.start });
        this.made.set(launch.lane, list);
      }
    }
    for (const list of this.made.values()) list.sort((a, b) => a.call - b.call);
    return this.made;
  }
}
