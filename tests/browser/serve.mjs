// The list of traces of `assay serve` in Chromium: rows fill in with the answers of the command line, pages open, and the
// token leaves the address.

import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { assay, check, equal, EXAMPLE, launch, main, newContext, path, ROOT, run, writeTrace } from "./support.mjs";

const axe = createRequire(join(ROOT, "web/package.json")).resolve("axe-core/axe.min.js");

async function started() {
  mkdirSync(path("traces"), { recursive: true });
  copyFileSync(EXAMPLE, path("traces/example.json.gz"));
  writeTrace("traces/small.json", Array.from({ length: 40 }, (_, i) => launch(i + 1, i * 30, "gemm")).flat());
  writeFileSync(path("traces/cut.json"), '{"schemaVersion":1,"deviceProperties":[],"traceEvents":[');
  const server = spawn(assay, ["serve", path("traces"), "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise((done, failed) => {
    let text = "";
    server.stdout.on("data", (part) => {
      text += part;
      const found = /http:\S+/.exec(text);
      if (found) done(found[0]);
    });
    server.on("exit", (code) => failed(new Error(`the server ended with ${code}: ${text}`)));
  });
  return { server, address };
}

await main({
  async "traces are listed with their answers, opened and compared"() {
    const { server, address } = await started();
    const context = await newContext({ width: 1280, height: 900 });
    const page = await context.newPage();
    const errors = [];
    page.on("console", (message) => message.type() === "error" && !message.text().includes("status of 500") && errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(error.message));
    await page.goto(address);
    const row = page.locator("tr", { hasText: "example.json.gz" });
    const [headline] = JSON.parse(run("report", EXAMPLE, "--format", "json")).summary.headline;
    await row.getByText(headline.slice(0, 60)).waitFor();
    check(!page.url().includes("k="), `the token stays in the address: ${page.url()}`);
    check((await row.locator(".segment").count()) > 1, "no bar of causes");
    const [opened] = await Promise.all([context.waitForEvent("page"), row.getByRole("button", { name: "Open" }).click()]);
    await opened.waitForURL(/\/page\//);
    await opened.waitForSelector("html[data-ready]");
    check((await opened.textContent("body")).includes(headline.split(":")[0]), "the page has another answer");
    const opener = await opened.evaluate(() => document.referrer);
    equal(opener, "", "the page knows where it was opened");
    for (const name of ["example.json.gz", "small.json"]) await page.getByLabel(`Compare ${name}`).check();
    const [compared] = await Promise.all([context.waitForEvent("page"), page.getByRole("button", { name: /^Compare example/ }).click()]);
    await compared.waitForURL(/\/page\//);
    await compared.waitForSelector("html[data-ready]");
    await page.getByLabel("Filter").fill("small");
    check((await page.locator("tbody tr").count()) < 3, "the filter keeps all rows");
    await page.reload();
    await page.locator("tr", { hasText: "example.json.gz" }).first().waitFor();
    await page.addScriptTag({ path: axe }).catch(() => undefined);
    const found = await page.evaluate(() => globalThis.axe?.run().then((result) => result.violations.map((one) => one.id)));
    equal(found ?? [], [], "axe");
    equal(errors, [], "errors");
    server.kill("SIGINT");
    await page.getByRole("button", { name: "Open" }).first().click();
    await page.getByText("The server does not answer").waitFor();
    await context.close();
  },

  async "another address gets no data"() {
    const { server, address } = await started();
    const context = await newContext({ width: 390, height: 800 });
    const page = await context.newPage();
    await page.goto(address.split("#")[0]);
    await page.getByText("the token is missing or wrong").waitFor();
    server.kill("SIGINT");
    await context.close();
  },
});
