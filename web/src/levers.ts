// A card per action, with a switch if a set of actions was replayed and a slider if its change takes a
// factor. Every number was replayed: a slider stops only at replayed factors.

import { share } from "./answer.ts";
import { button, copyText, h } from "./dom.ts";
import { sentence, wholeFlags } from "./text.ts";
import { formatValue } from "./units.ts";
import type { Answer, Lever } from "./view.ts";

const time = (ns: number) => formatValue(ns, "ns", true);

// The state of an action's switch and slider.
interface Setting {
  on: boolean;
  place: number; // 1-based index into the action's points; 0: as recorded
}

const ownPlace = (lever: Lever) => lever.points.findIndex((point) => point.edit === lever.edit) + 1;

// The actions that are applied, and their scale. The brackets of the timeline follow it.
export class LeversOn {
  private readonly settings: Setting[];
  private readonly listeners: (() => void)[] = [];
  constructor(private readonly levers: Lever[]) {
    this.settings = levers.map((lever) => ({ on: true, place: ownPlace(lever) }));
  }

  has(lever: number): boolean {
    const { on, place } = this.settings[lever]!;
    return on && (place > 0 || this.levers[lever]!.points.length === 0);
  }
  place(lever: number): number {
    return this.settings[lever]!.place;
  }
  // True at the action's own factor, false at another point of its slider.
  isOwn(lever: number): boolean {
    return this.place(lever) === ownPlace(this.levers[lever]!);
  }
  // Gain, grade and change at the current position.
  at(lever: number): { gain_ns: number; grade: string; edit: string; words: string; between: string } {
    const own = this.levers[lever]!;
    const place = this.place(lever);
    if (own.points.length === 0) return { ...own, words: "" };
    return place === 0 ? { gain_ns: 0, grade: "", edit: "", words: "as recorded", between: "" } : own.points[place - 1]!;
  }
  set(lever: number, setting: Partial<Setting>): void {
    Object.assign(this.settings[lever]!, setting);
    for (const listener of this.listeners) listener();
  }
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }
}

export function codeBox(lines: string[]): HTMLElement {
  const text = lines.join("\n");
  const copy = button("Copy", async () => {
    copy.textContent = (await copyText(text)) ? "Copied" : "Copy failed";
    setTimeout(() => (copy.textContent = "Copy"), 1500);
  }, { class: "tool code-copy" });
  return h("div", { class: "code" }, h("pre", {}, ...wholeFlags(text)), copy);
}

// A command or setting to type. Three words in a row are prose.
const isCode = (text: string) => /[=(]|^(unset|nsys|rocprofv3|numactl|assay) /.test(text) && !/[a-z]+,? [a-z]+,? [a-z]+\b(?![.(=])/.test(text);

// The gain of the selected actions: of one alone as its card states it, of a set as it was replayed.
function togetherWords(answer: Answer, on: LeversOn, chosen: number[]): string {
  if (chosen.length === 0) return `None chosen: ${time(answer.window_ns)}, as recorded.`;
  const which = chosen.length === 1 ? "This alone" : chosen.length === 2 ? "Both together" : `All ${chosen.length} together`;
  const set = answer.together.find((one) => one.levers.join() === chosen.join());
  const isOwn = chosen.every((i) => on.isOwn(i));
  const replayed = chosen.length === 1 ? on.at(chosen[0]!) : isOwn ? set : undefined;
  if (replayed === undefined) {
    return `${which}: not replayed in this page. To replay it: assay whatif FILE ${chosen.map((i) => `--edit '${on.at(i).edit}'`).join(" ")}`;
  }
  const gain = replayed.gain_ns;
  const between = replayed.between ? ` ${replayed.between.charAt(0).toUpperCase()}${replayed.between.slice(1)}.` : "";
  const sum = chosen.reduce((ns, i) => ns + on.at(i).gain_ns, 0);
  const least = answer.window_ns / 1000;
  const apart = sum - gain > least ? ` One by one they would sum to ${time(sum)}.`
    : gain - sum > least ? ` More than the ${time(sum)} one by one: each hides behind the other.` : "";
  const grade = chosen.every((i) => on.at(i).grade === "predicted") ? "predicted" : "at most";
  return `${which}: ${time(answer.window_ns)} becomes ${time(answer.window_ns - gain)} (\u2212${share(gain, answer.window_ns)}, ${grade}).${between}${apart}`;
}

function leverSwitch(lever: Lever, place: number, on: LeversOn): HTMLElement {
  const box = h("input", { class: "lever-switch", attributes: { type: "checkbox", "aria-label": `Count in: ${lever.title}` } });
  box.checked = true;
  box.addEventListener("change", () => on.set(place, { on: box.checked }));
  return box;
}

// Stops at the replayed factors. Null if the change takes no factor.
function leverSlider(lever: Lever, place: number, on: LeversOn): HTMLElement | null {
  if (lever.points.length === 0) return null;
  const slider = h("input", {
    class: "lever-slider",
    attributes: { type: "range", min: "0", max: String(lever.points.length), step: "1", "aria-label": `How far: ${lever.title}` },
  });
  slider.value = String(on.place(place));
  const words = h("span", { class: "lever-words" });
  const paint = () => {
    words.textContent = on.at(place).words;
    slider.setAttribute("aria-valuetext", `${on.at(place).words}, \u2212${time(on.at(place).gain_ns)}`);
  };
  slider.addEventListener("input", () => on.set(place, { place: Number(slider.value) }));
  on.onChange(paint);
  paint();
  return h("div", { class: "lever-factor" }, slider, words);
}

function leverGain(answer: Answer, place: number, on: LeversOn): HTMLElement {
  const gain = h("span", { class: "lever-gain" });
  const paint = () => {
    const { gain_ns, grade } = on.at(place);
    const whole = on.isOwn(place) ? answer.levers[place]!.share : gain_ns / answer.window_ns;
    gain.replaceChildren(gain_ns > 0 ? `\u2212${time(gain_ns)}` : time(gain_ns), h("small", {}, `${share(whole, 1)} ${grade}`));
  };
  on.onChange(paint);
  paint();
  return gain;
}

function leverBetween(place: number, on: LeversOn): HTMLElement {
  const words = h("p", { class: "lever-between" });
  const paint = () => {
    words.replaceChildren(h("span", {}, ...sentence(on.at(place).between)));
    words.hidden = on.at(place).between === "";
  };
  on.onChange(paint);
  paint();
  return words;
}

// counted: the actions that the line covers.
function togetherLine(answer: Answer, on: LeversOn, counted: number[]): HTMLElement {
  const words = h("span");
  const paint = () => words.replaceChildren(h("span", {}, ...sentence(togetherWords(answer, on, counted.filter((i) => on.has(i))))));
  on.onChange(paint);
  paint();
  return h("p", { class: "together", attributes: { "aria-live": "polite" } }, words);
}

function leverCard(answer: Answer, place: number, on: LeversOn, hasSwitch: boolean): HTMLElement {
  const lever = answer.levers[place]!;
  return h("div", { class: "lever" },
    h("div", { class: "lever-head" },
      hasSwitch ? leverSwitch(lever, place, on) : null,
      h("span", { class: "lever-number" }, String(place + 1)),
      h("span", { class: "lever-title" }, ...sentence(lever.title)),
      leverGain(answer, place, on)),
    leverBetween(place, on),
    leverSlider(lever, place, on),
    lever.code ? (isCode(lever.code) ? codeBox([lever.code]) : h("p", {}, ...sentence(lever.code))) : null);
}

function noteCards(answer: Answer): HTMLElement[] {
  if (answer.notes.length === 0) return [h("p", {}, "Nothing found here saves 1 % of the time or more.")];
  return answer.notes.map((note) =>
    h("div", { class: "lever" },
      h("div", { class: "lever-head" }, h("span", { class: "lever-title" }, note.head.charAt(0).toUpperCase() + note.head.slice(1))),
      note.code ? codeBox(note.lines) : h("div", {}, ...note.lines.map((line) => h("p", {}, ...sentence(line))))));
}

export function leverCards(answer: Answer, on: LeversOn): HTMLElement {
  const replayed = new Set(answer.together.flatMap((set) => set.levers));
  const alone = answer.levers.length === 1 && answer.levers[0]!.points.length > 0 ? [0] : [];
  const counted = replayed.size > 0 ? [...replayed].sort((a, b) => a - b) : alone;
  return h("section", { class: "levers", attributes: { "aria-label": "What would change it" } },
    h("h2", {}, answer.levers.length > 0 ? "What would change it" : "What to do"),
    ...answer.levers.map((_, i) => leverCard(answer, i, on, replayed.has(i))),
    counted.length > 0 ? togetherLine(answer, on, counted) : null,
    ...(answer.levers.length === 0 ? noteCards(answer) : []));
}
