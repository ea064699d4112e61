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

// A page in a fresh context at 1440 pixels; at: milliseconds from the begin of navigation until it is built.
export async function open(browser, file) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(() => {
    new MutationObserver((_, watcher) => {
      if (!document.documentElement?.dataset.ready) return;
      window.readyAt = performance.now();
      watcher.disconnect();
    }).observe(document, { attributes: true, childList: true, subtree: true });
  });
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(() => window.readyAt);
  const at = await page.evaluate(() => window.readyAt);
  return { at, page, close: () => context.close() };
}
