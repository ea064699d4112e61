// The WebAssembly build answers with the bytes of the native program: `report --format json` and `why` on every file of
// the corpus, of tests/data and examples, with exit status and errors. Fits of throughput tables sum vectors of another
// width: what they predict agrees to 1e-9. Parameters that the table hardly determines agree to fewer digits.
//
//   node same.mjs NATIVE [WORD]      WORD: only files with it in their path

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { ROOT, loadCommandLine } from "./engine.mjs";

const [native, word = ""] = process.argv.slice(2);
const corpus = process.env.ASSAY_DATA || join(dirname(ROOT), "shared/data");
const VERBS = [["report", "--format", "json"], ["why"]];
const MOST_SHOWN = 400;

function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)]));
}

// Where two texts part.
function parting(a, b) {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) ++at;
  const from = Math.max(0, at - 80);
  return `from byte ${at} of ${a.length} and ${b.length}:\n  native ${JSON.stringify(a.toString("utf8", from, at + 80))}\n` +
    `  wasm   ${JSON.stringify(b.toString("utf8", from, at + 80))}`;
}

const NUMBER = /-?\d+\.\d+(?:e[-+]?\d+)?|-?\d+/g;
function sameFit(a, b) {
  const [one, other] = [a.toString(), b.toString()];
  if (!one.includes('"tokens_per_s":') || one.replace(NUMBER, "N") !== other.replace(NUMBER, "N")) return false;
  const predicted = (text) => [...text.matchAll(/"(?:tokens_per_s|low90|high90)": ([^,\n]+)/g)].map(([, number]) => number);
  const others = predicted(other);
  return predicted(one).every((text, i) => Math.abs(text - others[i]) <= 1e-9 * Math.abs(text));
}

const run = await loadCommandLine();
const files = [corpus, join(ROOT, "tests/data"), join(ROOT, "examples")].flatMap(filesBelow).filter((f) => f.includes(word));
let same = 0;
let fits = 0;
let answers = 0;
const problems = [];
for (const file of files) {
  const cwd = dirname(file);
  for (const [verb, ...flags] of VERBS) {
    const args = [verb, `./${basename(file)}`, ...flags];
    const told = spawnSync(native, args, { cwd, maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "pipe"] });
    const got = await run(args, cwd);
    const parts = [];
    if (told.status !== got.status) parts.push(`exit status ${told.status} and ${got.status}`);
    const fit = !told.stdout.equals(got.out) && sameFit(told.stdout, got.out);
    if (fit) ++fits;
    else if (!told.stdout.equals(got.out)) parts.push(`standard output ${parting(told.stdout, got.out)}`);
    if (!told.stderr.equals(got.err)) parts.push(`standard error ${parting(told.stderr, got.err)}`);
    if (parts.length === 0) same += fit ? 0 : 1;
    else problems.push(`${file}: ${verb}: ${parts.join("\n").slice(0, 3 * MOST_SHOWN)}`);
    if (told.status === 0) ++answers;
  }
}
for (const problem of problems) console.error(problem);
console.log(`${same} of ${files.length * VERBS.length} runs have the same bytes, ${fits} fits predict the same to 1e-9; ${answers} of them are answers, the rest errors`);
process.exit(problems.length === 0 && answers > 0 ? 0 : 1);
