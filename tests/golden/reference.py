#!/usr/bin/env python3
"""The summary of an import, computed a second time.

Reads one Kineto / Chrome trace (JSON, plain or gzip) with Python's own JSON parser and prints the
object that docs/formats/summary.md describes. Written from that page and the definitions in
src/trace/links.h, sharing no code with Assay; slow and obvious on purpose. Numbers keep their text
until they are needed, so that times are exact.

    tests/golden/reference.py TRACE          prints the summary
    tests/golden/reference.py --update [PART...]
                                             rewrites tests/golden/summaries from the data folders,
                                             or only those whose name contains one of the PARTs
"""

import collections
import decimal
import gzip
import json
import pathlib
import re
import sys

import datasets

TABLES = [
    "ops", "frames", "api_calls", "activities", "annotations", "gpu_annotations", "overheads",
    "other_events", "counters", "memory_events", "kernel_shapes", "transfers", "collectives",
    "waits", "op_sequences", "forward_backward_flows",
]
TIMED_TABLES = ["ops", "frames", "api_calls", "activities", "annotations"]
TABLE_OF = {
    "cpu_op": "ops", "operator": "ops",
    "python_function": "frames",
    "user_annotation": "annotations",
    "gpu_user_annotation": "gpu_annotations",
    "overhead": "overheads",
    "cuda_runtime": "api_calls", "runtime": "api_calls", "mtia_runtime": "api_calls",
    "glow_runtime": "api_calls", "xpu_runtime": "api_calls", "privateuse1_runtime": "api_calls",
    "cuda_driver": "api_calls", "xpu_driver": "api_calls", "privateuse1_driver": "api_calls",
}
ACTIVITY_OF = {
    "kernel": "kernel",
    "gpu_memcpy": "memcpy", "memcpy": "memcpy",
    "gpu_memset": "memset", "memset": "memset",
    "cuda_sync": "sync", "cuda_event": "sync", "xpu_sync": "sync",
    "mtia_ccp_events": "other", "hpu_op": "other",
}
WAITS = {"Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"}
FORWARD_BACKWARD_FLOWS = {"fwdbwd", "forward_backward", "fwd_bwd"}
SPANS = {"trace"}

# The import codes that follow from simple rules; the others have tests of their own.
LOG_CODES = [
    "missing_timestamp", "missing_duration", "negative_duration", "unknown_category",
    "not_an_object", "duplicate_event", "begin_end_pair", "unmatched_begin", "unmatched_end",
    "whole_microseconds", "time_unit_nanoseconds", "bad_base_time", "ambiguous_fraction",
]

KERNEL_LAUNCH = re.compile(
    r"^(cuda|cu|hip)\w*Launch\w*Kernel|^ur\w*KernelLaunch|job_prep_and_submit_for_execution$")
GRAPH_LAUNCH = re.compile(r"^(cuda|cu|hip)GraphLaunch")


class Number(str):
    """A JSON number as written."""


class Row:
    """One row of a table; attributes are set by the reader."""

    def __init__(self, **fields):
        self.__dict__.update(fields)

    @property
    def end(self):
        return self.start + self.dur


# ---- reading -------------------------------------------------------------------------------------

def read_events(path):
    """(events, header) of a trace file."""
    data = pathlib.Path(path).read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    document = json.loads(data.decode("utf-8", errors="replace"), parse_int=Number,
                          parse_float=Number, parse_constant=lambda word: None)
    if isinstance(document, list):
        return document, {}
    return document["traceEvents"], document


def numeric(value):
    """The text of a number, also of one written as a string; None for other values."""
    if isinstance(value, str) and re.fullmatch(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*", value):
        return value.strip()
    return None


def whole(value):
    """An integer id, or None."""
    text = numeric(value)
    return int(text) if text is not None and re.fullmatch(r"[-+]?\d+", text) else None


def nanoseconds(text, scale):
    """Decimal text times 10^scale, exactly, rounded half away from zero."""
    scaled = decimal.Decimal(text).scaleb(scale)
    return int(scaled.quantize(decimal.Decimal(1), rounding=decimal.ROUND_HALF_UP))


def lane(event):
    def text(value):
        return value if isinstance(value, str) else "" if value is None else str(value)
    return text(event.get("pid")), text(event.get("tid"))


def arguments(event):
    args = event.get("args")
    return args if isinstance(args, dict) else {}


def stream_of(event, args):
    """(device, stream): from the arguments, else from pid and tid; old tids read "stream 7"."""
    def number(value):
        found = re.search(r"-?\d+$", str(value)) if value is not None else None
        return int(found.group()) if found else 0
    return (number(args.get("device", event.get("pid"))),
            number(args.get("stream", event.get("tid"))))


class RocmLanes:
    """Events without categories, in lanes named as by rpd2tracing and rocprof 1."""

    def __init__(self, events):
        self.process, self.thread = {}, {}
        arrows = collections.defaultdict(lambda: [None, []])
        for event in events:
            if not isinstance(event, dict):
                continue
            pid, tid = lane(event)
            if event.get("ph") == "M":
                name = arguments(event).get("name", "")
                if event.get("name") == "process_name":
                    self.process[pid] = name
                elif event.get("name") == "thread_name":
                    self.thread[pid, tid] = name
            elif (event.get("cat") or "").lower() in ("api_op", "dataflow"):
                at = (pid, tid, int(event["ts"]))
                if event["ph"] == "s":
                    arrows[str(event["id"])][0] = at
                else:
                    arrows[str(event["id"])][1].append(at)
        self.devices = {int(name[3:]) for name in self.process.values()
                        if re.fullmatch(r"GPU\d+", name)
                        and any(self.process.get(lane(e)[0]) == name for e in events
                                if isinstance(e, dict) and e.get("ph") == "X")}
        # The call of each arrow: the one that ends there, else the innermost that contains it. The start of the arrow
        # finds the device event.
        calls = [e for e in events if isinstance(e, dict) and e.get("ph") == "X"
                 and not e.get("cat") and self.is_call(e)]
        self.id_of_call, self.id_of_work = {}, {}
        for number, (source, targets) in enumerate(arrows.values()):
            around = [e for e in calls if source and lane(e) == source[:2]
                      and int(e["ts"]) <= source[2] <= int(e["ts"]) + int(e["dur"])]
            if not around:
                continue
            ending = [e for e in around if int(e["ts"]) + int(e["dur"]) == source[2]]
            call = max(ending or around, key=lambda e: int(e["ts"]))
            correlation = self.id_of_call.setdefault(id(call), len(self.id_of_call) + 1)
            for target in targets:
                self.id_of_work[target] = correlation

    def is_call(self, event):
        pid, tid = lane(event)
        return (self.process.get(pid) in ("CPU HIP API", "CPU HSA API")
                or re.fullmatch(r"Hip \d+", self.thread.get((pid, tid), ""))) and \
            re.match(r"(__)?hip|hsa|cu", event.get("name") or "")

    def file(self, event, row, tables):
        pid, tid = lane(event)
        process = self.process.get(pid, "")
        if re.fullmatch(r"GPU\d+", process) or process == "COPY":
            name = row.name
            row.kind = ("memcpy" if process == "COPY" or name.startswith("Copy") else
                        "memset" if name.startswith("Fill") else
                        "other" if name in ("Barrier", "Marker") else "kernel")
            device = (int(process[3:]) if process != "COPY" else
                      min(self.devices) if len(self.devices) == 1 else -1)
            row.lane = (device, int(tid))
            row.correlation = self.id_of_work.get((pid, tid, int(event["ts"])), 0)
            row.args = {}
            tables["activities"].append(row)
        elif self.is_call(event):
            row.kind = "runtime"
            row.correlation = self.id_of_call.get(id(event), 0)
            tables["api_calls"].append(row)
        elif process in ("CPU HIP API", "CPU HSA API", "Markers and Ranges") or \
                re.fullmatch(r"Hip \d+", self.thread.get((pid, tid), "")):
            tables["annotations"].append(row)
        else:
            return False
        return True


class Import:
    """All rows of a file, in input order, with times in nanoseconds."""

    def __init__(self, events, header):
        self.tables = {name: [] for name in TABLES}
        self.rows = collections.Counter(events=len(events))
        self.log = collections.Counter()
        self.header = header
        self.read_time_texts(events)
        self.open = collections.defaultdict(list)  # begin events without their end, per lane
        self.lanes = RocmLanes(events)
        for event in events:
            if not isinstance(event, dict) or "ph" not in event:
                self.log["not_an_object"] += 1
                continue
            self.read_event(event)
        self.log["unmatched_begin"] += sum(len(stack) for stack in self.open.values())
        self.drop_duplicates()

    def read_time_texts(self, events):
        """Unit, base and resolution, which depend on all times together."""
        texts = [numeric(event.get(key)) for event in events if isinstance(event, dict)
                 for key in ("ts", "dur") if event.get("ph") != "M"]
        texts = [text for text in texts if text is not None]
        starts = [numeric(event.get("ts")) for event in events if isinstance(event, dict)
                  and event.get("ph") != "M"]
        latest = max((decimal.Decimal(text) for text in starts if text is not None), default=0)
        # 10^17 us is the year 5138; 10^17 ns is 1973.
        self.scale = 0 if latest >= 10**17 else 3
        if self.scale == 0:
            self.log["time_unit_nanoseconds"] = 1
        self.whole_microseconds = self.scale == 3 and bool(texts) and all(
            decimal.Decimal(text) == int(decimal.Decimal(text)) for text in texts)
        if self.whole_microseconds:
            self.log["whole_microseconds"] = 1
        fractions = [text.split(".")[1] for text in texts if "." in text]
        if ({1, 2, 3} >= {len(f) for f in fractions} and len({len(f) for f in fractions}) > 1
                and not any(f.startswith("0") for f in fractions)):
            self.log["ambiguous_fraction"] = 1
        base = whole(self.header.get("baseTimeNanoseconds"))
        self.base = 0
        if base is not None and texts:
            if latest.scaleb(self.scale) < base:
                self.base = base
            else:
                self.log["bad_base_time"] = 1

    def start(self, event):
        """Start in ns, or None, counted."""
        text = numeric(event.get("ts"))
        if text is None:
            self.log["missing_timestamp"] += 1
            return None
        return nanoseconds(text, self.scale) + self.base

    def read_event(self, event):
        phase = event.get("ph")
        category = (event.get("cat") or "").lower()
        args = arguments(event)
        if phase == "M":
            self.rows["metadata"] += 1
        elif phase == "X":
            if category in SPANS:
                self.rows["spans"] += 1
                return
            start = self.start(event)
            if start is None:
                return
            dur = numeric(event.get("dur"))
            if dur is None:
                self.log["missing_duration"] += 1
                dur = "0"
            dur = nanoseconds(dur, self.scale)
            if dur < 0:
                self.log["negative_duration"] += 1
                dur = 0
            self.add_row(event, category, args, start, dur)
        elif phase == "B":
            start = self.start(event)
            if start is not None:
                self.open[lane(event)].append((event, start))
        elif phase == "E":
            end = self.start(event)
            if end is None:
                return
            if not self.open[lane(event)]:
                self.log["unmatched_end"] += 1
                return
            begin, start = self.open[lane(event)].pop()
            self.log["begin_end_pair"] += 1
            category = (begin.get("cat") or "").lower()
            if category in SPANS:
                self.rows["spans"] += 1
                return
            self.add_row(begin, category, arguments(begin), start, max(0, end - start))
        elif phase in ("i", "I"):
            self.rows["instants"] += 1
            if numeric(args.get("Bytes")) is not None:
                time = self.start(event)
                if time is not None:
                    self.tables["memory_events"].append(Row(start=time, dur=0))
        elif phase == "C":
            time = self.start(event)
            if time is not None:
                for value in args.values():
                    if numeric(value) is not None:
                        self.tables["counters"].append(Row(start=time, dur=0))
        elif phase in ("s", "f"):
            if category in FORWARD_BACKWARD_FLOWS:
                self.tables["forward_backward_flows"].append(Row())
            else:
                self.rows["flow_starts" if phase == "s" else "flow_ends"] += 1
        else:
            self.log["unknown_phase"] += 1

    def add_row(self, event, category, args, start, dur):
        external = whole(args.get("External id", args.get("external id"))) or 0
        row = Row(start=start, dur=dur, name=event.get("name") or "", lane=lane(event),
                  external=external, correlation=whole(args.get("correlation")) or 0, args=args,
                  kind=category)
        if category == "" and self.lanes.file(event, row, self.tables):
            return
        if category in ACTIVITY_OF:
            row.kind = ACTIVITY_OF[category]
            row.lane = stream_of(event, args)
            self.tables["activities"].append(row)
        elif category in TABLE_OF:
            self.tables[TABLE_OF[category]].append(row)
        else:
            self.tables["other_events"].append(row)
            self.log["unknown_category"] += 1

    def drop_duplicates(self):
        for table, identity in (("ops", "external"), ("api_calls", "correlation"),
                                ("activities", "correlation")):
            seen = set()
            kept = []
            for row in self.tables[table]:
                key = (row.lane, row.start, row.dur, row.name, row.kind, getattr(row, identity))
                if getattr(row, identity) and row.dur > 0 and key in seen:
                    self.log["duplicate_event"] += 1
                    continue
                seen.add(key)
                kept.append(row)
            self.tables[table] = kept
        for row in self.tables["ops"]:
            sequence = numeric(row.args.get("Sequence number"))
            if sequence is not None and int(sequence) >= 0:
                self.tables["op_sequences"].append(row)
        for row in self.tables["activities"]:
            if "grid" in row.args or "graph node id" in row.args:
                self.tables["kernel_shapes"].append(row)
            moved = row.args.get("bytes", row.args.get("size"))
            if row.kind in ("memcpy", "memset") and numeric(moved) is not None:
                self.tables["transfers"].append(row)
            if "Collective name" in row.args:
                self.tables["collectives"].append(row)
            if row.kind == "sync" and row.name in WAITS:
                self.tables["waits"].append(row)


# ---- links ---------------------------------------------------------------------------------------

def nest(ops, calls):
    """Sets op.parent and call.op by one sweep per thread; returns (tolerated, split)."""
    tolerated = split = 0
    lanes = collections.defaultdict(list)
    for rank, rows in enumerate((ops, calls)):
        for row in rows:
            lanes[row.lane].append((row.start, rank, -row.dur, row))
    for events in lanes.values():
        events.sort(key=lambda event: event[:3])
        stack = []
        for start, rank, _, row in events:
            while stack and stack[-1].end <= start:
                stack.pop()
            if rank == 1:
                row.op = stack[-1] if stack else None
                continue
            overlaps = False
            while stack and row.end > stack[-1].end + 1000:
                stack.pop()
                overlaps = True
            split += overlaps
            row.parent = stack[-1] if stack else None
            if row.parent is not None and row.end > row.parent.end:
                tolerated += 1
            stack.append(row)
    return tolerated, split


def is_step(op):
    """In 2021 the profiler wrote its steps as operators; they are windows, not operators."""
    return op.name.startswith("ProfilerStep#")


def root_of(op):
    """Outermost operator around op, including itself; None if only a step contains it."""
    root = None
    while op is not None:
        root = root if is_step(op) else op
        op = op.parent
    return root


def link(tables):
    """Sets activity.call, call.activities, op.parent and call.op; returns the counts."""
    ops, calls = tables["ops"], tables["api_calls"]
    stats = collections.Counter()
    by_correlation = {}
    for call in sorted(calls, key=lambda call: (call.start, -call.dur)):
        call.activities = []
        call.is_graph = bool(GRAPH_LAUNCH.match(call.name))
        call.is_launch = call.is_graph or bool(KERNEL_LAUNCH.search(call.name))
        if call.correlation == 0:
            continue
        if call.correlation in by_correlation:
            stats["duplicate_calls"] += 1
        else:
            by_correlation[call.correlation] = call
    for activity in tables["activities"]:
        activity.call = by_correlation.get(activity.correlation)
        if activity.call is not None:
            activity.call.activities.append(activity)

    kernels = [a for a in tables["activities"] if a.kind == "kernel"]
    linked = [k for k in kernels if k.call is not None]
    unlinked = [k for k in kernels if k.call is None]
    first_linked = {}  # per stream; None is the trace
    for kernel in linked:
        for lane in (kernel.lane, None):
            first_linked[lane] = min(first_linked.get(lane, kernel.start), kernel.start)
    carried = [k for k in unlinked
               if linked and k.end <= first_linked.get(k.lane, first_linked[None])]
    stats["kernels"] = len(kernels)
    stats["kernels_linked"] = len(linked)
    stats["kernels_unlinked"] = len(unlinked)
    stats["kernels_unlinked_ns"] = sum(k.dur for k in unlinked)
    stats["kernels_carried_over"] = len(carried)
    stats["kernels_carried_over_ns"] = sum(k.dur for k in carried)
    copies = [a for a in tables["activities"] if a.kind in ("memcpy", "memset")]
    stats["copies"] = len(copies)
    stats["copies_linked"] = sum(c.call is not None for c in copies)

    for call in calls:
        call.kernels = sorted((a for a in call.activities if a.kind == "kernel"),
                              key=lambda k: (k.start, k.end))
        if call.is_graph and call.kernels:
            stats["graph_launches"] += 1
            stats["graph_kernels"] += len(call.kernels)
        if not call.is_graph and len(call.kernels) > 1:
            stats["shared_correlations"] += 1

    stats["overlap_tolerated"], stats["overlap_split"] = nest(ops, calls)
    for call in calls:
        if call.is_launch and by_correlation.get(call.correlation, call) is call:
            stats["launch_calls"] += 1
            stats["launch_calls_unlinked"] += not call.activities
            stats["calls_without_op"] += call.op is None
    by_external = {op.external for op in ops if op.external}
    for activity in tables["activities"]:
        call = activity.call
        if call is not None and call.op is not None:
            stats["activity_ops_by_call"] += 1
            continue
        external = activity.external or (call.external if call is not None else 0)
        if external and external == activity.correlation:
            stats["external_ids_ignored"] += 1
        elif external in by_external:
            stats["activity_ops_by_external_id"] += 1
    keys = ["kernels", "kernels_linked", "kernels_unlinked", "kernels_unlinked_ns",
            "kernels_carried_over", "kernels_carried_over_ns", "copies", "copies_linked",
            "graph_launches", "graph_kernels", "shared_correlations", "launch_calls",
            "launch_calls_unlinked", "duplicate_calls", "calls_without_op", "overlap_tolerated",
            "overlap_split", "activity_ops_by_call", "activity_ops_by_external_id",
            "external_ids_ignored"]
    return {key: stats[key] for key in keys}


# ---- launch metrics ------------------------------------------------------------------------------

def union(intervals):
    """Total length of the union of (start, end) pairs."""
    total = 0
    reached = None
    for start, end in sorted(intervals):
        if reached is None or start > reached:
            reached = start
        if end > reached:
            total += end - reached
            reached = end
    return total


def launch(tables):
    """Equations 1, 2, 4 and 5 of SKIP over the whole trace."""
    kernels = [a for a in tables["activities"] if a.kind == "kernel"]
    calls = [c for c in tables["api_calls"] if c.kernels]
    tklqt = clamped = dropped = 0
    for call in calls:
        # One launch-and-queue time per call: the later kernels of a graph wait for each other.
        delay = call.kernels[0].start - call.start
        if delay <= -10_000:
            dropped += 1
        elif delay < 0:
            clamped += 1
        else:
            tklqt += delay
    result = {
        "kernels": len(kernels),
        "linked": sum(k.call is not None for k in kernels),
        "launches": len(calls),
        "tklqt_ns": tklqt,
        "clamped": clamped,
        "dropped": dropped,
        "kernel_sum_ns": sum(k.dur for k in kernels),
        "kernel_union_ns": union((k.start, k.end) for k in kernels),
        "il_ns": None,
        "gpu_idle_eq5_ns": None,
        "gpu_idle_union_ns": None,
    }
    roots = [root_of(call.op) for call in calls if root_of(call.op) is not None]
    ops = [op for op in tables["ops"] if not is_step(op)]
    if kernels:
        # p_1: a root operator with a kernel below it; else any operator, launch call or kernel.
        candidates = roots or ops or calls or kernels
        origin = min(row.start for row in candidates)
        il = max(0, max(k.end for k in kernels) - origin)
        inside = [(max(k.start, origin), k.end) for k in kernels if k.end > origin]
        result["il_ns"] = il
        result["gpu_idle_eq5_ns"] = il - result["kernel_sum_ns"]
        result["gpu_idle_union_ns"] = il - union(inside)
    return result


def summarize(path):
    trace = Import(*read_events(path))
    tables = trace.tables
    kinds = collections.Counter(row.kind for row in tables["activities"])
    timed = [row for name in TIMED_TABLES for row in tables[name]]
    first = min((row.start for row in timed), default=None)
    return {
        "rows": {key: trace.rows[key] for key in
                 ("events", "flow_starts", "flow_ends", "metadata", "instants", "spans")},
        "tables": {name: len(tables[name]) for name in TABLES},
        "activity_kinds": {kind: kinds[kind]
                           for kind in ("kernel", "memcpy", "memset", "sync", "other")},
        "times": {
            "base_time_ns": trace.base,
            "whole_microseconds": trace.whole_microseconds,
            "first_ns": first,
            "last_ns": max((row.end for row in timed), default=None),
        },
        "sums": {name: {"start_ns": sum(row.start - first for row in tables[name]),
                        "dur_ns": sum(row.dur for row in tables[name])}
                 for name in TIMED_TABLES},
        "links": link(tables),
        "launch": launch(tables),
        "import_log": {code: count for code, count in sorted(trace.log.items()) if count},
    }


def update(parts):
    for name, path in datasets.golden_traces():
        if parts and not any(part in name for part in parts):
            continue
        target = datasets.SUMMARIES / f"{name}.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(summarize(path), indent=1) + "\n")
        print(target.relative_to(datasets.ROOT))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--update"]:
        update(sys.argv[2:])
    elif len(sys.argv) == 2:
        print(json.dumps(summarize(sys.argv[1]), indent=1))
    else:
        sys.exit(__doc__)
