"""A model of Perfetto's importer of Chrome-trace JSON, from its documentation and source (docs/formats/perfetto.md).
`check_perfetto_program.py` compares it with the program.
"""

import collections
import json
import math
import re

DEEPEST = 255       # slices of a stack; old versions drop deeper ones


def exact_ns(text):
    """Decimal microseconds, as text, in nanoseconds."""
    whole, _, fraction = text.partition(".")
    sign = -1 if whole.startswith("-") else 1
    return sign * (abs(int(whole)) * 1000 + int(fraction.ljust(3, "0")[:3]))


def importer_ns(text):
    """The importer reads a double and rounds the product, halves away from zero."""
    product = float(text) * 1000.0
    return int(math.floor(product + 0.5)) if product >= 0 else int(math.ceil(product - 0.5))


class Importer:
    """Perfetto's JSON importer: a stack of slices per thread, events in order of time and, at one
    time, of the file."""

    def __init__(self, text):
        document = json.loads(text, parse_float=str)
        self.head = document
        self.threads, self.processes, self.sort_index = {}, {}, {}
        self.slices, self.counters, self.flows = [], [], []
        self.lanes = {}
        self.faults = []
        self.open_flows = {}
        self.stacks = collections.defaultdict(list)
        events = document["traceEvents"]
        timed = [event for event in events if event["ph"] != "M"]
        for event in timed:
            event["ns"] = self.time(event, "ts")
        for event in events:
            if event["ph"] == "M":
                self.metadata(event)
        for event in sorted(timed, key=lambda event: event["ns"]):  # stable
            self.take(event)

    def fault(self, event, what):
        self.faults.append(f"{what}: {str(event)[:200]}")

    def time(self, event, key):
        text = str(event[key])
        if not re.fullmatch(r"-?\d+\.\d{3}", text):
            self.fault(event, f"{key} is no decimal with three digits")
        if importer_ns(text) != exact_ns(text):
            self.fault(event, f"{key} loses nanoseconds as a double")
        if exact_ns(text) < 0:
            self.fault(event, f"{key} below zero: the importer drops it")
        return exact_ns(text)

    def metadata(self, event):
        pid, tid, args = event["pid"], event["tid"], event["args"]
        if event["name"] == "process_name":
            self.processes[pid] = args["name"]
        elif event["name"] == "process_sort_index":
            self.sort_index[pid] = args["sort_index"]
        elif event["name"] == "thread_name":
            if tid in self.threads:
                self.fault(event, "two threads of one id")
            self.threads[tid] = (pid, args["name"])
        elif event["name"] == "assay_lane":
            self.lanes[(pid, tid)] = (args["lane process"], args["lane thread"])

    def take(self, event):
        for key in ("pid", "tid"):
            if not isinstance(event[key], int) or not 0 < event[key] < 2**32:
                self.fault(event, f"{key} is no 32-bit id")
        if event["ph"] in "Xi":
            if self.threads.get(event["tid"], (None,))[0] != event["pid"]:
                self.fault(event, "on a thread without a name, or of another process")
            self.push(event, self.time(event, "dur") if event["ph"] == "X" else 0)
        elif event["ph"] == "C":
            for key, value in event["args"].items():
                self.counters.append((event["pid"], event["name"], key, event["ns"], float(value), event.get("cat")))
        elif event["ph"] in "sf":
            self.flow(event)
        else:
            self.fault(event, "unknown phase")

    def push(self, event, dur):
        stack = self.stacks[event["tid"]]
        start = event["ns"]
        while stack:
            end = stack[-1][1]
            instants = stack[-1][0] == end and dur == 0
            if end < start or (end == start and not instants):
                stack.pop()
                continue
            if start < end < start + dur:
                self.fault(event, f"dropped: overlaps a slice that ends at {end}")
                return
            break
        if len(stack) >= DEEPEST:
            self.fault(event, "dropped: too deep")
            return
        stack.append((start, start + dur, event))
        event["dur_ns"], event["depth"] = dur, len(stack) - 1
        self.slices.append(event)

    def flow(self, event):
        stack = self.stacks[event["tid"]]
        if not stack:
            self.fault(event, "an arrow without a slice")
            return
        top = stack[-1][2]
        if top["ns"] != event["ns"]:
            self.fault(event, "an arrow on another slice than its own")
        key = (event["cat"], event["name"], event["id"])
        if event["ph"] == "s":
            if key in self.open_flows:
                self.fault(event, "two arrows of one id")
            self.open_flows[key] = [top, 0]
        elif event.get("bp") != "e" or key not in self.open_flows:
            self.fault(event, "an arrow that starts nowhere")
        else:
            self.open_flows[key][1] += 1
            self.flows.append((event["cat"], self.open_flows[key][0], top))

    def finish(self):
        for (cat, _, ident), (_, ends) in self.open_flows.items():
            if ends == 0:
                self.faults.append(f"arrow {cat} {ident} ends nowhere")
        for cat, start, end in self.flows:
            if cat != "ac2g":
                continue
            same = start["args"].get("correlation") == end["args"].get("correlation")
            if not same or start["cat"] not in ("cuda_runtime", "cuda_driver"):
                self.faults.append(f"an arrow between strangers: {start['name']} {end['name']}")
