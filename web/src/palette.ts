// Colours of causes, declared in src/report/document/palette.cc.

import { theme } from "./theme.ts";

export type Palette = Record<string, { light: string; dark: string; hatched: boolean; word: string }>;

let palette: Palette = {};

export function startPalette(declared: Palette): void {
  palette = declared;
}

export function causeColour(key: string): string {
  const colour = palette[key] ?? palette["no_evidence"];
  if (!colour) return "#888888";
  return theme() === "dark" ? colour.dark : colour.light;
}

// The display name of a cause.
export function causeWord(key: string): string {
  return palette[key]?.word ?? key;
}

export function isHatched(key: string): boolean {
  return palette[key]?.hatched ?? false;
}

// Black or white, by contrast with the colour "#rrggbb".
export function inkOn(colour: string): string {
  const channel = (at: number) => {
    const c = parseInt(colour.slice(at, at + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  };
  const light = 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
  return (light + 0.05) / 0.05 > 1.05 / (light + 0.05) ? "#000000" : "#ffffff";
}
