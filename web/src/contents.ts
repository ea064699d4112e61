// The search entries of everything on the page, each with its target.

import { chooseCause, chooseName, chooseWords } from "./chosen.ts";
import type { Lanes } from "./lanes.ts";
import type { Found } from "./search.ts";
import { formatValue } from "./units.ts";
import type { Block, Cell, Said, Section, Table, Tree, View } from "./view.ts";

export interface Places {
  openSection: (section: Section) => void;
  openRoom: (id: string) => void;
  openPart: (place: number) => void;
  reveal: (block: Block, query: string) => void; // of an open section
  show: (element: Element | null) => void;
  lanes: Lanes | null;
  partWord: string;
}

const words = (cell: Cell | undefined): string =>
  typeof cell === "string" ? cell : Array.isArray(cell) ? cell.join(" ") : "";

// The text of a row, in column order.
function rowTexts(block: Table | Tree): string[] {
  const rows = block.type === "tree" ? block.labels.length : block.rows;
  const columns = block.columns.filter((c) => c.unit === "text" || c.cells.some((cell) => words(cell) !== ""));
  return Array.from({ length: rows }, (_, row) => {
    const own = block.type === "tree" ? [block.labels[row]!] : [];
    const texts = [...own, ...columns.map((c) => words(c.cells[row]))].filter(Boolean);
    return texts.filter((text, i) => texts.indexOf(text) === i).join(" \u00b7 ");
  });
}

// The entries of a block. where: its section. open: shows that section.
function blockFound(block: Block, where: string, open: () => void, places: Places): Found[] {
  const go = (query: string) => {
    open();
    places.reveal(block, query);
  };
  switch (block.type) {
    case "prose":
      return block.paragraphs.map((text) => ({ group: "Words", text, detail: where, go }));
    case "facts":
      return block.items.map((item) => ({
        group: "Numbers", text: item.label, more: item.key, detail: `${formatValue(item.value, item.unit, item.whole)} \u00b7 ${where}`, go,
      }));
    case "chart":
      return [{ group: "Tables and charts", text: block.title, more: block.caption, detail: where, go }];
    case "table":
    case "tree": {
      const title: Found = { group: "Tables and charts", text: block.title, more: block.columns.map((c) => `${c.title} ${c.key}`).join(" "), detail: where, go: () => go("") };
      const rows = rowTexts(block).filter(Boolean).map((text) => ({ group: "Rows", text, detail: block.title || where, go }));
      return block.title ? [title, ...rows] : rows;
    }
    case "elements":
      return block.elements.flat().flatMap((section) => section.blocks.flatMap((inner) => blockFound(inner, section.title || where, open, places)));
  }
}

function sectionsFound(sections: Section[], where: string, open: (section: Section) => void, places: Places): Found[] {
  return sections.flatMap((section) => {
    const name = [where, section.title].filter(Boolean).join(", ");
    const found = section.blocks.flatMap((block) => blockFound(block, name, () => open(section), places));
    return section.title ? [{ group: "Rooms", text: section.title, detail: where, go: () => open(section) }, ...found] : found;
  });
}

function answerFound(body: Said, places: Places): Found[] {
  const { answer } = body;
  if (!answer) return [];
  const causes = answer.causes.map((cause): Found => ({
    group: "Where the time went", text: cause.word, more: cause.key, detail: formatValue(cause.ns, "ns", true),
    go: () => {
      chooseCause(cause.key);
      places.show(document.querySelector(".bar"));
    },
  }));
  const levers = answer.levers.map((lever, i): Found => ({
    group: "What would change it", text: lever.title, more: lever.code, detail: `\u2212${formatValue(lever.gain_ns, "ns", true)}`,
    go: () => places.show(document.querySelectorAll(".lever")[i] ?? null),
  }));
  return [...causes, ...levers];
}

function lanesFound(lanes: Lanes, places: Places): Found[] {
  const count = new Float64Array(lanes.names.length);
  const sum = new Float64Array(lanes.names.length);
  for (const row of lanes.events) {
    for (let i = 0; i < row.start.length; i++) {
      const label = row.label[i]!;
      count[label]! += 1;
      sum[label]! += row.end[i]! - row.start[i]!;
    }
  }
  const order = Array.from(lanes.names.keys()).sort((a, b) => sum[b]! - sum[a]!);
  return order.map((label): Found => ({
    group: "On the timeline",
    text: lanes.names[label]!,
    detail: `${formatValue(count[label]!, "count", true)} times, ${formatValue(sum[label]!, "ns", true)}`,
    go: () => {
      chooseName(lanes.names[label]!);
      places.show(document.querySelector(".timeline"));
    },
    all: (query) => {
      chooseWords(query);
      places.show(document.querySelector(".timeline"));
    },
  }));
}

function trustFound(body: Said, places: Places): Found[] {
  const effects = body.trust?.columns.find((c) => c.key === "text")?.cells ?? [];
  const go = () => places.openRoom("trust");
  return [
    ...effects.map((cell): Found => ({ group: "Caveats", text: words(cell), detail: "", go })),
    ...body.import_log.map((note): Found => ({ group: "Caveats", text: note.meaning, more: note.code, detail: "import log", go })),
  ];
}

function partsFound(view: View, places: Places): Found[] {
  return view.parts.flatMap((part, place) => {
    const open = () => places.openPart(place);
    const name = part.name.split("/").pop() ?? part.name;
    const itself: Found = { group: `Each ${places.partWord}`, text: part.name, detail: part.items.map((item) => `${item.label} ${formatValue(item.value, item.unit, item.whole)}`).slice(0, 2).join(", "), go: open };
    return [itself, ...sectionsFound(part.sections ?? [], name, open, places)];
  });
}

// A definition leads to the place that shows its number, or is shown here if the page has no such place.
function meaningsFound(view: View, places: Places): Found[] {
  return view.definitions.map((definition) => ({
    group: "What it means", text: definition.text, more: definition.keys.join(" "), detail: definition.heading,
    go: () => {
      const key = definition.keys[0] ?? "";
      places.show(Array.from(document.querySelectorAll("[data-key]")).find((e) => e.getAttribute("data-key") === key) ?? null);
    },
  }));
}

export function contentsOf(view: View, places: Places): Found[] {
  return [
    ...answerFound(view, places),
    ...(places.lanes ? lanesFound(places.lanes, places) : []),
    ...sectionsFound(view.sections, "", places.openSection, places),
    ...view.verdict.map((text): Found => ({ group: "Words", text, detail: "the answer in more words", go: () => places.openRoom("words") })),
    ...trustFound(view, places),
    ...partsFound(view, places),
    ...meaningsFound(view, places),
  ];
}
