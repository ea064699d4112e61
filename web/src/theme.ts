// Light or dark: the system's setting until the reader chooses. Printed pages are light.

type Theme = "light" | "dark";
type Listener = () => void;

const listeners = new Set<Listener>();
const system = window.matchMedia("(prefers-color-scheme: dark)");
let chosen: Theme | null = null;
let printing = false;

export function theme(): Theme {
  if (printing) return "light";
  return chosen ?? (system.matches ? "dark" : "light");
}

function apply(): void {
  document.documentElement.dataset.theme = theme();
  for (const listener of listeners) listener();
}

export function onTheme(listener: Listener): void {
  listeners.add(listener);
}

export function toggleTheme(): void {
  chosen = theme() === "dark" ? "light" : "dark";
  try {
    localStorage.setItem("assay-theme", chosen);
  } catch {
    // Pages from disk may have no storage: the choice then lasts as long as the page.
  }
  apply();
}

export function startTheme(): void {
  try {
    const stored = localStorage.getItem("assay-theme");
    if (stored === "light" || stored === "dark") chosen = stored;
  } catch {
    // see above
  }
  system.addEventListener("change", apply);
  window.addEventListener("beforeprint", () => {
    printing = true;
    apply();
  });
  window.addEventListener("afterprint", () => {
    printing = false;
    apply();
  });
  apply();
}

const colors = new Map<string, string>();

export function color(name: string): string {
  const key = `${theme()} ${name}`;
  let known = colors.get(key);
  if (known === undefined) {
    known = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
    colors.set(key, known);
  }
  return known;
}

export const SERIES_COLORS = 8;
export function seriesColor(index: number): string {
  return color(`series-${index % SERIES_COLORS}`);
}
