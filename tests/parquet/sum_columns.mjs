// Sums of the columns of whole numbers of Parquet files, and their rows, read by hyparquet: {"FILE": {"rows": N,
// "COLUMN": "sum"}}. Exits with 77 (skipped) without it.

const { asyncBufferFromFile, parquetReadObjects } = await import("hyparquet").catch(() => process.exit(77));
const { compressors } = await import("hyparquet-compressors");

const told = {};
for (const path of process.argv.slice(2)) {
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(path), compressors });
  const sums = {};
  for (const row of rows) {
    for (const [column, value] of Object.entries(row)) {
      if (typeof value === "bigint") sums[column] = (sums[column] ?? 0n) + value;
    }
  }
  told[path] = { rows: rows.length, ...Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, String(sum)])) };
}
console.log(JSON.stringify(told));
