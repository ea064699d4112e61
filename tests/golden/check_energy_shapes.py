#!/usr/bin/env python3
"""The energy of a recording must not depend on how the recording was cut: synthetic GPUs of known energy, and public
meter
recordings.

A case is a synthetic GPU (base, kernels, pulses, ramp), its sensor (boxcar over all or a part of its period,
exponential, or smoothed; 20 to 200 ms), and a job of 1 to 60 s that is busy 10 to 100 % of the time. Its log and trace
are written in many shapes: cropped to the activity, with idle at the ends, launches jittered, kernels cut or merged,
the clock off. The interval of the kernels' energy of every shape is compared with the truth and with that of every
other shape, the total with the truth. Without options a few cases of fixed seeds run, within a minute. --write makes
docs/measured/energy_shapes.md.
"""

import argparse
import bisect
import concurrent.futures
import csv
import datetime
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
METER = ROOT / "tests/data/power_meter"
PAGE = ROOT / "docs/measured/energy_shapes.md"
EPOCH = 1_700_000_000  # 2023-11-14 22:13:20 UTC
ZERO = datetime.datetime(2023, 11, 14, 22, 13, 20)
SHORT_SEEDS = range(9000, 9003)
# One shape each: logs without idle that separate base and kernels by chance, or with first samples from another time.
SHORT_SINGLES = (195000, 268000, 414000)
TOTAL_WITHIN = .05      # share of the truth: sensor error against a meter
MOST_EVENTS = 40_000    # of a trace with cut kernels
PUBLIC = {"a100_5050": (1, .954), "a100_step": (1, .954), "rtx4090_step": (1, 1.0445), "a5000_step": (2, .9082)}


class Energy:
    """Joules above the base up to a moment, for consecutive kernels (name, start, end)."""

    def __init__(self, kernels, watts):
        self.starts, self.before, self.spans = [], [], []
        joules = 0.0
        for name, start, end in kernels:
            self.starts.append(start)
            self.before.append(joules)
            self.spans.append((watts[name], end))
            joules += watts[name] * (end - start)
        self.joules = joules

    def until(self, t):
        at = bisect.bisect_right(self.starts, t) - 1
        if at < 0:
            return 0.0
        watts, end = self.spans[at]
        return self.before[at] + watts * (min(t, end) - self.starts[at])


class Case:
    """A synthetic GPU with a job and its log, from a seed."""

    def __init__(self, seed):
        draw = random.Random(seed)
        self.seed = seed
        self.period = math.exp(draw.uniform(math.log(.02), math.log(.2)))
        self.kind = draw.choice(["boxcar", "part of the time", "mean of 1 s", "exponential", "kept part"])
        self.window, self.ramp, self.kept = self.period, 0.0, 0.0
        if self.kind == "part of the time":
            self.window = self.period * draw.uniform(.2, .6)
        elif self.kind == "mean of 1 s":
            self.window = 1.0
        elif self.kind == "exponential":
            self.window, self.ramp = .002, draw.uniform(.01, .2)
        elif self.kind == "kept part":
            self.kept = draw.uniform(.1, .7)
        self.seconds = math.exp(draw.uniform(0, math.log(60)))
        self.duty = draw.uniform(.1, 1)
        self.base = draw.uniform(25, 150)
        self.watts = {"gemm": draw.uniform(100, 600), "norm": draw.uniform(60, 300)}
        self.noise = draw.uniform(.001, .01)
        self.off = draw.uniform(-.05, .05)
        self.delay = draw.uniform(0, .03)
        self.around = draw.choice(["idle", "idle", "idle", "nothing", "unrecorded work"])
        pulse = math.exp(draw.uniform(math.log(.005), math.log(.4)))
        steady = draw.random() < .5  # every pulse alike: the hard case
        self.kernels = []
        t = 0.0
        while t < self.seconds:
            for name, share in (("gemm", .7), ("norm", .3)):
                length = pulse * self.duty * share * (1 if steady else draw.uniform(.5, 1.5))
                self.kernels.append((name, t, t + length))
                t += length
            t += pulse * (1 - self.duty) * (1 if steady else draw.uniform(.5, 1.5))
        self.end = self.kernels[-1][2]
        self.energy = Energy(self.kernels, self.watts)
        self.rows = self.log(draw)

    def log(self, draw):
        """Polls of the sensor, which shows each update until the next."""
        begin, end = -8.0, self.end + 8.0
        unrecorded = self.energy.joules / self.end if self.around == "unrecorded work" else 0.0

        def drawn(t):  # joules above the base, with unrecorded activity
            outside = min(t, 0.0) - begin + max(0.0, t - self.end)
            return self.energy.until(t) + unrecorded * outside

        shown = drawn
        if self.ramp > 0:
            step = 5e-4
            keep = math.exp(-step / self.ramp)
            joules, y, last = [0.0], 0.0, drawn(begin)
            for i in range(1, int((end - begin) / step) + 2):
                now = drawn(begin + i * step)
                x = (now - last) / step
                last = now
                y = x + (y - x) * keep
                joules.append(joules[-1] + y * step)

            def shown(t):
                place = max(0.0, (t - begin) / step)
                at = min(int(place), len(joules) - 2)
                return joules[at] + (place - at) * (joules[at + 1] - joules[at])

        updates, before = [], None
        t = begin + 1.2 + draw.random() * self.period
        while t < end:
            seen = t - self.delay
            watts = (self.base + (shown(seen) - shown(seen - self.window)) / self.window) * (1 + self.noise * draw.gauss(0, 1))
            before = watts if before is None else self.kept * before + (1 - self.kept) * watts
            updates.append((t, before))
            t += self.period
        rows, at, poll = [], 0, self.period / draw.uniform(2.5, 6)
        t = updates[0][0] + poll / 2
        while t < end:
            while at + 1 < len(updates) and updates[at + 1][0] <= t:
                at += 1
            rows.append((t + self.off, updates[at][1]))
            t += poll * draw.uniform(.9, 1.1)
        if self.around == "nothing":
            rows = [row for row in rows if 0 <= row[0] - self.off <= self.end]
        return rows

    def total(self, begin, end):
        return self.base * (end - begin) + self.energy.until(end) - self.energy.until(begin)


class Public:
    """A public recording of a card with a meter on its supply."""

    def __init__(self, name):
        column, self.gain = PUBLIC[name]
        self.kind, self.seed, self.around, self.off = f"{name}", name, "idle", 0.0
        self.kernels = [("load", *map(float, row)) for row in rows_of(f"{name}_load")]
        self.end = self.kernels[-1][2]
        self.rows = [(float(row[0]), float(row[column])) for row in rows_of(f"{name}_log")]
        self.meter = [(float(t), float(w)) for t, w in rows_of(f"{name}_meter")]
        idle = [w for t, w in self.meter if -.4 <= t <= -.05]
        self.idle = sum(idle) / len(idle)
        self.last = self.meter[-1][0]
        self.watts = {"load": 1.0}
        self.seconds = self.end

    def truth(self):
        """The meter's joules above idle while the load ran."""
        return sum(.002 * (w - self.idle) for t, w in self.meter if any(a <= t - .001 < b for _, a, b in self.kernels))


def rows_of(name):
    with open(METER / f"{name}.csv", newline="") as file:
        return list(csv.reader(file))[1:]


def cut(kernels, pieces):
    if len(kernels) * pieces > MOST_EVENTS:
        return None
    return [(n, a + (b - a) * i / pieces, a + (b - a) * (i + 1) / pieces) for n, a, b in kernels for i in range(pieces)]


def jittered(kernels, seconds):
    draw = random.Random(7)
    return [(n, a + (d := draw.uniform(-seconds, seconds)), b + d) for n, a, b in kernels]


def merged(kernels):
    """Merges adjacent kernels."""
    result = []
    for name, start, end in kernels:
        if result and start - result[-1][2] < 1e-9:
            result[-1] = ("merged", result[-1][1], end)
        else:
            result.append(("merged", start, end))
    return result


def shapes_of(case):
    """(name, kernels, idle known to the trace at either end or None, shift of the log)."""
    kernels = case.kernels
    shapes = [("cropped to the work", kernels, None, 0.0)]
    if case.around != "unrecorded work":
        shapes += [(f"{idle:g} s of idle at the ends", kernels, idle, 0.0) for idle in (.1, .3, 1, 5)]
    shapes += [(f"launches jittered by {micro} us", jittered(kernels, micro * 1e-6), None, 0.0) for micro in (1, 20, 100)]
    shapes += [(f"kernels cut in {n}", parts, None, 0.0) for n in (2, 10, 100) if (parts := cut(kernels, n))]
    shapes += [("kernels merged", merged(kernels), None, 0.0)]
    shapes += [(f"clock off by {milli} ms", kernels, None, milli * 1e-3) for milli in (1, 10, -50, 50)]
    return shapes


def write_trace(path, kernels, begin, end):
    """The host is recorded from `begin` to `end`, if given."""
    def event(category, name, pid, tid, start, stop, args):
        return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": round((EPOCH + start) * 1e6, 3),
                "dur": round((stop - start) * 1e6, 3), "args": args}

    ends = [] if begin is None else [begin, end - 1e-6]
    events = [event("cuda_runtime", "cudaGetDevice", 1, 1, t, t + 1e-6, {"correlation": 0}) for t in ends]
    for number, (name, start, stop) in enumerate(kernels, 1):
        events.append(event("cuda_runtime", "cudaLaunchKernel", 1, 1, start, start + 1e-6, {"correlation": number}))
        events.append(event("kernel", name, 0, 7, start, stop, {"correlation": number, "device": 0, "stream": 7}))
    path.write_text(json.dumps({"traceEvents": events}))


def write_log(path, rows, shift):
    lines = ["timestamp, power.draw [W]"]
    for t, watts in rows:
        stamp = ZERO + datetime.timedelta(seconds=t + shift)
        lines.append(f"{stamp.strftime('%Y/%m/%d %H:%M:%S.%f')[:-3]}, {watts:.2f} W")
    path.write_text("\n".join(lines) + "\n")


class Answer:
    """The answer for one shape of one case."""

    def __init__(self, assay, folder, case, shape):
        self.case = case
        self.shape, kernels, idle, shift = shape
        begin, end = (None, None) if idle is None else (-idle, case.end + idle)
        write_trace(folder / "job.json", kernels, begin, end)
        write_log(folder / "log.csv", case.rows, shift)
        command = [assay, "power", "attribute", folder / "job.json", "--samples", folder / "log.csv", "--format", "json"]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        self.refused = "" if done.returncode == 0 else done.stderr.strip()[-160:]
        energy = {} if self.refused else json.loads(done.stdout)["energy"]
        self.refused = self.refused or energy.get("total_only") or ""
        if self.refused:
            return
        # Energy outside the log: by the powers of the kernels that ran inside, if each is known.
        covered = {row["name"]: row["busy_ns"] * 1e-9 for row in energy["kernels"]}
        powers = case.watts if set(covered) <= set(case.watts) else dict.fromkeys(covered, 1.0)
        whole = sum(powers.get(name, 1.0) * (b - a) for name, a, b in kernels)
        scale = whole / sum(powers[name] * seconds for name, seconds in covered.items())
        self.bracket = not energy["follows"]
        self.low, self.high = energy["kernels_low_j"] * scale, energy["kernels_high_j"] * scale
        self.joules = None if self.bracket else energy["kernels_j"] * scale
        self.base, self.total = energy["base_w"], energy["total_j"]
        self.total_low, self.total_high = energy["total_low_j"], energy["total_high_j"]
        starts = 0.0 if begin is None else begin
        self.covered = [starts + energy[f"covered_{end}_ns"] * 1e-9 for end in ("from", "until")]
        self.model_total = energy["model_total_j"]
        self.part_time = case.kind == "part of the time"

    def holds(self, truth):
        slack = 1e-6 * truth
        return self.low - slack <= truth <= self.high + slack


class Tally:
    """Counts over cases."""

    def __init__(self):
        self.rows = {}
        self.problems = []

    def add(self, key, **counts):
        row = self.rows.setdefault(key, {})
        for name, count in counts.items():
            row.setdefault(name, []).append(count)

    def take(self, other):
        for key, counts in other.rows.items():
            for name, values in counts.items():
                self.rows.setdefault(key, {}).setdefault(name, []).extend(values)
        self.problems += other.problems


def judge_seed(assay, seed, all_shapes):
    """The tally of one case, over all of its shapes or one."""
    tally = Tally()
    case = Case(seed)
    shapes = shapes_of(case)
    with tempfile.TemporaryDirectory() as folder:
        judge(assay, pathlib.Path(folder), case, shapes if all_shapes else [random.Random(seed).choice(shapes)], tally)
    return tally


def judge(assay, folder, case, shapes, tally):
    answers = [Answer(assay, folder, case, shape) for shape in shapes]
    for answer in answers:
        where = f"{case.seed} ({case.kind}, {case.seconds:.1f} s, {case.around}), {answer.shape}"
        keys = [("sensor", case.kind), ("shape", answer.shape), ("around the work", case.around), ("all", "all")]
        for key in keys:
            tally.add(key, refused=bool(answer.refused))
        if answer.refused:
            continue
        truth = case.energy.joules
        held = answer.holds(truth)
        if not held:
            tally.problems.append(f"{where}: {answer.low:.1f} to {answer.high:.1f} J misses {truth:.1f}"
                                  f"{' (bracket)' if answer.bracket else ''}")
        whole = case.total(*answer.covered)
        # The sum of a sensor that covers part of the time is random; the model's total is shown instead.
        shown = answer.model_total if answer.part_time and not answer.bracket else answer.total
        off = shown / whole - 1
        near = TOTAL_WITHIN * whole
        total_held = answer.total_low - near <= whole <= answer.total_high + near
        if not total_held:
            tally.problems.append(f"{where}: {answer.total_low:.1f} to {answer.total_high:.1f} J in all, the truth is "
                                  f"{whole:.1f}")
        for key in keys:
            tally.add(key, held=held, bracket=answer.bracket, total_held=total_held)
            if not answer.bracket:
                tally.add(key, width=(answer.high - answer.low) / truth, off=abs(answer.joules / truth - 1), total=abs(off))
    apart = exclusions(answers)
    tally.add(("all", "all"), recordings=1, apart=bool(apart))
    tally.problems += [f"{case.seed} ({case.kind}): {words}" for words in apart]


def exclusions(answers):
    """Pairs of shapes whose intervals exclude each other."""
    known = [answer for answer in answers if not answer.refused]
    return [f"{a.shape} ({a.low:.1f} to {a.high:.1f}) excludes {b.shape} ({b.low:.1f} to {b.high:.1f})"
            for i, a in enumerate(known) for b in known[i + 1:] if a.low > b.high or b.low > a.high]


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))] if values else float("nan")


def table(tally, kind):
    lines = [f"| {kind} | runs | refused | bracket | held | width, median | kernels off, median "
             "| total held | total off, median, 95th |",
             "|---|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for (of, name), row in tally.rows.items():
        if of != kind:
            continue
        held, width = row.get("held", []), row.get("width", [])
        share, total_share = (f"{sum(one)} of {len(one)} ({sum(one) / max(len(one), 1):.1%})"
                              for one in (held, row.get("total_held", [])))
        lines.append(f"| {name} | {len(row['refused'])} | {sum(row['refused'])} | {sum(row.get('bracket', []))} | {share} "
                     f"| {quantile(width, .5):.1%} | {quantile(row.get('off', []), .5):.2%} | {total_share} "
                     f"| {quantile(row.get('total', []), .5):.2%}, {quantile(row.get('total', []), .95):.2%} |")
    return lines


def public_rows(assay, folder, problems):
    lines = ["| recording | meter | every shape's estimate | every shape's interval | shapes |", "|---|--:|--:|---|--:|"]
    for name in PUBLIC:
        case = Public(name)
        answers = [Answer(assay, folder, case, shape) for shape in shapes_of(case)]
        problems += [f"{name}: {words}" for words in exclusions(answers)]
        refused = [answer for answer in answers if answer.refused]
        problems += [f"{name}, {answer.shape}: {answer.refused}" for answer in refused]
        known = [answer for answer in answers if not answer.refused]
        truth = case.truth()
        low, high = (pick(getattr(a, end) for a in known) / case.gain for pick, end in ((min, "low"), (max, "high")))
        for answer in known:
            if not answer.low / case.gain / 1.03 <= truth <= answer.high / case.gain / .97:
                problems.append(f"{name}, {answer.shape}: {answer.low / case.gain:.1f} to {answer.high / case.gain:.1f} J misses "
                                f"the meter's {truth:.1f}")
        estimates = [a.joules / case.gain for a in known if not a.bracket]
        lines.append(f"| {name} | {truth:.0f} J | {min(estimates):.0f} to {max(estimates):.0f} J | {low:.0f} to {high:.0f} J "
                     f"| {len(known)}, {sum(a.bracket for a in known)} of them a bracket |")
    return lines


def page(arguments, public, whole, single):
    """docs/measured/energy_shapes.md."""
    last = arguments.seed + arguments.full + arguments.cases - 1
    recordings = whole.rows.get(("all", "all"), {})
    lines = ["# One recording in many shapes: energy above idle", "",
             f"`tests/golden/check_energy_shapes.py --assay build/release/assay --seed {arguments.seed} --full {arguments.full} --cases "
             f"{arguments.cases} --write` makes this page.",
             "The test `golden/energy_shapes` runs a few cases of other seeds. No parameter was chosen on the seeds of this page.", "",
             "A made-up GPU of known power runs two kernels in pulses for 1 to 60 s, 10 to 100 % of the time. Its sensor takes 20 to 200 ms per",
             "reading. The log goes 8 s beyond the work, or not beyond it (\"nothing\"), or shows steady unrecorded work there. Clocks are",
             "off by up to 50 ms. A shape is the same recording with another trace. *Bracket*: base and kernels were not separated, and the",
             "answer is an interval from nothing to all. *Width* is that of the interval of the kernels' energy over the truth, *off* the",
             "error of the estimate and of the total, without brackets. Of a sensor that averages over a part of the time the total is the",
             "model's. *Held*: the 95 % interval has the truth. *Total held*: the truth is in the interval of the total, brackets",
             f"included, or within {TOTAL_WITHIN:.0%} of it, which is what sensors are off from a meter.", "",
             f"## Every shape of {arguments.full} recordings, seeds {arguments.seed} to {arguments.seed + arguments.full - 1}", "",
             f"Recordings with two shapes whose intervals exclude each other: {sum(recordings.get('apart', []))} of "
             f"{len(recordings.get('apart', []))}.", ""]
    for kind in ("all", "sensor", "around the work", "shape"):
        lines += [*table(whole, kind), ""]
    lines += [f"## One shape each of {arguments.cases} recordings, seeds {arguments.seed + arguments.full} to {last}", ""]
    for kind in ("all", "sensor", "around the work", "shape"):
        lines += [*table(single, kind), ""]
    lines += ["## Public recordings with a meter", "",
              "Recordings of [meter.md](meter.md), all shapes of each; joules above idle, over the gain of the card.", "", *public, ""]
    missed = [words for words in whole.problems + single.problems if "refused" not in words]
    lines += ["## Misses", "", *(f"- {words}" for words in missed), ""]
    PAGE.write_text("\n".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=ROOT / "build/release/assay", type=pathlib.Path)
    parser.add_argument("--cases", type=int, default=0, help="of one shape each, after those of --full")
    parser.add_argument("--full", type=int, default=0, help="cases of all shapes, from --seed up")
    parser.add_argument("--seed", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    began = time.monotonic()
    whole, single = Tally(), Tally()
    public_problems = []
    seeds = [*range(arguments.seed, arguments.seed + arguments.full)] or ([] if arguments.cases else SHORT_SEEDS)
    singles = [*range(arguments.seed + arguments.full, arguments.seed + arguments.full + arguments.cases)]
    if not arguments.full and not arguments.cases:
        singles = SHORT_SINGLES
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        waiting = [(whole, pool.submit(judge_seed, arguments.assay, seed, True)) for seed in seeds]
        waiting += [(single, pool.submit(judge_seed, arguments.assay, seed, False)) for seed in singles]
        for tally, done in waiting:
            tally.take(done.result())
    with tempfile.TemporaryDirectory() as folder:
        public = public_rows(arguments.assay, pathlib.Path(folder), public_problems)
    for tally in (whole, single):
        for kind in ("all", "sensor", "around the work", "shape"):
            print("\n".join([*table(tally, kind), ""]) if tally.rows else "")
    problems = whole.problems + single.problems + public_problems
    print("\n".join([*public, *problems]))
    print(f"{time.monotonic() - began:.0f} s")
    if arguments.write:
        page(arguments, public, whole, single)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
