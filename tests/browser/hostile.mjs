// Names that want to be more than names: as text they must arrive, as anything else they must not.

import { cpSync, readFileSync } from "node:fs";
import { EXAMPLE, check, copyCsv, equal, launch, main, openReport, path, run, scrollThrough, writeTrace } from "./support.mjs";

const act = "window.pwned=1;fetch('http://pwned.invalid/')";
const PAYLOADS = [
  `<script>${act}</script>`,
  `</script><script>${act}</script>`,
  `</SCRIPT ><script>${act}</script>`,
  `<!--<script>${act}</script>`,
  `--><script>${act}</script><!--`,
  `<img src=x onerror="${act}">`,
  `<img src="http://pwned.invalid/i.png">`,
  `<svg onload="${act}">`,
  `<svg><script>${act}</script></svg>`,
  `<iframe srcdoc="<script>parent.pwned=1</script>">`,
  `<iframe src="javascript:parent.pwned=1">`,
  `<a href="javascript:${act}">click</a>`,
  `<object data="http://pwned.invalid/o">`,
  `<embed src="http://pwned.invalid/e">`,
  `<link rel=stylesheet href="http://pwned.invalid/c.css">`,
  `<style>@import "http://pwned.invalid/s.css";</style>`,
  `<style>*{background:url(http://pwned.invalid/b)}</style>`,
  `<meta http-equiv="refresh" content="0;url=http://pwned.invalid/">`,
  `<base href="http://pwned.invalid/">`,
  `<form action="http://pwned.invalid/"><input autofocus onfocus="${act}">`,
  `<details open ontoggle="${act}">`,
  `<video><source onerror="${act}"></video>`,
  `<body onload="${act}">`,
  `<math><mtext></mtext><mglyph><style></math><img src onerror="${act}">`,
  `<noscript><p title="</noscript><img src=x onerror=${act}>">`,
  `<template><script>${act}</script></template>`,
  `"><script>${act}</script>`,
  `'><script>${act}</script>`,
  `" onmouseover="${act}" x="`,
  `' autofocus onfocus='${act}' x='`,
  "`${" + act + "}`",
  "${" + act + "}",
  `{{constructor.constructor("${act}")()}}`,
  `<%= ${act} %>`,
  `#{${act}}`,
  `{a|<b>rich</b>}`,
  `javascript:${act}`,
  `data:text/html,<script>${act}</script>`,
  `\\"});${act};({"a":"`,
  `\\u003cscript\\u003e${act}\\u003c/script\\u003e`,
  `&lt;script&gt;${act}&lt;/script&gt;`,
  `&#60;script&#62;${act}&#60;/script&#62;`,
  `]]><script>${act}</script>`,
  `\u202Egnp.exe\u202C and \u2066isolated\u2069`,
  `null\u0000byte, bell\u0007, escape\u001b[31m, C1 \u009b31m, DEL \u007f`,
  `separators \u2028 and \u2029 <script>${act}</script>`,
  `zero\u200bwidth\ufeffand tags \u{e0041}\u{e0042}`,
  `lone surrogate \ud800 and overlong`,
  `עברית <script>${act}</script> العربية`,
  `=HYPERLINK("http://pwned.invalid/","x")`,
  `__proto__`,
  `constructor`,
  `@@assay-view@@ @@assay-json@@`,
  `<kernel_${"x".repeat(10_000)}>${act}`,
  `long ${"<script>".repeat(1250)}${act}`,
];

// What the binary makes of control and invisible characters, so that one line stays one line.
const visible = (text) => text.replace(/[\t\n\r\u2028\u2029]/g, " ").replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu, "")
  .replace(/[\u0000-\u001f\u007f-\u009f\ud800-\udfff]/g, "\ufffd").replace(/[\u{fffd}]+/gu, "?");

const events = PAYLOADS.flatMap((name, i) => [
  ...launch(2 * i + 1, 100 + i * 60, name, { op: name }),
  ...launch(2 * i + 2, 130 + i * 60, name, { op: name }),
  { ph: "X", cat: "user_annotation", name, pid: 1, tid: 1, ts: 100 + i * 60, dur: 55 },
]);
const trace = writeTrace("hostile.json", events);

async function inspect(file, what) {
  const heard = await openReport(file, {
    setUp: (page) => page.addInitScript(() => {
      window.violations = [];
      document.addEventListener("securitypolicyviolation", (event) => window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
    }),
  });
  const { page } = heard;
  await scrollThrough(page);
  for (const button of await page.locator("figure.chart").getByRole("button", { name: "Table", exact: true }).all()) await button.click();
  for (const button of await page.getByRole("button", { name: "All columns" }).all()) await button.click();
  for (const button of await page.locator("button.name").all().then((all) => all.slice(0, 40))) {
    if (await button.isVisible()) await button.click();
  }
  await page.mouse.move(300, 300);
  equal(await page.evaluate(() => window.pwned ?? null), null, `${what}: something ran`);
  equal(heard.asked, [], `${what}: requests`);
  equal(heard.said, [], `${what}: the console`);
  equal(await page.evaluate(() => window.violations), [], `${what}: what the policy had to stop`);
  const foreign = await page.evaluate(() =>
    Array.from(document.querySelectorAll("img, svg, iframe, object, embed, link, base, form, video, math, template, body script:not([id]) ~ script:not([type='application/gzip']), [onerror], [onload], [onclick], [onfocus], a[href]:not([href^='#'])"), (e) => e.outerHTML.slice(0, 90)));
  equal(foreign, [], `${what}: elements that names made`);
  const scripts = await page.evaluate(() => Array.from(document.scripts, (script) => script.id));
  equal(scripts, ["assay-head", "assay-lanes", "", "assay-view", "assay-details", "assay-charts", "assay-json"], `${what}: scripts`);
  equal(await page.evaluate(() => document.styleSheets.length), 1, `${what}: styles`);
  return heard;
}

await main({
  async [`${PAYLOADS.length} names run nothing and ask for nothing in a report`]() {
    check(PAYLOADS.length >= 50, "fewer than 50 payloads");
    run("report", trace, "--top", "0", "-o", path("hostile.html"));
    await (await inspect(path("hostile.html"), "report")).close();
  },

  async "the same names as rows and trees, where they arrive as text"() {
    run("launch", trace, "--graph", "--tree", "--top", "0", "-o", path("rows.html"));
    const { page, close } = await inspect(path("rows.html"), "launch --graph");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const grid = page.locator(".grid", { hasText: "Kernels and what launched them" });
    const csv = visible(await copyCsv(page, grid));
    for (const payload of PAYLOADS) {
      const wanted = visible(payload).replaceAll('"', '""');
      check(csv.includes(wanted.slice(0, 300)), `not among the copied rows: ${JSON.stringify(wanted.slice(0, 120))}`);
    }
    check(!/(^|,)=HYPERLINK/m.test(csv), "a formula is copied as one");
    await close();
  },

  async "file names and the JSON inside are no way in"() {
    const name = `</title><script>${"window.pwned=1"}<.script><img src=x onerror=alert(1)>'".json.gz`;
    cpSync(EXAMPLE, path(name));
    run("report", path(name), "-o", path("named.html"));
    const { page, close } = await inspect(path("named.html"), "file name");
    check((await page.locator(".input-name").innerText()).includes("<script>"), "the file's name is not shown");
    check((await page.title()).includes("<script>"), "the title does not have the file's name");
    await close();
    const html = readFileSync(path("hostile.html"), "utf8");
    const data = html.match(/<script type="application\/gzip"[^>]*>([^<]*)<\/script>/g);
    equal(data?.length, 6, "data elements");
    check(data.every((element) => /^<script[^>]*>[A-Za-z0-9+/=]+<\/script>$/.test(element)), "data is not all base64");
  },

  async "a script that was slipped in afterwards does not run"() {
    const html = readFileSync(path("hostile.html"), "utf8").replace("</body>", "<script>window.pwned=1</script><img src=x onerror='window.pwned=1'></body>");
    const { writeFileSync } = await import("node:fs");
    writeFileSync(path("slipped.html"), html);
    const { page, close } = await openReport(path("slipped.html"));
    equal(await page.evaluate(() => window.pwned ?? null), null, "it ran");
    await close();
  },
});
