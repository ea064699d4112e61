// The page of `assay serve`: a list of traces, each with its answer, report, comparison and Perfetto. The
// token is in the fragment, which no request contains. This page stores it for the tab and clears the
// address.

import { button, h } from "./dom.ts";
import { onTheme, startTheme, theme, toggleTheme } from "./theme.ts";
import { formatValue } from "./units.ts";

interface Trace {
  id: string;
  name: string;
  kind: string;
  bytes: number;
  modified_ms: number;
  job: boolean;
}
interface Listing {
  folder: string;
  traces: Trace[];
  other_files: number;
  links_left_out: number;
  cut: boolean;
}
interface Cause {
  word: string;
  ns: number;
  light: string;
  dark: string;
}
interface Answer {
  headline: string[];
  bottleneck: string | null;
  confidence: string | null;
  total_ns: number | null;
  window_ns: number | null;
  causes: Cause[];
}
interface Row {
  trace: Trace;
  element: HTMLTableRowElement;
  answer: Answer | string | null; // null until known; a string is the reason for having none
  cell: HTMLElement;
  word: HTMLElement;
  time: HTMLElement;
  box: HTMLInputElement;
}

const AT_ONCE = 2; // concurrent analyses; the server runs no more either
const PERFETTO = "https://ui.perfetto.dev";

function readToken(): string {
  const given = new URLSearchParams(location.hash.slice(1)).get("k");
  if (given) {
    sessionStorage.setItem("assay-token", given);
    history.replaceState(null, "", location.pathname);
  }
  return given ?? sessionStorage.getItem("assay-token") ?? "";
}

const token = readToken();
const status = h("p", { class: "meta", attributes: { role: "status" } });

async function ask(path: string): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { headers: { Authorization: `Bearer ${token}` } });
  } catch {
    throw new Error("The server does not answer. Start `assay serve` again and open the address that it prints; pages that are open stay as they are.");
  }
  if (response.ok) return response;
  const words = await response.json().then((json: { error?: string }) => json.error, () => undefined);
  throw new Error(words ?? `the server answered with status ${response.status}`);
}

const wordsOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

// Browsers open a window only during a click. It is filled when the report is ready.
async function openPage(query: string, what: string): Promise<void> {
  const opened = window.open("about:blank", "_blank");
  status.textContent = `${what} ...`;
  try {
    const { page } = (await (await ask(`/v1/page?${query}`)).json()) as { page: string };
    if (opened) opened.location.href = page;
    else location.href = page;
    status.textContent = "";
  } catch (error) {
    opened?.close();
    status.textContent = wordsOf(error);
  }
}

// Sends the trace to the other tab, not over the network.
async function openInPerfetto(trace: Trace): Promise<void> {
  const viewer = window.open(PERFETTO, "_blank");
  if (!viewer) {
    status.textContent = "The browser refused to open a window for Perfetto.";
    return;
  }
  status.textContent = `Makes the timeline of ${trace.name} ...`;
  try {
    const buffer = await (await ask(`/v1/perfetto?id=${trace.id}`)).arrayBuffer();
    await new Promise<void>((resolve, reject) => {
      const call = setInterval(() => viewer.postMessage("PING", PERFETTO), 100);
      const end = setTimeout(() => finish(() => reject(new Error("Perfetto did not answer: is there a network?"))), 30_000);
      const heard = (event: MessageEvent) => {
        if (event.origin === PERFETTO && event.data === "PONG") finish(resolve);
      };
      const finish = (then: () => void) => {
        clearInterval(call);
        clearTimeout(end);
        window.removeEventListener("message", heard);
        then();
      };
      window.addEventListener("message", heard);
    });
    viewer.postMessage({ perfetto: { buffer, title: trace.name, fileName: `${trace.name}.json.gz` } }, PERFETTO);
    status.textContent = "";
  } catch (error) {
    status.textContent = wordsOf(error);
  }
}

function barOf(answer: Answer): HTMLElement {
  const whole = answer.causes.reduce((sum, cause) => sum + cause.ns, 0);
  const bar = h("div", { class: "bar served-bar", attributes: { role: "img", "aria-label": answer.causes.map((cause) => `${cause.word} ${formatValue(cause.ns / whole, "share", false)}`).join(", ") } });
  const paint = () =>
    bar.replaceChildren(...answer.causes.filter((cause) => cause.ns > 0).map((cause) => {
      const part = h("div", { class: "segment", attributes: { title: `${cause.word} ${formatValue(cause.ns / whole, "share", false)}` } });
      part.style.flexGrow = String(cause.ns);
      part.style.background = theme() === "dark" ? cause.dark : cause.light;
      return part;
    }));
  paint();
  onTheme(paint);
  return bar;
}

function show(row: Row): void {
  const { answer } = row;
  if (answer === null) return;
  if (typeof answer === "string") {
    row.cell.replaceChildren(h("span", { class: "meta" }, answer));
    return;
  }
  row.word.textContent = answer.bottleneck ?? "";
  row.time.textContent = answer.window_ns === null ? "" : formatValue(answer.window_ns, "ns", true);
  row.cell.replaceChildren(h("div", {}, answer.headline.join(" ")), ...(answer.causes.length > 0 ? [barOf(answer)] : []));
}

function rowOf(trace: Trace, changed: () => void): Row {
  const cell = h("td", { class: "served-answer" }, h("span", { class: "meta" }, "waits"));
  const word = h("td", { class: "served-word" });
  const time = h("td", { class: "number" });
  const box = h("input", { attributes: { type: "checkbox", "aria-label": `Compare ${trace.name}` } });
  box.addEventListener("change", changed);
  const element = h("tr", {},
    h("td", {}, box),
    h("td", { class: "served-name" }, h("div", {}, trace.name), h("div", { class: "meta" }, `${trace.kind}, ${formatValue(trace.bytes, "bytes", true)}, ${new Date(trace.modified_ms).toISOString().slice(0, 16).replace("T", " ")}`)),
    word, time, cell,
    h("td", {}, h("div", { class: "served-tools" },
      button("Open", () => void openPage(`id=${trace.id}`, `Makes the page of ${trace.name}`), { class: "lane-button" }),
      button("Perfetto", () => void openInPerfetto(trace), { class: "lane-button", title: "Opens ui.perfetto.dev in a tab and gives it the events; nothing is uploaded" }))));
  return { trace, element, answer: null, cell, word, time, box };
}

type Order = "name" | "size" | "date" | "time";
const ORDERS: Record<Order, (a: Row, b: Row) => number> = {
  name: (a, b) => (a.trace.name < b.trace.name ? -1 : 1),
  size: (a, b) => b.trace.bytes - a.trace.bytes,
  date: (a, b) => b.trace.modified_ms - a.trace.modified_ms,
  time: (a, b) => timeOf(b) - timeOf(a),
};
const timeOf = (row: Row) => (row.answer !== null && typeof row.answer !== "string" ? (row.answer.window_ns ?? 0) : 0);

async function start(): Promise<void> {
  startTheme();
  const main = document.getElementById("traces")!;
  main.replaceChildren(h("h1", {}, "Traces"), status);
  let listing: Listing;
  try {
    listing = (await (await ask("/v1/traces")).json()) as Listing;
  } catch (error) {
    status.textContent = wordsOf(error);
    return;
  }
  const compare = button("Compare", () => {
    const [a, b] = chosen;
    if (a && b) void openPage(`a=${a.trace.id}&b=${b.trace.id}`, `Compares ${a.trace.name} with ${b.trace.name}`);
  });
  const chosen: Row[] = []; // the baseline first
  const changed = () => {
    for (const row of rows) {
      const at = chosen.indexOf(row);
      if (row.box.checked && at < 0) chosen.push(row);
      if (!row.box.checked && at >= 0) chosen.splice(at, 1);
    }
    const [a, b] = chosen;
    compare.disabled = chosen.length !== 2;
    compare.textContent = a && b && chosen.length === 2 ? `Compare ${a.trace.name} (before) with ${b.trace.name} (after)` : "Compare: choose two";
  };
  const rows = listing.traces.map((trace) => rowOf(trace, changed));
  changed();
  const body = h("tbody", {});
  const filter = h("input", { attributes: { type: "search", placeholder: "Filter by name, bottleneck or sentence", "aria-label": "Filter" } });
  const sort = h("select", { attributes: { "aria-label": "Order" } }, ...(Object.keys(ORDERS) as Order[]).map((one) => h("option", { attributes: { value: one } }, `by ${one}`)));
  const matches = (row: Row) => {
    const answer = row.answer !== null && typeof row.answer !== "string" ? `${row.answer.bottleneck} ${row.answer.headline.join(" ")}` : "";
    return `${row.trace.name} ${row.trace.kind} ${answer}`.toLowerCase().includes(filter.value.toLowerCase());
  };
  const redraw = () => body.replaceChildren(...[...rows].filter(matches).sort(ORDERS[sort.value as Order]).map((row) => row.element));
  filter.addEventListener("input", redraw);
  sort.addEventListener("change", redraw);
  const notes = [
    listing.other_files > 0 ? `${listing.other_files} files that are not traces` : "",
    listing.links_left_out > 0 ? `${listing.links_left_out} links out of the folder are left out` : "",
    listing.cut ? "more files than are listed" : "",
  ].filter((note) => note !== "");
  main.replaceChildren(
    h("h1", {}, listing.folder.split("/").pop() || "Traces"),
    h("p", { class: "meta" }, listing.folder, notes.length > 0 ? `; ${notes.join("; ")}` : ""),
    h("div", { class: "served-tools" }, filter, sort, compare, button("Light or dark", toggleTheme)),
    status,
    h("table", { class: "served-table" },
      h("thead", {}, h("tr", {}, ...["compare", "trace", "bottleneck", "time", "answer", "open"].map((title) => h("th", {}, title)))),
      body));
  redraw();
  if (rows.length === 0) status.textContent = "No trace lies here.";
  const waiting = [...rows];
  const work = async () => {
    for (let row = waiting.shift(); row; row = waiting.shift()) {
      row.cell.replaceChildren(h("span", { class: "meta" }, "reads it ..."));
      try {
        row.answer = (await (await ask(`/v1/answer?id=${row.trace.id}`)).json()) as Answer;
      } catch (error) {
        row.answer = wordsOf(error);
      }
      show(row);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  redraw();
}

void start();
