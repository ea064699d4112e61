// The definition of a number, shown beside whatever carries its key. One tooltip for the page.

import { h } from "./dom.ts";
import type { Definition } from "./view.ts";

const byKey = new Map<string, Definition[]>();
let tip: HTMLElement;
let owner: Element | null = null;
let timer = 0;

// Where a number stands: the room, and the key of its table or facts; empty where it has none.
export interface Place {
  room: string;
  table: string;
}

// The room whose definitions win, by the key of a section: "fusion" is described under "Fusion".
export function roomOf(sectionKey: string): string {
  return sectionKey.toLowerCase().replace(/_.*$/, "");
}

const SHARED = "keys of several rooms"; // what a key means wherever no room says more

// One key may mean something else in each table. The definition of the table, else that of the room,
// else the shared one, else the only one: where several could be meant, none is shown.
export function definitionOf(key: string, place: Place): Definition | undefined {
  const found = byKey.get(key) ?? byKey.get(key.slice(key.lastIndexOf(".") + 1)) ?? [];
  const inRoom = found.filter((d) => d.room.toLowerCase() === place.room);
  const ofTable = (d: Definition) => d.tables.some((table) => table === place.table || table.endsWith(`.${place.table}`));
  const named = place.table === "" ? [] : found.filter(ofTable);
  const shared = found.filter((d) => d.room.toLowerCase() === SHARED);
  const ofRoom = (d: Definition) => inRoom.includes(d);
  for (const candidates of [named.filter(ofRoom), named, inRoom.filter((d) => d.tables.length === 0), inRoom, shared, found]) {
    if (candidates.length === 0) continue;
    return new Set(candidates.map((d) => d.text)).size === 1 ? candidates[0] : undefined;
  }
  return undefined;
}

export function describe(element: Element, key: string, place: Place, label: string): void {
  const definition = key ? definitionOf(key, place) : undefined;
  if (!definition) return;
  element.setAttribute("data-key", key);
  element.setAttribute("data-room", place.room);
  element.setAttribute("data-table", place.table);
  element.setAttribute("data-label", label);
}

function fill(definition: Definition, key: string, label: string): void {
  const where = definition.heading === definition.room ? definition.room : `${definition.room}, ${definition.heading}`;
  tip.replaceChildren(
    h("p", { class: "tip-head" }, h("strong", {}, label || key), " ", h("code", {}, key)),
    h("p", {}, definition.text),
    h("p", { class: "tip-source" }, `docs/metrics.md, ${where}`),
  );
}

function place(element: Element): void {
  const box = element.getBoundingClientRect();
  tip.style.left = "0";
  tip.style.top = "0";
  const width = tip.offsetWidth;
  const height = tip.offsetHeight;
  const left = Math.max(8, Math.min(box.left, document.documentElement.clientWidth - width - 8));
  const below = box.bottom + 6;
  const top = below + height > window.innerHeight && box.top > height + 12 ? box.top - height - 6 : below;
  tip.style.left = `${left + window.scrollX}px`;
  tip.style.top = `${top + window.scrollY}px`;
}

function show(element: Element): void {
  const key = element.getAttribute("data-key")!;
  const definition = definitionOf(key, { room: element.getAttribute("data-room") ?? "", table: element.getAttribute("data-table") ?? "" });
  if (!definition) return;
  hide();
  fill(definition, key, element.getAttribute("data-label") ?? "");
  tip.hidden = false;
  place(element);
  owner = element;
  element.setAttribute("aria-describedby", tip.id);
}

export function hide(): void {
  window.clearTimeout(timer);
  owner?.removeAttribute("aria-describedby");
  owner = null;
  tip.hidden = true;
}

function carrier(target: EventTarget | null): Element | null {
  return target instanceof Element ? target.closest("[data-key]") : null;
}

export function startTips(definitions: Definition[]): void {
  for (const definition of definitions) {
    for (const key of definition.keys) byKey.set(key, [...(byKey.get(key) ?? []), definition]);
  }
  tip = h("div", { class: "tip", id: "definition", attributes: { role: "tooltip" } });
  tip.hidden = true;
  document.body.appendChild(tip);
  document.addEventListener("pointerover", (event) => {
    if (event.target instanceof Node && tip.contains(event.target)) {
      window.clearTimeout(timer);
      return;
    }
    const element = carrier(event.target);
    if (element === owner && element) return;
    window.clearTimeout(timer);
    if (!element) {
      timer = window.setTimeout(hide, 150);
      return;
    }
    timer = window.setTimeout(() => show(element), event.pointerType === "touch" ? 0 : 300);
  });
  document.addEventListener("focusin", (event) => {
    const element = carrier(event.target);
    if (element && event.target instanceof Element && event.target.matches(":focus-visible")) show(element);
    else if (!element) hide();
  });
  document.addEventListener("focusout", hide);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
  window.addEventListener("resize", hide);
}
