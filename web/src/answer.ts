// The head of the page: the verdict, the bar, what would change it. Every number that stands for a
// stretch of time is a link to it.

import { announce, button, copyText, h, type Child } from "./dom.ts";
import { causeColour, inkOn, isHatched } from "./palette.ts";
import { addressOf, type RangeChoice } from "./range.ts";
import { sentence } from "./text.ts";
import { onTheme } from "./theme.ts";
import { formatValue } from "./units.ts";
import type { Answer } from "./view.ts";

const LONGEST_KIND = 40;
const LONGEST_HEADLINE = 160; // characters; what follows is said below it

const share = (part: number, whole: number) => formatValue(part / whole, "share", false).replace(" ", "\u00a0");

// The cause that the verdict speaks of.
export function leadingCause(answer: Answer): string {
  const found = answer.causes.find((cause) => cause.key !== "compute");
  return answer.kind === "gpu" || !found ? "compute" : found.key;
}

// The first share of the verdict leads to the stretches that it speaks of, one after the other.
function linked(text: string, answer: Answer, range: RangeChoice | null, shown: () => void): Child[] {
  const found = /\d[\d.,]*[ \u00a0]%/.exec(text);
  if (!found || !range || answer.spans.length === 0) return sentence(text);
  const cause = leadingCause(answer);
  let at = 0;
  const [from, to] = answer.spans[0]!;
  const link = h("a", { class: "span-link", attributes: { href: addressOf(from, to, cause) } }, found[0].replace(" ", "\u00a0"));
  link.title = "Show where, the longest first";
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const [begin, end] = answer.spans[at++ % answer.spans.length]!;
    const around = (end - begin) * 0.35;
    range.choose(cause);
    range.show(begin - around, end + around);
    shown();
  });
  return [...sentence(text.slice(0, found.index)), link, ...sentence(text.slice(found.index + found[0].length))];
}

// As many sentences as a headline bears, and the rest.
function headline(verdict: string[]): [string, string] {
  const sentences = verdict.join(" ").split(/(?<=\.)\s+(?=\p{Lu})/u);
  let taken = 1;
  let length = sentences[0]?.length ?? 0;
  while (taken < sentences.length && length + sentences[taken]!.length < LONGEST_HEADLINE) length += sentences[taken++]!.length + 1;
  return [sentences.slice(0, taken).join(" "), sentences.slice(taken).join(" ")];
}

export function verdictHead(answer: Answer, range: RangeChoice | null, shown: () => void, top: boolean): HTMLElement {
  const [text, more] = headline(answer.verdict);
  const colon = text.indexOf(": ");
  const kind = colon > 0 && colon <= LONGEST_KIND ? text.slice(0, colon) : "";
  const rest = kind ? text.charAt(colon + 2).toUpperCase() + text.slice(colon + 3) : text;
  const dot = h("span", { class: "swatch" });
  const paint = () => (dot.style.background = causeColour(leadingCause(answer)));
  paint();
  onTheme(paint);
  return h(
    "div",
    { class: "verdict-head" },
    kind ? h("p", { class: "pill" }, dot, kind) : null,
    h(top ? "h1" : "h3", { class: "answer" }, ...linked(rest, answer, range, shown)),
    more ? h("p", { class: "answer-more" }, ...sentence(more)) : null,
  );
}

// The whole as one bar, each cause as long as its share; a click chooses a cause everywhere.
export function barElement(answer: Answer, range: RangeChoice | null): HTMLElement | null {
  if (answer.causes.length === 0 || answer.total_ns <= 0) return null;
  const bar = h("div", { class: "bar", attributes: { "aria-hidden": "true" } });
  const legend = h("ul", { class: "legend", attributes: { "aria-label": "Causes, with their share of the wall time" } });
  const pieces: { key: string; segment: HTMLElement; entry: HTMLButtonElement; dot: HTMLElement }[] = [];
  for (const cause of answer.causes) {
    const label = `${cause.word} ${share(cause.ns, answer.total_ns)}`;
    const segment = h("span", { class: "segment" }, h("span", {}, label));
    segment.style.flexGrow = String(cause.ns / answer.total_ns);
    segment.title = `${label}, ${formatValue(cause.ns, "ns", true)}`;
    const dot = h("span", { class: "swatch" });
    const choose = () => {
      if (!range) return;
      const chosen = range.get().cause === cause.key ? null : cause.key;
      range.choose(chosen);
      announce(chosen ? `${cause.word} chosen` : "All causes");
    };
    const entry = button("", choose, { class: "legend-entry" });
    entry.append(dot, h("span", {}, cause.word), h("b", {}, share(cause.ns, answer.total_ns)));
    entry.setAttribute("aria-pressed", "false");
    segment.addEventListener("click", choose);
    bar.append(segment);
    legend.append(h("li", {}, entry));
    pieces.push({ key: cause.key, segment, entry, dot });
  }
  const paint = () => {
    const chosen = range?.get().cause ?? null;
    for (const { key, segment, entry, dot } of pieces) {
      const colour = causeColour(key);
      segment.style.background = dot.style.background = colour;
      segment.style.color = inkOn(colour);
      (segment.firstElementChild as HTMLElement).style.background = isHatched(key) ? colour : "";
      segment.classList.toggle("hatched", isHatched(key));
      dot.classList.toggle("hatched", isHatched(key));
      segment.classList.toggle("dimmed", chosen !== null && chosen !== key);
      entry.setAttribute("aria-pressed", String(chosen === key));
    }
  };
  paint();
  onTheme(paint);
  range?.onChange(paint);
  // A word that does not fit its segment stays in the legend.
  new ResizeObserver(() => {
    for (const { segment } of pieces) {
      const label = segment.firstElementChild as HTMLElement;
      label.hidden = false;
      label.hidden = label.scrollWidth + 12 > segment.clientWidth;
    }
  }).observe(bar);
  return h("div", { class: "bar-box" }, bar, legend);
}

function codeBox(lines: string[]): HTMLElement {
  const text = lines.join("\n");
  const copy = button("Copy", async () => {
    copy.textContent = (await copyText(text)) ? "Copied" : "Copy failed";
    setTimeout(() => (copy.textContent = "Copy"), 1500);
  }, { class: "tool code-copy" });
  return h("div", { class: "code" }, h("pre", {}, text), copy);
}

// What looks like something to type, not like words: no three of these in a row.
const isCode = (text: string) => /[=(]|^(unset|nsys|rocprofv3|numactl|assay) /.test(text) && !/[a-z]+,? [a-z]+,? [a-z]+\b(?![.(=])/.test(text);

// What the chosen levers give together: each by itself as it says, sets as they were replayed.
function togetherWords(answer: Answer, chosen: number[]): string {
  const time = (ns: number) => formatValue(ns, "ns", true);
  if (chosen.length === 0) return `None chosen: ${time(answer.window_ns)}, as recorded.`;
  const set = answer.together.find((one) => one.levers.join() === chosen.join());
  const gain = chosen.length === 1 ? answer.levers[chosen[0]!]!.gain_ns : set?.gain_ns;
  const which = chosen.length === 1 ? "This alone" : chosen.length === 2 ? "Both together" : `All ${chosen.length} together`;
  if (gain === undefined) return `${which}: not replayed.`;
  const sum = chosen.reduce((ns, i) => ns + answer.levers[i]!.gain_ns, 0);
  const least = answer.window_ns / 1000;
  const apart = sum - gain > least ? ` One by one they would sum to ${time(sum)}.`
    : gain - sum > least ? ` More than the ${time(sum)} one by one: each hides behind the other.` : "";
  const grade = chosen.every((i) => answer.levers[i]!.grade === "predicted") ? "predicted" : "at most";
  return `${which}: ${time(answer.window_ns)} becomes ${time(answer.window_ns - gain)} (\u2212${share(gain, answer.window_ns)}, ${grade}).${apart}`;
}

// Which levers are counted in; the timeline's brackets show it.
export class LeversOn {
  private readonly off = new Set<number>();
  private changed: () => void = () => {};
  has(lever: number): boolean {
    return !this.off.has(lever);
  }
  set(lever: number, on: boolean): void {
    if (on) this.off.delete(lever);
    else this.off.add(lever);
    this.changed();
  }
  onChange(listener: () => void): void {
    this.changed = listener;
  }
}

// A switch for each lever that some set replays, and what those that are on give together.
function leverSwitches(answer: Answer, on: LeversOn): { switches: (HTMLInputElement | null)[]; sum: HTMLElement | null } {
  const replayed = new Set(answer.together.flatMap((set) => set.levers));
  if (replayed.size === 0) return { switches: answer.levers.map(() => null), sum: null };
  const sum = h("p", { class: "together", attributes: { "aria-live": "polite" } });
  const switches = answer.levers.map((lever, i) => {
    if (!replayed.has(i)) return null;
    const box = h("input", { class: "lever-switch", attributes: { type: "checkbox", "aria-label": `Count in: ${lever.title}` } });
    box.checked = true;
    box.addEventListener("change", () => paint());
    return box;
  });
  const paint = () => {
    switches.forEach((box, i) => on.set(i, box?.checked ?? true));
    const chosen = switches.flatMap((box, i) => (box?.checked ? [i] : []));
    sum.replaceChildren(h("span", {}, ...sentence(togetherWords(answer, chosen))));
  };
  paint();
  return { switches, sum };
}

export function leverCards(answer: Answer, on: LeversOn): HTMLElement {
  const { switches, sum } = leverSwitches(answer, on);
  const box = h("section", { class: "levers", attributes: { "aria-label": "What would change it" } });
  box.append(h("h2", {}, answer.levers.length > 0 ? "What would change it" : "What to do"));
  answer.levers.forEach((lever, i) => {
    box.append(
      h("div", { class: "lever" },
        h("div", { class: "lever-head" },
          switches[i] ?? null,
          h("span", { class: "lever-number" }, String(i + 1)),
          h("span", { class: "lever-title" }, ...sentence(lever.title)),
          h("span", { class: "lever-gain" },
            `\u2212${formatValue(lever.gain_ns, "ns", true)}`,
            h("small", {}, `${share(lever.share, 1)} ${lever.grade}`))),
        lever.code ? (isCode(lever.code) ? codeBox([lever.code]) : h("p", {}, ...sentence(lever.code))) : null,
      ),
    );
  });
  if (sum) box.append(sum);
  if (answer.levers.length === 0) {
    for (const note of answer.notes) {
      box.append(
        h("div", { class: "lever" },
          h("div", { class: "lever-head" }, h("span", { class: "lever-title" }, note.head.charAt(0).toUpperCase() + note.head.slice(1))),
          note.code ? codeBox(note.lines) : h("div", {}, ...note.lines.map((line) => h("p", {}, ...sentence(line))))),
      );
    }
    if (answer.notes.length === 0) box.append(h("p", {}, "Nothing found here saves 1 % of the time or more."));
  }
  return box;
}

// inputs: how many traces the answer is of, and what one of them is called.
export function contextLine(answer: Answer, steps: number, inputs: number, word: string): HTMLElement {
  const compute = answer.causes.find((cause) => cause.key === "compute");
  const wall = `all time ${formatValue(answer.window_ns, "ns", true)}`;
  const parts = [inputs > 1 ? `Mean of ${inputs} ${word}s: w${wall} each` : `W${wall}`];
  if (steps > 1) parts[0] += ` in ${steps} iterations`;
  if (compute && answer.total_ns > 0) parts.push(`the GPU computes for ${share(compute.ns, answer.total_ns)}`);
  return h("p", { class: "under" }, `${parts.join("; ")}. Every share up here is of the wall time${inputs > 1 ? ` of all ${word}s` : ""}.`);
}
