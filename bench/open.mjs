// Opens pages of the report in Chromium and tells how long that took.

import { createRequire } from "node:module";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const { chromium } = createRequire(join(ROOT, "web/package.json"))("playwright-core");
const executablePath = process.env.ASSAY_CHROMIUM ??
  ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((place) => existsSync(place));

export const launch = () => chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });

// A page in a fresh window of 1440 pixels.
export async function openWindow(browser) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(() => {
    new MutationObserver((_, watcher) => {
      if (!window.answered && document.querySelector(".verdict")) {
        window.answered = true;
        requestAnimationFrame(() => setTimeout(() => { window.shownAt = performance.now(); }));
      }
      if (!document.documentElement?.dataset.ready) return;
      window.readyAt = performance.now();
      watcher.disconnect();
    }).observe(document, { attributes: true, childList: true, subtree: true });
  });
  return { page, close: () => context.close() };
}

// Milliseconds from the begin of navigation; shown: until the frame with the answer is drawn, at: until all is built.
export async function visit(page, file) {
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(() => window.readyAt && (window.shownAt || !window.answered));
  return page.evaluate(() => ({ at: window.readyAt, shown: window.shownAt ?? window.readyAt }));
}

// Both, in a window that is opened for it.
export async function open(browser, file) {
  const { page, close } = await openWindow(browser);
  return { ...await visit(page, file), page, close };
}
