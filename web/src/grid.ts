// Tables and trees. Only visible rows are in the DOM, so that 100,000 rows stay fast.

import { chooseCause, chooseName, chosenCause, chosenName, isOnTimeline, onChosen } from "./chosen.ts";
import { announce, button, copyText, freshId, h, saveFile } from "./dom.ts";
import { causeColour, causeWord, isHatched } from "./palette.ts";
import { csvField, nameButton, shortenMiddle } from "./text.ts";
import { onTheme } from "./theme.ts";
import { describe } from "./tips.ts";
import { formatCell, formatValue, numberOf, scaleColumn, scaleLike, type ColumnScale } from "./units.ts";
import type { Cell, Column, Table, Tree } from "./view.ts";

const ROW_HEIGHT = 27;
const ALL_IN_PAGE = 60; // shorter tables are not virtualized
const VISIBLE_ROWS = 22;
const OVERSCAN = 10;
const FILTER_FROM = 9;
const PRINTED_ROWS = 60;
const TREE_ROWS_OPEN = 30;

const narrow = () => window.matchMedia("(max-width: 600px)").matches;

interface Shown {
  column: Column;
  scale: ColumnScale;
  text: boolean;
  right: boolean;
  tree: boolean;
}

interface TreeShape {
  depths: number[];
  end: Int32Array; // the row after the subtree
}

function treeShape(depths: number[]): TreeShape {
  const end = new Int32Array(depths.length);
  const open: number[] = [];
  for (let row = 0; row < depths.length; ++row) {
    while (open.length > 0 && depths[open[open.length - 1]!]! >= depths[row]!) end[open.pop()!] = row;
    open.push(row);
  }
  for (const row of open) end[row] = depths.length;
  return { depths, end };
}

const MANY_COLUMNS = 5; // with more, a name of 64 characters does not fit at 1300 pixels

const isText = (cell: Cell) => (typeof cell === "string" && numberOf(cell) === null) || Array.isArray(cell);

const endsInterval = (column: Column) => /(^| )(from|to)$/.test(column.title);

// The ends of an interval follow the column that they belong to and share its unit, as in
// src/report/writers/grid.cc.
function shownColumns(columns: Column[], tree: boolean): Shown[] {
  const shown = columns.map((column, i) => shownColumn(column, tree && i === 0));
  const seen = shown.filter((one) => !one.column.hidden);
  seen.forEach((one, i) => {
    const before = seen[i - 1];
    if (!before || before.column.unit !== one.column.unit || !endsInterval(one.column)) return;
    const { symbol } = one.scale;
    one.scale = scaleLike(before.scale, one.column.cells, one.column.whole);
    if (symbol === "" && !one.column.cells.some((cell) => numberOf(cell) !== null)) one.scale.symbol = "";
  });
  return shown;
}

function shownColumn(column: Column, tree: boolean): Shown {
  let anyText = false;
  let anyOther = false;
  for (const cell of column.cells) {
    if (isText(cell)) anyText = true;
    else if (cell !== null) anyOther = true;
  }
  const text = column.unit === "text" || column.unit === "state" || (anyText && !anyOther);
  const scale = scaleColumn(column.unit, column.cells, column.whole);
  if (!anyOther) scale.symbol = "";
  const right = column.align === "right" || (column.align !== "left" && !text);
  return { column, scale, text, right, tree };
}

export class Grid {
  readonly element: HTMLElement;
  private readonly columns: Shown[];
  private readonly rows: number;
  private readonly shape: TreeShape | null;
  private readonly closed = new Set<number>();
  private readonly opened = new Map<number, number>(); // row that shows its whole name -> extra height
  private order: number[] = [];
  private all = false;
  private sortColumn: Shown | null = null;
  private descending = false;
  private query = "";
  private searchable: string[] | null = null;
  private readonly sortKeys = new Map<Column, Float64Array | string[]>();
  private readonly fullNames: Column | null;
  // what a click on a row's element selects
  private readonly picks = new WeakMap<Element, { name: string } | { cause: string }>();

  private readonly scroller: HTMLElement;
  private readonly table: HTMLTableElement;
  private readonly head: HTMLTableSectionElement;
  private readonly body: HTMLTableSectionElement;
  private readonly status: HTMLElement;
  private readonly sizes = h("colgroup");
  private filter: HTMLInputElement | null = null;
  private first = -1;
  private last = -1;

  constructor(
    content: Table | Tree,
  ) {
    const columns = content.columns;
    if (content.type === "tree") {
      const label: Column = {
        key: content.label_key,
        title: content.label_title,
        unit: "text",
        whole: true,
        cells: content.labels,
        elastic: true,
      };
      this.columns = shownColumns([label, ...columns], true);
      this.rows = content.labels.length;
      this.shape = treeShape(content.depths);
      this.closeDeep();
    } else {
      this.columns = shownColumns(columns, false);
      this.rows = content.rows;
      this.shape = null;
    }
    this.fullNames = columns.find((c) => c.hidden && c.key === "name") ?? null;

    const captionId = freshId("caption");
    this.head = h("thead");
    this.body = h("tbody");
    this.table = h("table", { attributes: { "aria-labelledby": captionId } }, this.sizes, this.head, this.body);
    this.scroller = h(
      "div",
      { class: "scroller", attributes: { tabindex: "0", role: "region", "aria-labelledby": captionId } },
      this.table,
    );
    this.status = h("span", { class: "status", attributes: { role: "status" } });
    const title = h("h4", { id: captionId }, content.title || "Table");
    if (!content.title) title.className = "unseen";
    this.element = h("div", { class: "grid" }, h("div", { class: "grid-head" }, title, this.tools(content.title)), this.scroller);
    this.scroller.addEventListener("scroll", () => this.renderRows(false), { passive: true });
    this.update();
    onChosen(this.element, () => this.markChosen());
    onTheme(() => this.hasStates() && this.renderRows(true));
    window.addEventListener("beforeprint", () => this.forPrint(true));
    window.addEventListener("afterprint", () => this.forPrint(false));
  }

  private hasStates(): boolean {
    return this.columns.some((c) => c.column.unit === "state");
  }

  // Filters for the words and scrolls to the matching rows.
  reveal(words: string): void {
    if (this.filter) this.filter.value = words;
    this.query = this.rows >= FILTER_FROM ? words.trim().toLowerCase() : "";
    this.update();
    this.element.scrollIntoView({ block: "center" });
  }

  private visible(): Shown[] {
    return this.columns.filter((c) => this.all || !c.column.hidden);
  }

  private isVirtual(): boolean {
    return this.order.length > ALL_IN_PAGE;
  }

  // Opens a tree only as far as it fits on a screen.
  private closeDeep(): void {
    const { depths, end } = this.shape!;
    let depth = 0;
    for (let shown = 0; ; ++depth) {
      shown = depths.filter((d) => d <= depth + 1).length;
      if (shown > TREE_ROWS_OPEN || shown === depths.length) {
        if (shown <= TREE_ROWS_OPEN) return;
        break;
      }
    }
    depths.forEach((d, row) => {
      if (d >= depth && end[row]! > row + 1) this.closed.add(row);
    });
  }

  // ---- tools ----

  private tools(name: string): HTMLElement {
    const tools = h("div", { class: "tools" });
    if (this.rows >= FILTER_FROM) {
      const input = h("input", {
        class: "filter",
        attributes: { type: "search", placeholder: "Filter", "aria-label": `Filter ${name || "the table"}`, spellcheck: "false" },
      });
      input.addEventListener("input", () => {
        this.query = input.value.trim().toLowerCase();
        this.update();
        announce(this.status.textContent ?? "");
      });
      this.filter = input;
      tools.append(input);
    }
    tools.append(this.status);
    if (this.columns.some((c) => c.column.hidden)) {
      const more = button("All columns", () => {
        this.all = !this.all;
        more.setAttribute("aria-pressed", String(this.all));
        this.update();
      });
      more.setAttribute("aria-pressed", "false");
      tools.append(more);
    }
    if (this.shape && this.shape.depths.some((d) => d > 0)) {
      const toggle = button("Open all", () => {
        const open = this.closed.size > 0;
        this.closed.clear();
        if (!open) this.shape!.end.forEach((end, row) => end > row + 1 && this.closed.add(row));
        toggle.textContent = open ? "Close all" : "Open all";
        this.update();
      });
      tools.append(toggle);
    }
    const copy = button(
      "Copy CSV",
      async () => {
        const text = this.csv();
        const done = await copyText(text);
        if (!done) saveFile("table.csv", "text/csv", text);
        copy.textContent = done ? "Copied" : "Saved";
        announce(done ? `${this.order.length} rows copied` : "Saved as table.csv");
        window.setTimeout(() => (copy.textContent = "Copy CSV"), 1500);
      },
      { title: "Copy the rows below, in base units" },
    );
    tools.append(copy);
    return tools;
  }

  // The filtered and sorted rows in base units, unrounded. The header has the keys.
  csv(): string {
    const columns = this.visible();
    const lines = [columns.map((c) => csvField(c.column.key || c.column.title, true)).join(",")];
    for (const row of this.order) {
      const fields = columns.map((c) => {
        const cell = c.column.cells[row] ?? null;
        if (cell === null) return "";
        if (typeof cell === "boolean") return String(cell);
        const text = Array.isArray(cell) ? cell.join("; ") : String(cell);
        return csvField(text, numberOf(cell) === null);
      });
      lines.push(fields.join(","));
    }
    return lines.join("\n") + "\n";
  }

  // ---- order ----

  private update(): void {
    this.opened.clear();
    this.order = this.matching();
    if (this.sortColumn) this.sort(this.order, this.sortColumn);
    const total = this.rows;
    const n = this.order.length.toLocaleString("en-US");
    const of = total.toLocaleString("en-US");
    const hiddenByTree = this.shape !== null && !this.query;
    this.status.textContent =
      total < FILTER_FROM ? "" : this.order.length === total || hiddenByTree ? `${of} rows` : `${n} of ${of} rows`;
    this.renderHead();
    this.table.setAttribute("aria-rowcount", String(this.order.length + 1));
    this.scroller.classList.toggle("virtual", this.isVirtual());
    this.scroller.style.maxHeight = this.isVirtual() ? `${(VISIBLE_ROWS + 2) * ROW_HEIGHT}px` : "";
    this.scroller.scrollTop = 0;
    this.renderRows(true);
  }

  private matching(): number[] {
    if (this.shape) return this.treeRows(this.shape);
    const rows: number[] = [];
    if (!this.query) {
      for (let row = 0; row < this.rows; ++row) rows.push(row);
      return rows;
    }
    const words = this.query.split(/\s+/);
    const search = this.searchTexts();
    for (let row = 0; row < this.rows; ++row) {
      const text = search[row]!;
      if (words.every((word) => text.includes(word))) rows.push(row);
    }
    return rows;
  }

  // The matching rows and their ancestors.
  private treeRows({ depths, end }: TreeShape): number[] {
    const rows: number[] = [];
    if (!this.query) {
      for (let row = 0; row < depths.length; row = this.closed.has(row) ? end[row]! : row + 1) rows.push(row);
      return rows;
    }
    const search = this.searchTexts();
    const words = this.query.split(/\s+/);
    const path: number[] = [];
    let shown = -1;
    for (let row = 0; row < depths.length; ++row) {
      path.length = Math.min(path.length, depths[row]!);
      path[depths[row]!] = row;
      if (!words.every((word) => search[row]!.includes(word))) continue;
      for (const above of path) {
        if (above > shown) rows.push((shown = above));
      }
    }
    return rows;
  }

  private searchTexts(): string[] {
    if (this.searchable) return this.searchable;
    const texts = this.columns.filter((c) => c.text || c.column.unit === "none");
    this.searchable = Array.from({ length: this.rows }, (_, row) => {
      let text = "";
      for (const c of texts) {
        const cell = c.column.cells[row];
        if (cell !== null && cell !== undefined) text += `${Array.isArray(cell) ? cell.join(" ") : String(cell)}\n`;
        if (c.column.unit === "state" && typeof cell === "string") text += `${causeWord(cell)}\n`;
      }
      return text.toLowerCase();
    });
    return this.searchable;
  }

  private sort(rows: number[], by: Shown): void {
    const keys = this.keysOf(by);
    const sign = this.descending ? -1 : 1;
    if (keys instanceof Float64Array) {
      // Cells that are not numbers stay last in either direction.
      rows.sort((a, b) => {
        const x = keys[a]!;
        const y = keys[b]!;
        if (x !== x || y !== y) return x !== x ? (y !== y ? a - b : 1) : -1;
        return x === y ? a - b : (x - y) * sign;
      });
    } else {
      rows.sort((a, b) => (keys[a]! === keys[b]! ? a - b : keys[a]! < keys[b]! ? -sign : sign));
    }
  }

  private keysOf(by: Shown): Float64Array | string[] {
    let keys = this.sortKeys.get(by.column);
    if (!keys) {
      const cells = by.column.cells;
      keys = by.text
        ? Array.from({ length: this.rows }, (_, row) => String(cells[row] ?? "").toLowerCase())
        : Float64Array.from({ length: this.rows }, (_, row) => {
            const cell = cells[row];
            return typeof cell === "boolean" ? Number(cell) : (numberOf(cell) ?? NaN);
          });
      this.sortKeys.set(by.column, keys);
    }
    return keys;
  }

  private toggleSort(by: Shown): void {
    const firstDescending = !by.text;
    if (this.sortColumn !== by) {
      this.sortColumn = by;
      this.descending = firstDescending;
    } else if (this.descending === firstDescending) {
      this.descending = !firstDescending;
    } else {
      this.sortColumn = null;
    }
    this.update();
    const how = this.sortColumn ? (this.descending ? "descending" : "ascending") : "in the original order";
    announce(`${by.column.title}: ${how}`);
  }

  // ---- drawing ----

  private renderHead(): void {
    const focused = this.head.contains(document.activeElement)
      ? Array.from(this.head.querySelectorAll("button")).indexOf(document.activeElement as HTMLButtonElement)
      : -1;
    const row = h("tr");
    this.sizes.replaceChildren();
    for (const shown of this.visible()) {
      const { column, scale } = shown;
      const title = scale.symbol ? `${column.title} (${scale.symbol})` : column.title;
      const sorted = this.sortColumn === shown;
      const cell = h("th", { class: shown.right ? "right" : "left", attributes: { scope: "col" } });
      if (sorted) cell.setAttribute("aria-sort", this.descending ? "descending" : "ascending");
      const mark = sorted ? (this.descending ? " ↓" : " ↑") : "";
      let label: HTMLElement;
      if (this.shape) {
        label = h("span", { class: "head-label", attributes: { tabindex: "0" } }, title);
      } else {
        label = h("button", { class: "head-label", attributes: { type: "button" } }, title + mark);
        label.addEventListener("click", () => this.toggleSort(shown));
      }
      describe(label, column.definition, column.key, column.title);
      if (!label.hasAttribute("data-key")) label.removeAttribute("tabindex");
      cell.append(label);
      row.append(cell);
      if (this.isVirtual()) {
        const size = h("col");
        size.style.width = this.width(shown, title);
        this.sizes.append(size);
      }
    }
    this.head.replaceChildren(row);
    if (focused >= 0) this.head.querySelectorAll("button")[focused]?.focus();
  }

  private nameWidth(shown: Shown): number {
    if (shown.tree) return narrow() ? 30 : 52;
    if (narrow()) return 26;
    const columns = this.columns.filter((one) => !one.column.hidden).length;
    return !shown.column.elastic ? 72 : columns > MANY_COLUMNS ? 52 : 64;
  }

  // Fixed, so that columns do not move while the table scrolls.
  private width(shown: Shown, title: string): string {
    const cells = shown.column.cells;
    let longest = title.length > 14 ? Math.max(...title.split(" ").map((w) => w.length)) + 2 : title.length + 1;
    const step = shown.text ? 1 : Math.max(1, Math.floor(cells.length / 400));
    let largest = 0;
    for (let row = 0; row < cells.length; row += step) {
      const cell = cells[row];
      if (shown.text) {
        const depth = shown.tree ? 2 * this.shape!.depths[row]! + 3 : 0;
        longest = Math.max(longest, typeof cell === "string" ? cell.length + depth : 6);
      } else {
        longest = Math.max(longest, formatCell(cell, shown.scale).length);
      }
    }
    if (!shown.text) {
      for (const cell of cells) largest = Math.max(largest, Math.abs(numberOf(cell) ?? 0));
      longest = Math.max(longest, formatCell(largest, shown.scale).length);
    }
    return `calc(${Math.min(longest, this.nameWidth(shown) + 2)}ch + 24px)`;
  }

  private cell(shown: Shown, row: number, position: number, line: HTMLElement): HTMLElement {
    const cell = shown.column.cells[row] ?? null;
    const element = h(position === 0 ? "th" : "td", { class: shown.right ? "right" : "left" });
    if (position === 0) element.setAttribute("scope", "row");
    if (shown.column.unit === "state" && typeof cell === "string") {
      this.picks.set(line, { cause: cell });
      element.append(stateButton(cell));
      return element;
    }
    if (shown.tree) this.addTreeControls(element, row);
    if (!shown.text) {
      describe(element, shown.column.definition, shown.column.key, shown.column.title);
      element.append(formatCell(cell, shown.scale));
      return element;
    }
    const width = this.nameWidth(shown);
    const text = formatCell(cell, shown.scale);
    const whole = this.wholeName(shown, row, text);
    if (text.length <= width && whole === text) {
      element.append(text);
      if (text.length > 24) element.classList.add("words");
    } else {
      element.append(
        this.expandable(text, whole, width, row),
      );
      if (!shown.column.elastic && !shown.tree) element.classList.add("words");
    }
    const name = [text, whole].find(isOnTimeline);
    if (name !== undefined && !this.picks.has(line)) {
      this.picks.set(line, { name });
      element.append(nameOnTimeline(name));
    }
    return element;
  }

  private markChosen(): void {
    for (const line of this.body.children) this.markLine(line);
  }
  private markLine(line: Element): void {
    const pick = this.picks.get(line);
    const chosen = pick !== undefined && ("name" in pick ? pick.name === chosenName() : pick.cause === chosenCause());
    line.classList.toggle("chosen", chosen);
  }

  // A short name has its long form in a hidden column.
  private wholeName(shown: Shown, row: number, text: string): string {
    if (!shown.column.elastic || !this.fullNames || shown.tree) return text;
    const name = this.fullNames.cells[row];
    return typeof name === "string" && name !== "" && !this.all ? name : text;
  }

  private expandable(text: string, whole: string, width: number, row: number): HTMLElement {
    const element = nameButton(
      whole,
      width,
      (open) => {
        if (!open && whole !== text) element.textContent = shortenMiddle(text, width);
        this.measure(row, element, open);
      },
      this.opened.has(row),
    );
    if (!this.opened.has(row)) element.textContent = shortenMiddle(text, width);
    return element;
  }

  private measure(row: number, element: HTMLElement, open: boolean): void {
    const line = element.closest("tr");
    if (!line) return;
    line.classList.toggle("open", open);
    if (open) this.opened.set(row, Math.max(0, line.offsetHeight - ROW_HEIGHT));
    else this.opened.delete(row);
  }

  private addTreeControls(element: HTMLElement, row: number): void {
    const { depths, end } = this.shape!;
    element.style.paddingLeft = `${8 + Math.min(depths[row]!, 24) * (narrow() ? 8 : 14)}px`;
    element.classList.add("branch");
    if (end[row]! === row + 1 || this.query) {
      element.append(h("span", { class: "leaf", attributes: { "aria-hidden": "true" } }));
      return;
    }
    const open = !this.closed.has(row);
    const toggle = h("button", {
      class: "twist",
      attributes: { type: "button", "aria-expanded": String(open), "aria-label": `${open ? "Close" : "Open"}, level ${depths[row]! + 1}` },
    }, open ? "▾" : "▸");
    toggle.addEventListener("click", () => {
      if (open) this.closed.add(row);
      else this.closed.delete(row);
      const top = this.scroller.scrollTop;
      this.update();
      this.scroller.scrollTop = top;
      this.body.querySelector<HTMLElement>(`tr[data-row="${row}"] .twist`)?.focus();
    });
    element.append(toggle);
  }

  private line(index: number): HTMLTableRowElement {
    const row = this.order[index]!;
    const line = h("tr", { attributes: { "aria-rowindex": String(index + 2), "data-row": String(row) } });
    if (this.opened.has(row)) line.className = "open";
    this.visible().forEach((shown, position) => line.append(this.cell(shown, row, position, line)));
    this.markLine(line);
    return line;
  }

  // The extra height of the rows above that show whole names.
  private extraAbove(index: number): number {
    if (this.opened.size === 0) return 0;
    let extra = 0;
    for (let i = 0; i < index; ++i) extra += this.opened.get(this.order[i]!) ?? 0;
    return extra;
  }

  private spacer(height: number): HTMLElement {
    const cell = h("td", { attributes: { colspan: String(this.visible().length) } });
    cell.style.height = `${height}px`;
    cell.style.padding = "0";
    return h("tr", { class: "spacer", attributes: { "aria-hidden": "true" } }, cell);
  }

  private renderRows(anew: boolean): void {
    const n = this.order.length;
    if (!this.isVirtual()) {
      if (!anew) return;
      this.body.replaceChildren(...this.order.map((_, index) => this.line(index)));
      if (n === 0) this.body.append(this.emptyLine());
      return;
    }
    const top = Math.max(0, this.scroller.scrollTop - this.extraAbove(n));
    const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - OVERSCAN);
    const last = Math.min(n, Math.ceil((this.scroller.scrollTop + VISIBLE_ROWS * ROW_HEIGHT) / ROW_HEIGHT) + OVERSCAN);
    if (!anew && first === this.first && last === this.last) return;
    this.first = first;
    this.last = last;
    const lines: HTMLElement[] = [];
    if (first > 0) lines.push(this.spacer(first * ROW_HEIGHT + this.extraAbove(first)));
    for (let index = first; index < last; ++index) lines.push(this.line(index));
    const below = (n - last) * ROW_HEIGHT + this.extraAbove(n) - this.extraAbove(last);
    if (below > 0) lines.push(this.spacer(below));
    this.body.replaceChildren(...lines);
  }

  private emptyLine(): HTMLElement {
    return h("tr", {}, h("td", { class: "none", attributes: { colspan: String(this.visible().length) } },
      this.query ? "Nothing matches the filter." : "(none)"));
  }

  // A printed page cannot scroll: prints the first rows and the number of the others.
  private forPrint(printing: boolean): void {
    if (!this.isVirtual()) return;
    if (!printing) {
      this.renderRows(true);
      return;
    }
    const n = Math.min(PRINTED_ROWS, this.order.length);
    const lines: HTMLElement[] = [];
    for (let index = 0; index < n; ++index) lines.push(this.line(index));
    const more = (this.order.length - n).toLocaleString("en-US");
    lines.push(h("tr", {}, h("td", { attributes: { colspan: String(this.visible().length) } }, `… and ${more} more rows`)));
    this.body.replaceChildren(...lines);
  }
}

// The name and colour of a state; a click selects it in every view.
function stateButton(key: string): HTMLElement {
  const dot = h("span", { class: isHatched(key) ? "swatch hatched" : "swatch" });
  dot.style.background = causeColour(key);
  const pick = button("", () => chooseCause(chosenCause() === key ? null : key), { class: "state", title: "Show where, on the timeline" });
  pick.append(dot, causeWord(key));
  return pick;
}

function nameOnTimeline(name: string): HTMLElement {
  const pick = button("\u2316", () => {
    chooseName(chosenName() === name ? null : name);
    if (chosenName() !== null) document.querySelector(".timeline")?.scrollIntoView({ block: "nearest" });
  }, { class: "pick", title: "Show where, on the timeline" });
  pick.setAttribute("aria-label", `Show on the timeline: ${name}`);
  return pick;
}

// For values outside tables.
export { formatValue };
