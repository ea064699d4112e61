#!/usr/bin/env python3
"""Programs on a GPU before and after one change (tests/gpu/pairs.py and pairs_second.py): the first sentence says
what ails the first, the lever stands in its list, and what a replay of the first tells for the change is what the second
shows, and what it takes without a profiler, within so many points of an iteration as pairs.tsv says (docs/measured has all of them, also those where the
change is no edit that Assay knows). --table prints what was told and what came.
"""

import argparse
import csv
import json
import pathlib
import re
import subprocess
import sys

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
H200, H100 = DATA / "h200_pairs", DATA / "h100_pairs"


def run(assay, *words):
    done = subprocess.run([assay, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout


# Host-bound in the trace: is the GPU the bound without a profiler (kernels are 85, 14 and 34 % of an untraced step)?
BORDER = {"bert_batch8": True, "gpt2.before": False, "graph.before": False}


def border_problems(assay):
    for name, gpu_bound in BORDER.items():
        text = " ".join(run(assay, trace(H200, name), "--width", "80").split())
        if not text.startswith("Host-bound"):
            yield f"{name} says: {text[:80]}"
        if ("the run may be GPU-bound" in text) != gpu_bound:
            yield f"{name}: recording {'is not' if gpu_bound else 'is'} told to hide another bound"


def trace(folder, name):
    return folder / f"{name}.json.zst"


def answer_problems(assay, row):
    text = run(assay, trace(row["folder"], row["before"]), "--width", "80")
    sentence = " ".join(text.split("\n\n")[0].split())
    if not re.search(row["first_sentence"], sentence):
        yield f"says: {sentence}"
    if row["lever"] not in " ".join(text.split()):
        yield f"no lever '{row['lever']}'"


def shares(assay, row):
    """Of an iteration: what the replay of the first tells, and what the second is shorter by."""
    told = json.loads(run(assay, "whatif", trace(row["folder"], row["before"]), "--edit", row["edit"], "--format", "json"))
    lever = told["whatif"]["actions"][0]
    # Iterations of the second as the same rule reads them.
    after = json.loads(run(assay, "whatif", trace(row["folder"], row["after"]), "--edit", "sync", "--format", "json"))
    after_ns = after["whatif"]["actions"][0]["before_ns"]
    return lever["gain_ns"] / lever["before_ns"], 1 - after_ns / lever["before_ns"]


def problems_of(assay, row, table):
    yield from answer_problems(assay, row)
    if row["edit"] == "-":
        return
    told, came = shares(assay, row)
    untraced = 1 - float(row["untraced_after_ms"]) / float(row["untraced_before_ms"])
    if table:
        print(f"{row['pair']:16} {row['edit']:20} told {told:6.1%}  came {came:6.1%}  untraced {untraced:6.1%}")
    if not abs(told - came) * 100 <= float(row["points"]):
        yield f"told {told:.1%} less, it became {came:.1%} less"
    if not abs(told - untraced) * 100 <= float(row["points"]):
        yield f"told {told:.1%} less, without a profiler it became {untraced:.1%} less"


def pairs_of(folder):
    with open(folder / "pairs.tsv", newline="", encoding="utf-8") as file:
        return [{**row, "folder": folder} for row in csv.DictReader(file, delimiter="\t")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assay", required=True)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    rows = [row for folder in (H200, H100) for row in pairs_of(folder)]
    failed = 0
    for row in rows:
        for problem in problems_of(given.assay, row, given.table):
            failed += 1
            print(f"{row['pair']}: {problem}", file=sys.stderr)
    for problem in border_problems(given.assay):
        failed += 1
        print(problem, file=sys.stderr)
    print(f"{len(rows)} pairs, {failed} problems")
    return 1 if failed or len(rows) < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
