// Parquet files of `assay export`, read by hyparquet, against the CSV of the same tables: every cell, 64-bit integers as
// BigInt. hyparquet shares no code with DuckDB, which wrote them. Exits with 77 (skipped) where either is missing.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const EXAMPLE = join(ROOT, "examples/h100_vit_inference.json.gz");
const SKIPPED = 77;
const assay = process.argv[2] ?? join(ROOT, "build/release/assay");
const problems = [];

function skip(why) {
  console.log(`skipped: ${why}`);
  process.exit(SKIPPED);
}

const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } = await import("hyparquet").catch(() =>
  skip("hyparquet is not installed (npm ci --prefix tests/parquet)"));
const { compressors } = await import("hyparquet-compressors");

function run(...args) {
  execFileSync(assay, args, { stdio: ["ignore", "pipe", "pipe"] });
}

// Records of cells as text; undefined for nothing between the commas, which is not "".
function parseCsv(text) {
  const records = [];
  let record = [];
  let at = 0;
  while (at < text.length) {
    let cell;
    if (text[at] === '"') {
      cell = "";
      for (++at; text[at] !== '"' || text[at + 1] === '"'; ++at) {
        cell += text[at];
        if (text[at] === '"') ++at;
      }
      ++at;
    } else {
      const begin = at;
      while (text[at] !== "," && text[at] !== "\n") ++at;
      cell = at > begin ? text.slice(begin, at) : undefined;
    }
    record.push(cell);
    if (text[at++] === ",") continue;
    records.push(record);
    record = [];
  }
  return records;
}

// What the text of a CSV cell is in a column of that type.
const READ = {
  INT64: (text) => BigInt(text),
  DOUBLE: Number,
  BOOLEAN: (text) => ({ true: true, false: false })[text],
  BYTE_ARRAY: (text) => text,
};

function same(value, text, type) {
  if (text === undefined) return value === null || value === undefined;
  return Object.is(value, READ[type](text));
}

async function checkTable(name, csv, parquet) {
  const [header, ...records] = parseCsv(readFileSync(csv, "utf8"));
  const file = await asyncBufferFromFile(parquet);
  const metadata = await parquetMetadataAsync(file);
  const types = Object.fromEntries(metadata.schema.slice(1).map((column) => [column.name, column.type]));
  const rows = await parquetReadObjects({ file, compressors });
  if (JSON.stringify(Object.keys(types)) !== JSON.stringify(header)) problems.push(`${name}: columns differ`);
  if (rows.length !== records.length) problems.push(`${name}: ${rows.length} rows instead of ${records.length}`);
  for (const [number, record] of records.entries()) {
    const wrong = header.filter((column, i) => !same(rows[number]?.[column], record[i], types[column]));
    if (wrong.length === 0) continue;
    problems.push(`${name}, row ${number}: ${wrong} differ: ${wrong.map((column) => String(rows[number]?.[column]))}`);
    return [records.length, types];
  }
  return [records.length, types];
}

async function checkExport(folder, trace) {
  try {
    run("export", trace, "-o", join(folder, "parquet"));
  } catch (error) {
    if (String(error.stderr).includes("install_deps.sh query")) skip("DuckDB is not here");
    throw error;
  }
  run("export", trace, "-o", join(folder, "csv"), "--format", "csv");
  const tables = readdirSync(join(folder, "csv/rank=0")).map((name) => name.replace(".csv", ""));
  const seen = new Set();
  let cells = 0;
  for (const name of tables) {
    const [rows, types] = await checkTable(name, join(folder, `csv/rank=0/${name}.csv`),
      join(folder, `parquet/rank=0/${name}.parquet`));
    cells += rows * Object.keys(types).length;
    if (rows > 0) Object.values(types).forEach((type) => seen.add(type));
  }
  return { tables: tables.length, cells, seen };
}

const folder = mkdtempSync(join(tmpdir(), "assay-parquet-"));
try {
  const { tables, cells, seen } = await checkExport(join(folder, "example"), EXAMPLE);
  if (tables < 50 || cells < 40000 || seen.size !== 4) problems.push(`${tables} tables, ${cells} cells, types ${[...seen]}`);
  const hostile = join(folder, "hostile.json");
  const names = ["", " a ", 'say "no", twice', "line\nbreak\r", "=1+1", "µ \u{1f600} \u202e", "\u0000", "null"];
  writeFileSync(hostile, JSON.stringify({ traceEvents: names.map((name, i) =>
    ({ ph: "X", cat: "cpu_op", name, pid: 1, tid: 1, ts: 1700000000000000 + 10 * i, dur: 5 })) }));
  await checkExport(join(folder, "hostile"), hostile);
  console.log(`${tables} tables, ${cells} cells`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
problems.forEach((problem) => console.log(problem));
process.exit(problems.length > 0 ? 1 : 0);
