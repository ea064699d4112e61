#!/usr/bin/env python3
"""Compares the work of operators with what TraceLens publishes of the same public traces.

    check_tracelens.py --assay build/release/assay [--write]

tests/data/tracelens.tsv holds FLOP, bytes and kernel time of operators as TraceLens's own reference reports have them
(tables unified_perf_summary and CONV_bwd, tests/traces of its repository, MIT licence), and by which ratio Assay's
differ and why, worked out by hand from the sizes. Both must be met: a ratio of 1 within a millionth. --write remakes
the table of docs/measured/tracelens.md.

Exit code 77: no traces to compare.
"""

import argparse
import collections
import csv
import fractions
import json
import pathlib
import subprocess
import sys

import datasets

TABLE = datasets.ROOT / "tests/data/tracelens.tsv"
PAGE = datasets.ROOT / "docs/measured/tracelens.md"
BEGIN, END = "<!-- table -->", "<!-- end -->"
CLOSE = 1e-6
SKIP = 77


def roof_of(assay, path):
    done = subprocess.run([assay, "breakdown", str(path), "--roofline", "--format", "json"], capture_output=True, text=True,
                          timeout=600, check=True)
    return json.loads(done.stdout)["roofline"]


def compared(row, op):
    """(name, theirs, ours, expected ratio) of one operator; times only if TraceLens reports them separately."""
    yield "GFLOP", float(row["gflop"]), op["flop"] / op["calls"] / 1e9, fractions.Fraction(row["flop_ratio"])
    yield "MiB", float(row["mib"]), op["moved_bytes"] / op["calls"] / 2**20, fractions.Fraction(row["bytes_ratio"])
    if row["kernel_us"]:
        yield "kernels, us", float(row["kernel_us"]), op["dur_ns"] / 1e3, fractions.Fraction(1)


def problems_of(row, op):
    if op is None:
        return ["not found"]
    found = [] if op["calls"] == int(row["calls"]) else [f"{op['calls']} calls, there {row['calls']}"]
    for what, theirs, ours, ratio in compared(row, op):
        wanted = theirs * float(ratio)
        # Times are rounded to a thousandth of a microsecond, or to a quarter of a microsecond in CONV_bwd.
        if abs(ours - wanted) > max(CLOSE * abs(wanted), 1e-2 if what.startswith("kernels") else 0):
            found.append(f"{what} {ours:.9g}, should be {wanted:.9g} ({theirs:.9g} there)")
    return found


def percent(ratio):
    return "" if ratio == 1 else f"{100 * (float(ratio) - 1):+.2f} %"


def write_page(rows):
    lines = ["| trace | operator | shape | FLOP here | bytes here | why |", "|---|---|---|---:|---:|---|"]
    for row in rows:
        flop, size = fractions.Fraction(row["flop_ratio"]), fractions.Fraction(row["bytes_ratio"])
        lines.append(f"| {row['trace']} | `{row['op']}` | {row['shape']} | {percent(flop) or 'the same'} "
                     f"| {percent(size) or 'the same'} | {row['why']} |")
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    PAGE.write_text(head + BEGIN + "\n" + "\n".join(lines) + "\n" + END + rest.split(END)[1], encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=datasets.ROOT / "build/release/assay", type=pathlib.Path)
    parser.add_argument("--write", action="store_true", help="remake the table of docs/measured/tracelens.md")
    given = parser.parse_args()
    with open(TABLE, encoding="utf-8", newline="") as text:
        rows = list(csv.DictReader(text, delimiter="\t"))
    if given.write:
        write_page(rows)
    by_trace = collections.defaultdict(list)
    for row in rows:
        by_trace[row["trace"]].append(row)
    checked = failed = 0
    for trace, own in by_trace.items():
        path = datasets.CORPUS / f"{trace}.json.gz"
        if not path.exists():
            continue
        ops = {(op["op"], op["shape"], op["phase"]): op for op in roof_of(given.assay, path)["ops"]}
        for row in own:
            problems = problems_of(row, ops.get((row["op"], row["shape"], row["phase"])))
            checked += 1
            failed += bool(problems)
            for problem in problems:
                print(f"{trace}: {row['op']} {row['shape']}: {problem}")
    if checked == 0:
        print(datasets.NO_CORPUS)
        return SKIP
    print(f"{checked} operators as TraceLens has them, or different as explained; {failed} are not")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
