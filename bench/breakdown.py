#!/usr/bin/env python3
"""Speed of `assay breakdown` on a set of ranks, against reading the same files.

    bench/breakdown.py [--assay build/release/assay] [--runs 7] FOLDER

Decompresses the traces of the folder once (inflating is not what is measured), then takes the medians over fresh
processes of: the whole of `assay breakdown` over the set; and in it the phase "read" (bytes to tables) and the
phase "breakdown" (placing, equations, sums), as --perf prints them. The aim is at least half the speed of reading.
"""

import argparse
import gzip
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def unpack(folder, target):
    total = 0
    for path in sorted(folder.glob("*.json*")):
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        (target / path.name.removesuffix(".gz")).write_bytes(data)
        total += len(data)
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=ROOT / "build/release/assay", type=pathlib.Path)
    parser.add_argument("--runs", default=7, type=int)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        target = pathlib.Path(scratch)
        size = unpack(options.folder, target)
        if size == 0:
            sys.exit(f"no traces in {options.folder}")
        wall, read, levels = [], [], []
        for _ in range(options.runs):
            begin = time.perf_counter()
            done = subprocess.run([options.assay, "breakdown", target, "--perf", "--threads", "1", "-o", "/dev/null"],
                                  capture_output=True, text=True, check=True)
            wall.append(time.perf_counter() - begin)
            for phase, times in (("read", read), ("breakdown", levels)):
                times.append(sum(map(float, re.findall(rf"perf {phase} ([\d.]+) s", done.stderr))))
        speeds = [size / statistics.median(times) / 1e6 for times in (wall, read, levels)]
        files = len(list(target.iterdir()))
        print(f"{files} ranks, {size / 1e6:.1f} MB: whole {speeds[0]:.0f} MB/s, reading {speeds[1]:.0f} MB/s, "
              f"levels {speeds[2]:.0f} MB/s; whole / reading {speeds[0] / speeds[1]:.2f}")


if __name__ == "__main__":
    main()
