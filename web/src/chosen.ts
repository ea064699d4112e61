// What a reader has picked out: a cause, and the name of a kernel, operator or call. Bar, legend,
// timelines, tables and search show it alike, whichever of them it was picked in.

type Listener = () => void;

let cause: string | null = null;
let name: string | null = null;
let listeners: { element: Element; listener: Listener }[] = [];
let untold: string[][] = []; // lists that are not in the set yet
const onTimelines = new Set<string>();

export const chosenCause = (): string | null => cause;
export const chosenName = (): string | null => name;

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

export function chooseName(one: string | null): void {
  if (one === name) return;
  name = one;
  tell();
}
