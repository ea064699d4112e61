#!/usr/bin/env python3
"""What one laboratory's rows tell of others': latencies of tests/data/serving_public.csv.

    check_other_laboratories.py --assay PATH [--write]

Two questions, each asked of rows that taught nothing: what AIConfigurator's public table (one
laboratory) tells of all others, and what it and the other laboratories tell of those left out (five
folds of whole laboratories). The table of docs/measured/throughput_other_laboratories.md is what
this prints; --write puts it there. Leaves with 1 where the page says something else, or where
intervals of GPUs with rows hold less than they are said to.
"""

import argparse
import collections
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
import zlib

from datasets import CORPUS

TABLE = CORPUS / "bench/aiconfigurator_silicon_sample_A.csv.gz"
SKIP = 77
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs", "measured", "throughput_other_laboratories.md")
ROWS = os.path.join(ROOT, "tests", "data", "serving_public.csv")
BEGIN, END = "<!-- measured: begin -->\n", "<!-- measured: end -->\n"
FOLDS = 5
# TPOT coverage of 90 % intervals at limited concurrency, with equal weight per laboratory; a lower value is a
# regression (measured: 85.3 and 87.8 %, of ten and fourteen laboratories).
LEAST_HELD = 0.8


def write_rows(path, rows):
    with open(path, "w", encoding="utf-8") as out:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def judged(assay, tables, other):
    run = subprocess.run([assay, "throughput", "evaluate", *tables, "--judge", other, "--format", "json"],
                         capture_output=True, text=True, check=True)
    return json.loads(run.stdout)["throughput"]["judged"]


def of_all(assay, table, rows, folder):
    other = os.path.join(folder, "other.csv")
    write_rows(other, rows)
    return judged(assay, [table], other)


def by_folds(assay, table, rows, folder):
    out = []
    fold = lambda row: zlib.crc32(("fold " + row["lab"]).encode()) % FOLDS
    for f in range(FOLDS):
        asked = [row for row in rows if fold(row) == f]
        teach = [row for row in rows if fold(row) != f]
        if not asked:
            continue
        paths = [os.path.join(folder, name) for name in ("teach.csv", "asked.csv")]
        write_rows(paths[0], teach)
        write_rows(paths[1], asked)
        out += judged(assay, [table, paths[0]], paths[1])
    return out


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def holds(row):
    return row["low90"] <= row["measured_ms"] <= row["high90"]


def width(row):
    return row["high90"] / row["told_ms"] - 1


def by_laboratory(rows):
    held = collections.defaultdict(list)
    for row in rows:
        held[row["campaign"].split("|")[0]].append(holds(row))
    return sum(sum(one) / len(one) for one in held.values()) / len(held), len(held)


def line(name, which, rows):
    error = [abs(row["told_ms"] / row["measured_ms"] - 1) for row in rows]
    share, laboratories = by_laboratory(rows)
    narrow = [row for row in rows if width(row) <= 1]
    said = "none" if not narrow else f"{100 * sum(map(holds, narrow)) / len(narrow):.1f} % of {len(narrow)}"
    return (f"| {name} | {which} | {len(rows)} of {laboratories} | {100 * quantile(error, .5):.0f} / "
            f"{100 * quantile(error, .9):.0f} | {100 * sum(map(holds, rows)) / len(rows):.1f} % | "
            f"{100 * share:.1f} % | ± {100 * quantile([width(row) for row in rows], .5):.0f} % | {said} |")


def is_limited(row, closed):
    return (row["campaign"], row["ii"], row["oo"], row["bb"]) in closed


def lines(title, told, closed):
    """closed: benchmark run, sizes and measurements of rows with limited concurrency."""
    out = [f"| **{title}** | | | | | | | |"]
    for name in ("TTFT", "TPOT", "end to end"):
        of = [row for row in told if row["latency"] == name]
        known = [row for row in of if row["question"] != "hardware"]
        limited = [row for row in known if is_limited(row, closed)]
        out.append(line(name, "GPU and engine have rows", known))
        out.append(line(name, "of these, requests limited", limited))
        out.append(line(name, "new GPU for the engine", [row for row in of if row not in known]))
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with open(ROWS, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    closed = {(row["campaign"], float(row["ii"]), float(row["oo"]), float(row["bb"]))
              for row in rows if row["in_flight"] == "limit"}
    if not TABLE.is_file():
        print(f"{TABLE} is not here: skipped")
        return SKIP
    with tempfile.TemporaryDirectory() as folder:
        alone = of_all(options.assay, str(TABLE), rows, folder)
        folds = by_folds(options.assay, str(TABLE), rows, folder)
    text = "\n".join(["| | asked of | rows, laboratories | error % | in the interval | each laboratory the same | ± | narrow |",
                      "|---|---|--:|--:|--:|--:|--:|---|"] +
                     lines("AIConfigurator's table alone teaches", alone, closed) +
                     lines("with the other laboratories, five folds", folds, closed)) + "\n"
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    if options.write:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(page[:begin] + text + page[end:])
    elif page[begin:end] != text:
        print("the page does not say what was measured:\n" + text)
        return 1
    for told in (alone, folds):
        asked = [row for row in told if row["latency"] == "TPOT" and row["question"] != "hardware" and is_limited(row, closed)]
        share, laboratories = by_laboratory(asked)
        assert laboratories >= 8 and all(math.isfinite(row["told_ms"]) for row in told)
        if share < LEAST_HELD:
            print(f"TPOT: {share:.3f} of {laboratories} laboratories held")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
