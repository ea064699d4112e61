// 100,000 distinct kernels: filter, sort and scroll answer within 100 ms, and the page stays small.

import { statSync } from "node:fs";
import { check, equal, launch, main, openReport, path, run, scrollThrough, writeTrace } from "./support.mjs";

const ROWS = 100_000;
const LIMIT_MS = 100;
const TRIES = 7; // the best of them: the machine may be busy with other tests

const events = [];
for (let i = 0; i < ROWS; ++i) {
  const name = `void at::native::kernel_${(i * 7919) % ROWS}<float, ${i % 13}>(at::TensorIterator&, int)`;
  events.push(...launch(i + 1, i * 12, name, { wait: 5 + (i % 17), run: 3 + (i % 5) }));
}
const trace = writeTrace("large.json", events);
events.length = 0;
run("launch", trace, "--graph", "--top", "0", "-o", path("large.html"));

// Milliseconds from an action until the frame that shows its result has been made.
async function took(page, action) {
  let best = Infinity;
  for (let i = 0; i < TRIES; ++i) {
    best = Math.min(best, await page.evaluate(action, i));
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
    await page.evaluate(() => {
      window.frame = (act) => new Promise((done) => {
        const begin = performance.now();
        act();
        document.body.offsetHeight; // layout, as the next frame would do it
        const busy = performance.now() - begin;
        requestAnimationFrame(() => done(busy));
      });
      window.grid = Array.from(document.querySelectorAll(".grid")).find((g) => g.textContent.includes("Kernels and what launched them"));
    });
    const filter = await took(page, (i) => window.frame(() => {
      const input = window.grid.querySelector("input");
      input.value = `kernel_${i}1`;
      input.dispatchEvent(new Event("input"));
    }));
    check(filter < LIMIT_MS, `a letter in the filter: ${filter.toFixed(0)} ms`);
    await page.evaluate(() => window.frame(() => {
      const input = window.grid.querySelector("input");
      input.value = "";
      input.dispatchEvent(new Event("input"));
    }));
    const click = (label) => (i) => window.frame(() => Array.from(window.grid.querySelectorAll("thead button")).find((b) => b.textContent.startsWith("t_l")).click());
    const sort = await took(page, click());
    check(sort < LIMIT_MS, `sorting by a number: ${sort.toFixed(0)} ms`);
    const words = await took(page, () => window.frame(() => Array.from(window.grid.querySelectorAll("thead button")).find((b) => b.textContent.startsWith("kernel")).click()));
    check(words < LIMIT_MS, `sorting by a name: ${words.toFixed(0)} ms`);
    const scroll = await took(page, (i) => window.frame(() => {
      window.grid.querySelector(".scroller").scrollTop = 100_000 * (i + 1);
      window.grid.querySelector(".scroller").dispatchEvent(new Event("scroll"));
    }));
    check(scroll < LIMIT_MS, `scrolling: ${scroll.toFixed(0)} ms`);
    console.log(`     filter ${filter.toFixed(0)}, sort ${sort.toFixed(0)} and ${words.toFixed(0)}, scroll ${scroll.toFixed(0)} ms`);
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
