// The definition of a metric, shown next to any element with its key. The page has one tooltip.

import { h } from "./dom.ts";
import type { Definition } from "./view.ts";

let definitions: Definition[] = [];
let tip: HTMLElement;
let owner: Element | null = null;
let timer = 0;

// definition: index into the definitions. Nothing is shown without one.
export function describe(element: Element, definition: number | null | undefined, key: string, label: string): void {
  if (definition === undefined || definition === null) return;
  element.setAttribute("data-key", key);
  element.setAttribute("data-definition", String(definition));
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
  const definition = definitions[Number(element.getAttribute("data-definition"))];
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

export function startTips(all: Definition[]): void {
  definitions = all;
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
