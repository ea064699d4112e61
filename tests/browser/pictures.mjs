// The first screen of some states looks as it did: pictures against those of tests/browser/pictures/, by the colour of
// small squares. Fonts differ between machines, so a few squares in a hundred may differ.
//
//     node tests/browser/pictures.mjs ASSAY --update     writes them anew; look at them then

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EXAMPLE, ROOT, check, launch, main, openReport, path, report, run, writeTrace } from "./support.mjs";

const FOLDER = join(ROOT, "tests/browser/pictures");
const UPDATE = process.argv.includes("--update");
const SQUARE = 8; // of a picture at half its size
const DIFFERS = 32; // of 255, in one of red, green and blue
const TOLERATED = 0.03; // of all squares

const steps = Array.from({ length: 90 }, (_, i) => launch(1 + i, 10 + i * 60, `kernel_${i % 3}`, { run: 20 })).flat();
run("report", ...[0, 1, 2].map((rank) => writeTrace(`rank${rank}.json`, steps)), "-o", path("several.html"));
const example = report(EXAMPLE);
const states = {
  run_1440: { file: example, width: 1440, height: 900 },
  run_1440_dark: { file: example, width: 1440, height: 900, dark: true },
  run_390: { file: example, width: 390, height: 844 },
  too_little_1024: { file: report(writeTrace("tiny.json", launch(1, 0, "one")), "tiny.html"), width: 1024, height: 700 },
  several_390_dark: { file: path("several.html"), width: 390, height: 844, dark: true },
};

// The file's path is another one on every machine and checkout.
const settle = (page) => page.evaluate(async () => {
  for (const name of document.querySelectorAll(".input-name")) name.textContent = name.textContent.split("/").pop();
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
});

// In a page of its own: half the size, as bytes of WebP, or the share of squares that differ.
async function inBrowser(png, other) {
  const { page, close } = await openReport(example, { ready: false });
  await page.goto("about:blank");
  const result = await page.evaluate(async ([png, other, square, differs]) => {
    const draw = async (address, width, height) => {
      const image = new Image();
      image.src = address;
      await image.decode();
      const canvas = document.createElement("canvas");
      canvas.width = width || image.width >> 1;
      canvas.height = height || image.height >> 1;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      return canvas;
    };
    const now = await draw(`data:image/png;base64,${png}`);
    if (!other) return now.toDataURL("image/webp", 0.6).split(",")[1];
    const before = await draw(`data:image/webp;base64,${other}`, now.width, now.height);
    const means = (canvas) => {
      const { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const all = [];
      for (let y = 0; y + square <= height; y += square) {
        for (let x = 0; x + square <= width; x += square) {
          const sum = [0, 0, 0];
          for (let i = 0; i < square * square; i++) {
            const at = ((y + (i / square | 0)) * width + x + i % square) * 4;
            for (let c = 0; c < 3; c++) sum[c] += data[at + c];
          }
          all.push(sum.map((one) => one / square / square));
        }
      }
      return all;
    };
    const [a, b] = [means(now), means(before)];
    return a.filter((one, i) => one.some((value, c) => Math.abs(value - b[i][c]) > differs)).length / a.length;
  }, [png, other, SQUARE, DIFFERS]);
  await close();
  return result;
}

const tests = {};
for (const [name, { file, ...view }] of Object.entries(states)) {
  tests[name] = async () => {
    const { page, close } = await openReport(file, { ...view, rooms: false });
    await settle(page);
    const png = (await page.screenshot()).toString("base64");
    await close();
    const stored = join(FOLDER, `${name}.webp`);
    if (UPDATE) {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(stored, Buffer.from(await inBrowser(png, ""), "base64"));
      return;
    }
    if (!existsSync(stored)) return check(false, `${stored} is missing`);
    const share = await inBrowser(png, readFileSync(stored).toString("base64"));
    console.log(`     ${(100 * share).toFixed(1)} % of ${name} differ`);
    check(share <= TOLERATED, `${(100 * share).toFixed(1)} % of the picture differ from ${name}.webp`);
  };
}
await main(tests);
