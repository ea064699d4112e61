// Renders a Chart block with Apache ECharts, and its numbers as a table.

import { button, freshId, h, saveFile } from "./dom.ts";
import { Grid } from "./grid.ts";
import { chartLibrary, type ECharts, type EChartsCoreOption, type Library, loadedLibrary } from "./library.ts";
import { sentence, shortenMiddle } from "./text.ts";
import { color, onTheme, seriesColor } from "./theme.ts";
import { axisScale, formatLogTick, formatTick, formatValue } from "./units.ts";
import type { Axis, Cell, Chart, Column, Series, Table } from "./view.ts";

const LARGE = 4000; // points; larger series are drawn in batches
const CROWDED = 60; // points; longer lines have no dots
const LONGEST_CATEGORY = 48;
const LONGEST_CATEGORY_NARROW = 18;

type Option = Record<string, unknown>;
type Point = (number | string | null)[];

// An axis for ECharts: data is divided by `factor`, ticks are formatted.
interface Measure {
  factor: number;
  name: string;
  log: boolean;
  tick: (value: number) => string;
}

function measure(axis: Axis, values: Iterable<number | null>): Measure {
  let largest = 0;
  for (const value of values) {
    if (value !== null && Math.abs(value) > largest) largest = Math.abs(value);
  }
  if (axis.log) {
    return { factor: 1, name: axis.title, log: true, tick: (value) => formatLogTick(value, axis.unit) };
  }
  const scale = axisScale(axis.unit, largest);
  const name = scale.symbol ? `${axis.title} (${scale.symbol})` : axis.title;
  return { factor: scale.factor, name, log: false, tick: formatTick };
}

function* valuesOf(chart: Chart, pick: (series: Series) => (number | null)[][], guides: "x" | "y") {
  for (const series of chart.series) {
    for (const list of pick(series)) yield* list;
  }
  for (const guide of chart.guides) {
    if (guide.across === guides) yield guide.value;
  }
}

const isBar = (series: Series) => series.mark === "bars" || series.mark === "stacked";
const hasInterval = (series: Series) => series.low.length > 0 && series.low.length === series.y.length;

class ChartDrawing {
  private readonly x: Measure;
  private readonly y: Measure;
  private readonly byCategory: boolean;
  private readonly names: string[];
  omitted = 0; // values <= 0, which a logarithmic axis cannot show

  constructor(private readonly chart: Chart) {
    this.byCategory = chart.categories.length > 0;
    this.x = measure(chart.x, this.byCategory ? [] : valuesOf(chart, (s) => [s.x], "x"));
    // The axis must reach the sum of stacked bars.
    this.y = measure(chart.y, this.stackHeights() ?? valuesOf(chart, (s) => [s.y, s.high], "y"));
    // ECharts merges series of equal name in the legend.
    const seen = new Map<string, number>();
    this.names = chart.series.map((series) => {
      const name = shortenMiddle(series.name, 48);
      const count = (seen.get(name) ?? 0) + 1;
      seen.set(name, count);
      return count > 1 ? `${name} (${count})` : name;
    });
  }

  private stackHeights(): number[] | null {
    const stacked = this.chart.series.filter((s) => s.mark === "stacked");
    if (stacked.length === 0) return null;
    const n = Math.max(...stacked.map((s) => s.y.length));
    return Array.from({ length: n }, (_, i) => stacked.reduce((sum, s) => sum + Math.abs(s.y[i] ?? 0), 0));
  }

  private scaled(value: number | null | undefined, axis: Measure): number | null {
    if (value === null || value === undefined) return null;
    if (axis.log && value <= 0) {
      ++this.omitted;
      return null;
    }
    return value / axis.factor;
  }

  private points(series: Series): Point[] {
    return series.y.map((value, i) => {
      const x = this.byCategory && series.x.length === 0 ? i : this.scaled(series.x[i], this.x);
      const y = this.scaled(value, this.y);
      return this.chart.horizontal ? [y, x, i] : [x, y, i];
    });
  }

  private axisOption(axis: Measure, source: Axis, value: boolean): Option {
    const text = color("muted");
    const common = {
      name: axis.name,
      nameLocation: "middle",
      nameTextStyle: { color: text, fontSize: 12 },
      axisLabel: { color: text, fontSize: 11, hideOverlap: true } as Option,
      axisLine: { lineStyle: { color: color("rule") } },
      axisTick: { lineStyle: { color: color("rule") } },
      splitLine: { show: value, lineStyle: { color: color("rule"), opacity: 0.6 } },
    };
    if (this.byCategory && source === this.chart.x) {
      const longest = window.innerWidth < 600 ? LONGEST_CATEGORY_NARROW : LONGEST_CATEGORY;
      common.axisLabel.formatter = (name: string) => shortenMiddle(name, longest);
      // Show every name of a vertical category axis; the tooltip has the full text of shortened names.
      if (this.chart.horizontal) common.axisLabel.interval = 0;
      return { ...common, type: "category", data: this.chart.categories, inverse: this.chart.horizontal };
    }
    common.axisLabel.formatter = axis.tick;
    if (axis.log) {
      // Sweeps double their sizes: one tick per size. Only sweeps have a logarithmic x axis without a unit.
      const doubling = source === this.chart.x && source.unit === "none";
      const ends = doubling ? { logBase: 2, min: "dataMin", max: "dataMax" } : this.floor(source);
      return { ...common, type: "log", minorSplitLine: { show: false }, ...ends };
    }
    const extent = this.extent(axis, source);
    // The end of the axis comes from a guide and is not a round number, so it has no label.
    if (extent.max !== undefined) common.axisLabel.showMaxLabel = false;
    return { ...common, type: "value", ...extent };
  }

  // Bars on a logarithmic axis start at the power of ten below the smallest value. From 1, the smaller of two
  // shares would have the longer bar.
  private floor(source: Axis): Option {
    if (source !== this.chart.y || !this.chart.series.some(isBar)) return {};
    let least = Infinity;
    for (const value of this.chart.series.flatMap((s) => [...s.y, ...s.low])) {
      if (value !== null && value > 0) least = Math.min(least, value);
    }
    if (least === Infinity) return {};
    const floor = 10 ** (Math.ceil(Math.log10(least)) - 1);
    return { min: floor, startValue: floor };
  }

  // Starts at 0 unless the values would then look flat; extends to the guides.
  private extent(axis: Measure, source: Axis): Option {
    const upright = source === this.chart.y;
    let low = Infinity;
    let high = -Infinity;
    for (const value of this.chart.series.flatMap((s) => (upright ? [s.y, s.low, s.high].flat() : s.x))) {
      if (value === null) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    const bars = upright && this.chart.series.some(isBar);
    const flat = low > 0 && high < 1.25 * low;
    const out: Option = { scale: !bars && (flat || !upright) };
    for (const guide of this.chart.guides) {
      if (guide.value === null || (guide.across === "y") !== upright) continue;
      if (guide.value > high && !this.stackHeights()) out.max = (guide.value * 1.08) / axis.factor;
    }
    return out;
  }

  // One or two vertical guides have their labels above the plot, where the text need not be rotated.
  private guidesOnTop(): boolean {
    const upright = this.chart.guides.filter((g) => (g.across === "x") !== this.chart.horizontal);
    return upright.length > 0 && upright.length <= 2;
  }

  option(): Option {
    const { chart } = this;
    this.omitted = 0;
    const upright = this.axisOption(this.y, chart.y, true);
    const along = this.axisOption(this.x, chart.x, !this.byCategory && !chart.series.some(isBar));
    const large = chart.series.some((s) => s.y.length > 200);
    const legend = chart.series.length > 1 || (chart.series[0]?.name ?? "") !== "";
    const text = color("ink");
    const xAxis = chart.horizontal ? upright : along;
    const yAxis = chart.horizontal ? along : upright;
    Object.assign(xAxis, { nameGap: 28 });
    // The name of the vertical axis is above it, where the text need not be rotated.
    Object.assign(yAxis, {
      nameLocation: "end",
      nameGap: this.guidesOnTop() ? 26 : 10,
      nameTextStyle: { color: color("muted"), fontSize: 12, align: "left", padding: [0, 0, 0, -30] },
    });
    if (chart.horizontal) Object.assign(yAxis, { nameLocation: "start" });
    return {
      animation: false,
      backgroundColor: "transparent",
      textStyle: { fontFamily: getComputedStyle(document.body).fontFamily },
      aria: { enabled: true, label: { description: this.description() } },
      grid: { left: 8, right: 20, top: (legend ? 58 : 34) + (this.guidesOnTop() ? 16 : 0), bottom: xAxis.name ? 34 : 10, containLabel: true },
      legend: legend
        ? { type: "scroll", top: 0, left: 0, itemWidth: 14, itemHeight: 9, icon: "roundRect", textStyle: { color: text, fontSize: 12 }, pageTextStyle: { color: text }, data: this.names.map((name) => ({ name })) }
        : undefined,
      tooltip: this.tooltip(),
      dataZoom: large
        ? [{ type: "inside", xAxisIndex: chart.horizontal ? undefined : 0, yAxisIndex: chart.horizontal ? 0 : undefined, filterMode: "none", zoomOnMouseWheel: "ctrl", moveOnMouseMove: true, moveOnMouseWheel: false }]
        : undefined,
      xAxis,
      yAxis,
      series: chart.series.flatMap((series, i) => this.seriesOptions(series, i)),
    };
  }

  private seriesOptions(series: Series, index: number): Option[] {
    const data = this.points(series);
    const tint = seriesColor(index);
    const common: Option = {
      name: this.names[index],
      data,
      color: tint,
      dimensions: this.chart.horizontal ? ["y", "x", "i"] : ["x", "y", "i"],
      encode: { x: 0, y: 1 },
      ...(index === 0 ? { markLine: this.guides() } : {}),
    };
    const main = { ...common, ...this.markOptions(series, data.length) };
    if (!hasInterval(series)) return [main];
    const line = series.mark === "line" || series.mark === "steps";
    return line ? [this.band(series, index, tint), main] : [main, this.whiskers(series, index)];
  }

  private markOptions(series: Series, n: number): Option {
    switch (series.mark) {
      case "points":
        return {
          type: "scatter",
          z: 3, // measured points above the dots of lines
          symbolSize: n > 2000 ? 3 : n > 300 ? 4 : 7,
          itemStyle: { opacity: n > 2000 ? 0.45 : n > 300 ? 0.65 : 0.9 },
          large: n > LARGE,
          largeThreshold: LARGE,
        };
      case "bars":
      case "stacked":
        return {
          type: "bar",
          stack: series.mark === "stacked" ? "stack" : undefined,
          barMaxWidth: 34,
          barCategoryGap: "25%",
          large: n > LARGE,
        };
      default:
        return {
          type: "line",
          step: series.mark === "steps" ? "end" : undefined,
          sampling: series.mark === "steps" ? "minmax" : "lttb",
          showSymbol: n <= CROWDED && series.mark === "line",
          symbol: "circle",
          symbolSize: 5,
          lineStyle: { width: n > 1000 ? 1 : 1.75 },
          connectNulls: false,
          emphasis: { disabled: true },
        };
    }
  }

  private guides(): Option | undefined {
    const lines = this.chart.guides.flatMap((guide) => {
      const axis = guide.across === "x" ? this.x : this.y;
      const value = this.scaled(guide.value, axis);
      if (value === null) return [];
      const alongX = (guide.across === "x") !== this.chart.horizontal;
      const at = alongX ? { xAxis: value } : { yAxis: value };
      // With horizontal bars the first category is on top, where the line begins.
      const above = this.chart.horizontal ? "start" : "end";
      const position = alongX && this.guidesOnTop() ? above : "insideEndTop";
      return [{ ...at, label: { formatter: () => shortenMiddle(guide.label, 60), position } }];
    });
    if (lines.length === 0) return undefined;
    return {
      silent: true,
      symbol: "none",
      animation: false,
      lineStyle: { color: color("muted"), type: "dashed", width: 1 },
      label: { color: color("ink"), fontSize: 11, textBorderColor: color("paper"), textBorderWidth: 3 },
      data: lines,
    };
  }

  private intervalAt(series: Series, i: number): { x: number | null; low: number | null; high: number | null } {
    const x = this.byCategory && series.x.length === 0 ? i : this.scaled(series.x[i], this.x);
    return { x, low: this.scaled(series.low[i], this.y), high: this.scaled(series.high[i], this.y) };
  }

  // The interval around a line: an area with gaps where values are missing.
  private band(series: Series, index: number, tint: string): Option {
    const ends = series.y.map((_, i) => this.intervalAt(series, i));
    const horizontal = this.chart.horizontal;
    return {
      type: "custom",
      name: this.names[index],
      silent: true,
      clip: true,
      z: 1,
      data: ends.map((end, i) => (horizontal ? [end.high, end.x, i, end.low] : [end.x, end.high, i, end.low])),
      encode: horizontal ? { x: [0, 3], y: 1 } : { x: 0, y: [1, 3] },
      tooltip: { show: false },
      color: tint,
      renderItem: (params: { dataIndex: number }, api: { coord: (at: unknown[]) => number[] }) => {
        if (params.dataIndex !== 0) return undefined;
        const at = (x: number, value: number) => api.coord(horizontal ? [value, x] : [x, value]);
        const children: Option[] = [];
        for (let start = 0; start < ends.length; ) {
          let stop = start;
          while (stop < ends.length && ends[stop]!.x !== null && ends[stop]!.low !== null && ends[stop]!.high !== null) ++stop;
          const run = ends.slice(start, stop) as { x: number; low: number; high: number }[];
          if (run.length > 1) {
            const points = [...run.map((e) => at(e.x, e.high)), ...run.reverse().map((e) => at(e.x, e.low))];
            children.push({ type: "polygon", shape: { points }, style: { fill: tint, opacity: 0.16 } });
          }
          start = stop + 1;
        }
        return { type: "group", children };
      },
    };
  }

  private whiskers(series: Series, index: number): Option {
    const horizontal = this.chart.horizontal;
    const besides = this.chart.series.filter((s) => s.mark === "bars");
    const place = besides.indexOf(series);
    return {
      type: "custom",
      name: this.names[index],
      silent: true,
      clip: true,
      z: 5,
      data: series.y.map((_, i) => {
        const end = this.intervalAt(series, i);
        return horizontal ? [end.high, end.x, i, end.low] : [end.x, end.high, i, end.low];
      }),
      encode: horizontal ? { x: [0, 3], y: 1 } : { x: 0, y: [1, 3] },
      tooltip: { show: false },
      renderItem: (
        _: unknown,
        api: {
          value: (dimension: number) => number;
          coord: (at: number[]) => number[];
          barLayout: (layout: Option) => { offsetCenter: number }[];
        },
      ) => {
        const x = api.value(horizontal ? 1 : 0);
        const high = api.value(horizontal ? 0 : 1);
        const low = api.value(3);
        if (![x, high, low].every(Number.isFinite)) return undefined;
        const from = api.coord(horizontal ? [low, x] : [x, low]);
        const to = api.coord(horizontal ? [high, x] : [x, high]);
        let offset = 0;
        if (place >= 0 && this.byCategory) {
          offset = api.barLayout({ count: besides.length, barMaxWidth: 34, barCategoryGap: "25%" })[place]?.offsetCenter ?? 0;
        }
        const cap = 4;
        const stroke = { stroke: color("ink"), lineWidth: 1, opacity: 0.75 };
        const shift = (p: number[]) => (horizontal ? [p[0]!, p[1]! + offset] : [p[0]! + offset, p[1]!]);
        const [a, b] = [shift(from), shift(to)];
        const line = (x1: number, y1: number, x2: number, y2: number) => ({ type: "line", shape: { x1, y1, x2, y2 }, style: stroke });
        const end = (p: number[]) =>
          horizontal ? line(p[0]!, p[1]! - cap, p[0]!, p[1]! + cap) : line(p[0]! - cap, p[1]!, p[0]! + cap, p[1]!);
        return { type: "group", children: [line(a[0]!, a[1]!, b[0]!, b[1]!), end(a), end(b)] };
      },
    };
  }

  private tooltip(): Option {
    const byItem = this.chart.series.every((s) => s.mark === "points") && !this.byCategory;
    return {
      trigger: byItem ? "item" : "axis",
      confine: true,
      backgroundColor: color("raised"),
      borderColor: color("rule"),
      textStyle: { color: color("ink"), fontSize: 12 },
      axisPointer: { type: this.chart.series.some(isBar) ? "shadow" : "line", lineStyle: { color: color("muted") }, shadowStyle: { color: color("shade") } },
      // An element, so that no text is parsed as markup.
      formatter: (given: unknown) => this.tooltipBody(Array.isArray(given) ? given : [given]),
    };
  }

  private tooltipBody(hits: { seriesName: string; data: Point; seriesType: string }[]): HTMLElement {
    const { chart } = this;
    const box = h("div", { class: "chart-tip" });
    const seen = new Set<string>();
    for (const hit of hits.slice(0, 12)) {
      if (hit.seriesType === "custom" || !Array.isArray(hit.data)) continue;
      const index = this.names.indexOf(hit.seriesName);
      const series = chart.series[index];
      if (!series || seen.has(hit.seriesName)) continue;
      const i = hit.data[2] as number;
      const where = this.byCategory ? (chart.categories[series.x.length === 0 ? i : (series.x[i] ?? i)] ?? "") : `${chart.x.title} ${formatValue(series.x[i] ?? null, chart.x.unit, Number.isInteger(series.x[i]))}`;
      if (seen.size === 0) box.append(h("div", { class: "chart-tip-head" }, shortenMiddle(where, 90)));
      seen.add(hit.seriesName);
      const swatch = h("span", { class: "swatch" });
      swatch.style.background = seriesColor(index);
      let value = formatValue(series.y[i] ?? null, chart.y.unit, Number.isInteger(series.y[i]));
      if (hasInterval(series) && series.low[i] !== null) {
        const ends = [series.low[i], series.high[i]].map((v) => formatValue(v ?? null, chart.y.unit, Number.isInteger(v)));
        value += ` (${ends[0]} to ${ends[1]})`;
      }
      box.append(h("div", {}, swatch, this.names[index] ? `${this.names[index]}: ` : "", h("strong", {}, value)));
      const label = series.labels[i];
      if (label) box.append(h("div", { class: "chart-tip-label" }, shortenMiddle(label, 90)));
    }
    if (hits.length > 12) box.append(h("div", { class: "chart-tip-label" }, `and ${hits.length - 12} more`));
    return box;
  }

  description(): string {
    const { chart } = this;
    const series = chart.series.map((s) => `${s.name || "values"}, ${s.y.length} points`).slice(0, 20);
    return `${chart.title}. ${chart.y.title} over ${chart.x.title}. ${series.join("; ")}. The same numbers are in the table behind "Table".`;
  }
}

function column(key: string, title: string, unit: Column["unit"], cells: Cell[]): Column {
  const whole = cells.every((cell) => typeof cell !== "number" || Number.isInteger(cell));
  return { key, title, unit, whole, cells };
}

// The numbers of the chart as a table: series in columns if they share their x values, otherwise in rows.
export function chartTable(chart: Chart): Table {
  const first = chart.series[0];
  const same = (a: (number | null)[], b: (number | null)[]) => a.length === b.length && a.every((v, i) => v === b[i]);
  const wide = first !== undefined && chart.series.every((s) => s.y.length === first.y.length && same(s.x, first.x));
  const xCells = (s: Series): Cell[] =>
    chart.categories.length > 0
      ? s.y.map((_, i) => chart.categories[s.x.length === 0 ? i : (s.x[i] ?? -1)] ?? null)
      : s.x;
  const xUnit = chart.categories.length > 0 ? "text" : chart.x.unit;
  const xTitle = chart.x.title || "x";
  const columns: Column[] = [];
  if (wide) {
    columns.push(column("x", xTitle, xUnit, xCells(first)));
    chart.series.forEach((s, i) => {
      const name = s.name || chart.y.title || "y";
      columns.push(column(`y${i + 1}`, name, chart.y.unit, s.y));
      if (hasInterval(s)) {
        columns.push(column(`low${i + 1}`, `${name}, low`, chart.y.unit, s.low));
        columns.push(column(`high${i + 1}`, `${name}, high`, chart.y.unit, s.high));
      }
      if (s.labels.length > 0) columns.push({ ...column(`label${i + 1}`, "what", "text", s.labels), elastic: true });
    });
    return { type: "table", key: chart.key, title: "", rows: first.y.length, columns };
  }
  const all = chart.series;
  const rows = all.reduce((sum, s) => sum + s.y.length, 0);
  columns.push(column("series", "series", "text", all.flatMap((s) => s.y.map(() => s.name))));
  columns.push(column("x", xTitle, xUnit, all.flatMap(xCells)));
  columns.push(column("y", chart.y.title || "y", chart.y.unit, all.flatMap((s) => s.y)));
  if (all.some(hasInterval)) {
    columns.push(column("low", "low", chart.y.unit, all.flatMap((s) => (hasInterval(s) ? s.low : s.y.map(() => null)))));
    columns.push(column("high", "high", chart.y.unit, all.flatMap((s) => (hasInterval(s) ? s.high : s.y.map(() => null)))));
  }
  if (all.some((s) => s.labels.length > 0)) {
    const labels = all.flatMap((s) => (s.labels.length > 0 ? s.labels : s.y.map(() => null)));
    columns.push({ ...column("label", "what", "text", labels), elastic: true });
  }
  return { type: "table", key: chart.key, title: "", rows, columns };
}

function heightOf(chart: Chart): number {
  if (!chart.horizontal) return 320;
  const besides = chart.series.filter((s) => s.mark === "bars").length;
  return Math.min(900, 100 + Math.max(52, chart.categories.length * Math.max(24, 14 * besides)));
}

export function chartElement(chart: Chart): HTMLElement {
  const drawing = new ChartDrawing(chart);
  const titleId = freshId("chart");
  const canvas = h("div", { class: "canvas", attributes: { role: "img", "aria-label": drawing.description() } });
  canvas.style.height = `${heightOf(chart)}px`;
  const note = h("p", { class: "chart-note" });
  const figure = h("figure", { class: "chart", attributes: { "aria-labelledby": titleId } });
  let table: HTMLElement | null = null;
  const toggle = button("Table", () => {
    table ??= new Grid({ ...chartTable(chart), title: chart.title }).element;
    const open = toggle.getAttribute("aria-pressed") !== "true";
    toggle.setAttribute("aria-pressed", String(open));
    canvas.hidden = open;
    if (open) canvas.after(table);
    else table.remove();
  });
  toggle.setAttribute("aria-pressed", "false");
  // Drawn anew: the chart on the page is pixels.
  const svg = button("SVG", async () => {
    const size = { width: canvas.clientWidth || figure.clientWidth, height: heightOf(chart) };
    const drawn = (await chartLibrary()).init(null, undefined, { renderer: "svg", ssr: true, ...size });
    drawn.setOption(drawing.option() as EChartsCoreOption);
    saveFile(`${chart.key}.svg`, "image/svg+xml", drawn.renderToSVGString());
    drawn.dispose();
  });
  const tools = h("div", { class: "tools" }, svg, toggle);
  figure.append(
    h("div", { class: "grid-head" }, h("h4", { id: titleId }, ...sentence(chart.title)), tools),
    canvas,
    note,
  );
  if (chart.caption) figure.append(h("figcaption", {}, ...sentence(chart.caption)));

  let instance: ECharts | null = null;
  const drawWith = ({ init }: Library) => {
    if (!canvas.clientWidth) return;
    instance ??= init(canvas, undefined, { renderer: "canvas" });
    instance.setOption(drawing.option() as EChartsCoreOption, true);
    const zoomed = chart.series.some((s) => s.y.length > 200);
    const hints = [
      drawing.omitted > 0 ? `${drawing.omitted} values at or below 0 have no place on a logarithmic axis.` : "",
      zoomed ? "Ctrl and wheel zoom, dragging moves." : "",
    ].filter(Boolean);
    note.textContent = hints.join(" ");
    note.hidden = hints.length === 0;
  };
  const draw = async () => drawWith(await chartLibrary());
  // Preload the library: printing cannot wait for it.
  // Safari lacks requestIdleCallback
  const whenIdle = globalThis.requestIdleCallback ?? ((load: () => void) => setTimeout(load, 1000));
  whenIdle(() => void chartLibrary());
  // Draw a chart when it scrolls into view.
  const watcher = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      watcher.disconnect();
      void draw();
    },
    { rootMargin: "300px" },
  );
  watcher.observe(canvas);
  new ResizeObserver(() => instance?.resize()).observe(canvas);
  onTheme(() => instance && void draw());
  window.addEventListener("beforeprint", () => {
    const library = loadedLibrary();
    if (!instance && library) drawWith(library);
    instance?.getZr().flush(); // draw before the page is printed
  });
  return figure;
}
