// 100,000 distinct kernels: filter, sort and scroll answer within 100 ms, and the page stays small.

import { statSync } from "node:fs";
import { check, equal, launch, main, openReport, path, run, scrollThrough, writeTrace } from "./support.mjs";

const ROWS = 100_000;
const LIMIT_MS = 100;
const REFERENCE_MS = 60; // what the reference below takes where the limit is as promised; a slower processor gets more
const TRIES = 7;

const events = [];
for (let i = 0; i < ROWS; ++i) {
  const name = `void at::native::kernel_${(i * 7919) % ROWS}<float, ${i % 13}>(at::TensorIterator&, int)`;
  events.push(...launch(i + 1, i * 12, name, { wait: 5 + (i % 17), run: 3 + (i % 5) }));
}
const trace = writeTrace("large.json", events);
events.length = 0;
run("launch", trace, "--graph", "--top", "0", "-o", path("large.html"));

// Milliseconds of processor time that an action and the layout after it take: the best of some tries. What else the
// machine does at that time is not counted.
async function took(page, session, action) {
  const spent = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return 1000 * metrics.find((metric) => metric.name === "TaskDuration").value;
  };
  let best = Infinity;
  for (let i = 0; i < TRIES; ++i) {
    const before = await spent();
    await page.evaluate(action, i);
    best = Math.min(best, (await spent()) - before);
  }
  return best;
}

await main({
  async "the file is not much larger than its data"() {
    const size = statSync(path("large.html")).size;
    check(size < 40 << 20, `${size} bytes`);
  },

  async "filter, sort and scroll answer within 100 ms"() {
    const { page, said, close } = await openReport(path("large.html"));
    await scrollThrough(page);
    const grid = page.locator(".grid", { hasText: "Kernels and what launched them" });
    check((await grid.locator(".status").innerText()).includes("100,000"), "not all rows are there");
    check((await grid.locator("tbody tr").count()) < 200, "rows out of sight are in the page");
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    await page.evaluate(() => {
      window.frame = (act) => new Promise((done) => {
        act();
        document.body.offsetHeight; // layout, as the next frame would do it
        requestAnimationFrame(() => done());
      });
      window.grid = Array.from(document.querySelectorAll(".grid")).find((g) => g.textContent.includes("Kernels and what launched them"));
    });
    // The same rows without a page: what this processor needs to look at each once and to sort them.
    const reference = await took(page, session, (i) => {
      const rows = Array.from({ length: 100_000 }, (_, row) => ({ name: `void at::native::kernel_${(row * 7919) % 100_000}`, number: (row * 7919 + i) % 100_003 }));
      window.found = rows.filter((row) => row.name.includes(`kernel_${i}1`)).length;
      window.found += rows.sort((a, b) => a.number - b.number)[0].number;
    });
    const limit = LIMIT_MS * Math.max(1, reference / REFERENCE_MS);
    const filter = await took(page, session, (i) => window.frame(() => {
      const input = window.grid.querySelector("input");
      input.value = `kernel_${i}1`;
      input.dispatchEvent(new Event("input"));
    }));
    check(filter < limit, `a letter in the filter: ${filter.toFixed(0)} ms`);
    await page.evaluate(() => window.frame(() => {
      const input = window.grid.querySelector("input");
      input.value = "";
      input.dispatchEvent(new Event("input"));
    }));
    const click = (label) => (i) => window.frame(() => Array.from(window.grid.querySelectorAll("thead button")).find((b) => b.textContent.startsWith("t_l")).click());
    const sort = await took(page, session, click());
    check(sort < limit, `sorting by a number: ${sort.toFixed(0)} ms`);
    const words = await took(page, session, () => window.frame(() => Array.from(window.grid.querySelectorAll("thead button")).find((b) => b.textContent.startsWith("kernel")).click()));
    check(words < limit, `sorting by a name: ${words.toFixed(0)} ms`);
    const scroll = await took(page, session, (i) => window.frame(() => {
      window.grid.querySelector(".scroller").scrollTop = 100_000 * (i + 1);
      window.grid.querySelector(".scroller").dispatchEvent(new Event("scroll"));
    }));
    check(scroll < limit, `scrolling: ${scroll.toFixed(0)} ms`);
    console.log(`     reference ${reference.toFixed(0)}, filter ${filter.toFixed(0)}, sort ${sort.toFixed(0)} and ${words.toFixed(0)}, scroll ${scroll.toFixed(0)} ms`);
    equal(said, [], "the console");
    await close();
  },

  async "the last row can be reached, and its name opened"() {
    const { page, close } = await openReport(path("large.html"));
    const grid = page.locator(".grid", { hasText: "Kernels and what launched them" });
    await grid.locator(".scroller").evaluate((e) => { e.scrollTop = e.scrollHeight; });
    await grid.locator(`tr[aria-rowindex="${ROWS + 1}"]`).waitFor();
    const last = grid.locator(`tr[aria-rowindex="${ROWS + 1}"]`);
    check((await last.innerText()).includes("kernel_"), "the last row is empty");
    equal(await grid.locator("table").getAttribute("aria-rowcount"), String(ROWS + 1), "rows that are told");
    await close();
  },

  async "charts of 100,000 launches are thinned, and their peaks kept"() {
    const { page, close } = await openReport(path("large.html"));
    const chart = page.locator("figure.chart", { hasText: "of every launch over time" });
    await chart.getByRole("button", { name: "Table", exact: true }).click();
    const rows = Number((await chart.locator(".status").innerText()).replace(/[^\d]/g, ""));
    check(rows > 1000 && rows <= 4000, `${rows} points`);
    await close();
  },
});
