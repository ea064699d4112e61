#!/usr/bin/env python3
"""Device memory of `assay levels` against the allocator's records in the JSON of the traces.

Operators are found here by the thread that each record names, which Assay does without: the innermost around the record that
launches device work, by correlation numbers, else the innermost. Compared are bytes, counts and peaks per device, and the bytes
that each operator asked for; records whose operator Assay could not tell apart may be missing, and are counted.
"""

import argparse
import bisect
import collections
import json
import subprocess
import sys

import check_roof
import datasets

NAMES = ("h100_qwen1.5-0.5b", "mi300_bert_small", "v100_resnet50_2021-06", "h100_nsfw_vit", "vllm_mi300_decode_capture")


def inside(op, ts):
    return op["ts"] <= ts < op["ts"] + op["dur"]


def own(path):
    """{device: facts}, {operator: bytes asked for} of one trace."""
    ops, calls, works, records = collections.defaultdict(list), {}, set(), []
    for event in check_roof.events_of(path):
        kind, args = str(event.get("cat", "")).lower(), event.get("args", {})
        if kind in ("cpu_op", "operator") and not event["name"].startswith("ProfilerStep#"):
            ops[str(event["tid"])].append(event)
        elif "runtime" in kind or "driver" in kind:
            calls[args.get("correlation")] = event
        elif kind in ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"):
            works.add(args.get("correlation"))
        elif event.get("name") == "[memory]" and args["Device Type"] != 0:
            records.append(event)
    for tid, lane in ops.items():
        lane.sort(key=lambda op: (op["ts"], -op["dur"]))
        starts = [op["ts"] for op in lane]
        for number in works:
            call = calls.get(number)
            if call is None or str(call["tid"]) != tid:
                continue
            for op in around(lane, starts, call["ts"]):
                op["launches"] = True
    devices, asked = {}, collections.Counter()
    starts = {tid: [op["ts"] for op in lane] for tid, lane in ops.items()}
    for record in sorted(records, key=lambda e: e["ts"]):
        args = record["args"]
        total, size = args.get("Total Allocated"), args["Bytes"]
        device = devices.setdefault(args["Device Id"], {"allocations": 0, "frees": 0, "allocated_bytes": 0, "freed_bytes": 0,
                                                        "peak_bytes": total, "peak_reserved_bytes": args.get("Total Reserved"),
                                                        "first_bytes": None if total is None else total - size})
        device["allocations" if size >= 0 else "frees"] += 1
        device["allocated_bytes" if size >= 0 else "freed_bytes"] += abs(size)
        if total is not None:
            device["peak_bytes"] = max(device["peak_bytes"], total)
            device["peak_reserved_bytes"] = max(device["peak_reserved_bytes"], args["Total Reserved"])
        if size > 0:
            open_here = around(ops.get(str(record["tid"]), []), starts.get(str(record["tid"]), []), record["ts"])
            launching = [op for op in open_here if op.get("launches")] or open_here[-1:]
            asked[launching[-1]["name"] if launching else None] += size
    return devices, asked


def around(lane, starts, ts):
    """Operators of a thread that hold ts, the outermost first; none is far longer than a step."""
    found, last = [], bisect.bisect_right(starts, ts)
    for op in reversed(lane[max(0, last - 400):last]):
        if inside(op, ts):
            found.append(op)
    return found[::-1]


def compare(assay, path):
    done = subprocess.run([assay, "levels", str(path), "--format", "json"], capture_output=True, timeout=600, check=True)
    memory = json.loads(done.stdout)["memory"]
    devices, asked = own(path)
    problems = []
    for row in memory["devices"]:
        for key, value in devices.pop(row["device"]).items():
            if row[key] != value:
                problems.append(f"device {row['device']}: {key} {row[key]}, here {value}")
    problems += [f"device {device} is missing" for device in devices]
    told = collections.Counter()
    for row in memory["ops"]:
        told[row["op"]] += row["allocated_bytes"]
    untold = sum(row["ambiguous_events"] for row in memory["devices"])
    for name in {*told, *asked}:
        short = asked[name] - told[name]
        if short != 0 and (untold == 0 or (name is not None and short < 0)):
            problems.append(f"{name}: {told[name]} bytes asked for, here {asked[name]}")
    return problems, sum(row["allocations"] for row in memory["devices"]), untold


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=datasets.ROOT / "build/release/assay")
    options = parser.parse_args()
    problems, seen = [], []
    for name, path in datasets.golden_traces():
        if any(word in name for word in NAMES):
            found, allocations, untold = compare(options.assay, path)
            problems += [f"{name}: {text}" for text in found]
            seen.append(f"{name.split('/')[-1]}: {allocations} allocations, {untold} records not told apart")
    if not seen:
        print(datasets.NO_CORPUS)
        return check_roof.SKIP
    print("\n".join(seen + problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
