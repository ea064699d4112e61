// The report page. Reads the embedded data and builds the page from the top: headline, caveats, sections.

import { barElement, contextLine, verdictHead } from "./answer.ts";
import { chartElement } from "./chart.ts";
import { chooseCause, chosenCause, onChosen } from "./chosen.ts";
import { contentsOf } from "./contents.ts";
import { button, h, saveFile } from "./dom.ts";
import { factsElement, term, valueElement } from "./facts.ts";
import { Grid } from "./grid.ts";
import { icicleElement } from "./icicle.ts";
import { readLanes, type Lanes } from "./lanes.ts";
import { leverCards, LeversOn } from "./levers.ts";
import { unpackBytes, unpackText, wholeFile } from "./packed.ts";
import { startPalette } from "./palette.ts";
import { RangeChoice } from "./range.ts";
import { ranksElement } from "./ranks.ts";
import { type Found, searchElement } from "./search.ts";
import { sentence, shortenMiddle, wholeFlags } from "./text.ts";
import { onTheme, startTheme, theme, toggleTheme } from "./theme.ts";
import { Timeline } from "./timeline.ts";
import { startTips } from "./tips.ts";
import { formatValue, numberOf } from "./units.ts";
import type { Answer, Block, Facts, Head, ImportNote, Item, Part, Said, Section, Table, View } from "./view.ts";
import "./style.css";

// ---- blocks ----

function proseElement(paragraphs: string[], bullets: boolean): HTMLElement {
  if (bullets) return h("ul", { class: "prose" }, ...paragraphs.map((text) => h("li", {}, ...sentence(text))));
  return h("div", { class: "prose" }, ...paragraphs.map((text) => h("p", {}, ...sentence(text))));
}

// The element of each block, for search.
const built = new WeakMap<Block, { element: HTMLElement; grid: Grid | null }>();

function blockElements(block: Block): (HTMLElement | null)[] {
  const grid = block.type === "table" || block.type === "tree" ? new Grid(block) : null;
  const elements = grid ? [block.type === "tree" ? icicleElement(block) : null, grid.element] : plainElements(block);
  const element = elements[elements.length - 1];
  if (element) built.set(block, { element, grid });
  return elements;
}

function plainElements(block: Block): (HTMLElement | null)[] {
  switch (block.type) {
    case "prose":
      return [proseElement(block.paragraphs, block.bullets)];
    case "facts":
      return [factsElement(block)];
    case "chart":
      return [chartElement(block)];
    case "elements":
      return block.elements.map((sections, i) => elementBox(sections, i, block.elements.length));
    default:
      return [];
  }
}

// Shows a block of an open section, and the rows of a table that match the words.
function revealBlock(block: Block, query: string): void {
  const found = built.get(block);
  if (!found) return;
  for (let box = found.element.parentElement; box; box = box.parentElement) {
    if (box instanceof HTMLDetailsElement) box.open = true;
  }
  if (found.grid) found.grid.reveal(query);
  else showElement(found.element);
}

// Scrolls to the element and marks it briefly.
function showElement(element: Element | null): void {
  if (!element) return;
  element.scrollIntoView({ block: "center" });
  element.classList.remove("shown");
  void (element as HTMLElement).offsetWidth; // restarts the animation
  element.classList.add("shown");
}

// One of several items with metrics and tables of its own. Only the first few are open.
function elementBox(sections: Section[], index: number, count: number): HTMLElement {
  const name = sections.find((s) => s.title)?.title ?? `${index + 1} of ${count}`;
  const body = h("div");
  const box = h("details", { class: "element" }, h("summary", {}, ...sentence(name)), body);
  const fill = () => {
    if (body.childNodes.length > 0 || !box.open) return;
    for (const section of sections) {
      if (section.title && section.title !== name) body.append(h("h4", {}, section.title));
      body.append(...sectionBlocks(section));
    }
  };
  box.addEventListener("toggle", fill);
  box.open = index < 3;
  fill();
  return box;
}

function sectionBlocks(section: Section): HTMLElement[] {
  return section.blocks.flatMap((block) => blockElements(block)).filter((e) => e !== null);
}

// ---- head ----

function itemsLine(items: Item[]): HTMLElement {
  const line = h("span", { class: "items" });
  for (const item of items) {
    if (item.hidden) continue;
    // a line may break here
    line.append(h("span", { class: "item" }, term(item.label, item.key, item.definition), " ", valueElement(item)), " ");
  }
  return line;
}

function themeButton(): HTMLElement {
  const next = () => (theme() === "dark" ? "Light" : "Dark");
  const element = button(next(), toggleTheme, { title: "Switch between light and dark" });
  onTheme(() => (element.textContent = next()));
  return element;
}

function saveButton(head: Head): HTMLElement {
  const first = head.inputs[0]?.name.split("/").pop() ?? "report";
  const name = `${first.replace(/\.(gz|zst)$/, "").replace(/\.(json|sqlite|csv)$/, "").replace(/[^\w.-]+/g, "_").slice(0, 80) || "report"}.assay.json`;
  const save = async () => {
    await wholeFile;
    saveFile(name, "application/json", await unpackText("assay-json"));
  };
  return button("Save JSON", save, { title: "Save the JSON document, as --format json writes it" });
}

// The command that writes the JSON document, which is too large for this page.
function jsonElsewhere(head: Head): HTMLElement {
  const written = head.answer ? `assay report ${folderOf(head.inputs.map((input) => input.name))} -o report.json` : "-o report.json";
  const command = h("code", {}, ...wholeFlags(written));
  const words = "The JSON document of all inputs is too large for this page";
  return head.answer
    ? h("p", { class: "input no-json" }, `${words}: `, command, " writes it.")
    : h("p", { class: "input no-json" }, `${words}. The command that made this page writes it with `, command, ".");
}

const isPlainPath = (path: string) => /^[\w.\/@%+=:,~-]+$/.test(path);

// The common folder of the inputs as shell text, or FOLDER if there is none.
function folderOf(names: string[]): string {
  const folders = new Set(names.map((name) => name.slice(0, Math.max(0, name.lastIndexOf("/") + 1)) || "."));
  const [folder] = folders;
  return folders.size === 1 && folder && isPlainPath(folder) ? folder : "FOLDER";
}

// The trace of the page as shell text. Null if the page has several.
function traceOf(head: Head): string | null {
  const [input] = head.inputs;
  if (!input || head.inputs.length > 1) return null;
  return isPlainPath(input.name) ? input.name : "TRACE";
}

function trustBadge(answer: Answer): HTMLElement {
  const badge = button("", () => openRoom("trust"), { class: "tool badge", title: answer.reason });
  badge.append(h("span", { class: `badge-dot ${answer.trust}` }), `Confidence: ${answer.trust}`);
  return badge;
}

function headerElement(view: Head, search: HTMLElement): HTMLElement {
  let inputs: HTMLElement[] = view.inputs.map((input) =>
    h("div", { class: "input" }, h("span", { class: "input-name" }, ...sentence(input.name)), " ", itemsLine(input.items)),
  );
  if (inputs.length > 3) {
    inputs = [h("details", { class: "input" }, h("summary", {}, `${inputs.length} inputs`), ...inputs)];
  }
  return h(
    "header",
    { class: "top" },
    h("div", { class: "top-row" },
      h("span", { class: "brand" }, "Assay"),
      h("span", { class: "doc-title" }, view.title),
      search,
      h("div", { class: "tools" }, view.answer ? trustBadge(view.answer) : null, view.json ? saveButton(view) : null, themeButton()),
    ),
    ...inputs,
    view.json ? null : jsonElsewhere(view),
  );
}

// ---- verdict and trust ----

function numbersBehind(sections: Section[]): HTMLElement | null {
  for (const section of sections) {
    for (const block of section.blocks) {
      if (block.type !== "facts" || block.key !== "launch_shares") continue;
      const items = block.items.filter((i) => !i.hidden && numberOf(i.value) !== null).slice(0, 3);
      if (items.length === 0) return null;
      return h(
        "dl",
        { class: "behind" },
        ...items.map((i) => h("div", {}, h("dt", {}, term(i.label, i.key, i.definition)), h("dd", {}, valueElement(i)))),
      );
    }
  }
  return null;
}

// Keeps the cause of this timeline and of all other views equal.
function shareCause(element: Element, range: RangeChoice): void {
  range.onChange((now) => chooseCause(now.cause));
  onChosen(element, () => range.get().cause !== chosenCause() && range.choose(chosenCause()));
  if (range.get().cause) chooseCause(range.get().cause);
}

let topLanes: Lanes | null = null;
let completeTop = (): void => {}; // reads the events, after the first frame

// The answer: headline, bar, timeline, actions. several: number and noun of the inputs. readDetails: unpacks
// the details of single events.
function answerElement(answer: Answer, lanes: Lanes | null, top: boolean, readDetails: () => Promise<Uint8Array>, several = { inputs: 1, word: "" }, trace: string | null = null): HTMLElement {
  if (top) topLanes = lanes;
  const range = lanes ? new RangeChoice(lanes.window, top) : null;
  const on = new LeversOn(answer.levers);
  const timeline = lanes && range ? new Timeline(lanes, range, answer.causes.map((cause) => cause.key), answer.levers, (lever) => on.has(lever), readDetails, trace) : null;
  if (timeline && range) shareCause(timeline.element, range);
  if (top && lanes && timeline) {
    completeTop = () => {
      lanes.readEvents();
      timeline.complete();
    };
  }
  if (timeline) on.onChange(() => timeline.redraw());
  // The page of a job has no actions: the ranks take the whole width.
  const cards = answer.levers.length > 0 || answer.notes.length > 0 || answer.ranks.length === 0;
  const reason = h("p", { class: "meta reason" }, `Confidence ${answer.trust}${answer.reason ? `: ${answer.reason}` : ""}.`);
  const story = h("div", { class: "answer-main" },
    verdictHead(answer, range, () => timeline?.focus(), top),
    answer.causes.length > 0 ? contextLine(answer, lanes?.steps.length ?? 0, several.inputs, several.word) : null,
    barElement(answer, range),
    ranksElement(answer, (place) => void openPart(partOfRank(answer.ranks[place]!.name, place))),
    timeline?.element,
    cards ? null : reason);
  return h(
    "section",
    { class: "verdict", attributes: { "aria-label": "Answer" } },
    cards ? h("div", { class: "answer-grid" }, story, h("div", { class: "answer-side" }, leverCards(answer, on), reason)) : story,
  );
}

function verdictElement(verdict: string[], sections: Section[]): HTMLElement | null {
  if (verdict.length === 0) return null;
  const [first, ...rest] = verdict;
  return h(
    "section",
    { class: "verdict", attributes: { "aria-label": "Verdict" } },
    h("p", { class: "answer" }, ...sentence(first!)),
    ...rest.map((text) => h("p", {}, ...sentence(text))),
    numbersBehind(sections),
  );
}

// The label of each key that a block shows.
function labelsOf(sections: Section[]): Map<string, { label: string; definition: number }> {
  const labels = new Map<string, { label: string; definition: number }>();
  const add = (key: string, label: string, definition: number | undefined) => {
    if (key && definition !== undefined && !labels.has(key)) labels.set(key, { label, definition });
  };
  for (const section of sections) {
      for (const block of section.blocks) {
      if (block.type === "facts") block.items.forEach((i) => add(i.key, i.label, i.definition));
      if (block.type === "table") block.columns.forEach((c) => add(c.key, c.title, c.definition));
    }
  }
  return labels;
}

function trustRows(trust: Table): { what: string; count: number; time: number; affects: string[]; effect: string; definition: number | null }[] {
  const cells = (key: string) => trust.columns.find((c) => c.key === key)?.cells ?? [];
  const [what, count, time, affects, effect] = ["code", "count", "time_ns", "affects", "text"].map(cells);
  return Array.from({ length: trust.rows }, (_, i) => ({
    what: String(what![i] ?? ""),
    count: numberOf(count![i]) ?? 0,
    time: numberOf(time![i]) ?? 0,
    affects: String(affects![i] ?? "").split(/[,\s]+(?=\w+(?:_\w+)*(?:,|$))/).map((s) => s.trim()).filter(Boolean),
    effect: String(effect![i] ?? ""),
    definition: trust.code_definitions?.[i] ?? null,
  }));
}

function trustPanel(body: Said): HTMLElement | null {
  if (!body.trust && body.import_log.length === 0) return null;
  const labels = labelsOf(body.sections ?? []);
  const notes = body.trust ? trustRows(body.trust) : [];
  notes.sort((a, b) => b.time - a.time);
  const panel = h("section", { class: "trust", id: "trust", attributes: { "aria-labelledby": "trust-title" } });
  panel.append(h("h2", { id: "trust-title" }, "Caveats: what may change these numbers"));
  if (notes.length === 0) {
    panel.append(h("p", {}, "No caveats were found."));
  } else {
    panel.append(
      h("div", { class: "trust-row trust-head", attributes: { "aria-hidden": "true" } },
        h("span", { class: "stake" }, "affected time"), h("span", {}, "caveat, and the numbers that it changes")),
    );
  }
  const list = h("ul", { class: "trust-list" });
  for (const note of notes) {
    const moved = note.affects.flatMap((key, i) => {
      const known = labels.get(key);
      const shown = known ? term(known.label, key, known.definition) : term(key, key, null);
      return [i > 0 ? ", " : "", shown];
    });
    list.append(
      h("li", { class: "trust-row" },
        h("span", { class: "stake" }, note.time > 0 ? formatValue(note.time, "ns", true) : "–"),
        h("div", {},
          h("p", {}, ...sentence(note.effect)),
          h("p", { class: "meta" }, term(note.what.replaceAll("_", " "), note.what, note.definition), `: ${formatValue(note.count, "count", true)}`, moved.length > 0 ? "; changes " : "", ...moved),
        ),
      ),
    );
  }
  panel.append(list);
  if (body.import_log.length > 0) panel.append(importLog(body.import_log));
  return panel;
}

function importLog(notes: ImportNote[]): HTMLElement {
  const lost = notes.some((note) => note.severity === "data_loss");
  const list = h("ul", { class: "prose" },
    ...notes.map((note) =>
      h("li", {},
        h("strong", {}, note.code.replaceAll("_", " ")),
        ` (${note.severity.replaceAll("_", " ")}, ${note.count === 1 ? "once" : `${formatValue(note.count, "count", true)} times`}): `,
        ...sentence(note.meaning),
        note.first_offset >= 0 ? h("span", { class: "meta" }, ` First at byte ${formatValue(note.first_offset, "count", true)}.`) : null,
      )),
  );
  const box = h("details", { class: "log" }, h("summary", {}, `Import log: ${notes.length} ${notes.length === 1 ? "kind" : "kinds"} of oddity${lost ? ", data was lost" : ""}`), list);
  box.open = lost;
  return box;
}

// ---- sections ----

interface Entry {
  id: string;
  title: string;
}

// Sections of a page with an answer are filled when a reader opens them.
const openers = new Map<string, (open: boolean) => void>();

const idOf = new Map<Section, string>();
// Shows one of several inputs.
let openPart: (place: number) => Promise<void> = async () => {};
let partOfRank: (name: string, place: number) => number = (_, place) => place;

function openRoom(id: string): void {
  openers.get(id)?.(true);
  const element = document.getElementById(id);
  element?.scrollIntoView({ block: "start" });
  element?.querySelector<HTMLElement>("h2 button")?.focus({ preventScroll: true });
}

function roomElement(id: string, kind: string, title: string, folded: boolean, fill: () => HTMLElement[]): HTMLElement {
  const element = h("section", { id, class: kind, attributes: { "aria-labelledby": `${id}-title` } });
  if (!folded) {
    element.append(h("h2", { id: `${id}-title` }, ...sentence(title)), ...fill());
    return element;
  }
  let isFilled = false;
  const set = (open: boolean) => {
    if (open && !isFilled) element.append(...fill());
    isFilled ||= open;
    element.classList.toggle("folded", !open);
    twist.setAttribute("aria-expanded", String(open));
  };
  const twist = button(title, () => set(twist.getAttribute("aria-expanded") !== "true"), { class: "room-twist" });
  element.append(h("h2", { id: `${id}-title` }, twist));
  openers.set(id, set);
  set(false);
  return element;
}

// A section without a title takes that of its first titled block.
function titleOf(section: Section): string {
  const titled = section.blocks.find((block) => "title" in block && block.title !== "");
  return section.title || (titled && "title" in titled ? titled.title : "");
}

function sectionElement(section: Section, id: string, folded: boolean): HTMLElement | null {
  if (section.blocks.length === 0) return null;
  if (folded && titleOf(section)) {
    return roomElement(id, "room", titleOf(section), true, () => sectionBlocks(section));
  }
  const blocks = sectionBlocks(section);
  if (blocks.length === 0) return null;
  const element = h("section", { id, class: "room" });
  if (section.title) {
    element.setAttribute("aria-labelledby", `${id}-title`);
    element.append(h("h2", { id: `${id}-title` }, ...sentence(section.title)));
  }
  element.append(...blocks);
  return element;
}

function sectionsOf(sections: Section[], prefix: string, entries: Entry[], folded: boolean): HTMLElement[] {
  return sections.flatMap((section, i) => {
    const id = `${prefix}${(section.key || section.title || "part").toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 40)}-${i}`;
    const element = sectionElement(section, id, folded);
    if (!element) return [];
    idOf.set(section, id);
    const title = folded ? titleOf(section) : section.title;
    if (title) entries.push({ id, title: shortenMiddle(title.split(/[:(,]/)[0]!.trim(), 40) });
    return [element];
  });
}

function navElement(entries: Entry[]): HTMLElement {
  const links = entries.map((entry) => {
    const link = h("a", { attributes: { href: `#${entry.id}` } }, entry.title);
    if (openers.has(entry.id)) {
      link.addEventListener("click", (event) => {
        event.preventDefault();
        openRoom(entry.id);
      });
    }
    return h("li", {}, link);
  });
  if (openers.size > 0) {
    links.push(h("li", {}, button("Open all", () => openers.forEach((set) => set(true)), { class: "tool", title: "Open all rooms" })));
  }
  return h("nav", { class: "sections", attributes: { "aria-label": "Sections" } }, h("ol", {}, ...links));
}

// Marks the link of the section in view.
function followScroll(nav: HTMLElement): void {
  const links = new Map(Array.from(nav.querySelectorAll("a"), (a) => [a.getAttribute("href")!.slice(1), a]));
  const watcher = new IntersectionObserver(
    (seen) => {
      for (const entry of seen) {
        if (!entry.isIntersecting) continue;
        for (const link of links.values()) link.removeAttribute("aria-current");
        links.get(entry.target.id)?.setAttribute("aria-current", "true");
      }
    },
    { rootMargin: "-10% 0px -80% 0px" },
  );
  for (const id of links.keys()) {
    const element = document.getElementById(id);
    if (element) watcher.observe(element);
  }
}

// ---- parts: ranks, batch sizes ----

function partName(part: Part): string {
  const rank = part.items.find((item) => item.key === "rank");
  const file = part.name.split("/").pop() ?? part.name;
  const name = shortenMiddle(file, 60);
  return rank && numberOf(rank.value) !== null ? `rank ${formatValue(rank.value, "none", true)}: ${name}` : name;
}

// Reads the sections and the timeline of an embedded part on demand.
async function loadPart(part: Part, place: number): Promise<Lanes | null> {
  await wholeFile;
  if (!part.held) return null;
  if (!part.sections) part.sections = (JSON.parse(await unpackText(`assay-part-${place}`)) as { sections: Section[] }).sections;
  const lanes = readLanes(await unpackBytes(`assay-lanes-${place}`));
  lanes?.readEvents();
  return lanes;
}

function withoutRooms(view: View, part: Part): HTMLElement {
  const held = view.parts.filter((one) => one.held).length;
  return h("p", { class: "part-note" },
    `To stay below 3 MB this page has rooms and timelines of ${held} of ${view.parts.length} ${view.part_word}s, those that tell most; not of this one. Its own page has them: `,
    h("code", {}, `assay ${part.name} -o report.html`));
}

function partElements(view: View, part: Part, lanes: Lanes | null): HTMLElement[] {
  return [
    h("p", { class: "part-name" }, ...sentence(part.name), " ", itemsLine(part.items)),
    part.answer ? answerElement(part.answer, lanes, false, () => unpackBytes(`assay-details-${view.parts.indexOf(part)}`)) : verdictElement(part.verdict, part.sections ?? []),
    part.held ? null : withoutRooms(view, part),
    trustPanelOf(part),
    ...sectionsOf(part.sections ?? [], "part-", [], false),
  ].filter((e) => e !== null);
}

function partsElement(view: View, entries: Entry[], folded: boolean): HTMLElement {
  const word = view.part_word;
  const some = view.parts.some((part) => !part.held);
  const select = h("select", { id: "part-select" }, ...view.parts.map((part, i) => {
    const option = h("option", {}, partName(part) + (some && part.held ? " (with rooms)" : ""));
    option.value = String(i);
    return option;
  }));
  const body = h("div", { class: "part-body", attributes: { "aria-busy": "false" } });
  const show = async () => {
    const place = Number(select.value);
    body.setAttribute("aria-busy", "true");
    const lanes = await whereWhole(() => loadPart(view.parts[place]!, place));
    if (Number(select.value) !== place) return; // another part was selected meanwhile
    body.replaceChildren(...partElements(view, view.parts[place]!, lanes));
    body.setAttribute("aria-busy", "false");
  };
  const move = (by: number) => {
    select.value = String((Number(select.value) + by + view.parts.length) % view.parts.length);
    void show();
  };
  select.addEventListener("change", () => void show());
  openPart = async (place) => {
    select.value = String(place);
    openRoom("parts");
    await show();
  };
  const ranks = view.parts.map((part) => part.items.find((item) => item.key === "rank")?.value);
  partOfRank = (name, place) => {
    const found = ranks.findIndex((rank) => name === `rank ${String(rank)}`);
    return found >= 0 ? found : place;
  };
  entries.push({ id: "parts", title: `Each ${word}` });
  return roomElement("parts", "parts", `Each ${word}`, folded, () => {
    void show();
    return [
      h("div", { class: "part-pick" },
        h("label", { attributes: { for: "part-select" } }, `Show ${word} `), select,
        button("Previous", () => move(-1)), button("Next", () => move(1))),
      body,
    ];
  });
}

// The id is unique: the panel of a part must not have it.
function trustPanelOf(part: Part): HTMLElement | null {
  const panel = trustPanel(part);
  panel?.removeAttribute("id");
  panel?.removeAttribute("aria-labelledby");
  panel?.querySelector("h2")?.removeAttribute("id");
  return panel;
}

// ---- the page ----

// Resolves when the page is complete; search waits for it.
let standing: (view: View) => void = () => {};
const wholeView = new Promise<View>((done) => (standing = done));

// Builds the answer and its timeline first. Returns the element for the rest.
function buildHead(head: Head, lanes: Lanes | null): HTMLElement {
  const main = h("main", { id: "content" });
  const search = searchElement(() => wholeView.then(contents));
  const skip = h("a", { class: "skip", attributes: { href: "#content" } }, "Skip to the verdict");
  const frame = h("div", { class: head.answer ? "frame wide" : "frame" }, main);
  if (head.answer) main.append(answerElement(head.answer, lanes, true, () => wholeFile.then(() => unpackBytes("assay-details")), { inputs: head.parts_count, word: head.part_word }, traceOf(head)));
  document.body.prepend(skip, headerElement(head, search), frame);
  document.getElementById("static")?.remove();
  return main;
}

function footerElement(view: View): HTMLElement {
  const footer = h("footer", {},
    h("p", {}, `Written by ${view.tool.name} ${view.tool.version}. This file needs no network${view.json ? "; the numbers behind it are in it (Save JSON)" : ""}.`));
  const notices = document.getElementById("notices");
  if (notices) {
    notices.hidden = false;
    footer.append(notices);
  }
  return footer;
}

async function contents(view: View): Promise<Found[]> {
  await Promise.all(view.parts.map(loadPart));
  return contentsOf(view, {
    openSection: (section) => openRoom(idOf.get(section) ?? ""),
    openRoom,
    openPart: (place) => openPart(place),
    reveal: revealBlock,
    show: showElement,
    lanes: topLanes,
    partWord: view.part_word,
  });
}

// Builds the sections that explain the answer.
function buildRest(view: View, main: HTMLElement): void {
  startTips(view.definitions);
  const entries: Entry[] = [];
  // With several inputs, each has caveats of its own: an empty list here would claim that there are none.
  const told = view.parts.length === 0 || view.import_log.length > 0 || (view.trust?.rows ?? 0) > 0;
  const folded = view.answer !== null;
  const verdict = folded ? null : verdictElement(view.verdict, view.sections);
  const trust = told ? trustRoom(view, folded) : null;
  const wordy = folded && view.verdict.length > 0 ? wordsRoom(view.verdict) : null;
  if (wordy) entries.push({ id: "words", title: "In words" });
  if (trust) entries.push({ id: "trust", title: "Caveats" });
  const sections = sectionsOf(view.sections.filter((section) => section.blocks.length > 0), "", entries, folded);
  const parts = view.parts.length > 0 ? partsElement(view, entries, folded) : null;
  const nav = navElement(entries);
  const order = folded ? [nav, wordy, trust, ...sections, parts] : [verdict, trust, ...sections, parts];
  main.append(...order.filter((e) => e !== null));
  if (!folded) main.before(nav);
  main.parentElement!.after(footerElement(view));
  standing(view);
  if (!folded) followScroll(nav);
}

function trustRoom(view: View, folded: boolean): HTMLElement | null {
  const panel = trustPanel(view);
  if (!panel || !folded) return panel;
  const title = panel.querySelector("h2")!;
  title.remove();
  return roomElement("trust", "trust", title.textContent ?? "Caveats", true, () => Array.from(panel.children) as HTMLElement[]);
}

function wordsRoom(verdict: string[]): HTMLElement {
  return roomElement("words", "room", "The answer in more words", true, () => [proseElement(verdict, false)]);
}

function explain(words: string): void {
  const place = document.getElementById("why");
  if (place) place.textContent = words;
  else document.querySelector("main")?.append(h("p", { id: "why" }, words));
}

// Waits for the next frame. A hidden page draws none, hence the timeout.
const aFrame = (): Promise<void> =>
  new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, 100);
  });

// Reports a damaged file to the reader and returns null.
async function whereWhole<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch {
    explain("The data in this file is damaged: it was cut or changed after it was written.");
    return null;
  }
}

async function readHead(): Promise<{ head: Head; lanes: Lanes | null }> {
  const [text, bytes] = await Promise.all([unpackText("assay-head"), unpackBytes("assay-lanes")]);
  return { head: JSON.parse(text) as Head, lanes: readLanes(bytes) };
}

async function start(): Promise<void> {
  startTheme();
  if (typeof DecompressionStream === "undefined") {
    explain("This browser cannot unpack the report (it lacks DecompressionStream). Any browser from 2023 on can.");
    return;
  }
  const first = await whereWhole(readHead);
  if (!first) return;
  startPalette(first.head.palette);
  const main = buildHead(first.head, first.lanes);
  await aFrame();
  completeTop();
  await wholeFile;
  const rest = await whereWhole(async () => JSON.parse(await unpackText("assay-view")) as Omit<View, keyof Head>);
  if (!rest) return;
  buildRest({ ...first.head, ...rest }, main);
  document.documentElement.dataset.ready = "true";
}

void start();

export type { Facts };
