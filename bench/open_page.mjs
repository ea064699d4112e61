// How long a page takes to open in Chromium, at 1440 pixels, and how large it is: the median of five fresh contexts, from the
// begin of navigation until it is built. With --picture FILE also what its chart of time by rank looks like.
//
//     node bench/open_page.mjs PAGE.html [--picture FILE.png]
//
// Prints {"bytes": N, "ready_ms": N}.

import { statSync } from "node:fs";
import { launch, open } from "./open.mjs";

const [file, , picture] = process.argv.slice(2);

const browser = await launch();
const times = [];
for (let run = 0; run < 5; ++run) {
  const { page, at, close } = await open(browser, file);
  times.push(at);
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
