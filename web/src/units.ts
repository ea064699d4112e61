// Scales and rounds numbers by the same rules as the terminal (src/text/units.cc).
// tests/data/unit_vectors.json tests both.

import type { Cell, Unit } from "./view.ts";

interface Step {
  factor: number;
  symbol: string;
}

const step = (factor: number, symbol: string): Step => ({ factor, symbol });

const STEPS: Record<Unit, Step[]> = {
  none: [step(1, "")],
  text: [step(1, "")],
  state: [step(1, "")],
  count: [step(1, "")],
  ratio: [step(1, "")],
  ns: [step(1, "ns"), step(1e3, "µs"), step(1e6, "ms"), step(1e9, "s")],
  share: [step(0.01, "%")],
  bytes: ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"].map((name, i) => step(1024 ** i, name)),
  rate: [step(1, "/s"), step(1e3, "k/s"), step(1e6, "M/s"), step(1e9, "G/s")],
  watts: [step(1e-3, "mW"), step(1, "W"), step(1e3, "kW"), step(1e6, "MW")],
  joules: [step(1e-6, "µJ"), step(1e-3, "mJ"), step(1, "J"), step(1e3, "kJ"), step(1e6, "MJ")],
};

// More integer digits are not significant.
const SCIENTIFIC_FROM = 1e15;
const LONG_INTEGER = /^-?\d{16,19}$/;

export function numberOf(cell: Cell | undefined): number | null {
  if (typeof cell === "number") return Number.isFinite(cell) ? cell : null;
  if (typeof cell === "string" && LONG_INTEGER.test(cell)) return Number(cell);
  return null;
}

function groupDigits(digits: string): string {
  const point = digits.indexOf(".");
  const whole = point < 0 ? digits : digits.slice(0, point);
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (point < 0 ? "" : digits.slice(point));
}

// A duration or time to the nanosecond: 612 ns, 26.432 us, 33.623 896 ms.
export function exactTime(ns: number): string {
  const whole = Math.round(ns);
  if (Math.abs(whole) < 1e3) return `${whole} ns`;
  const digits = groupDigits(String(Math.trunc(whole / (Math.abs(whole) < 1e6 ? 1e3 : 1e6))));
  const parts = String(Math.abs(whole)).padStart(7, "0");
  if (Math.abs(whole) < 1e6) return `${digits}.${parts.slice(-3)} \u00b5s`;
  return `${digits}.${parts.slice(-6, -3)}\u202f${parts.slice(-3)} ms`;
}

// Rounds half away from zero.
function rounded(value: number, decimals: number): number {
  const scale = 10 ** decimals;
  return (Math.sign(value) * Math.round(Math.abs(value) * scale)) / scale;
}

// printf's %.3g.
function threeDigits(value: number): string {
  if (value === 0) return "0";
  const [digits, exponent] = value.toExponential(2).split("e") as [string, string];
  const power = Number(exponent);
  const strip = (text: string) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (power >= -4 && power < 3) return strip(value.toFixed(Math.max(0, 2 - power)));
  const sign = power < 0 ? "-" : "+";
  return `${strip(digits)}e${sign}${String(Math.abs(power)).padStart(2, "0")}`;
}

function fixed(value: number, decimals: number): string {
  if (Math.abs(value) >= SCIENTIFIC_FROM) return threeDigits(value);
  return groupDigits(rounded(value, decimals).toFixed(decimals));
}

// Three significant digits, or all digits before the point if there are more.
function significant(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude === 0) return "0";
  if (rounded(magnitude, 3) < 1) return threeDigits(value);
  if (rounded(magnitude, 2) < 10) return fixed(value, 2);
  if (rounded(magnitude, 1) < 100) return fixed(value, 1);
  return fixed(value, 0);
}

function withSymbol(digits: string, symbol: string): string {
  if (symbol === "") return digits;
  return symbol.startsWith("/") ? digits + symbol : `${digits} ${symbol}`;
}

// Rounding may carry into the next unit: 999,999 ns is 1.00 ms, not 1000 µs.
function stepFor(magnitude: number, steps: Step[]): Step {
  let i = 0;
  while (
    i + 1 < steps.length &&
    rounded(magnitude / steps[i]!.factor, 0) * steps[i]!.factor >= steps[i + 1]!.factor
  ) {
    ++i;
  }
  return steps[i]!;
}

// Never 0 for a nonzero value, never "-0.0".
function honestFixed(value: number, decimals: number): string {
  if (value === 0) return "0";
  if (rounded(value, decimals) !== 0) return fixed(value, decimals);
  return (value > 0 ? "<" : "above -") + (10 ** -decimals).toFixed(decimals);
}

function shareDigits(share: number): string {
  if (share < 1 && rounded(share * 100, 1) >= 100) return ">99.9";
  return honestFixed(share * 100, 1);
}

function integerDigits(cell: Cell, value: number, unit: Unit): string {
  const digits = typeof cell === "string" ? cell : String(value);
  return unit === "none" ? digits : groupDigits(digits);
}

function otherText(cell: Cell | undefined): string {
  if (cell === true) return "yes";
  if (cell === false) return "no";
  if (typeof cell === "string") return cell;
  if (Array.isArray(cell)) return cell.join(", ");
  return "-";
}

// A single value with its unit. whole: integer by nature.
export function formatValue(cell: Cell | undefined, unit: Unit, whole: boolean): string {
  const value = numberOf(cell);
  if (value === null) return otherText(cell);
  if (unit === "share") return withSymbol(shareDigits(value), "%");
  const steps = STEPS[unit];
  if (steps.length > 1) {
    if (value === 0) return withSymbol("0", steps.find((s) => s.factor === 1)!.symbol);
    const chosen = stepFor(Math.abs(value), steps);
    return withSymbol(significant(value / chosen.factor), chosen.symbol);
  }
  return whole ? integerDigits(cell!, value, unit) : significant(value);
}

// One format for all numbers of a column, so that they compare down the column.
export interface ColumnScale {
  unit: Unit;
  factor: number;
  symbol: string;
  decimals: number;
  whole: boolean;
}

function decimalsFor(smallest: number, most: number): number {
  let decimals = 0;
  for (let limit = 100; smallest < limit && decimals < most; limit /= 10) ++decimals;
  return decimals;
}

// The step for a column with the given median and maximum.
function columnStep(median: number, largest: number, steps: readonly Step[]): Step {
  const tooSmall = 0.1;
  const tooLarge = 1e5;
  let i = 0;
  while (i + 1 < steps.length && largest >= steps[i + 1]!.factor) ++i;
  while (i > 0 && median < tooSmall * steps[i]!.factor && largest < tooLarge * steps[i - 1]!.factor) --i;
  return steps[i]!;
}

// The unit in which the largest number has one to three integer digits. A finer unit if the median non-zero
// number would be below 0.1 and the largest stays below 100,000. The smallest number sets the decimals, with
// three digits. A column of zeros has no unit.
export function scaleColumn(unit: Unit, cells: Cell[], whole: boolean): ColumnScale {
  const sizes: number[] = [];
  for (const cell of cells) {
    const value = numberOf(cell);
    if (value === null || value === 0) continue;
    sizes.push(Math.abs(value));
  }
  const scale: ColumnScale = { unit, factor: 1, symbol: "", decimals: 0, whole };
  if (unit === "share") return { ...scale, factor: 0.01, symbol: "%", decimals: 1 };
  if (sizes.length === 0) return scale;
  const sorted = Float64Array.from(sizes).sort();
  const median = sorted[(sorted.length - 1) >> 1]!;
  const step = columnStep(median, sorted[sorted.length - 1]!, STEPS[unit]);
  scale.factor = step.factor;
  scale.symbol = step.symbol;
  if (whole && scale.factor === 1) return scale;
  const plain = unit === "none" || unit === "ratio";
  scale.decimals = decimalsFor(sorted[0]! / scale.factor, plain ? 4 : 2);
  return scale;
}

// Uses the unit of another column with decimals of its own. Without a unit there, scales the column
// independently.
export function scaleLike(other: ColumnScale, cells: Cell[], whole: boolean): ColumnScale {
  if (other.symbol === "") return scaleColumn(other.unit, cells, whole);
  const scale: ColumnScale = { ...other, whole };
  const sizes = cells.map(numberOf).flatMap((value) => (value === null || value === 0 ? [] : [Math.abs(value)]));
  if (scale.unit === "share" || sizes.length === 0) return scale;
  const least = sizes.reduce((a, b) => Math.min(a, b));
  scale.decimals = whole && scale.factor === 1 ? 0 : decimalsFor(least / scale.factor, scale.unit === "none" || scale.unit === "ratio" ? 4 : 2);
  return scale;
}

// A cell without its unit.
export function formatCell(cell: Cell | undefined, scale: ColumnScale): string {
  const value = numberOf(cell);
  if (value === null) return otherText(cell);
  if (scale.unit === "share") return shareDigits(value);
  if (scale.factor === 1 && scale.decimals === 0 && Number.isInteger(value) && scale.whole) {
    return integerDigits(cell!, value, scale.unit);
  }
  return honestFixed(value / scale.factor, scale.decimals);
}

// The unit of an axis, by its largest value.
export function axisScale(unit: Unit, largest: number): Step {
  if (unit === "share") return STEPS.share[0]!;
  const steps = STEPS[unit];
  if (!(largest > 0)) return steps.find((s) => s.factor === 1)!;
  return stepFor(largest, steps);
}

// A tick of an axis with only the digits that it needs.
export function formatTick(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude !== 0 && (magnitude >= 1e9 || magnitude < 1e-4)) return threeDigits(value);
  return groupDigits(String(Number(value.toPrecision(6))));
}

// A tick of a logarithmic axis in base units: "10 µs".
export function formatLogTick(value: number, unit: Unit): string {
  if (unit === "share") return `${formatTick(value * 100)} %`;
  const chosen = stepFor(Math.abs(value), STEPS[unit]);
  return withSymbol(formatTick(value / chosen.factor), chosen.symbol);
}
