#!/usr/bin/env python3
"""Parts of a recording (docs/metrics.md, Parts of a recording).

Planted: recordings with a lead-in, a start-up or a hole whose borders are known; the cause of the
rest, the parts and their borders must be told. Everywhere: on every trace of the corpus (ASSAY_DATA)
the parts touch and add up to the window, and their states to those of the window. Serving: the
engines' recordings have a verdict.
"""
import argparse
import glob
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile

FIRST_SEED, FILES = 77_000, 60
LEAST_RIGHT, WORST_BORDER = 0.95, 0.01
# name, parts, cause, lengths in ms of the parts
SERVING = [
    ("kineto/vllm/vllm_mi300_decode_exec.json.gz", ["lead_in", "steady"], "gpu", [(5.5, 8.8), (10.2, 11.2)]),
    ("kineto/sglang/sglang_mi300_qwen3-8b_prefilldecode.json.gz", ["lead_in", "steady"], "gpu", [(488, 498), (489, 499)]),
]


class Planter:
    """One program with one thread and one stream; times in us."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.events, self.correlation, self.host, self.gpu = [], 0, 0.0, 0.0
        self.floor = self.r.uniform(4, 9)

    def row(self, cat, name, ts, dur, **args):
        lane = (0, 7) if cat == "kernel" else (77, 77)
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": lane[0], "tid": lane[1],
                            "ts": round(ts, 3), "dur": round(dur, 3), "args": args})

    def launch(self, name, dur, op_us, not_before=0.0, call=None):
        self.correlation += 1
        ids = {"External id": self.correlation}
        cost = op_us * self.r.uniform(.8, 1.2)
        self.row("cpu_op", "aten::mm", self.host, (call or 0) + cost, **ids)
        begin, length = self.host + cost * .4, call or cost * .4
        self.row("cuda_runtime", "cudaLaunchKernel", begin, length, correlation=self.correlation, **ids)
        start = max(begin + length + self.floor, self.gpu + 1.0, not_before)
        self.row("kernel", name, start, dur, correlation=self.correlation, stream=7, device=0, **ids)
        self.gpu = start + dur
        self.host += (call or 0) + cost * 1.05

    def make(self):
        r = self.r
        gpu_bound, kernels, steps = r.random() < .5, r.randrange(40, 100), r.randrange(4, 12)
        kernel_us = r.uniform(30, 90) if gpu_bound else r.uniform(2, 6)
        op_us = r.uniform(6, 12) if gpu_bound else r.uniform(18, 40)
        engine = r.random() < .4
        span = steps * kernels * (kernel_us if gpu_bound else op_us)
        lead = r.random() < .5
        cold = not lead and r.random() < .5
        hole_at = r.randrange(1, steps) if not lead and r.random() < .3 else -1
        marks, pending = [], 0

        def label(i):
            return f"step[DECODE bs={r.choice((8, 16, 32))}]" if engine else f"ProfilerStep#{i + 3}"

        if lead:
            if r.random() < .5:
                self.launch("stray", 3.0, op_us)
            pending = self.host + span * r.uniform(.15, 1.5) + 2000
            marks.append(("lead_in", pending))
        if cold:
            begin = self.host
            for k in range(kernels):
                self.launch(f"gemm_{k % 7}", kernel_us, op_us,
                            call=span * r.uniform(.15, .9) + 4000 if k == 0 else None)
            self.row("user_annotation", label(-1), begin, self.host - begin)
            marks.append(("start_up", max(self.host, self.gpu) if gpu_bound else self.host))
        for i in range(steps):
            begin = self.host
            for k in range(kernels):
                wait = pending if i == 0 and k == 0 else 0
                if i == hole_at and k == 0:
                    marks.append(("steady", self.gpu))
                    wait = max(self.host, self.gpu) + span * r.uniform(.05, .15) + 1500
                    marks.append(("hole", wait))
                self.launch(f"gemm_{k % 7}", kernel_us * r.uniform(.97, 1.03), op_us, not_before=wait)
            self.row("user_annotation", label(i), begin, self.host - begin)
            if not gpu_bound:
                self.host = max(self.host, self.gpu - 50)
        marks.append(("steady", self.gpu))
        trace = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],
                 "distributedInfo": {"rank": 0}, "traceEvents": self.events}
        return trace, "gpu" if gpu_bound else "host", [(k, round(e * 1000)) for k, e in marks]


def report(assay, path):
    run = subprocess.run([assay, "report", path, "--format", "json"], capture_output=True, text=True)
    return json.loads(run.stdout) if run.returncode == 0 else None


def check_planted(assay, problems):
    right = told = 0
    borders = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(FIRST_SEED, FIRST_SEED + FILES):
            trace, bound, marks = Planter(seed).make()
            path = os.path.join(folder, f"p{seed}.json.gz")
            with gzip.open(path, "wt", compresslevel=1) as f:
                json.dump(trace, f)
            found = report(assay, path)
            kinds = [s["kind"] for s in found["stretches"]]
            right += found["bottleneck"] == bound
            if kinds == [k for k, _ in marks]:
                told += 1
                borders += [abs(s["end_ns"] - end) / marks[-1][1]
                            for s, (_, end) in zip(found["stretches"][:-1], marks[:-1])]
            else:
                print(f"seed {seed}: planted {marks}, told {kinds}")
            if found["bottleneck"] != bound:
                print(f"seed {seed}: {found['bottleneck']} told, is {bound}; {marks}")
    borders.sort()
    p95 = borders[int(len(borders) * .95)] if borders else 1
    print(f"planted: cause right {right} of {FILES}, parts {told} of {FILES}, borders off by "
          f"{100 * p95:.2f} % of the window at p95")
    if right < LEAST_RIGHT * FILES or told < LEAST_RIGHT * FILES or p95 > WORST_BORDER:
        problems.append("planted parts")


def check_sums(name, found, problems):
    parts = found.get("stretches") or []
    if not parts:
        return
    flow = found["flow"]
    if sum(p["ns"] for p in parts) != flow["window_ns"]:
        problems.append(f"{name}: parts sum to {sum(p['ns'] for p in parts)}, window {flow['window_ns']}")
    if parts[0]["start_ns"] != 0 or any(a["end_ns"] != b["start_ns"] for a, b in zip(parts, parts[1:])):
        problems.append(f"{name}: parts do not touch")
    if sum(p["headline"] for p in parts) > 1:
        problems.append(f"{name}: two parts are judged")
    judged = [i + 1 for i, p in enumerate(parts) if p["headline"]]
    of = {}
    for row in found["stretch_states"]:
        if not judged or row["stretch"] == judged[0]:
            of[row["cause"]] = of.get(row["cause"], 0) + row["ns"]
    causes = {c["cause"]: c["ns"] for c in found["causes"] if c["ns"]}
    if of != causes:
        problems.append(f"{name}: states of the judged part {of}, causes {causes}")


def check_corpus(assay, data, problems):
    checked = cut = 0
    for path in sorted(glob.glob(os.path.join(data, "kineto", "*", "*.json*"))):
        if os.path.getsize(path) > 4_000_000:
            continue
        found = report(assay, path)
        if found is None or "stretches" not in found:
            continue
        checked += 1
        cut += len(found["stretches"]) > 1
        check_sums(os.path.relpath(path, data), found, problems)
    print(f"sums: {checked} traces, {cut} of several parts")
    for name, kinds, cause, lengths in SERVING:
        path = os.path.join(data, name)
        if not os.path.exists(path):
            continue
        found = report(assay, path)
        told = [s["kind"] for s in found["stretches"]]
        ms = [(s["end_ns"] - s["start_ns"]) / 1e6 for s in found["stretches"]]
        fits = len(ms) == len(lengths) and all(a <= x <= b for x, (a, b) in zip(ms, lengths))
        if told != kinds or found["bottleneck"] != cause or not fits or found["device_idle_share"] > .02:
            problems.append(f"{name}: {found['bottleneck']}, idle {found['device_idle_share']}, {told}, {ms}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    args = parser.parse_args()
    problems = []
    check_planted(args.assay, problems)
    data = os.environ.get("ASSAY_DATA", "")
    if data and os.path.isdir(data):
        check_corpus(args.assay, data, problems)
    for problem in problems:
        print("FAILED", problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
