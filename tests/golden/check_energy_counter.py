#!/usr/bin/env python3
"""`power attribute` compared with the GPU's own energy counter: two jobs of random kernels and pauses on an NVIDIA
H200, two with one kernel in three and five loads on an H100 (tests/gpu/jobs.py, tests/data/h200_jobs, h100_jobs). The
column of the counter is emptied in their logs.

    check_energy_counter.py --assay build/release/assay

The interval of the energy from one sample per 100 ms must contain the growth of the counter, which covers all of the
time, within the difference of samples and counter under constant load.
"""

import argparse
import csv
import gzip
import pathlib
import sys
import tempfile

import datasets

sys.path.insert(0, str(datasets.ROOT / "tests/gpu"))
import counted_energy  # noqa: E402

DATA = datasets.ROOT / "tests/data"
JOBS = ("h200_jobs/job4", "h200_jobs/job6", "h100_jobs/few3", "h100_jobs/few5")
READING_OF_COUNTER = 0.004  # in steady stretches of the H100's log (docs/measured/2026-11-27-nvidia-h100.md)


def unpacked(name, folder):
    path = folder / pathlib.Path(name).name.removesuffix(".gz")
    path.write_bytes(gzip.decompress((DATA / name).read_bytes()))
    return path


def steps_of(log):
    rows = csv.DictReader(line for line in log.read_text().splitlines() if not line.startswith("#"))
    return [float(row["energy_j"]) for row in rows]


def problems_of(assay, job, folder):
    trace, log = unpacked(f"{job}.assaytrace.gz", folder), unpacked(f"{job}.csv.gz", folder)
    counter = steps_of(log)
    if counter != sorted(counter) or counter[-1] - counter[0] < 1000:
        return [f"{job}: the counter does not grow"], ""
    row = counted_energy.compared(assay, trace, log, counted_energy.without_counter(log, folder / "emptied.csv"))
    if row is None:
        return [f"{job}: the counter was seen where it is not, or not used where it is"], ""
    truth, low, high = row["counted_j"], row["low_j"], row["high_j"]
    words = f"{job}: {row['told_j']:.0f} J ({low:.0f} to {high:.0f}), counted {truth:.0f} J"
    found = []
    slack = READING_OF_COUNTER * truth
    if not low - slack <= truth <= high + slack:
        found.append(f"{words}: outside")
    if high - low > 0.06 * truth:
        found.append(f"{words}: too wide to be of use")
    return found, words


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=datasets.ROOT / "build/release/assay")
    options = parser.parse_args()
    problems = []
    for job in JOBS:
        with tempfile.TemporaryDirectory() as folder:
            found, words = problems_of(options.assay, job, pathlib.Path(folder))
            problems += found
            print(words)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
