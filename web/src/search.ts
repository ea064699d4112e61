// Searches the whole page: sections, metrics, table rows, causes, actions, names on the timeline,
// definitions, ranks. "/" focuses it, arrows select, Enter opens.

import { freshId, h } from "./dom.ts";
import { shortenMiddle } from "./text.ts";

export interface Found {
  group: string;
  text: string; // searched and shown
  detail: string; // shown next to it
  more?: string; // searched only
  go: (query: string) => void;
  all?: (query: string) => void; // shows all matches of its group
}

const PER_GROUP = 6;
const LONGEST = 90;

interface Hit {
  found: Found;
  rank: number;
}

// By group in order of first occurrence; better matches first.
function matching(entries: Found[], query: string): Map<string, Hit[]> {
  const words = query.toLowerCase().split(/\s+/);
  const groups = new Map<string, Hit[]>();
  for (const found of entries) {
    const text = found.text.toLowerCase();
    const all = found.more ? `${text}\n${found.more.toLowerCase()}` : text;
    if (!words.every((word) => all.includes(word))) continue;
    const rank = text === query ? 0 : text.startsWith(words[0]!) ? 1 : words.every((word) => text.includes(word)) ? 2 : 3;
    const hits = groups.get(found.group) ?? [];
    hits.push({ found, rank });
    groups.set(found.group, hits);
  }
  for (const hits of groups.values()) hits.sort((a, b) => a.rank - b.rank);
  return groups;
}

// entries: called once, at the first search.
export function searchElement(entries: () => Promise<Found[]>): HTMLElement {
  const listId = freshId("found");
  const input = h("input", {
    class: "search-input",
    attributes: {
      type: "search", placeholder: "Search", "aria-label": "Search the page", role: "combobox", "aria-expanded": "false",
      "aria-controls": listId, "aria-autocomplete": "list", autocomplete: "off", spellcheck: "false", title: "Search everything here (/)",
    },
  });
  const list = h("div", { class: "found", id: listId, attributes: { role: "listbox", "aria-label": "Found" } });
  list.hidden = true;
  let known: Found[] | null = null;
  let asked = false;
  let entered = false; // Enter was pressed before the entries were ready
  const learn = async () => {
    if (asked) return;
    asked = true;
    known = await entries();
    const goes = entered;
    if (!list.hidden) update();
    if (goes && !list.hidden) shown[at]?.go();
  };
  let shown: { element: HTMLElement; go: () => void }[] = [];
  let at = -1;
  const mark = (next: number) => {
    shown[at]?.element.setAttribute("aria-selected", "false");
    at = shown.length === 0 ? -1 : (next + shown.length) % shown.length;
    const now = shown[at]?.element;
    now?.setAttribute("aria-selected", "true");
    now?.scrollIntoView({ block: "nearest" });
    if (now) input.setAttribute("aria-activedescendant", now.id);
    else input.removeAttribute("aria-activedescendant");
  };
  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const open = (...held: HTMLElement[]) => {
    list.replaceChildren(...held);
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
  };
  const remark = (words: string) =>
    h("div", { class: "found-group", attributes: { role: "option", "aria-selected": "false" } }, words);
  const option = (found: Found, query: string) => {
    const element = h("div", { class: "found-one", id: freshId("found"), attributes: { role: "option", "aria-selected": "false" } },
      h("span", {}, shortenMiddle(found.text, LONGEST)), h("small", {}, found.detail));
    const go = () => {
      close();
      found.go(query);
    };
    element.addEventListener("pointerdown", (event) => event.preventDefault()); // keeps the focus until the
                                                                                // entry opens
    element.addEventListener("click", go);
    shown.push({ element, go });
    return element;
  };
  const update = () => {
    const query = input.value.trim().toLowerCase();
    shown = [];
    entered = false;
    if (query.length < 2) return close();
    if (!known) {
      open(remark("Reading what there is …"));
      return void learn();
    }
    const groups = matching(known, query);
    open();
    for (const [group, hits] of groups) {
      const rest = hits.length - PER_GROUP;
      list.append(h("div", { attributes: { role: "group", "aria-label": group } },
        h("div", { class: "found-group", attributes: { role: "presentation" } }, group, rest > 0 ? h("small", {}, ` ${hits.length.toLocaleString("en-US")}, the first ${PER_GROUP}`) : null),
        ...hits.slice(0, PER_GROUP).map((hit) => option(hit.found, query)),
        hits.length > 1 && hits[0]!.found.all ? option({ group, text: `Light all ${hits.length.toLocaleString("en-US")} names with “${query}”`, detail: "", go: hits[0]!.found.all }, query) : null));
    }
    if (groups.size === 0) list.append(remark("Nothing here has these words."));
    mark(0);
  };
  input.addEventListener("input", update);
  input.addEventListener("focus", () => input.value && update());
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") mark(at + 1);
    else if (event.key === "ArrowUp") mark(at - 1);
    else if (event.key === "Enter") known ? shown[at]?.go() : (entered = true);
    else if (event.key === "Escape" && !list.hidden) close();
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target instanceof Element && event.target.matches("input, select, textarea");
    if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
  return h("div", { class: "search" }, input, list);
}
