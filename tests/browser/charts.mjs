// What charts show of numbers: bars on a logarithmic axis are the longer the greater their number.

import { readFileSync, writeFileSync } from "node:fs";
import { check, EXAMPLE, main, openReport, path, run, scrollThrough } from "./support.mjs";


// Throughput that saturates with the batch size, of two models: a straight line misses it by far.
function benchmark() {
  const lines = ["Hardware,Framework,Model,Input Output Length,Batch Size,Throughput"];
  for (const [model, top] of [["one", 4000], ["two", 900]]) {
    for (const length of [128, 256, 512, 1024]) {
      for (const batch of [1, 2, 4, 8, 16, 32, 64, 128]) {
        const rate = (top - length / 4) * (1 - 0.97 * Math.exp(-0.03 * batch));
        lines.push(`GPU,engine,${model},${length},${batch},${rate.toFixed(3)}`);
      }
    }
  }
  writeFileSync(path("bench.csv"), `${lines.join("\n")}\n`);
  return path("bench.csv");
}

// Pixels of each series' colour: how much of its bars is drawn (of one width each).
const painted = (page, title, count) =>
  page.locator("figure.chart", { hasText: title }).evaluate((figure, series) => {
    const canvas = figure.querySelector("canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const style = getComputedStyle(document.documentElement);
    return Array.from({ length: series }, (_, i) => {
      const probe = document.createElement("span");
      probe.style.color = style.getPropertyValue(`--series-${i}`);
      document.body.append(probe);
      const [r, g, b] = getComputedStyle(probe).color.match(/\d+/g).map(Number);
      probe.remove();
      let pixels = 0;
      for (let at = 0; at < data.length; at += 4) pixels += data[at] === r && data[at + 1] === g && data[at + 2] === b;
      return pixels;
    });
  }, count);

await main({
  async "bars on a logarithmic axis are the longer the greater their number"() {
    const flags = ["throughput", "evaluate", benchmark(), "--split", "S3", "--method", "assay", "--method", "linear"];
    const { splits } = JSON.parse(run(...flags, "--format", "json")).throughput;
    const [small, large] = splits.map((split) => split.median_ape);
    check(small * 3 < large && large < 1, `${small} and ${large} are no example: the first must be smaller by far, both below 1`);
    run(...flags, "-o", path("errors.html"));
    for (const width of [390, 1280]) {
      const { page, close } = await openReport(path("errors.html"), { width });
      await scrollThrough(page);
      for (const title of ["Absolute percentage error by split and method", "Errors by model"]) {
        const [first, second] = await painted(page, title, 2);
        check(first > 50 && first < 0.9 * second, `${title}, ${width} px: ${first} pixels for the smaller error, ${second} for the larger`);
      }
      await close();
    }
  },

  async "the report of a table has curves with what was measured, errors by split, confidence against error"() {
    run("report", benchmark(), "-o", path("table.html"));
    const { page, close } = await openReport(path("table.html"));
    await scrollThrough(page);
    const titles = await page.locator("figure.chart h4").allInnerTexts();
    for (const title of ["Throughput over batch: one on GPU under engine", "error by split and method", "Predicted width against true error"]) {
      check(titles.some((text) => text.includes(title)), `no chart "${title}" among ${titles}`);
    }
    const { throughput } = JSON.parse(run("report", path("bench.csv"), "--format", "json"));
    check(throughput.curves.some((point) => point.measured_tokens_per_s !== null), "no measured point on a curve");
    check(["S1", "S3", "S4"].every((name) => throughput.splits.some((split) => split.name === name)), "splits are missing");
    await close();
  },

  async "a chart is saved as SVG, with its marks and its words as text"() {
    run("fusion", EXAMPLE, "--figure", "skip8", "-o", path("skip8.html"));
    const { page, close } = await openReport(path("skip8.html"));
    const figure = page.locator("figure.chart");
    check((await figure.count()) === 1, "the page of one figure has other charts as well");
    const [saved] = await Promise.all([page.waitForEvent("download"), figure.getByRole("button", { name: "SVG" }).click()]);
    check(saved.suggestedFilename() === "speedup_by_length.svg", saved.suggestedFilename());
    const text = readFileSync(await saved.path(), "utf8");
    check(text.startsWith("<svg") && text.includes(">all chains<"), text.slice(0, 200));
    const { figure: { points } } = JSON.parse(run("fusion", EXAMPLE, "--figure", "skip8", "--format", "json"));
    const bars = points.filter((point) => point.mark === "bars" && point.y !== null).length;
    check((text.match(/<path/g) ?? []).length >= bars, `fewer paths than ${bars} bars`);
    await close();
  },
});
