// What is chosen shows everywhere: brackets of the levers, names, causes; one search over the page.

import { EXAMPLE, check, equal, launch, main, openReport, path, report, run, settled, writeTrace } from "./support.mjs";

const example = report(EXAMPLE);
const told = JSON.parse(run("report", EXAMPLE, "--format", "json")).summary;

const canvas = (page) => page.locator(".lane-canvas").first();
const namesOf = (page) => page.locator(".lane-name b").allInnerTexts();

// Pixels of a row of the canvas that have nearly a colour, by the label beside the row.
const coloured = (page, label, colour) => page.evaluate(([label, colour]) => {
  const canvas = document.querySelector(".lane-canvas");
  const name = Array.from(document.querySelectorAll(".lane-name")).find((e) => e.querySelector("b").textContent === label);
  const probe = document.createElement("i");
  probe.style.color = `var(--${colour})`;
  document.body.append(probe);
  const [r, g, b] = getComputedStyle(probe).color.match(/\d+/g).map(Number);
  probe.remove();
  const top = Math.round(name.getBoundingClientRect().top + 7 - canvas.getBoundingClientRect().top);
  const data = canvas.getContext("2d").getImageData(0, top - 4, canvas.width, 9).data;
  let count = 0;
  for (let i = 0; i < data.length; i += 4) count += data[i + 3] > 60 && Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 24;
  return count;
}, [label, colour]);

// The report of three traces that are no job; each has kernels of its own name.
function threeTraces(name) {
  const steps = (rank) => Array.from({ length: 60 }, (_, i) => launch(1 + i, 10 + i * 60, `kernel_of_rank_${rank}`, { run: 20 })).flat();
  run("report", ...[0, 1, 2].map((rank) => writeTrace(`${name}${rank}.json`, steps(rank))), "-o", path(`${name}.html`));
  return path(`${name}.html`);
}

// A place of the timeline whose tip has such words.
async function hoverFor(page, words) {
  const box = await canvas(page).boundingBox();
  for (let y = box.height - 6; y > 0; y -= 7) {
    for (let x = 4; x < box.width; x += 9) {
      await page.mouse.move(box.x + x, box.y + y);
      const tip = page.locator(".lane-tip").first();
      if (await tip.isVisible() && words.test(await tip.innerText())) return [box.x + x, box.y + y];
    }
  }
  return null;
}

await main({
  async "brackets show where each lever acts, and whether it is counted in"() {
    const { page, said, close } = await openReport(example, { width: 1440, rooms: false });
    await settled(page);
    const levers = (await namesOf(page)).filter((name) => name.startsWith("action"));
    equal(levers, told.actions.map((_, i) => `action ${i + 1}`), "rows of brackets");
    const on = await coloured(page, "action 1", "accent");
    check(on > 100, `${on} pixels of action 1`);
    await page.locator(".lever-switch").first().uncheck();
    await settled(page);
    equal(await coloured(page, "action 1", "accent"), 0, "action 1, not counted in");
    check(await coloured(page, "action 1", "muted") > 100, "action 1 is gone");
    const name = page.locator(".lane-name", { hasText: "action 1" });
    equal(await name.getAttribute("title"), told.actions[0].text.replace(/ /g, " "), "what the row says of itself");
    equal(said.filter((line) => !line.includes("getImageData")), [], "the console");
    await close();
  },

  async "a lever on kernels has its brackets over them"() {
    const events = [];
    for (let i = 0; i < 400; ++i) {
      const [kernel, run] = i % 2 ? ["relu", 20] : ["ampere_sgemm_128x64_tn", 120];
      events.push(...launch(1 + i, 10 + i * 12, kernel, { run, wait: 6 + (i >> 1) * 130 + (i % 2) * 115 }));
    }
    const { page, close } = await openReport(report(writeTrace("gemm.json", events), "gemm.html"), { width: 1440, rooms: false });
    await settled(page);
    check((await page.locator(".lever").first().innerText()).includes("gemm"), "no lever on gemm kernels");
    const widths = await page.locator(".lane-view").first().evaluate((view) => view.clientWidth);
    const pixels = await coloured(page, "action 1", "accent");
    check(pixels > widths / 2, `${pixels} pixels over kernels that fill most of the time`);
    await close();
  },

  async "stacks deeper than most have lanes for what lies inside them"() {
    const { page, close } = await openReport(example, { width: 1440, rooms: false });
    await settled(page);
    const threads = await page.locator(".lane-name").allInnerTexts();
    check(threads.some((text) => /outer hidden|host thread/.test(text)), `lanes: ${threads.map((text) => text.replace("\n", ", ")).join("; ")}`);
    const before = (await canvas(page).boundingBox()).height;
    await page.getByRole("button", { name: "All depths" }).click();
    await settled(page);
    check((await canvas(page).boundingBox()).height > before + 200, "all depths are hardly more");
    await close();
  },

  async "a name that is clicked on is counted, walked and shown in the tables"() {
    const { page, said, close } = await openReport(example, { width: 1440 });
    const at = await hoverFor(page, /\nkernel, /);
    check(at, "no kernel to point at");
    const name = (await page.locator(".lane-tip").first().innerText()).split("\n")[0];
    await page.mouse.click(...at);
    await page.getByRole("button", { name: "Light all" }).click();
    const words = await page.locator(".lane-picked").first().innerText();
    check(words.startsWith(name.slice(0, 12)), `${words} of ${name}`);
    check(/once|times/.test(words), `how often: ${words}`);
    check((await page.locator("tr.chosen").count()) > 0, `no row of a table has ${name}`);
    await canvas(page).focus();
    await page.keyboard.press("n");
    await settled(page);
    const [from, to] = await canvas(page).evaluate((c) => [Number(c.dataset.from), Number(c.dataset.to)]);
    check(to - from < told.window_ns / 2, `n shows ${to - from} ns`);
    await page.keyboard.press("Escape"); // lets go of the event
    await page.keyboard.press("Escape");
    equal(await page.locator(".lane-picked").first().innerText(), "", "after Escape");
    equal(await page.locator("tr.chosen").count(), 0, "rows after Escape");
    equal(said, [], "the console");
    await close();
  },

  async "causes are words in tables, and one chosen there is chosen in the bar"() {
    const { page, close } = await openReport(example, { width: 1440 });
    const states = page.locator("td .state, th .state");
    const words = await states.allInnerTexts();
    check(words.includes("runtime API"), `states: ${words.slice(0, 8)}`);
    equal(words.filter((word) => word.includes("_")), [], "keys");
    await states.filter({ hasText: "runtime API" }).first().click();
    equal(await page.locator(".legend-entry[aria-pressed='true']").first().innerText().then((t) => t.replace(/\s+/g, " ").split(" 1")[0]), "runtime API", "in the legend");
    check((await page.locator("tr.chosen").count()) > 0, "no row is marked");
    await page.locator(".legend-entry[aria-pressed='true']").first().click();
    equal(await page.locator("tr.chosen").count(), 0, "rows after it is let go");
    await close();
  },

  async "one search finds rooms, numbers, rows, causes, levers, names and meanings"() {
    const { page, said, close } = await openReport(example, { width: 1440, rooms: false });
    await page.keyboard.press("/");
    equal(await page.evaluate(() => document.activeElement.className), "search-input", "the focus after /");
    const groups = async (query) => {
      await page.locator(".search-input").fill(query);
      return page.locator(".found-group").allInnerTexts();
    };
    const has = async (query, group) => {
      const found = await groups(query);
      check(found.some((text) => text.startsWith(group)), `${query}: ${found} has no ${group}`);
    };
    await has("dispatch", "Where the time went");
    await has("fusion", "Rooms");
    await has("tklqt", "Numbers");
    await has("tklqt", "What it means");
    await has("aten", "On the timeline");
    await has("aten", "Rows");
    await has("cuda graphs", "What would change it");
    await has("no such word", "Nothing here");
    await close();
    equal(said, [], "the console");
  },

  async "what is found is gone to, by keyboard alone"() {
    const { page, close } = await openReport(example, { width: 1440, rooms: false });
    await page.keyboard.press("/");
    await page.keyboard.type("aten::");
    await page.keyboard.press("Enter");
    check((await page.locator(".lane-picked").first().innerText()).startsWith("aten::"), "the first name is not chosen");
    await page.locator(".search-input").fill("fusion: chains");
    await page.keyboard.press("Enter");
    const room = page.locator("section.room:not(.folded) h2", { hasText: "Fusion" });
    await room.waitFor();
    check(await room.evaluate((e) => e.getBoundingClientRect().top < innerHeight), "the room is not in sight");
    await page.locator(".search-input").fill("kernels");
    equal(await page.locator(".search-input").getAttribute("aria-expanded"), "true", "the list");
    await page.keyboard.press("ArrowDown");
    equal(await page.locator(".found-one[aria-selected='true']").count(), 1, "one is marked");
    await page.keyboard.press("Escape");
    check(!(await page.locator(".found").isVisible()), "the list after Escape");
    await close();
  },

  async "who is quicker than the page is waited for"() {
    const slowly = () => {
      const text = Response.prototype.text;
      Response.prototype.text = async function () {
        const all = await text.call(this);
        if (window.slow) await new Promise((done) => setTimeout(done, 600));
        return all;
      };
    };
    const { page, close } = await openReport(threeTraces("slow"), { width: 1440, rooms: false, setUp: (opened) => opened.addInitScript(slowly) });
    await page.evaluate(() => { window.slow = true; });
    await page.locator(".search-input").fill("kernel_of_rank_1");
    check(/^Reading/.test(await page.locator(".found").innerText()), "nothing says that the page is read");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector(".part-name")?.textContent.includes("slow1.json"), undefined, { timeout: 60_000 });
    await close();
  },

  async "a rank is opened from its row, and found by its name"() {
    const { page, said, close } = await openReport(threeTraces("one"), { width: 1440, rooms: false });
    equal(await page.locator(".rank-name").count(), 3, "rows");
    await page.locator(".rank-name").nth(2).click();
    check((await page.locator(".part-name").innerText()).includes("one2.json"), "the third is not shown");
    await page.locator(".search-input").fill("kernel_of_rank_1");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector(".part-name").textContent.includes("one1.json"));
    check(!/Each rank/.test(await page.locator("main").innerText()), "traces that are no job are called ranks");
    check((await page.locator(".under").first().innerText()).startsWith("Mean of 3 traces"), "what the numbers are of");
    equal(said, [], "the console");
    await close();
  },
});
