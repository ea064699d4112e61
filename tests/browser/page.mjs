// The page of the sample trace: what it says, what it saves and copies, keyboard, narrow screens,
// dark, print, damaged files.

import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXAMPLE, check, copyCsv, equal, launch, main, openReport, path, report, run, runAside, scrollThrough, writeTrace } from "./support.mjs";

const file = report(EXAMPLE);

// Twelve iterations of the same three kernels, so that charts and tables have several rows.
function iterations() {
  const events = [];
  for (let step = 0; step < 12; ++step) {
    const at = step * 1000;
    events.push({ ph: "X", cat: "user_annotation", name: `ProfilerStep#${step}`, pid: 1, tid: 1, ts: at, dur: 900 });
    for (let i = 0; i < 3; ++i) events.push(...launch(1 + step * 3 + i, at + 10 + i * 20, `kernel_${i}`));
  }
  return events;
}

const quiet = ({ said, asked }, what) => {
  equal(said, [], `${what}: the console`);
  equal(asked, [], `${what}: requests`);
};

// No part of the page sticks out at the side.
const overhang = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

await main({
  async "reads top-down: verdict, trust, one section per room"() {
    const { page, close, ...heard } = await openReport(file);
    await scrollThrough(page);
    const order = await page.evaluate(() => Array.from(document.querySelectorAll("main > section"), (s) => s.className));
    equal(order.slice(0, 3), ["verdict", "room", "trust"], "the first sections");
    const titles = await page.locator(".room > h2").allInnerTexts();
    for (const room of ["Launch", "Overhead", "Breakdown", "Fusion"]) {
      check(titles.some((title) => title.startsWith(room)), `no section for ${room} among ${titles}`);
    }
    const links = await page.locator("nav.sections a").evaluateAll((all) => all.map((a) => a.getAttribute("href").slice(1)));
    equal(await page.evaluate((ids) => ids.filter((id) => !document.getElementById(id)), links), [], "links without a target");
    equal(await page.locator("main [id]").evaluateAll((all) => all.length - new Set(all.map((e) => e.id)).size), 0, "ids used twice");
    quiet(heard, "the page");
    await close();
  },

  async "tells how many microseconds of which number a note may move"() {
    const { page, close } = await openReport(file);
    const trust = JSON.parse(run("report", EXAMPLE, "--format", "json")).caveats;
    equal(await page.locator(".trust-list > li").count(), trust.length, "notes");
    const clock = trust.find((note) => note.code === "clock_offset");
    const row = await page.locator(".trust-list > li", { hasText: "clock offset" }).innerText();
    check(row.includes(`${clock.time_ns / 1000} µs`), `no affected time in: ${row}`);
    check(row.includes("TKLQT"), `no number that moves in: ${row}`);
    await close();
  },

  async "draws every chart, and shows each as a table"() {
    const several = report(writeTrace("steps.json", iterations()), "steps.html");
    const { page, close, ...heard } = await openReport(several);
    await scrollThrough(page);
    const charts = page.locator("figure.chart:has(.canvas)");
    const count = await charts.count();
    check(count >= 8, `${count} charts`);
    for (let i = 0; i < count; ++i) {
      const chart = charts.nth(i);
      const title = await chart.locator("h4").first().innerText();
      const drawn = await chart.locator(".canvas").evaluate(async (box) => {
        const canvas = box.querySelector("canvas");
        if (!canvas) return "no canvas";
        for (const until = performance.now() + 60_000; performance.now() < until; ) {
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          if (data.some((byte) => byte !== 0)) return "";
          await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 10)));
        }
        return "an empty canvas";
      });
      equal(drawn, "", title);
      await chart.getByRole("button", { name: "Table", exact: true }).click();
      check((await chart.locator("tbody tr").count()) > 0, `${title}: its table is empty`);
      await chart.getByRole("button", { name: "Table", exact: true }).click();
      check(await chart.locator(".canvas").isVisible(), `${title}: the drawing does not come back`);
    }
    const strip = page.locator("figure.chart", { hasText: "Iterations: GPU busy" });
    await strip.getByRole("button", { name: "Table", exact: true }).click();
    equal(await strip.locator("tbody tr").count(), 12, "rows of the iteration strip");
    quiet(heard, "charts");
    await close();
  },

  async "saves the JSON that --format json writes"() {
    const { page, close } = await openReport(file);
    const waiting = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save JSON" }).click();
    const saved = path("saved.json");
    await (await waiting).saveAs(saved);
    check(readFileSync(saved, "utf8") === run("report", EXAMPLE, "--format", "json"), "the saved JSON differs");
    await close();
  },

  async "explains a number under the pointer and under the keyboard's focus"() {
    const { page, close } = await openReport(file);
    await scrollThrough(page); // what is still drawn moves other terms below the pointer
    const term = page.locator(".room .term", { hasText: /^TKLQT$/ }).first();
    await term.hover();
    const tip = page.getByRole("tooltip");
    await tip.waitFor({ state: "visible" });
    const text = await tip.innerText();
    check(text.includes("tklqt_ns") && text.includes("Eq. 2"), `the definition reads: ${text}`);
    await page.keyboard.press("Escape");
    check(!(await tip.isVisible()), "Escape does not close the definition");
    await page.mouse.move(0, 0);
    await page.keyboard.press("Tab");
    await term.focus();
    await tip.waitFor({ state: "visible" });
    equal(await term.getAttribute("aria-describedby"), "definition", "what describes the term");
    await close();
  },

  async "has a definition for every number of the launch and verdict sections"() {
    const { page, close } = await openReport(file);
    const without = await page.evaluate(() =>
      Array.from(document.querySelectorAll(".behind .value, [id^=launch-] .fact .value"))
        .filter((value) => !value.hasAttribute("data-key"))
        .map((value) => value.closest("div").querySelector("dt").textContent),
    );
    equal(without, [], "numbers without a definition");
    await close();
  },

  async "sorts, filters and copies a table"() {
    const { page, close } = await openReport(file);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const grid = page.locator(".grid", { hasText: "Most launched kernels" });
    const table = JSON.parse(run("report", EXAMPLE, "--format", "json")).launch.top_kernels;
    await grid.getByRole("button", { name: /^Σ t_k/ }).click();
    equal(await grid.locator("th[aria-sort]").getAttribute("aria-sort"), "descending", "the order");
    const copied = () => copyCsv(page, grid);
    const rows = (await copied()).trimEnd().split("\n");
    const at = rows[0].split(",").indexOf("dur_sum_ns");
    // Names have commas and are quoted: the numbers stand behind them.
    const sums = rows.slice(1).map((row) => Number(row.replace(/^"(?:[^"]|"")*"/, "x").split(",")[at]));
    equal(sums, table.map((row) => row.dur_sum_ns).sort((a, b) => b - a), "the copied column");
    await grid.getByRole("button", { name: "Copy CSV" }).waitFor();
    await grid.getByRole("searchbox").fill("flash");
    const wanted = table.filter((row) => row.name.includes("flash")).length;
    equal(await grid.locator("tbody tr").count(), wanted, "rows that match");
    check((await grid.locator(".status").innerText()).startsWith(`${wanted} of ${table.length}`), "the count of rows");
    await grid.getByRole("searchbox").fill("no such kernel");
    check((await grid.innerText()).includes("Nothing matches"), "an empty result says nothing");
    await close();
  },

  async "shortens long names in the middle and shows them on demand"() {
    const { page, close } = await openReport(file);
    const name = page.locator(".grid", { hasText: "Most launched kernels" }).locator("button.name").first();
    const short = await name.innerText();
    await name.focus();
    await page.keyboard.press("Enter");
    equal(await name.getAttribute("aria-expanded"), "true", "expanded");
    const full = await name.innerText();
    const names = JSON.parse(run("report", EXAMPLE, "--format", "json")).launch.top_kernels.map((row) => row.name);
    check(full.length > short.length && names.includes(full), `not a full name: ${full}`);
    await page.keyboard.press("Enter");
    equal(await name.innerText(), short, "shortened again");
    await close();
  },

  async "walks and zooms the icicle with the keyboard"() {
    const { page, close } = await openReport(file);
    const icicle = page.locator("canvas.icicle").first();
    if ((await icicle.count()) === 0) return; // no tree of this report has areas
    const about = page.locator(".icicle-about").first();
    await icicle.focus();
    const root = await about.innerText();
    await page.keyboard.press("ArrowDown");
    const child = await about.innerText();
    check(child !== root && child.includes("of its parent"), `below the root: ${child}`);
    await page.keyboard.press("Enter");
    check(await page.locator(".crumbs").first().isVisible(), "no way back is shown");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    check(!(await page.locator(".crumbs").first().isVisible()), "Escape does not lead back");
    await close();
  },

  async "has a focus order that follows the page, and a way past the links"() {
    const { page, close } = await openReport(file);
    const seen = [];
    for (let i = 0; i < 12; ++i) {
      await page.keyboard.press("Tab");
      seen.push(await page.evaluate(() => {
        const { top, left } = document.activeElement.getBoundingClientRect();
        return { text: document.activeElement.textContent.slice(0, 20), ring: getComputedStyle(document.activeElement).outlineStyle, top: top + scrollY, left };
      }));
    }
    equal(seen[0].text, "Skip to the verdict", "the first stop");
    check(seen.every((stop) => stop.ring !== "none"), "a stop without a visible focus");
    check(await page.evaluate(() => !document.querySelector("[tabindex]:not([tabindex='0'])")), "a tabindex that reorders");
    const unnamed = await page.evaluate(() =>
      Array.from(document.querySelectorAll("button, input, select, a, [role=img], [role=region], [role=application]"))
        .filter((e) => !e.closest("[hidden]"))
        .filter((e) => !(e.textContent.trim() || e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.labels?.length))
        .map((e) => e.outerHTML.slice(0, 80)));
    equal(unnamed, [], "controls without a name");
    await close();
  },

  async "fits a screen of 390 pixels"() {
    const { page, close, ...heard } = await openReport(file, { width: 390, height: 800 });
    await scrollThrough(page);
    equal(await overhang(page), 0, "pixels that stick out");
    quiet(heard, "390 pixels");
    await close();
  },

  async "is dark where the system is, and on demand"() {
    const { page, close } = await openReport(file, { dark: true });
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await paper();
    check(dark !== "rgb(255, 255, 255)", `the paper is ${dark}`);
    await page.getByRole("button", { name: "Light" }).click();
    equal(await paper(), "rgb(255, 255, 255)", "after the switch");
    await page.getByRole("button", { name: "Dark" }).click();
    equal(await paper(), dark, "after the switch back");
    await page.emulateMedia({ media: "print" });
    await close();
  },

  async "has contrast that can be read, light and dark"() {
    for (const dark of [false, true]) {
      const { page, close } = await openReport(file, { dark });
      const low = await page.evaluate(() => {
        const parse = (text) => text.match(/[\d.]+/g).map(Number);
        const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
        const paperOf = (e) => {
          for (; e; e = e.parentElement) {
            const paper = parse(getComputedStyle(e).backgroundColor);
            if (paper.length < 4 || paper[3] > 0) return paper;
          }
          return [255, 255, 255];
        };
        const found = [];
        for (const e of document.querySelectorAll("p, dt, .value, .note, th, td, a, button, h2, h4, .meta, figcaption")) {
          if (!e.textContent.trim() || !e.checkVisibility()) continue;
          const [a, b] = [light(parse(getComputedStyle(e).color)), light(paperOf(e))].sort((x, y) => y - x);
          if ((a + 0.05) / (b + 0.05) < 4.5) found.push(`${e.className || e.tagName}: ${e.textContent.slice(0, 30)}`);
        }
        return found.slice(0, 5);
      });
      equal(low, [], dark ? "dark" : "light");
      await close();
    }
  },

  async "draws its charts where the browser tells no idle time"() {
    const setUp = (page) => page.addInitScript(() => { delete globalThis.requestIdleCallback; });
    const { page, close, ...heard } = await openReport(file, { setUp });
    await page.waitForFunction(() => "assayCharts" in globalThis);
    quiet(heard, "without requestIdleCallback");
    await close();
  },

  async "prints charts that nobody has scrolled to"() {
    const { page, close } = await openReport(file);
    await page.waitForFunction(() => "assayCharts" in globalThis);
    const empty = await page.evaluate(() => {
      const inked = (canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((v) => v !== 0);
      window.dispatchEvent(new Event("beforeprint"));
      const shown = Array.from(document.querySelectorAll(".chart .canvas")).filter((box) => box.clientWidth > 0);
      if (shown.length === 0) return ["no chart is open"];
      return shown.filter((box) => !Array.from(box.querySelectorAll("canvas")).some(inked)).map((box) => box.getAttribute("aria-label").slice(0, 60));
    });
    equal(empty, [], "charts without ink in the moment of printing");
    await close();
  },

  async "every key with a definition has a tip"() {
    const { page, close } = await openReport(file);
    await scrollThrough(page);
    const shown = await page.evaluate(async () => {
      const places = new Map();
      for (const element of document.querySelectorAll("[data-key]")) places.set(`${element.dataset.definition} ${element.dataset.key}`, element);
      const tips = [];
      for (const element of places.values()) {
        element.dispatchEvent(new PointerEvent("pointerover", { bubbles: true, pointerType: "touch" }));
        await new Promise((done) => setTimeout(done, 5));
        tips.push([element.dataset.key, document.querySelector("#definition p:nth-child(2)")?.textContent ?? ""]);
      }
      return tips;
    });
    check(shown.length > 100, `only ${shown.length} keys have a tip`);
    equal(shown.filter(([, text]) => text.length < 2).map(([key]) => key), [], "keys with an empty tip");
    await close();
  },

  async "prints without its tools and with its charts"() {
    const { page, close, ...heard } = await openReport(file);
    const pdf = await page.pdf({ format: "A4" });
    check(pdf.length > 50_000, `a print of ${pdf.length} bytes`);
    await page.emulateMedia({ media: "print" });
    check(!(await page.locator(".tools").first().isVisible()), "tools on paper");
    check(!(await page.locator("nav.sections").isVisible()), "links on paper");
    quiet(heard, "print");
    await close();
  },

  async "shows several ranks one at a time"() {
    const ranks = [0, 1, 2].map((rank) => writeTrace(`rank${rank}.json`, iterations().filter((e) => e.cat !== "kernel" || e.args.correlation % (rank + 2) > 0)));
    await runAside("report", ...ranks, "-o", path("ranks.html"));
    const { page, close, ...heard } = await openReport(path("ranks.html"));
    equal(await page.locator("#part-select option").count(), 3, "ranks to choose from");
    await page.waitForSelector(".part-body .part-name");
    check(!(await page.locator("main").innerText()).includes("No caveats were found"), "a promise for all ranks");
    check((await page.locator(".part-body .trust-list > li").count()) > 0, "no trust notes with the rank");
    const kernels = async () => page.locator(".part-body .fact", { hasText: /^\s*kernels\s*[0-9]/ }).first().locator(".value").innerText();
    const first = await kernels();
    const shown = () => page.waitForSelector('.part-body[aria-busy="false"]');
    await page.locator("#part-select").selectOption("2");
    await shown();
    const document = JSON.parse(run("report", ...ranks, "--format", "json"));
    equal(await kernels(), String(document.ranks[2].launch.whole.kernels), "kernels of the third rank");
    check(first !== (await kernels()), "the ranks do not differ");
    await page.getByRole("button", { name: "Next" }).click();
    await shown();
    equal(await kernels(), first, "after the last comes the first");
    await scrollThrough(page);
    quiet(heard, "ranks");
    await close();
  },

  async "a page of many ranks stays small, and says whose rooms it has"() {
    const base = iterations();
    const ranks = [];
    // Names that differ and do not pack: a page of all of them would be too large.
    let seed = 1;
    const word = () => (seed = (seed * 48271) % 2147483647).toString(36);
    for (let rank = 0; rank < 24; ++rank) {
      const events = base.map((e) => (e.cat === "kernel" ? { ...e, name: Array.from({ length: 400 }, word).join("_") } : e));
      ranks.push(writeTrace(`many${rank}.json`, events));
    }
    await runAside("report", ...ranks, "-o", path("many.html"));
    const { page, close, ...heard } = await openReport(path("many.html"), { rooms: false });
    const held = await page.evaluate(() => document.querySelectorAll('[id^="assay-part-"]').length);
    check(held >= 4 && held < 24, `${held} of 24 traces have their rooms`);
    const bytes = statSync(path("many.html")).size;
    check(bytes < 3_000_000 || held === 4, `${bytes} bytes`);
    const command = await page.locator(".no-json code").innerText();
    equal(await page.getByRole("button", { name: "Save JSON" }).count(), 0, "buttons for JSON that is not there");
    equal(command, `assay report ${path("")}/ -o report.json`, "what writes the JSON");
    await page.locator("nav.sections a", { hasText: "Each" }).click();
    const show = async (place) => {
      await page.locator("#part-select").selectOption(String(place));
      await page.waitForSelector('.part-body[aria-busy="false"]');
      return { note: await page.locator(".part-note").allInnerTexts(), rooms: await page.locator(".part-body .room").count() };
    };
    for (let place = 0; place < 24; ++place) {
      const has = (await page.locator("#part-select option").nth(place).innerText()).includes("with rooms");
      const { note, rooms } = await show(place);
      if (has) check(note.length === 0 && rooms > 0, `trace ${place}: ${rooms} rooms, ${note}`);
      else check(rooms === 0 && note.join().includes(`${held} of 24`) && note.join().includes(`many${place}.json -o`), `trace ${place}: ${note}`);
    }
    quiet(heard, "many ranks");
    await close();
  },

  async "says why when it cannot show anything"() {
    const html = readFileSync(file, "utf8");
    const cut = path("cut.html");
    writeFileSync(cut, html.replace(/(id="assay-head">.{500})[^<]*/, "$1"));
    const damaged = await openReport(cut, { ready: false });
    await damaged.page.waitForFunction(() => document.getElementById("why")?.textContent.includes("damaged"));
    check((await damaged.page.locator("#static").innerText()).includes("Host-bound"), "the verdict is gone");
    await damaged.close();
    const rooms = path("cut_rooms.html");
    writeFileSync(rooms, html.replace(/(id="assay-view">.{2000})[^<]*/, "$1"));
    const half = await openReport(rooms, { ready: false });
    await half.page.waitForFunction(() => document.getElementById("why")?.textContent.includes("damaged"));
    check((await half.page.locator("h1").count()) === 1, "the answer is gone with the rooms");
    await half.close();
    const old = await openReport(file, { ready: false, setUp: (page) => page.addInitScript(() => delete window.DecompressionStream) });
    await old.page.waitForFunction(() => document.getElementById("why")?.textContent.includes("DecompressionStream"));
    await old.close();
  },
});
