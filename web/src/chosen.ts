// What a reader has picked out: a cause, and the name of a kernel, operator or call. Bar, legend,
// timelines, tables and search show it alike, whichever of them it was picked in.

type Listener = () => void;

let cause: string | null = null;
let name: string | null = null;
let words: string | null = null; // of all names that have them
let listeners: { element: Element; listener: Listener }[] = [];
let untold: string[][] = []; // lists that are not in the set yet
const onTimelines = new Set<string>();

export const chosenCause = (): string | null => cause;
export const chosenName = (): string | null => name;
export const chosenWords = (): string | null => words;

// Names that some timeline of the page shows.
export function knowNames(names: string[]): void {
  untold.push(names);
}
export function isOnTimeline(one: string): boolean {
  for (const names of untold) for (const name of names) onTimelines.add(name);
  untold = [];
  return onTimelines.has(one);
}

// Until the element leaves the page.
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

// One name, or none; what was chosen by words is let go.
export function chooseName(one: string | null): void {
  if (one === name && words === null) return;
  name = one;
  words = null;
  tell();
}

// Every name that has these words.
export function chooseWords(some: string): void {
  name = null;
  words = some;
  tell();
}

// True for a name that is chosen; null where none is.
export function nameFilter(): ((one: string) => boolean) | null {
  if (name !== null) return (one) => one === name;
  if (words === null) return null;
  const all = words.toLowerCase().split(/\s+/).filter(Boolean);
  return (one) => all.every((word) => one.toLowerCase().includes(word));
}
