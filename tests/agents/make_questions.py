#!/usr/bin/env python3
"""Writes tests/agents/questions.tsv: questions about public traces with their answers, read from the raw JSON by this
script alone. Nothing of Assay is called.

    make_questions.py DATA

DATA is the folder of traces; a question names its trace relative to it. Times are in nanoseconds.
"""

import bisect
import decimal
import gzip
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
MOST_BYTES = 1_200_000  # of a stored trace
MOST_OF_KIND = 14  # spread over the traces
MOST_ABSTENTIONS = 5
MOST_OF_SQL = 8
MOST_NAME = 200  # bytes of a kernel's name in a question
KERNELS = {"kernel", "Kernel"}
COPIES = {"gpu_memcpy", "gpu_memset", "Memcpy", "Memset"}
CALLS = {"cuda_runtime", "cuda_driver", "Runtime"}
OPS = {"cpu_op", "Operator"}
STEPS = {"user_annotation"}
STEP = re.compile(r"ProfilerStep#(\d+)$")
MOVES = re.compile(r"nccl|rccl", re.IGNORECASE)  # kernels that move data between GPUs
WAIT = "cudaDeviceSynchronize"
ABSTAIN = "unknown"
# Quantities that no trace of the PyTorch profiler has.
ABSTENTIONS = {
    "energy": "How many joules did all kernels take in {trace} (kernels j)?",
    "temperature": "What temperature did the GPU have in {trace}?",
    "clock": "At which clock frequency did the GPU run in {trace}?",
    "topology": "Which NVLink topology connects the GPUs of {trace}?",
    "loss": "What is the training loss at the end of {trace}?",
}
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
    "job_traces": "For how many ranks were traces read of {trace} (ranks read)?",
    "world_size": "Which world size does the file {trace} have?",
    "top_kernel_mean": "What is the mean duration (dur mean ns) of the kernel that takes most GPU time in {trace}?",
    "named_kernel_time": 'What is the total duration (dur sum ns) of the kernel "{subject}" in {trace}?',
    "named_kernel_count": 'How often did the kernel "{subject}" run in {trace} (kernels by name, count)?',
    "named_kernel_mean": 'What is the mean duration (dur mean ns) of the kernel "{subject}" in {trace}?',
    "launch_and_queue": "What is the TKLQT of {trace}, summed (tklqt ns)?",
    "idle_share": "For which share of the time was the GPU idle, without kernels, in {trace} (gpu idle share)?",
    "computing": 'For how long (ns) did the GPU "compute" (a cause), rather than idle, in {trace} with part=all?',
    "exposed_collectives": 'For how long (ns) did the GPU run only a "collective" (a cause), rather than idle, in {trace} with part=all?',
    "exposed_copies": 'For how long (ns) did the GPU run only a "copy" (a cause), rather than idle, in {trace} with part=all?',
    "step_kernels": "How many kernels other than collectives ran in iteration {subject} of {trace} (iterations, kernels)?",
    "change_of_kernel_time": 'By how much did the metric "kernel_sum_ns" change from {trace} to "{subject}"?',
    "change_of_kernel_count": 'By how much did the metric "kernels" change from {trace} to "{subject}"?',
    "longest_kernel": 'What is the max of "dur_ns" in the table "kernels" of {trace}?',
    "long_kernels": 'What is the count of "dur_ns" above 100000 in the table "kernels" of {trace}?',
    "streams": 'What is the count of different "stream" in the table "kernels" of {trace}?',
    "copied_bytes": 'What is the sum of "bytes" in the table "transfers" of {trace}?',
    "memory_peak": 'What is the max of "total_allocated_bytes" in the table "memory_events" of {trace}?',
    "longest_operator": 'What is the max of "dur_ns" in the table "ops" of {trace}?',
    "wait_time": f'What is the sum of "dur_ns" for the name "{WAIT}" in the table "api_calls" of {{trace}}?',
    "abstain_column": 'What is the max of "temperature_c" in the table "devices" of {trace}?',
    **{"abstain_" + kind: text for kind, text in ABSTENTIONS.items()},
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


class Run:
    """The events of a trace that the questions are about, with times in nanoseconds."""

    def __init__(self, document):
        self.kernels = []  # (start, duration, name, correlation), each once
        self.copies = []  # (start, end)
        self.calls = {}  # host calls by correlation: (start, end, thread)
        self.ops = {}  # spans of operators by thread
        self.steps = {}  # spans of the profiler's steps by their number
        self.shared = set()  # correlations of more than one call
        self.longest_operator = ABSTAIN
        self.streams, self.copied_bytes, self.allocated_bytes, self.waits = set(), [], [], []
        seen = set()
        for event in document["traceEvents"]:
            if event.get("name") == "[memory]" and "Total Allocated" in event.get("args", {}):
                self.allocated_bytes.append(event["args"]["Total Allocated"])
            if event.get("ph") != "X" or "ts" not in event:
                continue
            category = event.get("cat")
            if category not in KERNELS | COPIES | CALLS | OPS | STEPS:
                continue
            begin, duration = ns(event["ts"]), max(0, ns(event.get("dur", 0)))
            correlation = (event.get("args") or {}).get("correlation")
            thread = (event.get("pid"), event.get("tid"))
            if category in OPS:
                self.longest_operator = max(duration, 0 if self.longest_operator == ABSTAIN else self.longest_operator)
            if category in KERNELS | COPIES:
                key = json.dumps(event, sort_keys=True, default=str)
                if key in seen:
                    continue
                seen.add(key)
            if category in KERNELS:
                self.kernels.append((begin, duration, event["name"], correlation))
                self.streams.add((event.get("args") or {}).get("stream", event.get("tid")))
            elif category in COPIES:
                self.copies.append((begin, begin + duration))
                self.copied_bytes.append((event.get("args") or {}).get("bytes", 0))
            elif category in CALLS:
                if correlation in self.calls:
                    self.shared.add(correlation)
                self.calls[correlation] = (begin, begin + duration, thread)
                if event["name"] == WAIT:
                    self.waits.append(duration)
            elif STEP.match(event["name"]):
                self.steps[int(STEP.match(event["name"])[1])] = (begin, begin + duration)
            elif category in OPS:
                self.ops.setdefault(thread, []).append((begin, begin + duration))

    def linked(self):
        """Kernels with the call that launched them."""
        return [(kernel, self.calls[kernel[3]]) for kernel in self.kernels if kernel[3] and kernel[3] in self.calls]

    def launch_and_queue_ns(self):
        """The time from a launch call to its first kernel, summed."""
        first = {}
        for kernel, call in self.linked():
            first[kernel[3]] = min(first.get(kernel[3], kernel[0] - call[0]), kernel[0] - call[0])
        return sum(max(0, one) for one in first.values() if one > -10_000)

    def origin(self):
        """The start of the earliest outermost operator around a launch."""
        outermost = {}
        for thread, spans in self.ops.items():
            kept = []
            for begin, end in sorted(spans, key=lambda span: (span[0], -span[1])):
                if not kept or begin >= kept[-1][1]:
                    kept.append((begin, end))
            outermost[thread] = kept
        begins = []
        for _, (begin, end, thread) in self.linked():
            spans = outermost.get(thread, [])
            at = bisect.bisect_right(spans, (begin, float("inf"))) - 1
            if at >= 0 and end <= spans[at][1]:
                begins.append(spans[at][0])
        return min(begins) if begins else None

    def idle_share(self):
        """The part of the time from the origin to the end of the last kernel in which no kernel runs."""
        begin, end = self.origin(), max(start + duration for start, duration, _, _ in self.kernels)
        if begin is None or end <= begin:
            return None
        spans = [(max(begin, start), start + duration) for start, duration, _, _ in self.kernels if start + duration > begin]
        return 1 - union(spans) / (end - begin)


def exclusive(spans, before):
    """The time in which one of the spans lies and none of those before."""
    return union(spans + before) - union(before)


def questions_of(path, name):
    document = load(path)
    run = Run(document)
    kernels = run.kernels
    yield "size", path.stat().st_size
    devices = document.get("deviceProperties") or []
    names = [device["name"] for device in devices if device.get("name")]
    yield "device", names[0] if names else ABSTAIN
    facts = document.get("distributedInfo") or {}
    in_name = re.search(r"rank\D?(\d+)", path.name)
    if facts.get("rank") is not None or in_name is None:
        yield "rank", facts["rank"] if facts.get("rank") is not None else ABSTAIN
    yield "world_size", facts.get("world_size", ABSTAIN)
    if not kernels and run.ops:
        yield "idle_share", ABSTAIN
    if len(kernels) < 2:
        return
    yield from (("abstain_" + kind, ABSTAIN) for kind in ABSTENTIONS)
    yield "kernel_count", len(kernels)
    yield "kernel_time", sum(kernel[1] for kernel in kernels)
    spans = [(start, start + duration) for start, duration, _, _ in kernels]
    yield "busy_time", union(spans)
    yield "launches", len({kernel[3] for kernel, _ in run.linked()})
    if run.linked() and not run.shared:
        yield "launch_and_queue", run.launch_and_queue_ns()
    if not run.shared and run.idle_share() is not None:
        yield "idle_share", run.idle_share()
    moving = [(start, start + duration) for start, duration, kernel, _ in kernels if MOVES.search(kernel)]
    computing = [(start, start + duration) for start, duration, kernel, _ in kernels if not MOVES.search(kernel)]
    yield "computing", union(computing)
    yield "longest_kernel", max(kernel[1] for kernel in kernels)
    yield "long_kernels", sum(kernel[1] > 100_000 for kernel in kernels)
    yield "streams", len(run.streams)
    yield "copied_bytes", sum(run.copied_bytes) if run.copies else ABSTAIN
    yield "memory_peak", max(run.allocated_bytes, default=ABSTAIN)
    yield "longest_operator", run.longest_operator
    yield "wait_time", sum(run.waits) if run.waits else ABSTAIN
    yield "abstain_column", ABSTAIN
    if moving:
        yield "exposed_collectives", exclusive(moving, computing)
    if run.copies:
        yield "exposed_copies", exclusive(run.copies, computing + moving)
    for number, (begin, end) in sorted(run.steps.items())[:2] if len(run.steps) > 1 else ():
        of_step = [kernel for kernel, call in run.linked() if begin <= call[0] < end and not MOVES.search(kernel[2])]
        if of_step and len(run.linked()) == len(kernels):
            yield "step_kernels", len(of_step), number
    total, count = {}, {}
    for _, duration, kernel, _ in kernels:
        total[kernel] = total.get(kernel, 0) + duration
        count[kernel] = count.get(kernel, 0) + 1
    order = sorted(total, key=total.get, reverse=True)
    for kind, at in (("named_kernel_time", 1), ("named_kernel_count", 2), ("named_kernel_mean", 3)):
        if len(order) > at and len(order[at]) < MOST_NAME and '"' not in order[at]:
            kernel = order[at]
            answers = {"time": total[kernel], "count": count[kernel], "mean": round(total[kernel] / count[kernel])}
            yield kind, answers[kind.rsplit("_", 1)[1]], kernel
    if len(order) > 1 and total[order[0]] == total[order[1]]:
        return
    yield "top_kernel", order[0]
    yield "top_kernel_count", count[order[0]]
    yield "top_kernel_time", total[order[0]]
    yield "top_kernel_mean", round(total[order[0]] / count[order[0]])


def pairs_of(root, names):
    """What changed between two ranks of one job, of traces that are one iteration."""
    runs = {}
    for name in names:
        run = Run(load(root / name))
        if len(run.steps) < 2 and run.kernels:
            runs[name] = run
    there = sorted(runs)
    for a, b in zip(there, there[1:]):
        sums = [sum(kernel[1] for kernel in runs[name].kernels) for name in (a, b)]
        yield "change_of_kernel_time", a, sums[1] - sums[0], b
        yield "change_of_kernel_count", a, len(runs[b].kernels) - len(runs[a].kernels), b


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    rows = []  # (kind, trace, answer, second subject)
    folders = {}
    for path in sorted((root / "kineto").rglob("*.json*")):
        if path.stat().st_size > MOST_BYTES or not path.name.endswith((".json", ".json.gz")):
            continue
        name = str(path.relative_to(root))
        try:
            found = [(*one, "")[:3] for one in questions_of(path, name)]
        except (ValueError, KeyError, TypeError, OSError):
            continue  # not one plain trace: no question about it
        ranks, worlds, names = folders.setdefault(str(pathlib.Path(name).parent), (set(), set(), []))
        ranks.update(value for kind, value, _ in found if kind == "rank")
        worlds.update(value for kind, value, _ in found if kind == "world_size")
        names.append(name)
        rows += [(kind, name, answer, subject) for kind, answer, subject in found]
    for folder, (ranks, worlds, names) in folders.items():
        if len(ranks) < 2 or ABSTAIN in worlds:
            continue
        rows.append(("job_traces", folder, len(names), ""))
        # Folders with every rank of their job.
        if worlds == {len(ranks)}:
            rows.append(("job_ranks", folder, len(ranks), ""))
        rows += pairs_of(root, names)
    kept = []
    for kind in TEXTS:
        of_kind = [row for row in rows if row[0] == kind]
        most = MOST_ABSTENTIONS if kind.startswith("abstain_") else MOST_OF_SQL if '" in the table "' in TEXTS[kind] else MOST_OF_KIND
        step = max(1, len(of_kind) // most)
        kept += of_kind[::step][:most]
    lines = ["id\tkind\ttrace\tquestion\tanswer"]
    for number, (kind, name, answer, subject) in enumerate(kept, 1):
        text = TEXTS[kind].format(trace=f'"{name}"', subject=subject)
        lines.append(f"{number}\t{kind}\t{name}\t{text}\t{json.dumps(answer)}")
    (HERE / "questions.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    kinds = sorted({row[0] for row in kept})
    print(f"{len(kept)} questions of {len(kinds)} kinds: {', '.join(kinds)}")


if __name__ == "__main__":
    main()
