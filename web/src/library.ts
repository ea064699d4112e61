// Loads the chart library at the first chart. The page's policy allows this one script by its hash.

import type { EChartsCoreOption, ECharts, init } from "echarts/core";
import { unpackText, wholeFile } from "./packed.ts";

export type { EChartsCoreOption, ECharts };
export interface Library {
  init: typeof init;
}

let asked: Promise<Library> | null = null;
let loaded: Library | null = null; // for callers that cannot wait: a page about to be printed

async function load(): Promise<Library> {
  await wholeFile;
  const script = document.createElement("script");
  script.textContent = await unpackText("assay-charts");
  document.head.append(script); // runs synchronously
  script.remove();
  loaded = (globalThis as unknown as { assayCharts: Library }).assayCharts;
  return loaded;
}

export const loadedLibrary = (): Library | null => loaded;

export const chartLibrary = (): Promise<Library> => (asked ??= load());
