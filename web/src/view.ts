// The embedded data of the page, as src/report/writers/page_view.cc writes it.

export type Unit =
  | "none"
  | "text"
  | "state" // the key of a cause or kind of GPU activity, shown by its name
  | "ns"
  | "count"
  | "share"
  | "ratio"
  | "bytes"
  | "rate"
  | "watts"
  | "joules";

// Integers beyond 2^53 are stored as digit strings.
export type Cell = null | boolean | number | string | string[];

export interface Item {
  key: string;
  label: string;
  value: Cell;
  unit: Unit;
  whole: boolean; // integer by nature: 5, not 5.00
  note?: string;
  hidden?: boolean; // shown on demand
  definition?: number; // index into the definitions
}

export interface Column {
  key: string;
  title: string;
  unit: Unit;
  whole: boolean;
  cells: Cell[];
  align?: "left" | "right";
  elastic?: boolean;
  definition?: number;
  hidden?: boolean;
}

export interface Prose {
  type: "prose";
  paragraphs: string[];
  bullets: boolean;
}

export interface Facts {
  type: "facts";
  key: string;
  title: string;
  items: Item[];
}

export interface Table {
  type: "table";
  key: string;
  title: string;
  rows: number;
  columns: Column[];
  code_definitions?: (number | null)[]; // of caveats
}

export interface Tree {
  type: "tree";
  key: string;
  title: string;
  label_key: string;
  label_title: string;
  label_definition?: number;
  area_key: string;
  depths: number[];
  labels: string[];
  columns: Column[];
}

export interface Elements {
  type: "elements";
  key: string;
  elements: Section[][];
}

export type Mark = "line" | "steps" | "points" | "bars" | "stacked";

export interface Series {
  name: string;
  mark: Mark;
  x: (number | null)[];
  y: (number | null)[];
  low: (number | null)[];
  high: (number | null)[];
  labels: string[];
}

export interface Axis {
  title: string;
  unit: Unit;
  log: boolean;
}

export interface Guide {
  across: "x" | "y";
  value: number | null;
  label: string;
}

export interface Chart {
  type: "chart";
  key: string;
  title: string;
  caption: string;
  x: Axis;
  y: Axis;
  categories: string[];
  horizontal: boolean;
  series: Series[];
  guides: Guide[];
}

export type Block = Prose | Facts | Table | Tree | Elements | Chart;

export interface Section {
  key: string;
  title: string;
  blocks: Block[];
}

export interface ImportNote {
  code: string;
  severity: string;
  count: number;
  meaning: string;
  first_offset: number;
}

export interface RankStrip {
  name: string;
  remark: string;
  bins: number[]; // three shares a bin, in 1/255: computes or copies, idle, in a collective
}

export interface Lever {
  title: string;
  code: string;
  gain_ns: number;
  share: number;
  grade: string;
  between: string; // the interval of the gain, or that it is unknown
  // Its place on the timeline: states that it shortens, or kernels by kind or name.
  states: string[];
  kernel_kind: string;
  kernel_name: string;
  edit: string; // for `assay whatif --edit`
  points: { edit: string; words: string; gain_ns: number; grade: string; between: string }[]; // other factors and its own
}

// The first screen (src/report/document/short_answer.h).
export interface Answer {
  kind: string;
  verdict: string[];
  more: string[]; // further sentences of the first screen
  window_ns: number;
  total_ns: number;
  causes: { key: string; word: string; ns: number }[];
  levers: Lever[];
  together: { levers: number[]; gain_ns: number; between: string }[];
  notes: { head: string; lines: string[]; code: boolean }[];
  ranks: RankStrip[];
  strip_ns: number; // time that the bins span; 0: each rank has its own
  trust: string;
  reason: string;
  next: string[];
  spans: [number, number][]; // ns from the start of the window
}

// The report on all inputs together, or on one of them.
export interface Said {
  answer: Answer | null;
  verdict: string[];
  trust: Table | null;
  import_log: ImportNote[];
  sections?: Section[];
}

export interface Part extends Said {
  name: string;
  items: Item[];
  held: boolean; // its sections and timeline are in the file; `sections` is read on demand
}

export interface Definition {
  keys: string[];
  room: string;
  heading: string;
  text: string;
}

// The first screen (assay-head).
export interface Head {
  title: string;
  tool: { name: string; version: string };
  inputs: { name: string; items: Item[] }[];
  parts_count: number; // number of inputs, if several
  part_word: string; // noun for one of them: "rank", "trace"
  json: boolean; // true if the file holds the JSON document (assay-json)
  answer: Answer | null;
  palette: Record<string, { light: string; dark: string; hatched: boolean; word: string }>;
}

// The first screen and the rest (assay-view).
export interface View extends Head, Said {
  sections: Section[];
  parts: Part[];
  definitions: Definition[];
}
