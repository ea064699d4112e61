#!/usr/bin/env python3
"""The table of gains under `diagnosis` of `assay report`.

Over real traces: shares and rest add up to the window to the nanosecond, no gain is below 0, above the window or above
what bounds it, and the word is the resource with the largest gain where gains tell.

Over made-up runs whose truth is known: a random program is simulated, written as a trace, and simulated again with one
resource that costs nothing. The word's true gain must be within 3 points of the largest for 98 % of the runs. Simulator
and graph share their idea of a stream and of a launch: this proves the arithmetic and the decision, not the model.

--compare lists the real traces where the cause of the headline and the word differ, with the two numbers that decide.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT_S = 300
RESOURCES = ("host", "device", "copy", "migration", "comm", "unseen", "outside")
HOSTLIKE = ("host", "outside")
RIVAL, IDLE = 0.8, 0.3
CLEAR = 0.02  # below this share of the window shares decide, not gains

# ---- real traces --------------------------------------------------------------------------------------------------


def folders():
    data = os.environ.get("ASSAY_DATA") or ROOT.parent / "shared/data"
    return [ROOT / "tests/data", *(pathlib.Path(data) / each for each in ("kineto", "nsys", "rocm"))]


def trace_files(only):
    found = []
    for folder in folders():
        found += [f for f in sorted(folder.rglob("*")) if f.is_file() and f.name.endswith((".json", ".json.gz", ".sqlite", ".db"))]
    return [f for f in found if only in str(f)]


def report(assay, path):
    """The report as data; None where the file holds no trace."""
    done = subprocess.run([assay, "report", str(path), "--format", "json"], capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=False)
    if done.returncode != 0:
        return None
    return json.loads(done.stdout)


def contradictions(d):
    """What of one diagnosis cannot be."""
    wrong = []
    window, classes = d["window_ns"], {c["resource"]: c for c in d["classes"]}
    if tuple(classes) != RESOURCES:
        return [f"resources {list(classes)}"]
    shares = sum(c["share_ns"] for c in classes.values()) + d["rest_ns"]
    if shares != window:
        wrong.append(f"shares and rest are {shares}, the window {window}")
    if not 0 <= d["rest_ns"] <= window:
        wrong.append(f"rest {d['rest_ns']}")
    if not 0 <= d["order_gain_ns"] <= d["no_device_ns"] <= window:
        wrong.append(f"waits {d['order_gain_ns']} of {d['no_device_ns']}")
    for name, c in classes.items():
        most = min(window, d["no_device_ns"] if name in HOSTLIKE else c["all_pieces_ns"])
        if name == "unseen":
            most = window
        if not 0 <= c["gain_low_ns"] <= c["gain_ns"] <= c["gain_high_ns"] <= window or c["gain_ns"] > most:
            wrong.append(f"{name}: {c['gain_low_ns']} <= {c['gain_ns']} <= {c['gain_high_ns']}, at most {most}")
        if not 0 <= c["only_ns"] <= window:
            wrong.append(f"{name} alone {c['only_ns']}")
        if c["half_in"] > c["pieces"] or c["median_piece_ns"] > c["largest_piece_ns"]:
            wrong.append(f"{name}: pieces")
    for part in d["host_parts"]:
        if not 0 <= part["gain_ns"] <= d["no_device_ns"]:
            wrong.append(f"{part['host_part']} gives {part['gain_ns']}")
    largest = max(c["gain_ns"] for name, c in classes.items() if name != "unseen")
    told = [classes[name]["gain_ns"] for name in (d["word"], d["second"]) if name] or [largest]
    if d["word"] == "host" and d["second"] == "device" and told[0] < largest:
        # The host goes before a device that gains more only where they alternate or are near.
        if d["relation"] != "alternate" and told[0] < RIVAL * told[1] or told[0] < IDLE * window:
            wrong.append(f"the word is host, {told[0]} of {largest}")
        told = told[1:]
    if d["word"] == "comm" and d["second"] == "host" and d["relation"] == "keep_step" and told[0] < largest:
        told = told[1:]  # a faster host may only wait longer in collectives that are exposed for longer than idle time
    if d["word"] != "unseen" and largest >= CLEAR * window and told[0] != largest:
        wrong.append(f"the word is {d['word']}")
    return wrong


def check_traces(assay, only):
    failures, seen = [], 0
    for path in trace_files(only):
        document = report(assay, path)
        for part in parts_of(document):
            if "diagnosis" not in part:
                continue
            seen += 1
            failures += [f"{path}: {each}" for each in contradictions(part["diagnosis"])]
    print(f"{seen} diagnoses of real traces, {len(failures)} contradictions")
    return failures


def parts_of(document):
    """Top level of one trace, or of each of several."""
    if document is None:
        return []
    return [document, *(part for part in document.get("traces", []) if isinstance(part, dict))]


CAUSES = {"device": "gpu", "comm": "collective_wait", "unseen": "unseen_device_work", "outside": "not_loaded"}
NARROW = {"startup": "cold_start", "waiting": "sync"}


def cause_of(d):
    """The word that the headline has for it today."""
    if d["relation"] in ("no_gpu", "no_host"):
        return d["relation"]
    if d["relation"] == "one_event" or d["brief"]:
        return "too_little"
    if d["narrow"]:
        return NARROW.get(d["narrow"], d["narrow"])
    return CAUSES.get(d["word"], d["word"])


def compare(assay, only):
    same = 0
    for path in trace_files(only):
        for part in parts_of(report(assay, path)):
            if "diagnosis" not in part or "bottleneck" not in part:
                continue
            d, today = part["diagnosis"], part["bottleneck"]
            if cause_of(d) == today or (d["word"] == "comm" and today == "communication"):
                same += 1
                continue
            gains = {c["resource"]: c for c in d["classes"]}
            told = []
            for name in filter(None, (d["word"], d["second"])):
                c = gains[name]
                told.append(f"{name} {c['gain_ns'] / max(1, d['window_ns']):.1%} [{c['gain_low_ns'] / max(1, d['window_ns']):.1%}, "
                            f"{c['gain_high_ns'] / max(1, d['window_ns']):.1%}] leaves {(d['window_ns'] - c['gain_ns']) / 1e6:.3f} ms")
            busy = 1 - d["no_device_ns"] / max(1, d["window_ns"])
            print(f"{path.name}\n  today {today}; now {cause_of(d)} ({d['word']}, {d['relation']}); {d['window_ns'] / 1e6:.3f} ms, "
                  f"a device works for {busy:.1%}; waits {d['order_gain_ns'] / max(1, d['window_ns']):.1%}\n  " + "; ".join(told))
    print(f"{same} others agree")


# ---- runs of known truth ------------------------------------------------------------------------------------------

FREE = {"host": ("host", "launch", "alloc", "input"), "device": ("device",), "copy": ("copy",), "comm": ("comm",)}


def program(rng):
    """A step, as a list of (what, ns, stream), and how often it runs. Scales differ by decades so that all regimes come up."""
    scale = {c: 10 ** rng.uniform(3.5, 6) for c in ("host", "device", "copy", "comm", "input", "alloc")}
    use = {c for c in ("copy", "comm", "input", "alloc") if rng.random() < 0.35}
    step, n = [], rng.randint(2, 12)
    if "input" in use:
        step.append(("input", scale["input"], 0))
    if "copy" in use:
        step.append(("copy", scale["copy"], 7))
    for _ in range(n):
        step.append(("host", scale["host"] * rng.uniform(0.3, 1.7) / n, 0))
        if "alloc" in use and rng.random() < 0.5:
            step.append(("alloc", scale["alloc"] / n, 0))
        step.append(("device", scale["device"] * rng.uniform(0.3, 1.7) / n, 7))
        if "comm" in use and rng.random() < 0.4:
            step.append(("comm", scale["comm"] / n, 20))
    end = rng.random()
    if end < 0.35:
        step.append(("wait", 0, 0))
    elif end < 0.5:
        step.append(("back", scale["copy"] / 10, 7))
    return step, rng.randint(3, 12)


class Simulated:
    """The events of a run in which the classes of `free` cost nothing."""

    def __init__(self, made, seed, free=()):
        self.free, self.now, self.ends, self.events, self.correlation = free, 0, {7: 0, 20: 0}, [], 0
        rng = random.Random(seed)
        step, times = made
        for i in range(times):
            begin = self.now
            for what, ns, stream in step:
                getattr(self, what)(int(ns * rng.uniform(0.9, 1.1)), stream)
            self.events.append(("user_annotation", f"ProfilerStep#{i}", begin, self.now, 1, None))
        self.run_ns = max(self.ends.values()) or self.now

    def left(self, what, ns):
        return 0 if what in self.free else ns

    def call(self, name, ns, until=None):
        self.correlation += 1
        begin = self.now
        self.now += self.left("launch", ns)
        if until is not None:
            self.now = max(self.now, until + self.left("launch", 3_000))
        self.events.append(("cuda_runtime", name, begin, self.now, 1, self.correlation))

    def work(self, category, name, ns, stream):
        begin = max(self.ends[stream], self.now + self.left("launch", 4_000))
        self.ends[stream] = begin + ns
        self.events.append((category, name, begin, begin + ns, stream, self.correlation))

    def row(self, what, name, ns):
        begin = self.now
        self.now += self.left(what, ns)
        self.events.append(("cpu_op", name, begin, self.now, 1, None))

    def host(self, ns, _):
        self.row("host", "aten::op", ns)

    def input(self, ns, _):
        self.row("input", "enumerate(DataLoader)#x.__next__", ns)

    def alloc(self, ns, _):
        begin = self.now
        self.correlation += 1
        self.now += self.left("alloc", ns)
        self.events.append(("cuda_runtime", "cudaMalloc", begin, self.now, 1, self.correlation))

    def wait(self, _, __):
        self.call("cudaDeviceSynchronize", 2_000, max(self.ends.values()))

    def copy(self, ns, stream):
        self.call("cudaMemcpyAsync", 5_000)
        self.work("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", self.left("copy", ns), stream)

    def back(self, ns, _):
        self.correlation += 1
        begin = self.now
        self.work("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", self.left("copy", ns), 7)
        self.now = max(self.now + self.left("launch", 5_000), self.ends[7] + self.left("launch", 3_000))
        self.events.append(("cuda_runtime", "cudaMemcpy", begin, self.now, 1, self.correlation))

    def device(self, ns, stream):
        self.call("cudaLaunchKernel", 5_000)
        self.work("kernel", f"gemm_{stream}", self.left("device", ns), 7)

    def comm(self, ns, _):
        self.call("cudaLaunchKernel", 5_000)
        self.ends[20] = max(self.ends[20], self.ends[7])
        self.work("kernel", "ncclDevKernel_AllReduce", self.left("comm", ns), 20)
        self.ends[7] = max(self.ends[7], self.ends[20])


def write(events, path, shift_ns=0, renumber=0, shuffle=None):
    rows = []
    for category, name, begin, end, lane, correlation in events:
        device = category in ("kernel", "gpu_memcpy")
        args = {} if correlation is None else {"correlation": correlation + renumber}
        if device:
            args |= {"device": 0, "stream": lane}
        rows.append({"ph": "X", "cat": category, "name": name, "pid": 0 if device else 9, "tid": lane,
                     "ts": (begin + shift_ns) / 1000, "dur": max(end - begin, 0) / 1000, "args": args})
    if shuffle is not None:
        random.Random(shuffle).shuffle(rows)
    path.write_text(json.dumps({"traceEvents": rows}), encoding="utf-8")


def check_made(assay, runs, seed, margin=0.03, least=0.98, shown=10):
    errors, wrong, judged, changed, looked = [], [], 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "made.json"
        for k in range(runs):
            made = program(random.Random(seed * 100_003 + k))
            full = Simulated(made, k)
            if full.run_ns < 1_000_000:
                continue
            true = {name: 1 - Simulated(made, k, free).run_ns / full.run_ns for name, free in FREE.items()}
            write(full.events, path)
            d = report(assay, path)["diagnosis"]
            gains = {c["resource"]: c["gain_ns"] / d["window_ns"] for c in d["classes"]}
            errors += [abs(gains[name] - true[name]) for name in true]
            judged += 1
            best = max(true, key=true.get)
            if true.get(d["word"], -1) < true[best] - margin:
                wrong.append(f"seed {seed}, run {k}: {d['word']}, in truth {best}: " +
                             ", ".join(f"{name} {gains[name]:.3f} ({true[name]:.3f})" for name in true))
            if k % 20 == 0:
                write(full.events, path, shift_ns=7_000_000, renumber=1000, shuffle=k)
                again = report(assay, path)["diagnosis"]
                looked += 1
                changed += again != d
    errors.sort()
    right = judged - len(wrong)
    print(f"{judged} made-up runs of seed {seed}: headline within {margin:.0%} of the largest true gain {right} ({right / judged:.1%}); error of a "
          f"gain, points of the run: median {errors[len(errors) // 2]:.2%}, 95 % {errors[int(0.95 * len(errors))]:.2%}, "
          f"largest {errors[-1]:.2%}; shifted, reordered, renumbered: {changed} of {looked} differ")
    print("\n".join(wrong[:shown]))
    failures = []
    if right < least * judged:
        failures.append(f"only {right} of {judged} headlines of seed {seed} are right")
    if changed:
        failures.append(f"{changed} of {looked} runs differ when shifted, reordered and renumbered")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assay", default=str(ROOT / "build/release/assay"))
    parser.add_argument("--compare", action="store_true", help="list where the headline and the word differ, and stop")
    parser.add_argument("--only", default="", help="real traces whose path has this")
    parser.add_argument("--runs", type=int, default=120, help="made-up programs for a seed")
    parser.add_argument("--seeds", type=int, nargs="*", default=[11, 12])
    args = parser.parse_args()
    if args.compare:
        compare(args.assay, args.only)
        return 0
    failures = check_traces(args.assay, args.only)
    for seed in args.seeds:
        failures += check_made(args.assay, args.runs, seed)
    print("\n".join(failures[:20]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
