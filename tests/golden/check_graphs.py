#!/usr/bin/env python3
"""Replays of a HIP graph get the operators of its recording, in another trace of the same server.

The second computation joins kernels in device order with launches in recording order, whose events have the kernel's
name. All names must agree, and times by operator must equal those of `assay report --capture`. FLOP and bytes of the
replayed products and norms are computed from the recorded sizes, and must equal those of `assay breakdown --capture`.
"""

import argparse
import collections
import gzip
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import check_roof
import datasets

FOLDER = datasets.CORPUS / "kineto/vllm"
CAPTURE, REPLAY = FOLDER / "vllm_mi300_decode_capture.json.gz", FOLDER / "vllm_mi300_decode_exec.json.gz"


def rows(path):
    return json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]


def recorded():
    """(kernel, innermost operator's event or None) of each launch between the calls that begin and end the recording."""
    events = rows(CAPTURE)
    calls = sorted((e for e in events if e.get("cat") == "cuda_runtime"), key=lambda e: e["ts"])
    begin = next(e["ts"] for e in calls if "BeginCapture" in e["name"])
    end = next(e["ts"] for e in calls if "EndCapture" in e["name"])
    ops = [e for e in events if e.get("cat") == "cpu_op"]
    found = []
    for call in calls:
        if "aunchKernel" not in call["name"] or not begin < call["ts"] < end:
            continue
        around = [op for op in ops if op["tid"] == call["tid"] and op["ts"] <= call["ts"]
                  and op["ts"] + op["dur"] >= call["ts"] + call["dur"]]
        found.append((call["args"]["kernel"], max(around, key=lambda op: op["ts"]) if around else None))
    return found


def add_and_norm(call):
    """out, input, residual in, residual out [t, h], weight [h]: reads three, writes two, no axis of stride 0."""
    tokens, hidden = call.size(1)
    return 6 * tokens * hidden, (4 * tokens * hidden + hidden) * call.width(1)


def work_of_replays(assay, kernels, nodes):
    """Differences in calls, time, FLOP and bytes of the replayed operators."""
    worked = {"aten::addmm": check_roof.product(1), "aiter::rmsnorm2d_fwd_with_add_ck": add_and_norm}
    expected = {name: [0, 0, 0, 0] for name in worked}
    for name, row in expected.items():
        seen = set()
        for kernel, (_, op) in zip(kernels, nodes):
            if op is None or op["name"] != name:
                continue
            row[1] += check_roof.nanoseconds(kernel)
            if op["ts"] in seen:
                continue
            seen.add(op["ts"])
            work = worked[name](check_roof.Call(op))
            row[0] += 1
            row[2] += work[0]
            row[3] += work[1]
    done = subprocess.run([assay, "breakdown", REPLAY, "--capture", CAPTURE, "--format", "json"], capture_output=True, text=True,
                          check=True, timeout=600)
    roof = json.loads(done.stdout)["roofline"]
    told = check_roof.theirs(roof)
    problems = check_roof.closes(roof)
    for name, row in expected.items():
        if told.get(name) != row:
            problems.append(f"{name}: calls, ns, FLOP, bytes {told.get(name)}, not {row}")
    print(f"work of {sum(row[0] for row in expected.values())} replayed calls; "
          f"{100 * roof['known_replayed_ns'] / roof['kernel_ns']:.1f} % of the kernel time is replays with known work")
    return problems


def found_by_itself(assay, wanted):
    """Without --capture the recording is found by name in the folder of the replay, and only there."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        replay = folder / "decode.json.gz"
        shutil.copyfile(REPLAY, replay)

        def rows_of(*inputs):
            done = subprocess.run([assay, "report", *inputs, "--format", "json"], capture_output=True, text=True,
                                  check=True, timeout=600)
            report = json.loads(done.stdout)
            parts = report.get("ranks", [report])
            return [part.get("replayed_ops") for part in parts]

        problems = [] if rows_of(replay) == [None] else ["joined without a recording"]
        shutil.copyfile(CAPTURE, folder / "Captured_graphs.json.gz")
        if rows_of(replay) != [wanted]:
            problems.append("the recording beside the replay is not used")
        if wanted not in rows_of(folder):
            problems.append("the recording in the folder is not used")
        shutil.copyfile(CAPTURE, folder / "other.json.gz")
        (folder / "Captured_graphs.json.gz").write_bytes(b"no trace")
        if rows_of(replay) != [None]:
            problems.append("joined with a file that cannot be read, or whose name says nothing")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    assay = parser.parse_args().assay
    if not CAPTURE.exists():
        print("the traces are not here")
        return 77
    events = rows(REPLAY)
    launch = next(e["args"]["correlation"] for e in events if e.get("name") == "hipGraphLaunch")
    kernels = sorted((e for e in events if e.get("cat") == "kernel" and e["args"]["correlation"] == launch),
                     key=lambda e: e["ts"])
    nodes = recorded()
    problems = []
    if [kernel["name"] for kernel in kernels] != [name for name, op in nodes]:
        problems.append("kernels of the replay are not those of the recording, in this order")
    expected = collections.defaultdict(lambda: [0, 0.0])
    for kernel, (name, op) in zip(kernels, nodes):
        if op is not None:
            expected[op["name"]][0] += 1
            expected[op["name"]][1] += kernel["dur"]

    done = subprocess.run([assay, "report", REPLAY, "--capture", CAPTURE, "--format", "json"], capture_output=True,
                          text=True, check=True, timeout=600)
    report = json.loads(done.stdout)
    facts = report["graph_replays"]
    if (facts["graph_activities"], facts["joined_activities"], facts["ambiguous_activities"]) != (421, 421, 0):
        problems.append(f"joined: {facts}")
    agree = sum(kernel["name"] == name for kernel, (name, op) in zip(kernels, nodes))
    if facts["named_activities"] != agree:
        problems.append(f"{facts['named_activities']} names agree, not {agree}")
    told = collections.defaultdict(lambda: [0, 0.0])
    for row in report["replayed_ops"]:
        told[row["op"]][0] += row["count"]
        told[row["op"]][1] += row["dur_ns"] / 1000
    for op, (count, us) in expected.items():
        if told[op][0] != count or abs(told[op][1] - us) > 0.001 * count + 0.001:
            problems.append(f"{op}: {told[op]}, not {[count, us]}")
    problems += work_of_replays(assay, kernels, nodes)
    problems += found_by_itself(assay, report["replayed_ops"])
    print(f"{len(kernels)} kernels of a replay, {agree} by the name that was recorded, {len(expected)} operators, "
          f"{sum(c for c, us in expected.values())} with one")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
