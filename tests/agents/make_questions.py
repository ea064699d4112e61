#!/usr/bin/env python3
"""Writes tests/agents/questions.tsv: questions about public traces with their answers, read from the raw JSON by this
script alone. Nothing of Assay is called.

    make_questions.py DATA

DATA is the folder of traces; a question names its trace relative to it. Times are in nanoseconds.
"""

import decimal
import gzip
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
MOST_BYTES = 1_200_000  # of a stored trace
KERNELS = {"kernel", "Kernel"}
CALLS = {"cuda_runtime", "cuda_driver", "Runtime"}
ABSTAIN = "unknown"
TEXTS = {
    "kernel_count": "How many kernels ran in {trace}?",
    "kernel_time": "What is the kernel time of {trace}, summed (kernel sum ns)?",
    "busy_time": "For how long did at least one kernel run in {trace} (kernel union ns)?",
    "launches": "How many launches were made in {trace}?",
    "top_kernel": "What is the name of the kernel that takes most GPU time in {trace}?",
    "top_kernel_count": "How often (count) did the kernel run that takes most GPU time in {trace}?",
    "top_kernel_time": "What is the total duration (dur sum ns) of the kernel that takes most GPU time in {trace}?",
    "device": "On which device was the file {trace} recorded?",
    "rank": "Which rank does the file {trace} have?",
    "size": "What size in bytes does the file {trace} have?",
    "job_ranks": "How many ranks does the job {trace} have?",
}


def load(path):
    data = path.read_bytes()
    # Times of 10^15 microseconds have more digits than a double.
    document = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data, parse_float=decimal.Decimal)
    return document if isinstance(document, dict) else {"traceEvents": document}


def union(spans):
    total, end = 0, None
    for start, stop in sorted(spans):
        if end is None or start > end:
            total += stop - start
            end = stop
        elif stop > end:
            total += stop - end
            end = stop
    return total


def ns(microseconds):
    return int((decimal.Decimal(microseconds) * 1000).to_integral_value(decimal.ROUND_HALF_UP))


def rows_of(document):
    """Kernels as (start, duration, name, correlation), each once, and the correlation ids of host calls."""
    kernels, calls, seen = [], set(), set()
    for event in document["traceEvents"]:
        if event.get("ph") != "X" or "ts" not in event:
            continue
        arguments = event.get("args") or {}
        if event.get("cat") in KERNELS:
            key = json.dumps(event, sort_keys=True, default=str)
            if key not in seen:
                seen.add(key)
                kernels.append((ns(event["ts"]), max(0, ns(event.get("dur", 0))), event["name"], arguments.get("correlation")))
        elif event.get("cat") in CALLS:
            calls.add(arguments.get("correlation"))
    return kernels, calls


def questions_of(path, name):
    document = load(path)
    kernels, calls = rows_of(document)
    yield "size", path.stat().st_size
    devices = document.get("deviceProperties") or []
    names = [device["name"] for device in devices if device.get("name")]
    yield "device", names[0] if names else ABSTAIN
    rank = (document.get("distributedInfo") or {}).get("rank")
    in_name = re.search(r"rank\D?(\d+)", path.name)
    if rank is not None or in_name is None:
        yield "rank", rank if rank is not None else ABSTAIN
    if len(kernels) < 2:
        return
    yield "kernel_count", len(kernels)
    yield "kernel_time", sum(kernel[1] for kernel in kernels)
    yield "busy_time", union([(start, start + duration) for start, duration, _, _ in kernels])
    launched = {kernel[3] for kernel in kernels} & calls - {None, 0}
    yield "launches", len(launched)
    total, count = {}, {}
    for _, duration, kernel, _ in kernels:
        total[kernel] = total.get(kernel, 0) + duration
        count[kernel] = count.get(kernel, 0) + 1
    order = sorted(total, key=total.get, reverse=True)
    if len(order) > 1 and total[order[0]] == total[order[1]]:
        return
    yield "top_kernel", order[0]
    yield "top_kernel_count", count[order[0]]
    yield "top_kernel_time", total[order[0]]


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    rows = []
    folders = {}
    for path in sorted((root / "kineto").rglob("*.json*")):
        if path.stat().st_size > MOST_BYTES or not path.name.endswith((".json", ".json.gz")):
            continue
        name = str(path.relative_to(root))
        try:
            found = list(questions_of(path, name))
        except (ValueError, KeyError, TypeError, OSError):
            continue  # not one plain trace: no question about it
        ranks, worlds = folders.setdefault(str(pathlib.Path(name).parent), (set(), set()))
        ranks.update(value for kind, value in found if kind == "rank")
        worlds.add((load(path).get("distributedInfo") or {}).get("world_size"))
        rows += [(kind, name, answer) for kind, answer in found]
    # Folders with every rank of their job.
    for folder, (ranks, worlds) in folders.items():
        if len(ranks) > 1 and worlds == {len(ranks)}:
            rows.append(("job_ranks", folder, len(ranks)))
    # At most so many of a kind, spread over the traces.
    most = 14
    kept = []
    for kind in TEXTS:
        of_kind = [row for row in rows if row[0] == kind]
        step = max(1, len(of_kind) // most)
        kept += of_kind[::step][:most]
    lines = ["id\tkind\ttrace\tquestion\tanswer"]
    for number, (kind, name, answer) in enumerate(kept, 1):
        text = TEXTS[kind].format(trace=f'"{name}"')
        lines.append(f"{number}\t{kind}\t{name}\t{text}\t{json.dumps(answer)}")
    (HERE / "questions.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    kinds = sorted({row[0] for row in kept})
    print(f"{len(kept)} questions of {len(kinds)} kinds: {', '.join(kinds)}")


if __name__ == "__main__":
    main()
