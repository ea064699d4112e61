// The top of the page: headline, time breakdown bar, actions. A number that refers to an interval of time is
// a link to it.

import { announce, button, h, type Child } from "./dom.ts";
import { causeColour, inkOn, isHatched } from "./palette.ts";
import { addressOf, type RangeChoice } from "./range.ts";
import { sentence } from "./text.ts";
import { onTheme } from "./theme.ts";
import { formatValue } from "./units.ts";
import type { Answer } from "./view.ts";

const LONGEST_KIND = 40;

export const share = (part: number, whole: number) => formatValue(part / whole, "share", false).replace(" ", "\u00a0");

// The cause that the headline names.
export function leadingCause(answer: Answer): string {
  const found = answer.causes.find((cause) => cause.key !== "compute");
  return answer.kind === "gpu" || !found ? "compute" : found.key;
}

// Links the first percentage of the headline to the intervals that it covers, one after the other.
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

export function verdictHead(answer: Answer, range: RangeChoice | null, shown: () => void, top: boolean): HTMLElement {
  const text = answer.verdict.join(" ");
  const more = answer.more.join(" ");
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

// The time breakdown as one bar, divided by the share of each cause. A click selects the cause in every view.
export function barElement(answer: Answer, range: RangeChoice | null): HTMLElement | null {
  if (answer.causes.length === 0 || answer.total_ns <= 0) return null;
  const bar = h("div", { class: "bar", attributes: { "aria-hidden": "true" } });
  const legend = h("ul", { class: "legend", attributes: { "aria-label": "Causes, with their share of the wall time" } });
  const pieces: { key: string; segment: HTMLElement; entry: HTMLButtonElement; dot: HTMLElement }[] = [];
  for (const cause of answer.causes) {
    const label = `${cause.word} ${share(cause.ns, answer.total_ns)}`;
    const segment = h("span", { class: "segment" }, h("span", { attributes: { hidden: "" } }, label));
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
  // A label shows only if it fits its segment; the legend has all labels.
  new ResizeObserver(() => {
    for (const { segment } of pieces) {
      const label = segment.firstElementChild as HTMLElement;
      label.hidden = false;
      label.hidden = label.scrollWidth + 12 > segment.clientWidth;
    }
  }).observe(bar);
  return h("div", { class: "bar-box" }, bar, legend);
}

// inputs: number of traces in the answer. word: the noun for one of them.
export function contextLine(answer: Answer, steps: number, inputs: number, word: string): HTMLElement {
  const compute = answer.causes.find((cause) => cause.key === "compute");
  const wall = `all time ${formatValue(answer.window_ns, "ns", true)}`;
  const parts = [inputs > 1 ? `Mean of ${inputs} ${word}s: w${wall} each` : `W${wall}`];
  if (steps > 1) parts[0] += ` in ${steps} iterations`;
  if (compute && answer.total_ns > 0) parts.push(`the GPU computes for ${share(compute.ns, answer.total_ns)}`);
  return h("p", { class: "under" }, `${parts.join("; ")}. Every share up here is of the wall time${inputs > 1 ? ` of all ${word}s` : ""}.`);
}
