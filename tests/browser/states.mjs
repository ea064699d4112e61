// Every state of the page, at three widths, light and dark: nothing overlaps, no text is cut, every control can be
// reached and read, and axe-core finds nothing against WCAG 2.2 AA. Inputs of the corpus are taken where it is here.

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { EXAMPLE, ROOT, check, equal, launch, main, openReport, path, report, run, writeTrace } from "./support.mjs";

const CORPUS = process.env.ASSAY_DATA || join(ROOT, "../shared/data");
// Colours move nothing, so that each width is looked at once; axe-core reads colours at the two ends, light and dark.
const VIEWS = [{ width: 390, dark: false, axed: true }, { width: 1024, dark: true, axed: false }, { width: 1440, dark: true, axed: true }];

function axeSource() {
  try {
    return readFileSync(createRequire(join(ROOT, "web/package.json")).resolve("axe-core/axe.min.js"), "utf8");
  } catch {
    console.log("axe-core is not installed (npm ci --prefix web): its rules are not checked");
    return null;
  }
}
const axe = axeSource();

const steps = Array.from({ length: 90 }, (_, i) => launch(1 + i, 10 + i * 60, i % 3 ? "kernel" : "<b>\u202e".repeat(60), { run: 20 })).flat();
const files = {
  example: report(EXAMPLE),
  "hostile names": report(writeTrace("hostile.json", steps), "hostile.html"),
  "no device": report(writeTrace("host.json", steps.filter((event) => event.cat !== "kernel")), "host.html"),
  "too little": report(writeTrace("tiny.json", launch(1, 0, "one")), "tiny.html"),
};
run("report", ...[0, 1, 2].map((rank) => writeTrace(`rank${rank}.json`, steps)), "-o", path("several.html"));
files["several traces"] = path("several.html");
const real = {
  "GPU-bound": "kineto/train/h800_deepseek_train_ep64.json",
  "starved for input": "kineto/old/v100_resnet50_2021-06.json.gz",
  "a graph": "kineto/vllm/vllm_mi300_decode_exec.json.gz",
  "a job": "kineto/multirank/megatron_tp8_a100",
  "a part of a job": "odd/missing_rank",
  "many streams": "kineto/hta/a100_negative_queue_r0of16.json.gz",
  "no operators": "kineto/rocm/mi210_gpu_only.json.gz",
  nsys: "nsys/cloverleaf_a100.sqlite",
  rocprofv3: "rocm/rocprofv3",
  rocpd: "rocm/rocpd/ck_bmm_mi300x_28_results.db",
};
Object.entries(real).forEach(([name, input], i) => {
  if (existsSync(join(CORPUS, input))) files[name] = report(join(CORPUS, input), `real${i}.html`);
});

// What of the page's own text is cut, covers other text, or sticks out. Names of lanes and long names in tables end in
// an ellipsis or open on a click: there the whole is told.
const faults = () => {
  const seen = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !e.closest(".unseen, [hidden]");
  const told = (e) => `${e.className || e.tagName}: ${e.textContent.trim().slice(0, 40)}`;
  const found = [];
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth) found.push("the page scrolls sideways");
  const own = Array.from(document.querySelectorAll("body *")).filter((e) => seen(e) && !e.closest("svg, canvas") &&
    Array.from(e.childNodes).some((n) => n.nodeType === 3 && n.textContent.trim()));
  for (const e of own) {
    const style = getComputedStyle(e);
    const clips = style.overflowX !== "visible" && style.overflowX !== "auto" && style.overflowX !== "scroll";
    if (clips && e.scrollWidth > e.clientWidth + 1 && style.textOverflow !== "ellipsis") found.push(`cut: ${told(e)}`);
    if (e.closest(".lane-name, option, .scroller, summary, footer pre")) continue;
    const box = e.getBoundingClientRect();
    if (box.right > document.documentElement.clientWidth + 1) found.push(`sticks out: ${told(e)}`);
  }
  const texts = own.filter((e) => !e.closest(".segment, .scroller, .lane-tip, .tip, .skip")).map((e) => {
    const range = document.createRange();
    range.selectNodeContents(e);
    return { e, boxes: Array.from(range.getClientRects()) };
  });
  for (let i = 0; i < texts.length; i++) {
    for (let j = i + 1; j < Math.min(texts.length, i + 40); j++) {
      const [a, b] = [texts[i], texts[j]];
      if (a.e.contains(b.e) || b.e.contains(a.e)) continue;
      const over = a.boxes.some((x) => b.boxes.some((y) =>
        Math.min(x.right, y.right) - Math.max(x.left, y.left) > 2 && Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top) > 4));
      if (over) found.push(`${told(a.e)} covers ${told(b.e)}`);
    }
  }
  return found.slice(0, 6);
};

// The order of Tab is that of reading, nothing is left out, and each says what it is.
const order = () => {
  const reach = Array.from(document.querySelectorAll("a[href], button, input, select, summary, [tabindex]"))
    .filter((e) => e.checkVisibility() && e.tabIndex >= 0 && !e.disabled);
  const found = reach.filter((e) => e.tabIndex > 0).map((e) => `jumps ahead: ${e.className}`);
  for (const e of reach) {
    const says = e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.labels?.length || e.textContent.trim() || e.title;
    if (!says) found.push(`says nothing: ${e.outerHTML.slice(0, 60)}`);
  }
  return found.slice(0, 5);
};

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
async function violations(page) {
  if (axe === null) return [];
  await page.evaluate(axe);
  return page.evaluate(async (tags) => (await window.axe.run(document, { runOnly: tags, resultTypes: ["violations"] })).violations
    .map((one) => `${one.id} (${one.nodes.length}): ${one.nodes[0].html.slice(0, 90)}`), RULES);
}

const tests = {};
for (const [name, file] of Object.entries(files)) {
  tests[name] = async () => {
    for (const { width, dark, axed } of VIEWS) {
      const { page, said, close } = await openReport(file, { width, dark, rooms: false });
      const where = `${width}${dark ? ", dark" : ""}`;
      equal(await page.evaluate(faults), [], `${where}: overlaps and cuts`);
      equal(await page.evaluate(order), [], `${where}: Tab`);
      if (axed) equal(await violations(page), [], `${where}: axe-core`);
      equal(said, [], `${where}: the console`);
      const keys = await page.evaluate(() => /\b[a-z]+_ns\b|\bhost_gap\b|\bno_evidence\b/.exec(document.body.innerText)?.[0] ?? "");
      equal(keys, "", `${where}: a key`);
      await close();
    }
    const { page, close } = await openReport(file, { width: 1440 });
    equal(await violations(page), [], "axe-core, all rooms open");
    await close();
  };
}
tests["the panel of an event, and the keys"] = async () => {
  for (const width of [390, 1440]) {
    for (const dark of [false, true]) {
      const { page, said, close } = await openReport(files.example, { width, dark, rooms: false });
      const where = `${width}${dark ? ", dark" : ""}`;
      await page.locator(".lane-canvas").first().focus();
      await page.keyboard.press("]");
      await page.locator(".lane-panel h2").waitFor();
      await page.keyboard.press("?");
      equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, `${where}: pixels that stick out`);
      equal(await page.evaluate(order), [], `${where}: Tab`);
      equal(await violations(page), [], `${where}: axe-core`);
      equal(said, [], `${where}: the console`);
      await close();
    }
  }
};
// The page is ready before the browser has told any size: nothing may stick out until it has.
const unmeasured = (page) => page.addInitScript(() => { window.ResizeObserver = class { observe() {} disconnect() {} }; });
tests["before sizes are known"] = async () => {
  const { page, close } = await openReport(files["no operators"] ?? files.example, { width: 390, rooms: false, setUp: unmeasured });
  equal(await page.evaluate(faults), [], "overlaps and cuts");
  await close();
};
await main(tests);
