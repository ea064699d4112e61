#!/usr/bin/env python3
"""`assay report --perfetto`: the file as imported by ui.perfetto.dev (perfetto_importer.py), compared with the JSON
report, the trace itself, and Assay's own import of the written file.
"""

import argparse
import collections
import gzip
import json
import os
import pathlib
import random
import re
import stat
import subprocess
import sys
import tempfile

import datasets
from perfetto_importer import Importer, exact_ns

EXAMPLE = sorted((datasets.ROOT / "examples").glob("*.json.gz"))[0]
LARGEST = 2 << 20  # of a file; larger ones add no coverage
problems = []


def run(assay, *arguments, **options):
    return subprocess.run([assay, *map(str, arguments)], capture_output=True, timeout=600, check=False, **options)


def track(imported, name):
    """Slices of Assay's track of that name, on any lane."""
    found = []
    for event in imported.slices:
        lane = imported.threads[event["tid"]][1]
        if event.get("cat") == "assay" and re.sub(r" \(\d+\)$", "", lane) == name:
            found.append(event)
    return found


def total(slices, name=None):
    return sum(event["dur_ns"] for event in slices if name is None or event["name"] == name)


def argument(slices, key):
    return sum(event["args"].get(key, 0) for event in slices if "args" in event)


# Names of idle slices (causes of the graph) by the key of the report that they sum to.
IDLE_PARTS = {
    "idle_host_busy_ns": ("call", "dispatch", "alloc", "cold"),
    "idle_host_blocked_ns": ("sync",),
    "idle_host_input_ns": ("input",),
    "idle_host_unattributed_ns": ("host_gap", "python"),
    "idle_latency_ns": ("latency",),
    "idle_queued_ns": ("unseen", "wait_other"),
    "idle_no_work_ns": ("nothing_asked",),
    "idle_no_launch_record_ns": ("no_evidence",),
    "idle_copy_ns": ("copy",),
    "idle_other_activity_ns": ("other device work",),
}


def check_sums(expect, imported, report):
    """Slices of every track sum to the number of the report."""
    whole = report["launch"]["whole"]
    idle = track(imported, "GPU idle")
    if isinstance(whole["gpu_idle_union_ns"], int):
        expect(total(idle) == whole["gpu_idle_union_ns"], "idle slices sum to gpu_idle_union_ns")
    for key, names in IDLE_PARTS.items():
        if isinstance(whole[key], int):
            expect(sum(total(idle, name) for name in names) == whole[key], f"idle slices {names} sum to {key}")
    named = {name for names in IDLE_PARTS.values() for name in names}
    expect({event["name"] for event in idle} <= named, "an idle slice has a name of its own")
    latency = track(imported, "inference latency, IL")
    told = [it["il_ns"] for it in report["launch"]["iterations"] if it["kernels"] > 0]
    if all(isinstance(value, int) for value in told):
        expect(total(latency) == sum(told), "IL slices sum to il_ns of the iterations")

    own = [sample for sample in imported.counters if sample[5] == "assay"]
    wait = [sample for sample in own if sample[1] == "launch to start, t_l"]
    depth = [sample for sample in own if sample[1] == "launched, not started"]
    if isinstance(whole["tklqt_ns"], int):
        expect(sum(sample[4] for sample in wait) == whole["tklqt_ns"], "t_l samples sum to tklqt_ns")
        area = sum(a[4] * (b[3] - a[3]) for a, b in zip(depth, depth[1:]))
        expect(area == whole["tklqt_ns"], "the area under the queue depth is tklqt_ns")
        expect(len(wait) == whole["timed_launches"], "one t_l sample per timed launch")
        expect(not depth or depth[-1][4] == 0, "the queue ends empty")

    spans = report["breakdown"]["iterations"]
    for gpu in {span["gpu"] for span in spans}:
        told = collections.Counter()
        for span in spans:
            if span["gpu"] == gpu:
                for key in ("dur_ns", "overlapping_kernels_ns", "prep_ns", "call_ns", "idle_other_ns", "comm_wait_ns",
                            "comm_in_gap_ns", "copy_ns", "exposed_comm_ns", "kernels"):
                    told[key] += span[key]
        ops = [event for event in track(imported, f"GPU {gpu} operations") if event["args"]["level"] == "operation"]
        for key in ("dur_ns", "overlapping_kernels_ns", "kernels"):
            expect(argument(ops, key) == told[key], f"operations of GPU {gpu} sum to {key} of its iterations")
        expect(total(ops) == told["dur_ns"] - told["overlapping_kernels_ns"] + argument(ops, "inner_bubble_ns"),
               f"operations of GPU {gpu} last dur_ns - concurrent_ns + the bubbles inside them")
        waits = track(imported, f"GPU {gpu} waits before kernels")
        idle = total(waits, "not launched yet (prep)") + total(waits, "launched, not started (call)")
        expect(idle == told["prep_ns"] + told["call_ns"] + told["idle_other_ns"],
               f"idle waits of GPU {gpu} sum to prep_ns + call_ns + idle_other_ns")
        expect(total(waits, "waiting for a collective") == told["comm_wait_ns"],
               f"waits of GPU {gpu} for collectives sum to comm_wait_ns")
        expect(total(waits, "a copy or a collective runs") == told["comm_in_gap_ns"] + told["copy_ns"],
               f"other work of GPU {gpu} between kernels sums to comm_alone_ns + copy_ns")
        exposed = track(imported, f"GPU {gpu} exposed communication")
        expect(total(exposed) == told["exposed_comm_ns"], f"exposed_comm_ns of GPU {gpu}")

    chains = track(imported, "fusion chains")
    fusion = report["fusion"]
    listed_saved = sum(listed["launches_saved"] for listed in fusion["recommended"])
    whole = len(fusion["recommended"]) == fusion["recommended_total"]
    expect(argument(chains, "launches_saved") == listed_saved if whole
           else argument(chains, "launches_saved") > listed_saved,
           "chains sum to the launches that the recommended ones save")
    for rank, listed in enumerate(fusion["recommended"], 1):
        of_rank = [event for event in chains if event["args"].get("rank") == rank]
        expect(len(of_rank) == listed["count"], f"chain {rank} occurs {listed['count']} times")
        expect(argument(of_rank, "device_ns") == listed["device_ns"], f"device_ns of chain {rank}")
        if fusion.get("floor_ns") is not None:
            expect(argument(of_rank, "saving_ns") == listed["saving_ns"], f"saving_ns of chain {rank}")

    overhead = report["host_overhead"]
    tiles = [event for event in imported.slices if event.get("cat") == "assay"
             and imported.threads[event["tid"]][1].startswith("overhead, ")]
    for key, sum_key in (("py", "exclusive_py_ns"), ("dispatch", "exclusive_dispatch_ns"), ("call", "exclusive_call_ns"),
                         ("wait", "waiting_ns"), ("between", "other_host_ns")):
        parts = [event for event in tiles if event["args"]["part"] == key]
        expect(total(parts) == overhead[sum_key],
               f"overhead slices '{key}' sum to {sum_key}")
    launches = [event for event in tiles if event["args"]["part"] == "launch"]
    expect(total(launches) == sum(overhead[key] for key in ("t_orch_exclusive_ns", "other_host_ns", "waiting_ns")),
           "launches of the overhead sum to t_orch_exclusive_ns and what lies beside it")
    for key in ("ft_ns", "ct_ns", "kt_ns", "t_orch_ns"):
        expect(argument(launches, key) == (overhead[key] or 0), f"launches of the overhead sum to {key}: "
               f"{argument(launches, key)} and {overhead[key]}")


NOT_COMPARED = {"file", "content_bytes", "events", "flow_starts", "flow_ends", "instants", "metadata", "spans"}
HEADLINES = ("launch", "host_overhead", "breakdown", "fusion", "launch_shares", "actions", "headline", "caveats")


def differences(a, b, path=""):
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(set(a) | set(b)):
            if key not in NOT_COMPARED:
                yield from differences(a.get(key), b.get(key), f"{path}.{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            yield from differences(x, y, f"{path}[{i}]")
    elif a != b:
        yield f"{path}: {str(a)[:80]} and {str(b)[:80]}"


def own_events(path):
    """Complete events of a Kineto file as (name, start ns, duration ns), by Assay's category."""
    raw = path.read_bytes()
    text = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    document = json.loads(text, parse_float=str)
    if isinstance(document, list):
        return None
    base = int(document.get("baseTimeNanoseconds", 0))
    found = collections.Counter()
    for event in document["traceEvents"]:
        if event.get("ph") == "X" and event.get("cat") in ("kernel", "cpu_op", "python_function"):
            found[(event["cat"], event["name"], exact_ns(str(event["ts"])) + base,
                   exact_ns(str(event.get("dur", 0))))] += 1
    return found


def own_processes(path):
    """Names of the processes with operators and frames in a Kineto file, by id."""
    raw = path.read_bytes()
    document = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    if isinstance(document, list):
        return {}
    names, used = {}, set()
    for event in document["traceEvents"]:
        if event.get("name") == "process_name" and event.get("ph") == "M":
            names[str(event["pid"])] = event["args"]["name"]
        if event.get("ph") == "X" and event.get("cat") in ("cpu_op", "python_function"):
            used.add(str(event["pid"]))
    return {pid: name for pid, name in names.items() if pid in used and name}


def check_trace(assay, name, path, folder, against_file):
    written = folder / "timeline.json.gz"
    done = run(assay, "report", path, "--format", "json", "--perfetto", written)
    if done.returncode not in (0, 3):
        return False
    report = json.loads(done.stdout)

    def expect(fact, what):
        if not fact:
            problems.append(f"{name}: {what}")

    imported = Importer(gzip.decompress(written.read_bytes()))
    imported.finish()
    for fault in imported.faults[:5]:
        problems.append(f"{name}: {fault}")
    if len(imported.faults) > 5:
        problems.append(f"{name}: and {len(imported.faults) - 5} more like these")
    other = imported.head["otherData"]
    annotations = sum(event.get("cat") == "assay" for event in imported.slices)
    instants = sum(event["ph"] == "i" for event in imported.slices)
    expect(annotations == other["annotations"], "annotations as counted")
    expect(instants == other["instants"], "instants as counted")
    expect(len(imported.slices) - annotations - instants == other["slices"], "slices as counted")
    expect(len(imported.flows) == other["arrows"], "arrows as counted")
    expect(other["traces moved"] == 0 or imported.head.get("baseTimeNanoseconds") is None, "a trace was moved")
    own = [pid for pid, words in imported.processes.items() if words.startswith("Assay")]
    expect(len(own) == 1 and imported.sort_index[own[0]] == min(imported.sort_index.values()), "Assay comes on top")
    check_sums(expect, imported, report)

    again = run(assay, "report", written, "--format", "json")
    expect(again.returncode == done.returncode, f"the written file is not read back: {again.stderr.decode()[:300]}")
    if again.returncode == done.returncode:
        back = json.loads(again.stdout)
        # The timeline lacks events that the file lost, but only the file reports the loss.
        lost = any(note["severity"] == "data_loss" for note in report["import_log"])
        for key in HEADLINES[:-2] if lost else HEADLINES:
            for difference in list(differences(report.get(key), back.get(key), key))[:3]:
                expect(False, f"read back: {difference}")
    info = {}
    for which, file in (("first", path), ("back", written)):
        info[which] = json.loads(run(assay, "info", file, "--format", "json").stdout)
    for key in ("rows", "kinds", "links"):
        if key in info["first"]:
            for difference in list(differences(info["first"][key], info["back"].get(key), key))[:5]:
                expect(False, f"info of the written file: {difference}")
    if against_file and all(note["severity"] == "info" for note in report["import_log"]):
        for pid, process in own_processes(path).items():
            shown = any(words.startswith(f"Host ({process}, pid {pid})") for words in imported.processes.values())
            expect(shown, f"process {pid} has lost its name {process}: {sorted(imported.processes.values())}")
        events = own_events(path)
        base = int(imported.head.get("baseTimeNanoseconds", 0))
        if events is not None:
            told = collections.Counter((event["cat"], event["name"], event["ns"] + base, event["dur_ns"])
                                       for event in imported.slices
                                       if event.get("cat") in ("kernel", "cpu_op", "python_function"))
            lost = sum((events - told).values())
            expect(lost == 0, f"{lost} kernels, operators and frames of the trace's own file are not in it")
    return True


def check_failures(assay, folder):
    def expect(fact, what):
        if not fact:
            problems.append(what)

    def left(where):
        return sorted(path.name for path in where.iterdir())

    def refused(words, *arguments, code=2, **options):
        done = run(assay, "report", *arguments, **options)
        expect(done.returncode == code and words in done.stderr, f"{arguments}: {done.returncode} {done.stderr[-300:]}")
        return done

    empty = folder / "empty"
    empty.mkdir()
    refused(b"must end in .json", EXAMPLE, "--perfetto", empty / "a.pftrace")
    refused(b"No such file", EXAMPLE, "--perfetto", empty / "none" / "a.json")
    refused(b"name this file", EXAMPLE, "--perfetto", empty / "a.json", "-o", empty / "." / "a.json")
    mine = empty / "copy.json.gz"
    mine.write_bytes(EXAMPLE.read_bytes())
    refused(b"is an input", mine, "--perfetto", mine)
    expect(mine.read_bytes() == EXAMPLE.read_bytes(), "an input was overwritten")
    if os.path.exists("/dev/full"):
        refused(b"No space left", EXAMPLE, "--perfetto", "/dev/full", "--format", "json")
    # A failed report or a broken trace leaves no timeline.
    refused(b"", EXAMPLE, "--perfetto", empty / "t.json", "-o", empty / "none" / "r.html")
    cut = empty / "cut.json"
    cut.write_bytes(gzip.decompress(EXAMPLE.read_bytes())[:5000])
    refused(b"truncated", EXAMPLE, cut, "--perfetto", empty / "t.json")
    expect(left(empty) == ["copy.json.gz", "cut.json"], f"left behind: {left(empty)}")
    # A limit on file sizes simulates a full disk midway.
    limited = subprocess.run(["sh", "-c", 'ulimit -f 8; trap "" XFSZ; exec "$@"', "sh", assay, "report", str(EXAMPLE),
                              "--perfetto", str(empty / "t.json"), "--format", "json"], capture_output=True,
                             timeout=600, check=False)
    expect(limited.returncode == 2 and b"cannot write" in limited.stderr, f"full disk: {limited.stderr[-300:]}")
    expect(left(empty) == ["copy.json.gz", "cut.json"], f"left behind by a full disk: {left(empty)}")
    # A pipe with a reader that leaves early is no failure, and stays a pipe.
    pipe = empty / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["head", "-c", "100", str(pipe)], stdout=subprocess.PIPE) as reader:
        done = run(assay, "report", EXAMPLE, "--perfetto", pipe, "--format", "json")
        expect(reader.communicate()[0].startswith(b'{"schemaVersion":1'), "a pipe gets the file")
    expect(done.returncode == 0 and stat.S_ISFIFO(os.stat(pipe).st_mode), f"a pipe: {done.stderr[-300:]}")


def check_several(assay, folder):
    """Ranks in one file: a process group each, with unique ids."""
    for rank in range(3):
        document = json.loads(gzip.decompress(EXAMPLE.read_bytes()))
        document["distributedInfo"] = {"rank": rank, "world_size": 3, "backend": "nccl"}
        (folder / f"rank{rank}.json").write_text(json.dumps(document))
    written = folder / "ranks.json"
    page = folder / "ranks.html"
    done = run(assay, "report", *(folder / f"rank{rank}.json" for rank in range(3)), "--perfetto", written, "-o", page)
    if done.returncode != 0:
        problems.append(f"several ranks: {done.stderr.decode()[-300:]}")
        return
    imported = Importer(written.read_text())
    imported.finish()
    problems.extend(f"several ranks: {fault}" for fault in imported.faults[:5])
    names = sorted(imported.processes.values())
    if [name for name in names if name.startswith("Assay")] != [f"Assay: rank {rank}" for rank in range(3)]:
        problems.append(f"several ranks: processes {names}")
    order = [imported.processes[pid][-1] for pid in sorted(imported.sort_index, key=imported.sort_index.get)]
    if order != sorted(order):
        problems.append(f"several ranks: groups are mixed: {order}")
    per_rank = collections.Counter(imported.processes[event["pid"]].rsplit("rank ", 1)[-1] for event in imported.slices)
    if len(set(per_rank.values())) != 1 or len(per_rank) != 3:
        problems.append(f"several ranks: slices per rank {per_rank}")
    if not page.exists():
        problems.append("several ranks: no page beside the timeline")
    back = run(assay, "report", written)
    if back.returncode != 2 or b"timeline of 3 traces" not in back.stderr:
        problems.append(f"a timeline of several ranks is read as one trace: {back.stderr[-300:]}")


def check_among_its_traces(assay, folder):
    """A timeline in the folder of its traces is not a trace: the next report is the same."""
    for ranks, name in ((1, "timeline.json"), (2, "timeline.json.gz")):
        place = folder / f"of{ranks}"
        place.mkdir()
        for rank in range(ranks):
            (place / f"rank{rank}.json.gz").write_bytes(EXAMPLE.read_bytes())
        first = run(assay, "report", place, "--format", "json", "--perfetto", place / name)
        again = run(assay, "report", place, "--format", "json")
        if first.returncode != 0 or b"lies among its traces" not in first.stderr:
            problems.append(f"a timeline among {ranks} traces: {first.stderr[-300:]}")
        if again.stdout != first.stdout or b"skipped" not in again.stderr:
            problems.append(f"a timeline among {ranks} traces changes the next report: {again.stderr[-300:]}")


def crooked_trace(seed):
    """Irregular input that real profilers write: crossing events, textual or repeated ids, deep stacks."""
    dice = random.Random(seed)
    events = [{"ph": "M", "name": "thread_name", "pid": 4000, "tid": 4000, "args": {"name": "main \"thread\""}}]
    lanes = [(4000, 4000), (4000, 4001), ("python", 4001), (0, "worker"), (-1, 5)]
    external = 0
    for i in range(400):
        pid, tid = lanes[i % 5 if i % 7 else 0]
        at = round(10 + i * 20 + dice.random() * 30, 3)
        for cat, name in (("cpu_op", "aten::mm"), ("python_function", "f.py(1): f"), ("user_annotation", "label"),
                          ("strange", "odd")):
            external += 1
            events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid,
                           "ts": round(at + dice.random() * 15, 3), "dur": round(dice.random() * 60, 3),
                           "args": {"External id": external, "Input Dims": [[8, i], []],
                                    "Input type": ["float", "Scalar"], "Concrete Inputs": ["", "a\"b\\c"]}})
        dur = round(dice.random() * 40, 3)
        # One process launches: a file of several is split.
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 4000, "tid": tid,
                       "ts": at + 5, "dur": dur, "args": {"correlation": i + 1, "External id": external - 3}})
        events.append({"ph": "X", "cat": "kernel", "name": f"k{i % 9}<\u2028\u00e9, \"x\">", "pid": 0, "tid": 7,
                       "ts": round(at + 2 + dice.random() * 40, 3), "dur": round(dice.random() * 25, 3),
                       "args": {"correlation": i + 1, "device": i % 2, "stream": 7 + i % 3, "grid": [i, 1, 1],
                                "block": [32, 1, 1], "registers per thread": 3, "shared memory": 0}})
        events.append({"ph": "i", "s": "t", "name": "[memory]", "pid": pid, "tid": tid, "ts": at,
                       "args": {"Bytes": 512 * (i % 5 - 2), "Addr": 2**63 + i, "Total Allocated": 512 * i,
                                "Total Reserved": 4096, "Device Type": 1, "Device Id": i % 2}})
        events.append({"ph": "C", "name": "util", "pid": pid, "tid": tid, "ts": at, "args": {"sm": i / 7, "": 1}})
    for depth in range(300):
        events.append({"ph": "X", "cat": "python_function", "name": "recursion", "pid": 4000, "tid": 4000,
                       "ts": 20_000 + depth, "dur": 1000 - 2 * depth})
    events.extend({"ph": "X", "cat": "cpu_op", "name": "aten::view", "pid": 4000, "tid": 4001, "ts": 30_000, "dur": 0,
                   "args": {"External id": 90_000 + i}} for i in range(600))
    dice.shuffle(events)
    return {"schemaVersion": 1, "baseTimeNanoseconds": 1735689600 * 10**9, "traceEvents": events}


def check_crooked(assay, folder):
    for seed in range(3):
        path = folder / f"crooked{seed}.json"
        path.write_text(json.dumps(crooked_trace(seed)))
        if not check_trace(assay, path.name, path, folder, True):
            problems.append(f"{path.name}: no report")


def check_telemetry(assay, folder):
    """Samples of a concurrent log are counters at their times."""
    second, start = 10**9, 1735689600 * 10**9  # 2025-01-01
    launch = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 100.5, "dur": 9,
              "args": {"correlation": 1}}
    kernel = {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 200.25, "dur": 3e6,
              "args": {"correlation": 1, "device": 0, "stream": 7}}
    trace = folder / "logged.json"
    trace.write_text(json.dumps({"baseTimeNanoseconds": start, "traceEvents": [launch, kernel]}))
    watts = {start + i * second // 10: 100 + i * 1.25 for i in range(1, 30)}
    log = folder / "smi.csv"
    log.write_text("timestamp, index, power.draw [W]\n" + "".join(
        f"2025/01/01 00:00:{(ns - start) / second:06.3f}, 0, {value:.2f} W\n" for ns, value in watts.items()))
    written = folder / "logged.json.gz"
    done = run(assay, "report", trace, "--telemetry", log, "--perfetto", written, "--format", "json")
    if done.returncode != 0:
        problems.append(f"telemetry: {done.stderr.decode()[-300:]}")
        return
    imported = Importer(gzip.decompress(written.read_bytes()))
    base = int(imported.head["baseTimeNanoseconds"])
    told = {base + ns: value for _, _, series, ns, value, cat in imported.counters
            if series == "power_w" and cat == "assay"}
    if told != watts:
        problems.append(f"telemetry: {len(told)} samples of {len(watts)}: {sorted(told.items())[:3]}")
    # Samples are integrated linearly: 0.1 s each step, at the mean of its two ends.
    values = list(watts.values())
    joules = sum((a + b) / 2 * 0.1 for a, b in zip(values, values[1:]))
    energy = [value for _, _, series, _, value, cat in imported.counters if series == "energy_j" and cat == "assay"]
    if len(energy) != len(watts) or energy[0] != 0 or abs(energy[-1] - joules) > 1e-6 * joules:
        problems.append(f"telemetry: energy ends at {energy[-1:]}, not at {joules}")
    report = json.loads(done.stdout)
    if not report["breakdown"].get("telemetry") or not any("W" in words for words in report["headline"]):
        problems.append("telemetry: the report does not show the log")


def inputs():
    for name, path in datasets.golden_traces():
        if path.exists() and path.stat().st_size <= LARGEST:
            yield name, path, True
    for folder, pattern in (("nsys", "*.sqlite"), ("rocm", "*.db"), ("rocm", "*.json"), ("odd", "*.json*")):
        for path in sorted((datasets.CORPUS / folder).rglob(pattern)):
            if path.stat().st_size <= LARGEST:
                yield str(path.relative_to(datasets.CORPUS)), path, False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    parser.add_argument("--only", help="traces whose name contains this")
    arguments = parser.parse_args()
    checked = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for name, path, against_file in inputs():
            if arguments.only is None or arguments.only in name:
                checked += check_trace(arguments.assay, name, path, folder, against_file)
        if arguments.only is None:
            check_failures(arguments.assay, folder)
            check_several(arguments.assay, folder)
            check_among_its_traces(arguments.assay, folder)
            check_crooked(arguments.assay, folder)
            check_telemetry(arguments.assay, folder)
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return 1
    print(f"{checked} timelines are what the importer takes, the report says and the trace holds")
    if not datasets.CORPUS.exists():
        print(datasets.NO_CORPUS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
