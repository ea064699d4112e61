// How long a page takes to open in Chromium, at 1440 pixels, and how large it is: the median of five fresh contexts, from the
// begin of navigation until it is built. With --picture FILE also what its chart of time by rank looks like.
//
//     node bench/open_page.mjs PAGE.html [--picture FILE.png]
//
// Prints {"bytes": N, "ready_ms": N}.

import { createRequire } from "node:module";
import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const { chromium } = createRequire(join(ROOT, "web/package.json"))("playwright-core");
const executablePath = process.env.ASSAY_CHROMIUM ??
  ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((place) => existsSync(place));
const [file, , picture] = process.argv.slice(2);

async function open(browser) {
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
  return { page, ready: await page.evaluate(() => window.readyAt), close: () => context.close() };
}

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const times = [];
for (let run = 0; run < 5; ++run) {
  const { page, ready, close } = await open(browser);
  times.push(ready);
  if (run === 0 && picture) {
    await page.getByText("Open all").first().click();
    const chart = page.locator("figure.chart").first();
    await chart.scrollIntoViewIfNeeded();
    await page.waitForTimeout(500);
    await page.screenshot({ path: picture });
  }
  await close();
}
await browser.close();
times.sort((a, b) => a - b);
console.log(JSON.stringify({ bytes: statSync(file).size, ready_ms: Math.round(times[times.length >> 1]) }));
