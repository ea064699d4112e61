// The head of the page: verdict, bar, timeline, levers, rooms behind them; widths, themes, keys, links.

import { readFileSync } from "node:fs";
import { EXAMPLE, check, equal, launch, main, openReport, path, report, run, settled, writeTrace } from "./support.mjs";

const VIEWS = [[390, false], [1024, true], [1440, false]]; // width, dark: colours move nothing
const FIRST_PICTURE = 400; // pixels from the top
const WORDS = 900;
const HEIGHT = 3000;

// Three iterations with gaps, a second stream, a copy.
function steps() {
  const events = [];
  for (let step = 0; step < 3; ++step) {
    const at = step * 3000;
    events.push({ ph: "X", cat: "user_annotation", name: `ProfilerStep#${step}`, pid: 1, tid: 1, ts: at, dur: 2900 });
    for (let i = 0; i < 30; ++i) events.push(...launch(1 + step * 30 + i, at + 10 + i * 60, `kernel_${i % 5}`, { run: 20 }));
  }
  return events;
}
const hostile = steps().map((event) => ({ ...event, name: event.cat === "kernel" ? "<img src=x onerror=alert(1)>\u202e" : event.name }));
const files = {
  example: report(EXAMPLE),
  steps: report(writeTrace("steps.json", steps()), "steps.html"),
  hostile: report(writeTrace("hostile.json", hostile), "hostile.html"),
  "no device": report(writeTrace("host.json", steps().filter((event) => event.cat !== "kernel")), "host.html"),
  "too little": report(writeTrace("tiny.json", launch(1, 0, "one")), "tiny.html"),
};
const ranks = [0, 1, 2].map((rank) => writeTrace(`rank${rank}.json`, steps()));
run("report", ...ranks, "-o", path("ranks.html"));
files.ranks = path("ranks.html");

// What a text says a gain lies between, of an iteration and of the run, against what `assay whatif` tells of the same edits.
const UNIT = { ns: 1, "\u00b5s": 1e3, ms: 1e6, s: 1e9 };
const ends = (text) => [...text.matchAll(/(-?[\d.,]+)\s(ns|\u00b5s|ms|s)\b/g)].map(([, value, unit]) => Number(value.replace(",", "")) * UNIT[unit]);
function checkBetween(text, told, runNs, what) {
  const near = (a, b) => Math.abs(a - b) <= 0.006 * Math.max(Math.abs(b), 1e-4 * runNs);
  const [first, run] = text.split("; of the run ");
  if (/^in an iteration/i.test(first)) {
    const [low, high] = ends(first);
    check(near(low, told.low95_ns) && near(high, told.high95_ns), `${what}: ${first}, replayed ${told.low95_ns} to ${told.high95_ns}`);
  } else {
    check(/^(one run, no repeats|one iteration, no repeats|most of it in few of \d+ iterations)/i.test(first), `${what}: ${first}`);
  }
  const apart = (told.run_high_ns - told.run_low_ns) * 100 > runNs;
  equal(run !== undefined, apart, `${what}: whether it lies between two, ${text}`);
  if (run === undefined) return;
  const [low, high] = ends(run);
  check(near(low, told.run_low_ns) && near(high, told.run_high_ns), `${what}: ${run}, replayed ${told.run_low_ns} to ${told.run_high_ns}`);
}
const replayedGain = (trace, edits) => JSON.parse(run("whatif", trace, ...edits.flatMap((edit) => ["--edit", edit]), "--format", "json")).whatif.joint;

const visible = (page) => page.locator(".lane-canvas").first().evaluate((canvas) => [Number(canvas.dataset.from), Number(canvas.dataset.to)]);
const drawn = (page) => page.waitForFunction(() => document.querySelector(".lane-canvas")?.dataset.to !== undefined);

await main({
  async "says the short answer, at every width, in light or dark"() {
    for (const [name, file] of Object.entries(files)) {
      for (const [width, dark] of VIEWS) {
        const { page, said, asked, close } = await openReport(file, { width, height: 900, dark, rooms: false });
        const what = `${name} at ${width}${dark ? ", dark" : ""}`;
        equal(said, [], `${what}: the console`);
        equal(asked, [], `${what}: requests`);
        equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, `${what}: pixels that stick out`);
        const cut = await page.evaluate(() => Array.from(document.querySelectorAll(".lever, .pill, .answer, .legend-entry, .lane-button"))
          .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent.slice(0, 40)));
        equal(cut, [], `${what}: text that is cut`);
        await close();
      }
    }
  },

  async "has its first picture above the fold, and rooms behind"() {
    for (const name of ["example", "steps"]) {
      const { page, close } = await openReport(files[name], { width: 1440, height: 900, rooms: false });
      const top = await page.locator(".lane-canvas").evaluate((canvas) => canvas.getBoundingClientRect().top);
      check(top < FIRST_PICTURE, `${name}: the timeline begins ${top} pixels down`);
      const size = await page.evaluate(() => [document.documentElement.scrollHeight, document.body.innerText.split(/\s+/).length]);
      check(size[0] <= HEIGHT, `${name}: ${size[0]} pixels long`);
      check(size[1] <= WORDS, `${name}: ${size[1]} words before a room is opened`);
      const order = await page.evaluate(() => Array.from(document.querySelectorAll(".answer, .bar, .timeline"), (e) => e.getBoundingClientRect().top));
      equal(order, [...order].sort((a, b) => a - b), `${name}: verdict, bar, timeline`);
      await close();
    }
  },

  async "says what the terminal says"() {
    const { page, close } = await openReport(files.example, { rooms: false });
    const told = JSON.parse(run("report", EXAMPLE, "--format", "json")).summary;
    const flat = (text) => text.replace(/[\s\u00a0]+/g, " ").trim();
    const pill = flat(await page.locator(".pill").innerText());
    const rest = flat(await page.locator("h1.answer").innerText());
    equal(`${pill}: ${rest.charAt(0).toLowerCase()}${rest.slice(1)}`, told.headline.join(" "), "the verdict");
    equal(await page.locator(".lever").count(), told.actions.length, "levers");
    equal(await page.locator(".legend-entry").count(), told.causes.length, "causes in the legend");
    check((await page.locator(".badge").innerText()).includes(told.confidence.grade), "the trust grade");
    await close();
  },

  async "has a switch for every lever, and says what those that are on give together"() {
    const { page, said, close } = await openReport(files.example, { width: 1440, rooms: false });
    const { actions: levers, window_ns: window } = JSON.parse(run("report", EXAMPLE, "--format", "json")).summary;
    check(levers.length > 1, `${levers.length} levers`);
    const unit = { ns: 1, "\u00b5s": 1e3, ms: 1e6, s: 1e9 };
    const after = async () => {
      const [, value, name] = (await page.locator(".together").innerText()).match(/becomes ([\d.,]+)\s(\S+)/);
      return Number(value.replace(",", "")) * unit[name];
    };
    const replayed = (edits) => JSON.parse(run("whatif", EXAMPLE, ...edits.flatMap((edit) => ["--edit", edit]), "--format", "json")).whatif.joint.run_gain_ns;
    const near = (a, b, what) => check(Math.abs(a - b) < 0.01 * window, `${what}: ${a}, not ${b}`);
    near(await after(), window - replayed(levers.map((lever) => lever.edit)), "all together");
    const switches = page.locator(".lever-switch");
    equal(await switches.count(), levers.length, "switches");
    await switches.first().uncheck();
    const rest = levers.slice(1);
    near(await after(), window - (rest.length > 1 ? replayed(rest.map((lever) => lever.edit)) : rest[0].gain_ns), "without the first");
    for (let i = 1; i < levers.length; ++i) await switches.nth(i).uncheck();
    check((await page.locator(".together").innerText()).startsWith("None chosen"), "none chosen");
    await switches.first().focus();
    await page.keyboard.press("Space");
    near(await after(), window - levers[0].gain_ns, "by the keyboard, the first alone");
    equal(said, [], "the console");
    await close();
  },

  async "says between what a gain lies, at each stop of a slider and of levers together"() {
    for (const [name, trace] of [["example", EXAMPLE], ["steps", path("steps.json")]]) {
      const { page, said, close } = await openReport(files[name], { width: 390, rooms: false });
      const { actions: levers, window_ns: window } = JSON.parse(run("report", trace, "--format", "json")).summary;
      const said_of = (set) => page.locator(".together").innerText().then((text) => text.match(/\)\. (.*?)\.( One by one| More than|$)/)?.[1] ?? `nothing of ${set}`);
      check(levers.length > 1, `${name}: ${levers.length} levers`);
      checkBetween(await said_of("all"), replayedGain(trace, levers.map((lever) => lever.edit)), window, `${name}, all together`);
      let stops = 0;
      for (let i = 0; i < levers.length; ++i) {
        const card = page.locator(".lever").nth(i);
        const between = card.locator(".lever-between");
        checkBetween(await between.innerText(), replayedGain(trace, [levers[i].edit]), window, `${name}, lever ${i + 1}`);
        const slider = card.locator(".lever-slider");
        if ((await slider.count()) === 0) continue;
        await slider.focus();
        await page.keyboard.press("Home");
        equal(await between.isVisible(), false, `${name}, lever ${i + 1} as recorded`);
        const lever = levers[i].edit.split("=")[0];
        for (let place = 1; place <= Number(await slider.getAttribute("max")); ++place, ++stops) {
          await page.keyboard.press("ArrowRight");
          const words = await card.locator(".lever-words").innerText();
          const factor = /^([\d.]+) times/.test(words) ? parseFloat(words) : words.startsWith("no time") ? 0 : parseFloat(words) / 100;
          checkBetween(await between.innerText(), replayedGain(trace, [factor === 0 ? lever : `${lever}=${factor}`]), window, `${name}, lever ${i + 1}, ${words}`);
        }
      }
      check(name !== "example" || stops > 0, "no slider of the example was moved");
      equal(said, [], "the console");
      await close();
    }
  },

  async "has a slider for a lever that takes a factor, which stops at what was replayed"() {
    const { page, said, close } = await openReport(files.example, { width: 390, rooms: false });
    const { actions: levers, window_ns: window } = JSON.parse(run("report", EXAMPLE, "--format", "json")).summary;
    const replayed = (edit) => JSON.parse(run("whatif", EXAMPLE, "--edit", edit, "--format", "json")).whatif.joint.run_gain_ns;
    const unit = { ns: 1, "\u00b5s": 1e3, ms: 1e6, s: 1e9 };
    const shownGain = async (card) => {
      const found = (await card.locator(".lever-gain").innerText()).match(/([\d.,]+)\s(ns|\u00b5s|ms|s)\b/);
      return Number(found[1].replace(",", "")) * unit[found[2]];
    };
    const sliders = page.locator(".lever-slider");
    check((await sliders.count()) > 0, "no lever of the example has a slider");
    for (let i = 0; i < (await page.locator(".lever").count()); ++i) {
      const card = page.locator(".lever").nth(i);
      const slider = card.locator(".lever-slider");
      if ((await slider.count()) === 0) continue;
      check(Math.abs((await shownGain(card)) - levers[i].gain_ns) < 0.01 * window, `lever ${i + 1}: the slider does not begin at its own factor`);
      const most = Number(await slider.getAttribute("max"));
      await slider.focus();
      await page.keyboard.press("Home");
      equal(await card.locator(".lever-words").innerText(), "as recorded", `lever ${i + 1} at 0`);
      equal(await shownGain(card), 0, `lever ${i + 1} gives nothing at 0`);
      const [name, own] = levers[i].edit.split("=");
      let before = 0;
      for (let place = 1; place <= most; ++place) {
        await page.keyboard.press("ArrowRight");
        const words = await card.locator(".lever-words").innerText();
        const factor = /^([\d.]+) times/.test(words) ? parseFloat(words) : words.startsWith("no time") ? 0 : parseFloat(words) / 100;
        const gain = await shownGain(card);
        const truth = replayed(factor === 0 && own === undefined ? name : `${name}=${factor}`);
        check(Math.abs(gain - truth) < 0.006 * Math.max(truth, 1e-3 * window), `lever ${i + 1}, ${words}: ${gain}, replayed ${truth}`);
        check(gain >= before, `lever ${i + 1}, ${words}: less than before`);
        before = gain;
      }
    }
    // Two that were not replayed together: it says so, and how to.
    const words = await page.locator(".together").innerText();
    check(/becomes|not replayed in this page. To replay it: assay whatif FILE --edit/.test(words), words);
    equal(said, [], "the console");
    await close();
  },

  async "saves what is shown as a file for Perfetto"() {
    const { page, said, asked, close } = await openReport(files.steps, { width: 1440, rooms: false });
    await drawn(page);
    const canvas = page.locator(".lane-canvas");
    await canvas.focus();
    await page.keyboard.press("2");
    await settled(page);
    const [from, to] = await visible(page);
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Perfetto" }).click()]);
    equal(download.suggestedFilename(), `assay-${from}-${to}ns.json`, "its name");
    const { traceEvents } = JSON.parse(readFileSync(await download.path(), "utf8"));
    const spans = traceEvents.filter((event) => event.ph === "X");
    check(spans.every((span) => span.ts * 1000 < to + 1 && (span.ts + span.dur) * 1000 > from - 1), "spans outside the range");
    const kernels = spans.filter((span) => span.cat === "kernel");
    equal(kernels.length, 30, "kernels of the second iteration");
    check(kernels.every((span) => Math.round(span.dur * 1000) === 20_000), "durations");
    // The times of its ruler: 60 microseconds apart, as the trace was made.
    equal([...new Set(kernels.slice(1).map((span, i) => Math.round((span.ts - kernels[i].ts) * 1000)))], [60_000], "distances");
    const lanes = new Set(traceEvents.filter((event) => event.name === "thread_name").map((event) => `${event.pid} ${event.tid}`));
    check(spans.every((span) => lanes.has(`${span.pid} ${span.tid}`)), "lanes without a name");
    check(spans.some((span) => span.cat === "cause"), "no causes");
    check((await page.locator(".lane-saved").innerText()).includes("ui.perfetto.dev"), "nothing is said");
    equal(said, [], "the console");
    equal(asked, [], "requests");
    await close();
  },

  async "colours the timeline as the bar: every cause by its share"() {
    const { page, close } = await openReport(files.example, { width: 1440, rooms: false });
    await drawn(page);
    const told = JSON.parse(run("report", EXAMPLE, "--format", "json")).summary;
    const shares = await page.evaluate(() => {
      const canvas = document.querySelector(".lane-canvas");
      const scale = canvas.width / canvas.clientWidth;
      const legend = Array.from(document.querySelectorAll(".legend-entry"), (e) => getComputedStyle(e.querySelector(".swatch")).backgroundColor.match(/\d+/g).map(Number));
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, Math.round(30 * scale));
      const counts = legend.map(() => 0);
      for (let i = 0; i < data.length; i += 4) {
        const at = legend.findIndex((c) => Math.abs(c[0] - data[i]) + Math.abs(c[1] - data[i + 1]) + Math.abs(c[2] - data[i + 2]) < 6);
        if (at >= 0) counts[at]++;
      }
      return counts.map((count) => count / (data.length / 4));
    });
    told.causes.slice(0, 3).forEach((cause, i) => {
      const off = Math.abs(shares[i] - cause.ns / told.total_ns);
      check(off < 0.05, `${cause.cause}: ${shares[i]} of the pixels, ${cause.ns / told.total_ns} of the time`);
    });
    await close();
  },

  async "leads from the verdict to the stretch it speaks of, and says so in the address"() {
    const { page, close } = await openReport(files.example, { width: 1440, rooms: false });
    await drawn(page);
    const spans = JSON.parse(run("report", EXAMPLE, "--format", "json")).summary.highlights;
    await page.locator(".span-link").first().click();
    await settled(page);
    const [from, to] = await visible(page);
    check(from <= spans[0].start_ns && to >= spans[0].end_ns && to - from < 4 * (spans[0].end_ns - spans[0].start_ns) + 4000, `the link shows ${from} to ${to}`);
    const address = await page.evaluate(() => location.hash);
    check(/^#t=\d+-\d+&cause=[a-z_]+$/.test(address), `the address is ${address}`);
    equal(await page.locator(".legend-entry[aria-pressed=true]").count(), 1, "chosen causes");
    const again = await openReport(files.example, { width: 1440, rooms: false, hash: address });
    await drawn(again.page);
    equal(await visible(again.page), [from, to], "the same address shows");
    await again.close();
    await close();
  },

  async "zooms and moves by keys, wheel and finger"() {
    const { page, close } = await openReport(files.steps, { width: 1440, rooms: false });
    await drawn(page);
    const canvas = page.locator(".lane-canvas");
    const whole = await visible(page);
    const press = async (key) => { await page.keyboard.press(key); await settled(page); return visible(page); };
    await canvas.focus();
    const zoomed = await press("+");
    check(Math.abs((zoomed[1] - zoomed[0]) * 2 - (whole[1] - whole[0])) < 3, `+ shows ${zoomed}`);
    const moved = await press("ArrowRight");
    check(moved[0] > zoomed[0], `right shows ${moved}`);
    const step = await press("2");
    check(step[0] > 2_000_000 && step[1] < 6_500_000, `2 shows ${step}`);
    const gap = await press("n");
    check(gap[1] - gap[0] < step[1] - step[0], `n shows ${gap}`);
    equal(await press("0"), whole, "0 shows all");
    await canvas.dispatchEvent("wheel", { deltaY: -200, ctrlKey: true, clientX: 700, clientY: 400, bubbles: true, cancelable: true });
    await settled(page);
    const [from, to] = await visible(page);
    check(to - from < whole[1] - whole[0], "Ctrl and the wheel do not zoom");
    for (let i = 0; i < 60; ++i) await page.keyboard.press("+");
    await settled(page);
    const least = await visible(page);
    check(least[1] - least[0] >= 1999 && least[1] - least[0] <= 2001, `the closest zoom is ${least[1] - least[0]} ns`);
    await close();
  },

  async "chooses a cause everywhere"() {
    const { page, close } = await openReport(files.example, { width: 1440, rooms: false });
    const entry = page.locator(".legend-entry").nth(1);
    await entry.click();
    equal(await entry.getAttribute("aria-pressed"), "true", "chosen");
    check((await page.locator(".segment.dimmed").count()) > 0, "the bar shows no choice");
    check((await page.locator(".lane-cause").count()) === 1, "the timeline shows no choice");
    await entry.click();
    equal(await page.locator(".segment.dimmed").count(), 0, "dimmed after the second click");
    await close();
  },

  async "opens its rooms"() {
    const { page, close } = await openReport(files.example, { rooms: false });
    equal(await page.locator(".room table").count(), 0, "tables before a room is opened");
    await page.locator("nav.sections a", { hasText: "Launch" }).first().click();
    check((await page.locator(".room:not(.folded) .fact").count()) > 0, "the launch room stays empty");
    await page.locator(".badge").click();
    check(await page.locator("#trust .trust-list").isVisible(), "the badge does not open the notes");
    await close();
  },

  async "shows the ranks of a job"() {
    const { page, close } = await openReport(files.ranks, { rooms: false });
    equal(await page.locator(".rank-name").count(), 3, "ranks");
    await close();
  },

  async "has contrast that can be read"() {
    for (const dark of [false, true]) {
      const { page, close } = await openReport(files.example, { dark, width: 1440, rooms: false });
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
        for (const e of document.querySelectorAll(".verdict *, .top *, nav *")) {
          if (!Array.from(e.childNodes).some((n) => n.nodeType === 3 && n.textContent.trim()) || !e.checkVisibility()) continue;
          const [a, b] = [light(parse(getComputedStyle(e).color)), light(paperOf(e))].sort((x, y) => y - x);
          if ((a + 0.05) / (b + 0.05) < 4.5) found.push(`${e.className || e.tagName}: ${e.textContent.slice(0, 30)}`);
        }
        return found.slice(0, 5);
      });
      equal(low, [], dark ? "dark" : "light");
      await close();
    }
  },

  async "shows the answer without its script"() {
    const { page, close } = await openReport(files.example, { ready: false, setUp: (opened) => opened.addInitScript(() => delete window.DecompressionStream) });
    await page.waitForFunction(() => document.getElementById("why")?.textContent.includes("DecompressionStream"));
    const text = await page.locator("#static pre").innerText();
    check(text.startsWith("Host-bound: ") && text.includes("confidence "), `without script: ${text.slice(0, 80)}`);
    await close();
  },
});
