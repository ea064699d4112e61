import { button, h } from "./dom.ts";
import { nameButton } from "./text.ts";
import { describe } from "./tips.ts";
import { formatValue } from "./units.ts";
import type { Facts, Item } from "./view.ts";

export function term(label: string, key: string, definition: number | null | undefined): HTMLElement {
  const element = h("span", { class: "term" }, label);
  describe(element, definition, key, label);
  if (element.hasAttribute("data-key")) element.tabIndex = 0;
  return element;
}

export function valueElement(item: Item): HTMLElement {
  const text = formatValue(item.value, item.unit, item.whole);
  const element = h("span", { class: "value" });
  element.append(text.length > 60 ? nameButton(text, 60) : text);
  describe(element, item.definition, item.key, item.label);
  return element;
}

function line(item: Item): HTMLElement {
  const words = item.unit === "text" || typeof item.value === "string";
  return h(
    "div",
    { class: words ? "fact words" : "fact" },
    h("dt", {}, term(item.label, item.key, item.definition)),
    h("dd", {}, valueElement(item), item.note ? h("span", { class: "note" }, item.note) : null),
  );
}

const LONG = 9; // longer lists use two columns on wide pages

export function factsElement(facts: Facts): HTMLElement | null {
  const shown = facts.items.filter((item) => !item.hidden);
  const hidden = facts.items.filter((item) => item.hidden);
  if (shown.length === 0) return null;
  const list = h("dl", { class: shown.length >= LONG ? "facts long" : "facts" }, ...shown.map(line));
  const box = h("div", { class: "facts-box" });
  const head = h("div", { class: "grid-head" });
  if (facts.title) head.append(h("h4", {}, facts.title));
  let tools: HTMLElement | null = null;
  if (hidden.length > 0) {
    const more = button(`${hidden.length} more`, () => {
      const open = more.getAttribute("aria-expanded") !== "true";
      more.setAttribute("aria-expanded", String(open));
      more.textContent = open ? "Fewer" : `${hidden.length} more`;
      list.replaceChildren(...(open ? facts.items : shown).map(line));
    });
    more.setAttribute("aria-expanded", "false");
    tools = h("div", { class: "tools" }, more);
  }
  if (facts.title) {
    if (tools) head.append(tools);
    box.append(head, list);
  } else {
    box.append(...[list, tools].filter((e) => e !== null));
  }
  return box;
}
