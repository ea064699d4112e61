#!/usr/bin/env python3
"""Compares `assay info --format json` on the Nsight Systems exports of the corpus with the results of
nsys_reference.py, key by
key, and with event lists of other tools for the same recording.

    check_nsys.py --assay build/release/assay
"""

import argparse
import csv
import json
import subprocess
import sys

import check_golden
import datasets
import nsys_reference

FOLDER = datasets.CORPUS / "nsys"


def durations(path, wanted=lambda row: True):
    """(events, summed nanoseconds) of a list of Enter and Leave rows."""
    with open(path, newline="") as file:
        rows = [row for row in csv.DictReader(file) if wanted(row)]
    times = {"Enter": 0, "Leave": 0}
    for row in rows:
        times[row["Event Type"]] += int(row["Timestamp (ns)"])
    return len(rows) // 2, times["Leave"] - times["Enter"]


def against_event_lists(assay):
    """cloverleaf_*.csv: the same run from another reader of the format."""
    path = FOLDER / "cloverleaf_a100.sqlite"
    done = subprocess.run([assay, "info", "--format", "json", path], capture_output=True, text=True)
    summary = json.loads(done.stdout)
    calls = durations(FOLDER / "cloverleaf_cuda_api_trace.csv")
    kernels = durations(FOLDER / "cloverleaf_gpu_trace.csv", lambda row: row["type"] == "kernel")
    got = {
        "api_calls": (summary["tables"]["api_calls"], summary["sums"]["api_calls"]["dur_ns"]),
        "kernels": (summary["activity_kinds"]["kernel"], summary["launch"]["kernel_sum_ns"]),
    }
    for what, listed in (("api_calls", calls), ("kernels", kernels)):
        if got[what] != listed:
            yield f"{path.name}: {what} are {got[what]}, listed as {listed}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    assay = parser.parse_args().assay
    paths = sorted(FOLDER.glob("*.sqlite"))
    if not paths:
        print(datasets.NO_CORPUS)
        return check_golden.SKIP
    problems = [f"{path.name}: {problem}" for path in paths
                for problem in check_golden.differences(assay, path, nsys_reference.summarize(path))]
    problems += against_event_lists(assay)
    for problem in problems:
        print(problem)
    print(f"Nsight Systems exports: {len(paths)} compared, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
