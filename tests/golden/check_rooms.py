#!/usr/bin/env python3
"""All sections of a report must agree on idle time.

    check_rooms.py --assay build/release/assay [NAME...]

On every trace of the corpus: causes add up; idle time of the launch section is its causes, copies and other activities,
and is at most that of the diagnosis, as are the parts of the breakdown; every recommendation of a section is an action
of the diagnosis; no value exceeds its wall time. Small traces are then changed in ways without effect (an unused label,
a marker of no length, all times shifted) and must get the same answer.
"""

import argparse
import gzip
import json
import lzma
import pathlib
import subprocess
import sys
import tempfile
import time

import datasets

SKIP = 77
BUDGET_S = 60       # no further trace starts after this; small ones go first
SMALL = 6_000_000   # bytes of JSON: smaller traces are changed and read again
PARTS = {
    "idle_host_busy_ns": ("call", "dispatch", "alloc", "cold"),
    "idle_host_blocked_ns": ("sync",),
    "idle_host_input_ns": ("input",),
    "idle_host_unattributed_ns": ("host_gap", "python"),
    "idle_latency_ns": ("latency",),
    "idle_queued_ns": ("unseen", "wait_other"),
    "idle_no_work_ns": ("nothing_asked",),
    "idle_no_launch_record_ns": ("no_evidence",),
    "idle_copy_ns": ("copy",),
}
BUSY = ("compute", "collective", "copy")


def run(assay, path):
    done = subprocess.run([assay, "report", str(path), "--format", "json"], capture_output=True, timeout=600, check=False)
    return json.loads(done.stdout) if done.stdout else None


def whole(report, found):
    """launch.whole and launch.iterations[] divide their idle time completely."""
    for window in [report["launch"]["whole"], *report["launch"]["iterations"]]:
        parts = [window[key] for key in [*PARTS, "idle_other_activity_ns"]]
        if any(part is None or part < 0 for part in parts):
            found.append(f"{window.get('name', 'whole')}: a part of idle time is {parts}")
        elif window["gpu_idle_union_ns"] is not None and sum(parts) != window["gpu_idle_union_ns"]:
            found.append(f"{window.get('name', 'whole')}: parts of idle time sum to {sum(parts)}, not "
                         f"{window['gpu_idle_union_ns']}")


def inside(report, states, found):
    """IL lies within the diagnosed window on one device, so no part of its idle time exceeds that of the diagnosis."""
    launch, flow = report["launch"]["whole"], report["flow"]
    if flow["devices"] != 1 or not launch["kernels"] or launch["gpu_idle_union_ns"] is None:
        return
    # Operators without calls start IL if kernels have no launch record.
    if launch["il_ns"] > flow["window_ns"]:
        return
    for key, causes in PARTS.items():
        most = sum(states[cause] for cause in causes)
        if launch[key] > most:
            found.append(f"{key} is {launch[key]}, causes {causes} are {most}")
    idle = sum(ns for state, ns in states.items() if state not in BUSY)
    outside = flow["window_ns"] - launch["il_ns"]
    least = idle + states["copy"] - outside
    if launch["gpu_idle_union_ns"] < least:
        found.append(f"gpu_idle_union_ns is {launch['gpu_idle_union_ns']}, the causes leave at least {least}")


def levels(report, states, found):
    """The breakdown of a GPU's span from first to last kernel lies within the states of the diagnosed window."""
    gpus = report["breakdown"]["gpus"]
    if report["flow"]["devices"] != 1 or len(gpus) != 1:
        return
    gpu = gpus[0]
    exposed = gpu["comm_wait_ns"] + gpu["comm_in_gap_ns"]
    parts = gpu["dur_ns"] - gpu["overlapping_kernels_ns"] + gpu["launch_ns"] + exposed + gpu["copy_ns"] + gpu["idle_other_ns"]
    if parts != gpu["span_ns"]:
        found.append(f"levels: parts sum to {parts}, the spans to {gpu['span_ns']}")
    if gpu["span_ns"] > report["flow"]["window_ns"]:
        return  # operators without calls start windows of the breakdown earlier
    idle = sum(ns for state, ns in states.items() if state not in BUSY)
    told = {"compute": (gpu["dur_ns"] - gpu["overlapping_kernels_ns"], states["compute"]), "collectives": (exposed, states["collective"]),
            "copies": (gpu["copy_ns"], states["copy"]), "idle": (gpu["launch_ns"] + gpu["idle_other_ns"], idle)}
    for name, (here, most) in told.items():
        if here > most:
            found.append(f"levels: {name} is {here}, the verdict has {most}")


def levers(report, found):
    window = report["flow"]["window_ns"]
    told = {lever["code"] for lever in report["actions"]}
    for lever in report["actions"]:
        if lever["upper_bound_ns"] > window or not 0 <= lever["window_share"] <= 1:
            found.append(f"lever {lever['code']} gives {lever['upper_bound_ns']} of {window}")
    for lever in report["host_overhead"]["diagnosis"]:
        if lever["same_as"] not in told:
            found.append(f"overhead advises {lever['code']} ({lever['same_as']}), the verdict has {sorted(told)}")
    if report["bottleneck"] in ("unseen_device_work", "too_little", "no_gpu", "no_host", "not_loaded", "cold_start") and told:
        found.append(f"levers {sorted(told)} of a run that is {report['bottleneck']}")


def problems_of(report):
    found = []
    states = {row["cause"]: row["ns"] for row in report["causes"]}
    total = sum(states.values())
    idle = sum(ns for state, ns in states.items() if state not in BUSY)
    if report["flow"]["devices"] and total > report["flow"]["window_ns"] * report["flow"]["devices"]:
        found.append(f"states sum to {total}, windows to {report['flow']['window_ns']} on {report['flow']['devices']}")
    if total and abs(report["device_idle_share"] - idle / total) > 1e-9:
        found.append(f"device_idle_share is {report['device_idle_share']}, the causes say {idle / total}")
    for row in report["causes"]:
        if row["ns"] != row["recorded_ns"] + row["inferred_ns"] + row["no_evidence_ns"]:
            found.append(f"{row['cause']}: evidence does not add up")
        named = sum(c["ns"] for c in report["contributors"] if c["cause"] == row["cause"])
        if named > row["ns"]:
            found.append(f"{row['cause']}: contributors are {named} of {row['ns']}")
    whole(report, found)
    # Sections cover the whole recording, the causes only its analyzed part.
    recording = dict.fromkeys(states, 0)
    for row in report["stretch_states"]:
        recording[row["cause"]] = recording.get(row["cause"], 0) + row["ns"]
    if len(report["stretches"]) < 2:
        recording = states
    inside(report, recording, found)
    levels(report, recording, found)
    levers(report, found)
    overhead = report["host_overhead"]
    if (overhead.get("t_orch_exclusive_ns") or 0) > overhead["threads_span_ns"]:
        found.append(f"exclusive host time {overhead['t_orch_exclusive_ns']} of {overhead['threads_span_ns']}")
    return found


def answer(report):
    """The values that a change without effect must not affect."""
    levers = [(lever["code"], lever["upper_bound_ns"]) for lever in report["actions"]]
    idle = {key: report["launch"]["whole"][key] for key in [*PARTS, "gpu_idle_union_ns", "il_ns"]}
    return {"cause": report["bottleneck"], "causes": report["causes"], "levers": levers, "launch": idle,
            "first_action": report["flow"]["first_action"], "diagnosis": report["host_overhead"]["diagnosis"]}


def load(path):
    if path.suffix == ".gz":
        with gzip.open(path) as file:
            return json.load(file)
    if path.suffix == ".xz":
        with lzma.open(path) as file:
            return json.load(file)
    with open(path, "rb") as file:
        return json.load(file)


def moved(events):
    """All times 3 s later; whole microseconds stay whole."""
    return [{**event, "ts": event["ts"] + 3_000_000} if isinstance(event.get("ts"), (int, float)) and event.get("ph") != "M"
            else event for event in events]


def labelled(events):
    """A label over two operators of the thread that launches, and a marker of no length between them."""
    calls = [event for event in events if event.get("cat") in ("cuda_runtime", "hip_runtime", "Runtime", "cuda_driver")
             and event.get("ph") == "X"]
    if len(calls) < 8:
        return None
    calls.sort(key=lambda event: float(event["ts"]))
    first, last = calls[len(calls) // 2], calls[len(calls) // 2 + 1]
    if (first["tid"], first["pid"]) != (last["tid"], last["pid"]):
        return None
    lane = {"ph": "X", "cat": "user_annotation", "pid": first["pid"], "tid": first["tid"]}
    length = float(last["ts"]) - float(first["ts"])
    return events + [{**lane, "name": "a part of the step", "ts": first["ts"], "dur": int(length / 2)},
                     {**lane, "name": "marker", "ts": last["ts"], "dur": 0}]


def changed(assay, path, report, found):
    document = load(path)
    wrapped = isinstance(document, dict)
    events = document["traceEvents"] if wrapped else document
    with tempfile.TemporaryDirectory() as folder:
        for name, change in (("times moved", moved), ("a label and a marker added", labelled)):
            now = change(events)
            if now is None:
                continue
            written = pathlib.Path(folder) / path.name.removesuffix(".gz").removesuffix(".xz")
            written.write_text(json.dumps({**document, "traceEvents": now} if wrapped else now), encoding="utf-8")
            again = run(assay, written)
            before, after = answer(report), answer(again)
            for key, value in before.items():
                if after[key] != value:
                    found.append(f"{name}: {key} was {value}, is {after[key]}"[:600])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assay", required=True, help="the binary to test")
    parser.add_argument("names", nargs="*", help="only traces whose name contains one of these")
    options = parser.parse_args()
    if not (datasets.CORPUS / "kineto").is_dir():
        print(datasets.NO_CORPUS)
    checked = failed = left_out = altered = 0
    began = time.monotonic()
    others = [path for pattern in ("nsys/*.sqlite", "rocm/**/*.db", "rocm/**/*.rpd", "rocm/rocprofv3/**/*.json")
              for path in sorted(datasets.CORPUS.glob(pattern))]
    traces = [(name, path) for name, path in datasets.golden_traces() if path.exists()]
    traces += [(str(path.relative_to(datasets.CORPUS)), path) for path in others]
    for name, path in sorted(traces, key=lambda trace: trace[1].stat().st_size):
        if options.names and not any(part in name for part in options.names):
            continue
        if not options.names and time.monotonic() - began > BUDGET_S:
            left_out += 1
            continue
        report = run(options.assay, path)
        if report is None or "causes" not in report:
            continue
        problems = problems_of(report)
        if name.startswith("kineto/") and path.stat().st_size < SMALL // 10 and report["launch"]["whole"]["kernels"]:
            changed(options.assay, path, report, problems)
            altered += 1
        checked += 1
        failed += bool(problems)
        for problem in problems:
            print(f"{name}: {problem}")
    print(f"rooms: {checked} traces, {altered} of them changed without effect, {failed} contradict themselves" +
          (f", {left_out} left out for time" if left_out else ""))
    if checked == 0:
        return SKIP
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
