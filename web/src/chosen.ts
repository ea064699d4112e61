// The current selection: a cause, and the name of a kernel, operator or call. The bar, legend, timelines,
// tables and search share it.

type Listener = () => void;

let cause: string | null = null;
let name: string | null = null;
let words: string | null = null; // selects every name that contains them
let listeners: { element: Element; listener: Listener }[] = [];
let untold: string[][] = []; // lists not yet added to the set
const onTimelines = new Set<string>();

export const chosenCause = (): string | null => cause;
export const chosenName = (): string | null => name;
export const chosenWords = (): string | null => words;

// Registers names that a timeline of the page shows.
export function knowNames(names: string[]): void {
  untold.push(names);
}
export function isOnTimeline(one: string): boolean {
  for (const names of untold) for (const name of names) onTimelines.add(name);
  untold = [];
  return onTimelines.has(one);
}

// Called until the element leaves the page.
export function onChosen(element: Element, listener: Listener): void {
  listeners.push({ element, listener });
}

function tell(): void {
  listeners = listeners.filter(({ element }) => element.isConnected);
  for (const { listener } of listeners) listener();
}

export function chooseCause(key: string | null): void {
  if (key === cause) return;
  cause = key;
  tell();
}

// Selects one name or none, and clears a selection by words.
export function chooseName(one: string | null): void {
  if (one === name && words === null) return;
  name = one;
  words = null;
  tell();
}

// Selects every name that contains these words.
export function chooseWords(some: string): void {
  name = null;
  words = some;
  tell();
}

// A predicate for selected names; null without a selection.
export function nameFilter(): ((one: string) => boolean) | null {
  if (name !== null) return (one) => one === name;
  if (words === null) return null;
  const all = words.toLowerCase().split(/\s+/).filter(Boolean);
  return (one) => all.every((word) => one.toLowerCase().includes(word));
}
