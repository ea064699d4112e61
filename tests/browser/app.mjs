// The page on which a trace is dropped, as one file from disk and from a web server: it shows the page that `report -o`
// writes, errors in the words of the command line, and no request leaves it.

import { createServer } from "node:http";
import { createReadStream, existsSync, readFileSync, writeFileSync } from "node:fs";
import { execFileSync, spawnSync } from "node:child_process";
import { basename, dirname, extname, join } from "node:path";
import { gunzipSync } from "node:zlib";

import { EXAMPLE, ROOT, assay, check, equal, main, openReport, path } from "./support.mjs";

const app = join(process.env.ASSAY_WASM ?? join(ROOT, "build/wasm"), "app");
const ONE_FILE = join(app, "assay-app.html");
if (!existsSync(ONE_FILE)) {
  console.log("skipped: the page is not built (make web-app, which needs emscripten)");
  process.exit(77);
}
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

// gzip chooses other matches without the processor's own instructions: elements are compared unpacked.
const unpacked = (page) =>
  page.replace(/(application\/gzip" id="[^"]*">)([^<]*)/g, (_, head, data) =>
    head + (data ? gunzipSync(Buffer.from(data, "base64")).toString("utf8") : ""));

function nativePage(cwd, ...inputs) {
  execFileSync(assay, ["report", ...inputs, "-o", path("native.html")], { cwd, stdio: "ignore" });
  return unpacked(readFileSync(path("native.html"), "utf8"));
}

// Gives files to a field, and waits for an end: "answered" or "failed".
async function give(page, field, files) {
  await page.setInputFiles(field, files);
  await page.waitForSelector("body[data-state=answered], body[data-state=failed]");
  return page.evaluate(() => document.body.dataset.state);
}

async function savedPage(page) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
  await download.saveAs(path("saved.html"));
  return unpacked(readFileSync(path("saved.html"), "utf8"));
}

async function expectAnswer(page, what, field, files, cwd, ...inputs) {
  equal(await give(page, field, files), "answered", `${what}: ${await page.textContent("#words")}`);
  const frame = await (await page.$("#page")).contentFrame();
  await frame.waitForSelector("html[data-ready]");
  check(await savedPage(page) === nativePage(cwd, ...inputs), `${what}: another page than the native program's`);
  await page.click("#again");
}

async function answers(open) {
  const { page, said, asked, close } = await open();
  await expectAnswer(page, "a trace", "#files", [EXAMPLE], dirname(EXAMPLE), basename(EXAMPLE));
  const several = join(ROOT, "tests/data/kineto/small");
  await expectAnswer(page, "a folder", "#folder", several, dirname(several), basename(several));
  const names = ["a100_ptbench_trace2.json", "h100_kineto_docs_before_fix.json"];
  await expectAnswer(page, "two files", "#files", names.map((name) => join(several, name)), several, ...names);
  equal(said, [], "the page complains");
  equal(asked, [], "requests leave the page");
  await close();
}

const fromDisk = () => openReport(ONE_FILE, { ready: false });

await main({
  "one file from disk": () => answers(fromDisk),

  async "a folder of static files on a server"() {
    const server = createServer((request, response) => {
      const file = join(app, request.url === "/" ? "index.html" : request.url);
      if (!existsSync(file)) return response.writeHead(404).end();
      response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
      createReadStream(file).pipe(response);
    }).listen(0, "127.0.0.1");
    await new Promise((done) => server.on("listening", done));
    const own = `http://127.0.0.1:${server.address().port}/`;
    await answers(async () => {
      const opened = await openReport(ONE_FILE, { ready: false });
      await opened.page.goto(own);
      const foreign = [];
      opened.page.on("request", (request) => {
        if (!request.url().startsWith(own) && !request.url().startsWith("blob:")) foreign.push(request.url());
      });
      return { ...opened, asked: foreign };
    });
    server.close();
  },

  async "a file that is dropped"() {
    const { page, close } = await fromDisk();
    const bytes = readFileSync(EXAMPLE).toString("base64");
    await page.evaluate(([base64, name]) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }, [bytes, basename(EXAMPLE)]);
    await page.waitForSelector("body[data-state=answered]");
    check(await savedPage(page) === nativePage(dirname(EXAMPLE), basename(EXAMPLE)), "a drop: another page");
    await close();
  },

  async "errors in the words of the command line"() {
    const { page, close } = await fromDisk();
    writeFileSync(path("notes.txt"), "no trace at all\n");
    writeFileSync(path("cut.json.gz"), readFileSync(EXAMPLE).subarray(0, 5000));
    for (const name of ["notes.txt", "cut.json.gz"]) {
      equal(await give(page, "#files", [path(name)]), "failed", name);
      const native = spawnSync(assay, ["report", name, "-o", "x.html"], { cwd: dirname(path(name)), encoding: "utf8" });
      equal(await page.textContent("#words"), native.stderr.trimEnd(), `the words for ${name}`);
      await page.click("#back");
    }
    await expectAnswer(page, "after an error", "#files", [EXAMPLE], dirname(EXAMPLE), basename(EXAMPLE));
    await close();
  },

  async "no request leaves the page or a worker of it"() {
    const { page, close } = await fromDisk();
    const refused = await page.evaluate(async () => {
      const reached = (how) => how.then(() => "reached", () => "refused");
      const code = "fetch('https://example.org/').then(() => postMessage('reached'), () => postMessage('refused'))";
      const worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
      const policies = [];
      addEventListener("securitypolicyviolation", (event) => policies.push(event.effectiveDirective));
      const own = await reached(fetch("https://example.org/"));
      return [own, await new Promise((done) => { worker.onmessage = ({ data }) => done(data); }), policies[0]];
    });
    equal(refused, ["refused", "refused", "connect-src"], "fetch to another host");
    await close();
  },
});
