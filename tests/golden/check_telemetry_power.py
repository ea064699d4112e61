#!/usr/bin/env python3
"""Compares the powers of `breakdown --telemetry` with jobs of known power.

Synthetic jobs have three operations in bursts with a power each, varying calls, and logs of several kinds of sensors.
Of `--logs N` jobs from `--seed`, the 95 % intervals of operations and iterations must contain the truth. A shift of the
log by 600 ms must be detected and give the same powers; shuffled samples must give no power."""

import argparse
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

MS = 1_000_000
SECOND = 1_000_000_000
BASE = 1_700_000_000 * SECOND
# window, period, delay (ms), noise (share): a window of one second, of a quarter, a part-time sensor of Ampere, a slow
# one.
SENSORS = [(100, 100, 0, 0.005), (25, 100, 0, 0.005), (50, 50, 20, 0.01), (200, 200, 40, 0.005)]
OPS = ("aten::mm", "aten::softmax", "aten::copy_")


class Job:
    """Calls of (operation, start, end, watts above idle), in ns since BASE."""

    def __init__(self, seed, scatter=0.03):
        draw = random.Random(seed)
        self.watts = {OPS[0]: draw.uniform(350, 600), OPS[1]: draw.uniform(100, 300),
                      OPS[2]: draw.uniform(20, 120)}
        self.idle_w = draw.uniform(60, 120)
        self.calls = []
        self.steps = []  # start, end of iterations
        now = 500 * MS
        for _ in range(24):
            begin = now
            for _ in range(draw.randint(4, 9)):
                for op, ms in zip(OPS, (draw.uniform(10, 60), draw.uniform(5, 30), draw.uniform(2, 15))):
                    end = now + int(ms * MS)
                    self.calls.append((op, now, end,
                                       self.watts[op] * (1 + scatter * draw.gauss(0, 1))))
                    now = end + int(draw.uniform(0.02, 0.5) * MS)
            self.steps.append((begin, now))
            now += int(draw.choice((20, 150, 400)) * MS)
        self.end = now + SECOND
        self.edges = [0]
        self.sums = [0.0]
        for _, start, end, watts in self.calls:
            self._reach(start, 0)
            self._reach(end, watts)
        self._reach(self.end, 0)

    def _reach(self, t, watts):
        self.sums.append(self.sums[-1] + (self.idle_w + watts) * (t - self.edges[-1]))
        self.edges.append(t)

    def energy(self, t):
        """W ns up to t."""
        low, high = 0, len(self.edges) - 1
        if t <= 0:
            return self.idle_w * t
        if t >= self.edges[-1]:
            return self.sums[-1] + self.idle_w * (t - self.edges[-1])
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.edges[middle] <= t else (low, middle)
        share = (t - self.edges[low]) / max(1, self.edges[high] - self.edges[low])
        return self.sums[low] + share * (self.sums[high] - self.sums[low])

    def mean_w(self, intervals):
        return sum(self.energy(b) - self.energy(a) for a, b in intervals) / sum(b - a for a, b in intervals)

    def runs(self, op):
        return [(a, b) for name, a, b, _ in self.calls if name == op]

    def write_trace(self, path):
        events = []
        for i, (op, start, end, _) in enumerate(self.calls):
            call = start - 20_000
            events += [
                dict(ph="X", cat="cpu_op", name=op, pid=1, tid=1, ts=call / 1e3 - 5, dur=15.0,
                     args={"External id": i + 1}),
                dict(ph="X", cat="cuda_runtime", name="cudaLaunchKernel", pid=1, tid=1, ts=call / 1e3,
                     dur=5.0, args={"correlation": i + 1, "External id": i + 1}),
                dict(ph="X", cat="kernel", name="kernel_of_" + op, pid=0, tid=7, ts=start / 1e3,
                     dur=(end - start) / 1e3,
                     args={"correlation": i + 1, "External id": i + 1, "device": 0, "stream": 7}),
            ]
        for i, (start, end) in enumerate(self.steps):
            events.append(dict(ph="X", cat="user_annotation", name=f"ProfilerStep#{i}", pid=1, tid=1,
                               ts=start / 1e3 - 30, dur=(end - start) / 1e3))
        trace = {"schemaVersion": 1, "baseTimeNanoseconds": BASE, "traceEvents": events,
                 "deviceProperties": [{"id": 0, "name": "NVIDIA A100", "totalGlobalMem": 1}]}
        path.write_text(json.dumps(trace))

    def readings(self, sensor, seed, late=0):
        window, period, delay, noise = sensor
        draw = random.Random(seed)
        rows = []
        t = draw.uniform(0, period) * MS
        while t < self.end:
            mean = (self.energy(t - delay * MS) - self.energy(t - (delay + window) * MS)) / (window * MS)
            rows.append([int(t) + late, round(mean * (1 + noise * draw.gauss(0, 1)), 2)])
            t += period * MS
        return rows


def write_log(path, rows):
    path.write_text("t_ns,power_w\n" + "".join(f"{BASE + t},{w:.2f}\n" for t, w in rows))


def levels(assay, trace, log):
    done = subprocess.run([assay, "breakdown", str(trace), "--telemetry", str(log), "--format", "json"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def powers(document):
    return [row for row in document["breakdown"]["telemetry"] if row["signal"] == "power_w"]


def notes(document):
    return {note["code"] for note in document["caveats"]}


class Count:
    def __init__(self):
        self.inside = self.all = 0
        self.errors = []
        self.widths = []

    def add(self, row, truth, verbose=False):
        if verbose and not row["low"] <= truth <= row["high"]:
            print(f"{row['op'] or row['iter']}: {row['value']:.1f} [{row['low']:.1f}, {row['high']:.1f}], true {truth:.1f}, {row['samples']} samples, {row['time_ns'] / 1e6:.0f} ms")
        self.all += 1
        self.inside += row["low"] <= truth <= row["high"]
        self.errors.append((row["value"] / truth - 1) ** 2)
        self.widths.append((row["high"] - row["low"]) / 2 / truth)

    def words(self):
        return (f"{self.inside} of {self.all} ({self.inside / self.all:.1%}) inside, rms error "
                f"{math.sqrt(sum(self.errors) / self.all):.2%}, half width "
                f"{sorted(self.widths)[self.all // 2]:.2%}")


def check_job(given, folder, seed, operations, iterations):
    job = Job(seed, given.scatter)
    sensor = SENSORS[seed % len(SENSORS) if given.sensor is None else given.sensor]
    if given.noise is not None:
        sensor = (*sensor[:3], given.noise)
    trace, log = folder / "job.json", folder / "power.csv"
    job.write_trace(trace)
    # In half of the cases the log's clock is also off by the delay of a sensor.
    write_log(log, job.readings(sensor, seed + 1, late=random.Random(seed).choice((0, 0, 30, -30)) * MS))
    document = levels(given.assay, trace, log)
    verbose = given.verbose
    for row in powers(document):
        if row["how"] != "modelled":  # only before the start or after the end of the log
            assert row["iter"] in (0, len(job.steps) - 1) and row["level"] == "iteration", (seed, row)
        elif row["level"] == "operation":
            operations.add(row, job.mean_w(job.runs(row["op"])), verbose)
        elif row["level"] == "iteration":
            # From the end of the last kernel of the iteration before to that of its own.
            start, end = job.steps[row["iter"]]
            last = max(b for _, a, b, _ in job.calls if start <= a < end)
            iterations.add(row, job.mean_w([(last - row["time_ns"], last)]), verbose)
    return document


def by_key(document):
    return {(row["level"], row["iter"], row["op"], row["phase"]): row for row in powers(document)}


def check_shift(assay, folder, seed):
    """A shift of the log by 600 ms in either direction is detected, and the powers are unchanged."""
    job = Job(seed)
    sensor = SENSORS[0]
    trace, log = folder / "shift.json", folder / "shift.csv"
    job.write_trace(trace)
    write_log(log, job.readings(sensor, seed))
    straight = levels(assay, trace, log)
    assert not {"telemetry_clock_off", "telemetry_lag_ambiguous"} & notes(straight), notes(straight)
    for late in (600 * MS, -600 * MS):
        write_log(log, job.readings(sensor, seed, late=late))
        moved = levels(assay, trace, log)
        lag = moved["breakdown"]["telemetry_lags"][0]
        assert lag["placed"] == "clock_off", lag
        assert lag["delay_low_ns"] <= late <= lag["delay_high_ns"] or abs(lag["lag_ns"] - late) < 5 * MS, lag
        assert "telemetry_clock_off" in notes(moved)
        other = by_key(moved)
        for key, row in by_key(straight).items():
            got = other[key]
            assert got["how"] == "modelled", got
            if row["level"] == "operation":
                assert abs(got["value"] / row["value"] - 1) < 0.02, (row, got)


def check_shuffled(assay, folder, seed):
    """Shuffled samples follow no activity: no power is reported without its uncertainty."""
    job = Job(seed)
    trace, log = folder / "shuffled.json", folder / "shuffled.csv"
    job.write_trace(trace)
    rows = job.readings(SENSORS[0], seed)
    watts = [w for _, w in rows]
    random.Random(seed).shuffle(watts)
    write_log(log, [[t, w] for (t, _), w in zip(rows, watts)])
    document = levels(assay, trace, log)
    assert "telemetry_power_unfitted" in notes(document), notes(document)
    assert all(row["how"] != "modelled" for row in powers(document))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assay", required=True)
    parser.add_argument("--logs", type=int, default=8)
    parser.add_argument("--seed", type=int, default=410_000)
    parser.add_argument("--scatter", type=float, default=0.03, help="by which calls of an operation differ")
    parser.add_argument("--noise", type=float, help="of every sensor, as a share of its reading")
    parser.add_argument("--sensor", type=int, help="one of the four alone: 0 to 3")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    operations, iterations = Count(), Count()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for seed in range(given.seed, given.seed + given.logs):
            check_job(given, folder, seed, operations, iterations)
        check_shift(given.assay, folder, given.seed)
        check_shuffled(given.assay, folder, given.seed)
    print(f"operations: {operations.words()}")
    print(f"iterations: {iterations.words()}")
    # Binomial: with few logs a few may miss.
    for count in (operations, iterations):
        least = 0.95 - 3.5 * math.sqrt(0.95 * 0.05 / count.all)
        assert count.inside / count.all >= least, "intervals miss the truth"
    return 0


if __name__ == "__main__":
    sys.exit(main())
