// The timeline against the recording: every event is drawn or counted, what is said of one event and of a stretch is
// what SQL says, and what is searched for is lit. traces.mjs compares the timelines of the corpus.

import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { join } from "node:path";
import { canvas, compareLanes, copied, drawn, paintedOf, pressed, random, show } from "./lanes.mjs";
import { EXAMPLE, ROOT, check, equal, launch, main, openReport, path, report, settled, writeTrace } from "./support.mjs";

const CORPUS = process.env.ASSAY_DATA || join(ROOT, "../shared/data");
const SEEDS = [1, 2, 3, 4, 5];

// Kernels that begin a little or much before the end of the one before them, as a GPU with programmatic dependent launch
// records them. Lengths stay.
function overlapping(trace, seed, name) {
  const bytes = readFileSync(trace);
  const doc = JSON.parse(trace.endsWith(".gz") ? gunzipSync(bytes) : bytes);
  const next = random(seed);
  const streams = new Map();
  for (const e of doc.traceEvents) {
    if (e.ph !== "X" || !["kernel", "gpu_memcpy", "gpu_memset"].includes(e.cat)) continue;
    const key = `${e.pid} ${e.tid}`;
    streams.set(key, [...(streams.get(key) ?? []), e]);
  }
  let moved = 0;
  for (const row of streams.values()) {
    row.sort((a, b) => a.ts - b.ts);
    for (let i = 1; i < row.length; i++) {
      const [before, now] = [row[i - 1], row[i]];
      const draw = next();
      if (now.cat !== "kernel" || draw >= 0.4 || before.dur < 2 || now.dur < 2) continue;
      now.ts = draw < 0.05 ? before.ts + before.dur / 2 : before.ts + before.dur - 0.001 * (1 + Math.floor(next() * 900));
      moved++;
    }
  }
  writeFileSync(path(name), JSON.stringify(doc));
  return { file: path(name), moved };
}

// The page of such a trace against its tables.
async function compareOverlapping(source, seed) {
  const { file, moved } = overlapping(source, seed, `overlap${seed}.json`);
  check(moved > 20, `${source}: ${moved} kernels moved`);
  const { page, said, close } = await openReport(report(file, "timeline.html"), { width: 1440, rooms: false });
  equal(await compareLanes(page, file, seed), "ns", `${source}, seed ${seed}`);
  equal(said, [], `${source}, seed ${seed}: the console`);
  await close();
}

// Twelve kernels: two streams, seams, one that begins in the middle of another, one without length.
function made() {
  const kernel = (n, at, run, stream = 7) => launch(n, at, `kernel_${n}`, { run }).map((e) => (e.cat === "kernel" ? { ...e, ts: at + 30, dur: run, tid: stream, args: { ...e.args, stream, grid: [4, 2, 1], block: [128, 1, 1], "registers per thread": 17 } } : e));
  return [
    ...kernel(1, 0, 20), ...kernel(2, 19.4, 20), // a seam of 600 ns
    ...kernel(3, 49.4, 20), ...kernel(4, 59.4, 20), // in its middle
    ...kernel(5, 100, 20), ...kernel(6, 118.9, 20), // 1.1 us: too long for a seam
    ...kernel(7, 150, 20), ...kernel(8, 169.9, 0.5), // 100 ns are more than a tenth of the shorter
    ...kernel(9, 200, 0), ...kernel(10, 200, 5),
    ...kernel(11, 0, 300, 8), ...kernel(12, 400, 20),
  ];
}
const small = writeTrace("made.json", made());

await main({
  async "sub-lanes by hand: seams stay in a row, longer overlaps do not"() {
    const { page, close } = await openReport(report(small, "made.html"), { width: 1440, rooms: false });
    await settled(page);
    const { painted, rows } = await drawn(page);
    const lanes = painted.filter((row) => row.name === "GPU 0, stream 7").map((row) => row.ns);
    // First: 1 2 3 5 7 10 12. Second: 4 6 8 9, since of two that begin together the longer comes first.
    equal(lanes, [20_000 * 6 + 5_000, 20_000 * 2 + 500], "ns of the sub-lanes");
    equal(painted.filter((row) => row.name === "GPU 0, stream 8").map((row) => row.ns), [300_000], "the other stream");
    equal(rows.recorded, rows.drawn + rows.folded, "rows");
    await close();
  },

  async "both kernels of a seam have pixels, and a click for each"() {
    const { page, close } = await openReport(report(small, "made.html"), { width: 1440, rooms: false });
    await settled(page);
    await pressed(page, "]");
    const first = await copied(page);
    await pressed(page, "Escape");
    await show(page, first.start_ns + 18_000, first.start_ns + 22_000); // the seam is from 19,400 to 20,000
    const box = await canvas(page).boundingBox();
    const top = await page.evaluate(() => parseFloat(Array.from(document.querySelectorAll(".lane-name")).find((e) => e.textContent.startsWith("stream 7")).style.top));
    const x = box.x + box.width * (1_700 / 4_000);
    const names = [];
    for (let y = box.y + top - 12; y < box.y + top + 24; y += 1) {
      await page.mouse.move(x, y);
      const tip = page.locator(".lane-tip").first();
      if (await tip.isVisible()) names.push((await tip.innerText()).split("\n")[0]);
    }
    equal([...new Set(names.filter((name) => name.startsWith("kernel")))], ["kernel_1", "kernel_2"], "from the top down");
    await close();
  },

  async "a click says what the trace says of a kernel"() {
    const { page, said, close } = await openReport(report(small, "made.html"), { width: 1440, rooms: false });
    await settled(page);
    await pressed(page, "]");
    await pressed(page, "]");
    const event = await copied(page);
    equal([event.name, event.dur_ns, event.op, event.grid_block, event.registers], ["kernel_2", 20_000, "aten::mul", "4,2,1,128,1,1", "17"], "the second kernel");
    // The call begins 2 us after its operator, at 21.4 us; the kernel at 49.4 us.
    equal([event.call.name, event.start_ns - event.call.start_ns, event.call.dur_ns], ["cudaLaunchKernel", 28_000, 4_000], "its launch");
    const text = (await page.locator(".lane-panel").innerText()).replace(/[\s\u00a0\u202f]+/g, " ");
    for (const words of ["lasts 20.000 µs", "28.000 µs before", "(4 × 2) × (128)", "begins 600 ns before the end of the one before it"]) check(text.includes(words), `no "${words}" in: ${text}`);
    await pressed(page, ",");
    equal((await copied(page)).name, "cudaLaunchKernel", "where the arrow comes from");
    await pressed(page, ".");
    equal((await copied(page)).name, "kernel_2", "and where it goes");
    await pressed(page, "f");
    const { from, to } = await drawn(page);
    check(from <= event.start_ns && to >= event.end_ns && to - from < 40_000, `F shows ${from} to ${to}`);
    await pressed(page, "Escape");
    check(!(await page.locator(".lane-panel").isVisible()), "the panel after Esc");
    await pressed(page, "?");
    check(await page.locator(".lane-help").isVisible(), "the keys after ?");
    equal(said, [], "the console");
    await close();
  },

  async "a stretch says its totals to the nanosecond"() {
    const { page, close } = await openReport(report(small, "made.html"), { width: 1440, rooms: false });
    await settled(page);
    await pressed(page, "]");
    const first = await copied(page);
    await pressed(page, "Escape");
    await show(page, first.start_ns, first.start_ns + 180_000); // the drag begins in the first kernel and ends in the seventh
    const box = await canvas(page).boundingBox();
    const top = await page.evaluate(() => parseFloat(Array.from(document.querySelectorAll(".lane-name")).find((e) => e.textContent.startsWith("stream 7")).style.top));
    await page.mouse.move(box.x + box.width * (10 / 180), box.y + top + 4);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * (160 / 180), box.y + top + 6, { steps: 4 });
    await page.mouse.up();
    await page.locator(".lane-panel h2").waitFor();
    const area = await copied(page);
    equal(area.streams, ["GPU 0, stream 7"], "the streams under the drag");
    const at = [[1, 0, 20_000], [2, 19_400, 20_000], [3, 49_400, 20_000], [4, 59_400, 20_000], [5, 100_000, 20_000], [6, 118_900, 20_000], [7, 150_000, 20_000], [8, 169_900, 500], [9, 200_000, 0], [10, 200_000, 5_000], [12, 400_000, 20_000]];
    const expected = at.map(([n, begin, length]) => {
      const start = first.start_ns + begin;
      return { kernel: `kernel_${n}`, ns: Math.min(start + length, area.to_ns) - Math.max(start, area.from_ns), count: 1, length };
    }).filter((one) => one.ns > 0 || (one.ns === 0 && one.length === 0)).map(({ kernel, ns, count }) => ({ kernel, ns, count }));
    const byName = (a, b) => (a.kernel < b.kernel ? -1 : 1);
    equal(area.totals.sort(byName), expected.sort(byName), "totals by kernel");
    await page.locator(".lane-panel").getByRole("button", { name: "By operator" }).click();
    await settled(page);
    equal((await copied(page)).totals, [{ operator: "aten::mul", ns: expected.reduce((sum, one) => sum + one.ns, 0), count: expected.length }], "by operator");
    await page.locator(".lane-panel").getByRole("button", { name: "By cause" }).click();
    await settled(page);
    const causes = (await copied(page)).totals;
    equal(causes.reduce((sum, one) => sum + one.ns, 0), area.to_ns - area.from_ns, "causes and work fill the stretch");
    await close();
  },

  async "a match in a hidden depth has a tick, and is counted"() {
    const { page, close } = await openReport(report(EXAMPLE), { width: 1440, rooms: false });
    await settled(page);
    const ticks = () => canvas(page).evaluate((element) => {
      const probe = document.createElement("span");
      probe.style.color = "var(--accent)";
      document.body.append(probe);
      const wanted = getComputedStyle(probe).color.match(/\d+/g).map(Number);
      const { data } = element.getContext("2d").getImageData(0, 0, element.width, element.height);
      let n = 0;
      for (let i = 0; i < data.length; i += 4) n += data[i] === wanted[0] && data[i + 1] === wanted[1] && data[i + 2] === wanted[2];
      return n;
    });
    const before = await ticks();
    await page.keyboard.press("/");
    await page.keyboard.type("addmm");
    await page.locator(".found-one", { hasText: "aten::addmm" }).first().click();
    await settled(page);
    const words = await page.locator(".lane-picked").first().innerText();
    check(/in \d+ hidden depths?/.test(words), `what is said: ${words}`);
    check((await ticks()) > before, "no tick");
    await page.getByRole("button", { name: "Show them" }).click();
    await settled(page);
    check(!/hidden/.test(await page.locator(".lane-picked").first().innerText()), "still hidden");
    await page.locator(".search-input").fill("aten::");
    await page.locator(".found-one", { hasText: /^Light all/ }).click();
    await settled(page);
    check(/in \d+ names/.test(await page.locator(".lane-picked").first().innerText()), "several names are not lit");
    await close();
  },

  async "a stream beyond what a page holds is painted with its rest, to the nanosecond"() {
    const next = random(11);
    const events = launch(1, 0, "kernel_first");
    let at = 40;
    let ns = 4_000;
    for (let i = 0; i < 260_000; i++) {
      const length = 200 + Math.floor(next() * 3_000);
      events.push({ ph: "X", cat: "kernel", name: `kernel_${i % 7}`, pid: 0, tid: 7, ts: at, dur: length / 1000, args: { device: 0, stream: 7 } });
      at = Math.round((at + length / 1000 + 0.5) * 1000) / 1000;
      ns += length;
    }
    const { page, said, close } = await openReport(report(writeTrace("beyond.json", events), "beyond.html"), { width: 1440, rooms: false });
    await settled(page);
    const { painted, rows } = await drawn(page);
    equal(paintedOf(painted).get("GPU 0, stream 7"), ns, "ns painted");
    equal([rows.drawn + rows.folded + rows.shares, rows.recorded], [260_003, 260_003], "events"); // with an operator and its call
    check(rows.shares >= 10_000, `${rows.shares} as shares`);
    check(/as the share that they fill/.test(await page.locator(".lane-counts").innerText()), "the footer does not say so");
    const size = statSync(path("beyond.html")).size;
    check(size <= 3_000_000, `${size} bytes`);
    equal(said, [], "the console");
    await close();
  },

  async "what is painted was recorded where kernels overlap"() {
    for (const seed of SEEDS) await compareOverlapping(EXAMPLE, seed);
    const others = ["kineto/llm/h100_qwen1.5-0.5b.json.gz", "kineto/vision/h100_nsfw_vit.json.gz"].map((name) => join(CORPUS, name));
    for (const source of others.filter(existsSync)) await compareOverlapping(source, SEEDS[0]);
  },
});
