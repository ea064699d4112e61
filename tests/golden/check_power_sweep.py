#!/usr/bin/env python3
"""Compares `power sweep` with synthetic work of known energy and time at each power cap.

A cap makes kernels slower and reduces their power; recordings have unequal numbers of iterations. Of `--jobs N` from
`--seed`, the 95 % intervals must contain the true changes. Equal work at equal settings must show no difference;
different work is refused."""

import argparse
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

from check_telemetry_power import BASE, MS, SECOND, Job, write_log

SHAPE = [("aten::mm", 30, 420), ("aten::softmax", 12, 180), ("aten::mm", 45, 420), ("aten::copy_", 6, 60)]


class Capped(Job):
    """Iterations of one shape; `slower` and `watts` are the effect of the cap on the kernels."""

    def __init__(self, seed, iterations, slower=1.0, watts=1.0, extra=(), scatter=0.01):
        draw = random.Random(seed)
        self.idle_w, self.calls, self.steps = 80, [], []
        now = 300 * MS
        for _ in range(iterations):
            begin = now
            for op, ms, above in [*SHAPE, *extra]:
                end = now + int(ms * slower * MS * (1 + scatter * draw.gauss(0, 1)))
                self.calls.append((op, now, end, above * watts * (1 + scatter * draw.gauss(0, 1))))
                now = end + int(draw.uniform(0.05, 0.4) * MS)
            now += int(draw.uniform(35, 45) * MS)
            self.steps.append((begin, now))
        self.end = now + SECOND
        self.edges, self.sums = [0], [0.0]
        for _, start, end, above in self.calls:
            self._reach(start, 0)
            self._reach(end, above)
        self._reach(self.end, 0)


def expected(slower, watts):
    """Time and energy of an iteration, computed directly."""
    pauses = (0.225 * len(SHAPE) + 40) / 1e3
    time = sum(ms for _, ms, _ in SHAPE) * slower / 1e3 + pauses
    energy = sum(ms * above for _, ms, above in SHAPE) * slower * watts / 1e3 + 80 * time
    return time, energy


def write(folder, name, job, sensor, seed):
    job.write_trace(folder / f"{name}.json")
    write_log(folder / f"{name}.csv", job.readings(sensor, seed))


def sweep(assay, folder, names, *flags):
    args = [assay, "power", "sweep", *flags]
    for name in names:
        args += ["--setting", f"{name}={folder / (name + '.json')}",
                 "--samples", f"{name}={folder / (name + '.csv')}"]
    return subprocess.run(args, capture_output=True, text=True, check=False)


def answer(assay, folder, names):
    done = sweep(assay, folder, names, "--format", "json")
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def check_truth(assay, folder, seed, inside):
    caps = {"400 W": (1.0, 1.0), "300 W": (1.06, 0.72), "250 W": (1.3, 0.6)}
    sensor = [(100, 100, 0, 0.005), (25, 100, 0, 0.005), (50, 50, 20, 0.01)][seed % 3]
    for i, (name, (slower, watts)) in enumerate(caps.items()):
        write(folder, name, Capped(seed * 10 + i, (90, 61, 74)[i], slower, watts), sensor, seed + i)
    document = answer(assay, folder, list(caps))
    rows = {row["setting"]: row for row in document["sweep"]["changes"]}
    time, energy = expected(1.0, 1.0)
    for name in list(caps)[1:]:
        now_time, now_energy = expected(*caps[name])
        for key, truth in (("time", now_time / time), ("energy", now_energy / energy),
                           ("edp", now_time * now_energy / time / energy)):
            row = rows[name]
            assert row[f"{key}_change_low"] is not None, (seed, row, document["sweep"]["settings"], document["caveats"])
            inside.append(row[f"{key}_change_low"] <= truth - 1 <= row[f"{key}_change_high"])
            assert abs(row[f"{key}_change"] - (truth - 1)) < 0.02, (seed, name, key, row, truth - 1)
            assert row[f"{key}_told"], (seed, name, key, row)
    settings = {row["setting"]: row for row in document["sweep"]["settings"]}
    for name, recorded in zip(caps, (90, 61, 74)):  # the log may miss the first and the last
        assert recorded - 3 <= settings[name]["iterations"] <= recorded, settings
    # 300 W takes least: 250 W is slower and idles longer.
    best = min(caps, key=lambda name: expected(*caps[name])[1])
    assert document["headline"][0].startswith(best + " takes"), document["headline"]


def check_same(assay, folder, seed, told):
    for i, name in enumerate(("once", "again")):
        write(folder, name, Capped(seed * 10 + i, 60 + 20 * i), (100, 100, 0, 0.005), seed + i)
    document = answer(assay, folder, ["once", "again"])
    row = document["sweep"]["changes"][0]
    told.append(row["energy_told"])
    if not row["energy_told"]:
        assert document["headline"][0] == "No setting takes significantly less energy than once.", document["headline"]
        assert "does not differ significantly" in document["headline"][2], document["headline"]


def check_refused(assay, folder, seed):
    sensor = (100, 100, 0, 0.005)
    write(folder, "base", Capped(seed, 60), sensor, seed)
    write(folder, "other", Capped(seed + 1, 60, extra=[("aten::conv2d", 20, 300)]), sensor, seed)
    done = sweep(assay, folder, ["base", "other"])
    assert done.returncode == 2 and "not the same work" in done.stderr, done.stderr
    assert "kernel_of_aten::conv2d" in done.stderr, done.stderr
    write(folder, "short", Capped(seed + 1, 2), sensor, seed)
    done = sweep(assay, folder, ["base", "short"])
    assert done.returncode == 2, done.stderr
    done = sweep(assay, folder, ["base"])
    assert done.returncode == 2 and "two settings" in done.stderr, done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assay", required=True)
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=52_000)
    given = parser.parse_args()
    inside, told = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for seed in range(given.seed, given.seed + given.jobs):
            check_truth(given.assay, folder, seed, inside)
            check_same(given.assay, folder, seed, told)
        check_refused(given.assay, folder, given.seed)
    print(f"changes: {sum(inside)} of {len(inside)} ({sum(inside) / len(inside):.1%}) inside; "
          f"{sum(told)} of {len(told)} pairs of one setting told apart")
    assert sum(inside) / len(inside) >= 0.95 - 3.5 * math.sqrt(0.95 * 0.05 / len(inside)), inside
    assert sum(told) <= 1 + 0.1 * len(told), told
    return 0


if __name__ == "__main__":
    sys.exit(main())
