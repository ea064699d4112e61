// Kernel names differ at both ends, so long names are shortened in the middle.

import { h, type Child } from "./dom.ts";

export function shortenMiddle(text: string, width: number): string {
  if (text.length <= width) return text;
  const points = Array.from(text.length > 4 * width ? text.slice(0, 2 * width) + text.slice(-2 * width) : text);
  if (points.length <= width) return text;
  const head = Math.ceil((width - 1) / 2);
  return points.slice(0, head).join("") + "…" + points.slice(points.length - (width - 1 - head)).join("");
}

// A shortened name that expands on click.
export function nameButton(
  full: string,
  width: number,
  changed: (open: boolean) => void = () => {},
  opened = false,
): HTMLElement {
  const element = h("button", {
    class: "name",
    attributes: { type: "button", "aria-expanded": String(opened), title: "Show the whole name" },
  });
  const fill = (open: boolean) => {
    element.textContent = open ? full : shortenMiddle(full, width);
    element.setAttribute("aria-expanded", String(open));
    element.title = open ? "Shorten the name" : "Show the whole name";
  };
  fill(opened);
  element.addEventListener("click", () => {
    if (window.getSelection()?.toString()) return; // the reader is selecting text to copy
    const open = element.getAttribute("aria-expanded") !== "true";
    fill(open);
    changed(open);
  });
  return element;
}

const LONG_WORD = 90;

// Keeps a line from breaking inside a flag or an arrow: "--memory-copy-trace", "->".
export function wholeFlags(text: string): Child[] {
  return text.split(/((?<!\S)-\S{1,40}(?!\S))/).map((word, i) => (i % 2 === 1 ? h("span", { class: "whole" }, word) : word));
}

// A sentence with overlong words shortened.
export function sentence(written: string): Child[] {
  const text = written.replace(/(\d) (?=(?:%|[mkMG]?[WJ]|[nmµ]?s|[KMGT]?i?B)(?![\w]))/g, "$1\u00a0");
  if (!/\S{91,}/.test(text)) return wholeFlags(text);
  return text
    .split(/(\S+)/)
    .map((word) => (word.length > LONG_WORD ? nameButton(word, 60) : word));
}

const FORMULA = /^[=+\-@\t\r]/;

// One field by RFC 4180. Spreadsheets would evaluate text that begins like a formula.
export function csvField(value: string, isText: boolean): string {
  const safe = isText && FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}
