#!/usr/bin/env python3
"""Writes docs/measured/diff.md: how often `assay diff` tells a change where there is none, and where there is one.

  measure_diff.py --table build/release/assay_noise_table [--seeds 1000]

Series of public traces are the durations of one kernel (name, grid, block, stream) in order, twenty or more; they are
given to the same code as made-up iterations.
"""

import argparse
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/golden"))
import datasets  # noqa: E402

PAGE = ROOT / "docs/measured/diff.md"
LEAST = 20  # values of a series
LARGEST = 12_000_000  # bytes of a file

HEAD = """# How often `assay diff` tells a change

Made by `tools/measure_diff.py`, with {seeds:,} pairs of runs in every cell; shares are in per cent, and of what is 5 % a cell is off
by {off:.1f} or less in 95 of 100. Iterations take 100 ms with a spread of 1 %. What is asked for is 5 % or less where nothing changed. The rule
(`src/base/memory.h`) was chosen on a sketch of these scenes with other random numbers, its constants by the rows of iterations each by
itself, like the one before, and of a drift. The rows *held out* were made when it stood, and the public series had no part in it.

"""
SAME = """
*Like the one before*: by that correlation. *Late ends*: an iteration that ends late is long, the next one short. *A drift*, *a step*:
by about 3 % within a run, another one in each run. *A spread with a memory*: quiet times and uneasy ones. *Two clocks*: 3 % apart,
changing every 20 iterations. *Some far*: 5 % take 1.5 to 5 times as long. Above 5 % is what happened to the whole of a run: a step before its first iterations, one clock from begin to
end, a part of a wave. No iteration shows it; several runs a side do.

"""
POWER = """
Of iterations each by itself, short runs tell large changes only, because they cannot show that they have no memory: where a
change would be real if each were by itself, the verdict says *Too few independent iterations*.
{before}

"""
BEFORE = """Before iterations counted as fewer where they may resemble each other (the same scenes, 300 pairs), a memory of 0.9 made changes of 38 to 58
in 100 pairs of the same program at 3 to 100 iterations, a drift of 59 to 91 from 16 on; each by itself 0.3 to 7, and 2 % were told in 72 of
100 at 8 iterations a side."""
RUNS = """
Machines differ by 3 %, runs of one machine by 0.3 %, runs have four iterations each; a pair is of one machine.

"""
SERIES = """
Durations of one kernel, of the traces in `shared/data` up to 12 MB, split in two; nothing was chosen by them. *Every other* tells of
real differences: calls of a kernel often alternate between two tensors; of the 25 series that differ most so, 24 do it the same way in
both halves of the run.
"""
SCENES = """
Scenes whose difference is known (`tests/golden/check_diff_verdicts.py`): one slow rank among eight is named with its 412 µs,
both ways, and not the collective that the others wait in; one step of 600 ms among 16 of 150 ms is no change; a loader's
mending from 150.6 to 122.5 ms is told with and without such a step; eight pairs on machines that differ by 10 % tell 2 %.
"""


def series_of(path):
    """Durations in ns, in order, per kernel as it is launched."""
    text = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
    trace = json.loads(text)
    rows = trace["traceEvents"] if isinstance(trace, dict) else trace
    found = collections.defaultdict(list)
    for row in rows:
        if row.get("ph") != "X" or str(row.get("cat", "")).lower() != "kernel" or "nccl" in row["name"].lower():
            continue
        told = row.get("args") or {}
        key = (row["name"], str(told.get("grid")), str(told.get("block")), told.get("device"), row.get("tid"))
        found[key].append((float(row["ts"]), round(1000 * float(row["dur"]))))
    return [[ns for _, ns in sorted(rows)] for rows in found.values() if len(rows) >= LEAST]


def public_series():
    for name, path in datasets.golden_traces():
        if name.startswith("kineto/") and path.stat().st_size <= LARGEST and path.is_relative_to(datasets.CORPUS):
            yield from series_of(path)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--table", required=True)
    options.add_argument("--seeds", type=int, default=1000)
    options = options.parse_args()
    public = list(public_series())
    if not public:
        sys.exit(datasets.NO_CORPUS)
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        for series in public:
            file.write(" ".join(map(str, series)) + "\n")
        file.flush()
        done = subprocess.run([options.table, str(options.seeds), file.name], capture_output=True, text=True, check=True)
    same, slower, alike, runs, public = done.stdout.split("\n## ")[0:5]
    page = HEAD.format(seeds=options.seeds, off=100 * 1.96 * (0.05 * 0.95 / options.seeds) ** 0.5) + same + SAME
    page += "## " + slower + POWER.format(before=BEFORE) + "## " + alike + "\n## " + runs + RUNS + "## " + public + SERIES + SCENES
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
