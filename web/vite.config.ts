// Builds dist/report.html: everything in one file, and a policy that allows this script, this style
// and nothing else; dist/charts.js, the library of charts, which the binary packs into the page; and
// dist/serve.html, the list of traces of `assay serve`, whose policy the server sends.

import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, defineConfig, type Plugin } from "vite";

const HERE = dirname(fileURLToPath(import.meta.url));

const sha256 = (text: string, encoding: "hex" | "base64") => createHash("sha256").update(text).digest(encoding);

// What the page is made of; tests/browser/page_current.py computes the same.
function sourcesHash(): string {
  const files = ["index.html", "serve.html", "notices.txt", "package-lock.json", "package.json", "tsconfig.json", "vite.config.ts"];
  for (const name of readdirSync(join(HERE, "src")).sort()) files.push(`src/${name}`);
  const hashes = files.map((name) => `${name} ${sha256(readFileSync(join(HERE, name), "utf8"), "hex")}\n`);
  return sha256(hashes.join(""), "hex");
}

const escaped = (text: string) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

// One script of all that the file imports, as it is read back: white space around it would change its hash.
async function scriptOf(file: string): Promise<string> {
  const made = await build({
    configFile: false,
    logLevel: "error",
    build: { write: false, target: "es2022", rollupOptions: { input: join(HERE, file), output: { format: "iife" } } },
    esbuild: { legalComments: "none", charset: "ascii" },
  });
  const pieces = Array.isArray(made) ? made : [made];
  return pieces.flatMap((piece) => ("output" in piece ? piece.output : [])).map((piece) => (piece.type === "chunk" ? piece.code : "")).join("").trim();
}

function page(script: string, charts: string, style: string): string {
  if (/<\/script|<!--/i.test(script)) throw new Error("the script would end its own element");
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${sha256(script, "base64")}' 'sha256-${sha256(charts, "base64")}'`,
    `style-src 'sha256-${sha256(style, "base64")}'`,
    "img-src data: blob:",
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const pieces: Record<string, string> = {
    "<!--assay:policy-->": `<meta http-equiv="Content-Security-Policy" content="${policy}" />\n    <meta name="assay-sources" content="${sourcesHash()}" />`,
    "<!--assay:style-->": `<style>${style}</style>`,
    "<!--assay:notices-->": `<pre>${escaped(readFileSync(join(HERE, "notices.txt"), "utf8"))}</pre>`,
    "<!--assay:script-->": `<script>${script}</script>`,
  };
  let html = readFileSync(join(HERE, "index.html"), "utf8");
  for (const [marker, content] of Object.entries(pieces)) html = html.replace(marker, () => content);
  return html;
}

function listPage(script: string, style: string): string {
  if (/<\/script|<!--/i.test(script)) throw new Error("the script would end its own element");
  return readFileSync(join(HERE, "serve.html"), "utf8")
    .replace("<!--assay:style-->", () => `<meta name="assay-sources" content="${sourcesHash()}" />\n    <style>${style}</style>`)
    .replace("<!--assay:script-->", () => `<script>${script}</script>`);
}

const oneFile = (): Plugin => ({
  name: "one-file",
  enforce: "post",
  async generateBundle(_, bundle) {
    let script = "";
    let style = "";
    for (const [name, piece] of Object.entries(bundle)) {
      if (piece.type === "chunk") script += piece.code;
      else if (name.endsWith(".css")) style += String(piece.source);
      delete bundle[name];
    }
    // As it is read back: white space around the code would change its hash.
    const charts = await scriptOf("src/charts.ts");
    this.emitFile({ type: "asset", fileName: "report.html", source: page(script.trim(), charts, style.trim()) });
    this.emitFile({ type: "asset", fileName: "charts.js", source: charts });
    this.emitFile({ type: "asset", fileName: "serve.html", source: listPage(await scriptOf("src/serve.ts"), style.trim()) });
  },
});

export default defineConfig({
  plugins: [oneFile()],
  build: {
    outDir: "dist",
    target: "es2022",
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
    rollupOptions: {
      input: join(HERE, "src/main.ts"),
      output: { format: "iife", inlineDynamicImports: true },
    },
  },
  esbuild: { legalComments: "none", charset: "ascii" },
});
