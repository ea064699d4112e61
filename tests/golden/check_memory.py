#!/usr/bin/env python3
"""Device memory of `assay breakdown` against the allocator's records in the JSON of the traces.

This script finds operators by the thread of each record, which Assay does not use: the innermost operator of the
launching record, by correlation, else the innermost. It compares bytes, counts and peaks per device, the bytes
requested by each operator, the peak use after its records, and the peaks of the line chart. Phases and operators must
sum to their device. Records with an ambiguous operator may be missing, and are counted.
"""

import argparse
import bisect
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

import check_roof
import datasets
import page

NAMES = ("h100_qwen1.5-0.5b", "mi300_bert_small", "v100_resnet50_2021-06", "h100_nsfw_vit", "vllm_mi300_decode_capture")


def inside(op, ts):
    return op["ts"] <= ts < op["ts"] + op["dur"]


def own(path):
    """{device: facts}, {operator: requested bytes} of one trace."""
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
    devices, asked, most = {}, collections.Counter(), {}
    starts = {tid: [op["ts"] for op in lane] for tid, lane in ops.items()}
    for record in sorted(records, key=lambda e: e["ts"]):
        args = record["args"]
        total, size = args.get("Total Allocated"), args["Bytes"]
        device = devices.setdefault(args["Device Id"], {"allocations": 0, "frees": 0, "allocated_bytes": 0, "freed_bytes": 0,
                                                        "peak_bytes": total, "peak_reserved_bytes": args.get("Total Reserved"),
                                                        "start_bytes": None if total is None else total - size})
        device["allocations" if size >= 0 else "frees"] += 1
        device["allocated_bytes" if size >= 0 else "freed_bytes"] += abs(size)
        if total is not None:
            device["peak_bytes"] = max(device["peak_bytes"], total)
            device["peak_reserved_bytes"] = max(device["peak_reserved_bytes"], args["Total Reserved"])
        open_here = around(ops.get(str(record["tid"]), []), starts.get(str(record["tid"]), []), record["ts"])
        launching = [op for op in open_here if op.get("launches")] or open_here[-1:]
        name = launching[-1]["name"] if launching else None
        asked[name] += max(size, 0)
        if total is not None:
            most[name] = max(most.get(name, total), total)
    return devices, asked, most


def check_parts(memory):
    """Phases, and operators, are parts of their device."""
    for device in memory["devices"]:
        for parts in ("phases", "ops"):
            rows = [row for row in memory[parts] if row["device"] == device["device"]]
            for key in ("allocations", "frees", "allocated_bytes", "freed_bytes"):
                if sum(row[key] for row in rows) != device[key]:
                    yield f"{parts}: {key} are not the device's {device[key]}"
            if device["peak_bytes"] is not None and max(row["peak_bytes"] for row in rows) != device["peak_bytes"]:
                yield f"{parts}: no peak is the device's {device['peak_bytes']}"


def check_chart(assay, path, memory):
    """The line on the page reaches the device's peaks."""
    with tempfile.TemporaryDirectory() as folder:
        written = pathlib.Path(folder) / "page.html"
        subprocess.run([assay, "breakdown", str(path), "-o", written], capture_output=True, timeout=600, check=True)
        text = page.shown_on(written)
    at = text.find('"key":"memory_line"')
    if at < 0:
        return ["no line of memory on the page"] if any(row["peak_bytes"] is not None for row in memory["devices"]) else []
    series, _ = json.JSONDecoder().raw_decode(text, text.index("[", text.index('"series":', at)))
    first = memory["devices"][0]
    wanted = {"allocated": first["peak_bytes"], "reserved": first["peak_reserved_bytes"]}
    return [f"the line of {line['name']} reaches {max(line['y'])}, not {wanted[line['name']]}" for line in series
            if max(line["y"]) != wanted[line["name"]]]


def around(lane, starts, ts):
    """Operators of a thread that contain ts, outermost first; none is much longer than a step."""
    found, last = [], bisect.bisect_right(starts, ts)
    for op in reversed(lane[max(0, last - 400):last]):
        if inside(op, ts):
            found.append(op)
    return found[::-1]


def compare(assay, path):
    done = subprocess.run([assay, "breakdown", str(path), "--format", "json"], capture_output=True, timeout=600, check=True)
    memory = json.loads(done.stdout)["memory"]
    devices, asked, most = own(path)
    problems = list(check_parts(memory)) + check_chart(assay, path, memory)
    for row in memory["devices"]:
        for key, value in devices.pop(row["device"]).items():
            if row[key] != value:
                problems.append(f"device {row['device']}: {key} {row[key]}, here {value}")
    problems += [f"device {device} is missing" for device in devices]
    told = collections.Counter()
    for row in memory["ops"]:
        told[row["op"]] += row["allocated_bytes"]
    untold = sum(row["ambiguous_events"] for row in memory["devices"])
    reached = {}
    for row in memory["ops"]:
        if row["peak_bytes"] is not None:
            reached[row["op"]] = max(reached.get(row["op"], 0), row["peak_bytes"])
    if untold == 0 and reached != most:
        problems += [f"{name}: most in use {reached.get(name)}, here {most.get(name)}" for name in {*reached, *most}
                     if reached.get(name) != most.get(name)]
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
