#!/usr/bin/env python3
"""Checks causes of idle time against a second computation from the JSON.

    check_flow.py --causes build/release/assay_flow_causes [NAME...]

A replay without changes must reproduce every point, and parts sum to their whole. The following comes from
docs/metrics.md (Flow) and shares no code with Assay: the idle time to the nanosecond; the time in which an activity was
late although the device was empty ("unseen"), to the nanosecond if no stream waits for another and no graph ran; and
the state of the host at points spread over the idle time. NAMEs select traces by a part of their name.
"""

import argparse
import bisect
import collections
import json
import re
import subprocess
import sys
import time

import datasets
import reference

BUDGET_S = 60    # no further trace starts after this; small ones go first
POINTS = 1500    # where the state of the host is looked up
SLACK = 0.04     # tolerated share of the idle time: sampling error and initialization
TWINS = re.compile(r"megatron_kineto_[1-7]|rank-1$|operator_cats")

SYNC = re.compile(r"Synchronize|^(cuda|hip)Memcpy(WithStream)?$")
ALLOC = re.compile(r"Malloc|Free|HostAlloc|HostRegister|HostUnregister|MemMap|MemUnmap|MemCreate|MemRelease")
INPUT = re.compile(r"dataloader", re.IGNORECASE)
HOST = ("sync", "alloc", "input", "call", "dispatch", "python", "host_gap", "cold", "nothing_asked")


def union(intervals):
    merged = []
    for begin, end in sorted(intervals):
        if begin >= end:
            continue
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return merged


def gaps_between(busy, begin, end):
    gaps = []
    for b, e in busy:
        if b > begin:
            gaps.append((begin, min(b, end)))
        begin = max(begin, e)
        if begin >= end:
            return gaps
    return gaps + [(begin, end)]


def length(intervals):
    return sum(e - b for b, e in intervals)


def common(a, b):
    """Length of the intersection of two sorted lists of disjoint intervals."""
    total = i = j = 0
    while i < len(a) and j < len(b):
        total += max(0, min(a[i][1], b[j][1]) - max(a[i][0], b[j][0]))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return total


class Device:
    """The activities of one device, with their submission time and the time when their stream was free."""

    def __init__(self, works, outer):
        self.works = sorted(works, key=lambda w: (w.start, w.end))
        self.busy = union((w.start, w.end) for w in self.works)
        asked = [work.start for work in self.works]
        for work in self.works:
            if work.call is None:
                continue
            root = reference.root_of(work.call.op)
            asked.append(min(work.call.start, root.start if root else work.call.start))
        self.window = (min(asked), max(work.end for work in self.works))
        for work in self.works:
            work.submit = None
            if work.call is None:
                continue
            begin, end = outer[id(work.call)]
            if end <= work.start:
                work.submit = end
            elif work.kind == "memcpy" and ("HtoD" not in work.name and "HostToDevice" not in work.name
                                            or "Pinned ->" in work.name):
                work.submit = max(begin, min(work.start, begin + 10_000))
            else:
                work.submit = max(begin, work.start)

    def late(self, launch_limit, stream_limit):
        """Intervals in which an activity was late."""
        spans = []
        running = collections.defaultdict(list)
        for work in self.works:
            ended = [e for e in running[work.lane] if e <= work.start]
            free = max(ended, default=None)
            running[work.lane] = [e for e in running[work.lane] if e > work.start]
            if free is not None:
                running[work.lane].append(free)
            running[work.lane].append(work.end)
            if work.submit is None:
                continue
            if free is not None and free > work.submit:
                spans.append((free + stream_limit, work.start))
            else:
                spans.append((work.submit + launch_limit, work.start))
        return union(spans)


def outermost(calls):
    """(begin, end) of the outermost call that contains each call of a thread."""
    outer = {}
    lanes = collections.defaultdict(list)
    for call in calls:
        lanes[call.lane].append(call)
    chains = []
    for rows in lanes.values():
        chain = None
        for call in sorted(rows, key=lambda c: (c.start, -c.dur)):
            if chain is None or call.start >= chain[1]:
                chain = [call.start, call.end, call]
                chains.append(chain)
            chain[1] = max(chain[1], call.end)
            outer[id(call)] = chain
    return {key: (chain[0], chain[1]) for key, chain in outer.items()}, chains


class Host:
    """The state of a thread at a time: its outermost call, else the innermost operator or frame."""

    def __init__(self, tables, chains):
        self.calls = collections.defaultdict(list)
        for begin, end, call in chains:
            copies = [a for a in call.activities if a.kind == "memcpy"]
            # A copy to or from pageable memory blocks its call, however short it is.
            must = end - begin > 20_000 or any("Pageable" in c.name and "HtoD" not in c.name for c in copies)
            waits = (copies and must and max(c.end for c in copies) <= end
                     and not all("HtoD" in c.name and "Pinned ->" not in c.name
                                 for c in call.activities))
            # Megabytes in memory that is not pinned: the call is the copy.
            moves = (copies and not any("Pinned" in c.name for c in copies)
                     and sum(c.end - c.start for c in copies) >= max(1_000_000, (end - begin) / 2))
            name = "moves bytes" if moves else "Synchronize" if waits else call.name
            self.calls[call.lane].append((begin, end, name))
        self.spans = collections.defaultdict(list)
        for table, kind in (("ops", "dispatch"), ("frames", "python"), ("annotations", "label")):
            for row in tables[table]:
                if kind == "label" and not INPUT.search(row.name):
                    continue
                if kind == "dispatch" and row.name.startswith("ProfilerStep"):
                    continue
                self.spans[row.lane].append((row.start, row.end, kind, row.name))
        for rows in list(self.calls.values()) + list(self.spans.values()):
            rows.sort(key=lambda r: (r[0], -r[1]))
        self.starts = {lane: [r[0] for r in rows] for lane, rows in self.spans.items()}
        self.call_starts = {lane: [r[0] for r in rows] for lane, rows in self.calls.items()}

    def at(self, lane, time):
        calls = self.calls.get(lane, [])
        i = bisect.bisect_right(self.call_starts.get(lane, []), time) - 1
        inside = [row for row in self.around(lane, time)]
        loads = any(INPUT.search(row[3]) for row in inside)
        if i >= 0 and calls[i][1] > time:
            if SYNC.search(calls[i][2]):
                return "sync"
            if ALLOC.search(calls[i][2]):
                return "alloc"
            return "input" if loads else "call"
        if loads:
            return "input"
        return inside[-1][2] if inside else "host_gap"

    def around(self, lane, time):
        """Open spans at a time, outermost first; a slow and simple backward walk."""
        rows = self.spans.get(lane, [])
        found = []
        for i in range(bisect.bisect_right(self.starts.get(lane, []), time) - 1, -1, -1):
            if rows[i][1] > time:
                found.append(rows[i])
            if len(found) > 0 and rows[i][1] - rows[i][0] > 10**9:
                break
            if i < bisect.bisect_right(self.starts[lane], time) - 4000:
                break
        return found[::-1]


def expect(problems, name, what, told, own):
    if told != own:
        problems.append(f"{name}: {what}: told {told}, own {own}")


def check_sums(problems, name, told):
    total = told["total"]
    parts = total["compute_ns"] + total["collective_ns"] + total["copy_ns"] + total["idle_ns"]
    expect(problems, name, "parts of the window", parts, total["window_ns"])
    for part in ("causes", "opened", "evidence"):
        expect(problems, name, f"sum of {part}", sum(total[part].values()), total["idle_ns"])
    expect(problems, name, "points that the replay misses", told["replay_mismatches"], 0)


def check_host(problems, name, told, devices, host):
    """Causes at points spread over the idle time at which no submitted activity waits."""
    idle = [(b, e, d) for d in devices for b, e in gaps_between(d.busy, *d.window)]
    total = sum(e - b for b, e, _ in idle)
    if total == 0:
        return
    found = collections.Counter()
    step = max(1, total // POINTS)
    position = step // 2
    for begin, end, device in idle:
        while position < end - begin:
            at = begin + position
            position += step
            pending = [w for w in device.works if w.submit is not None and w.submit <= at < w.start]
            if pending:
                found["device"] += 1
                continue
            later = [w for w in device.works if w.submit is not None and w.submit > at]
            following = [w for w in device.works if w.start > at]
            if not later or (following and following[0].submit is None):
                found["none"] += 1
                continue
            work = min(later, key=lambda w: (w.submit, w.start))
            found[host.at(work.call.lane, at)] += 1
        position -= end - begin
    points = sum(found.values())
    causes = told["total"]["causes"]
    share = {cause: ns / told["total"]["idle_ns"] for cause, ns in causes.items()}
    pairs = {
        "device": sum(share[c] for c in ("unseen", "latency", "wait_other")),
        "input": share["input"],
        "alloc": share["alloc"],
        "sync": share["sync"],
    }
    for cause, told_share in pairs.items():
        own = found[cause] / points
        # One-time work counts as initialization, whatever contains it.
        room = SLACK + (share["cold"] if cause in ("alloc", "sync", "input") else 0)
        if abs(told_share - own) > room and not (cause == "device" and found["none"]):
            problems.append(f"{name}: {cause}: told {told_share:.3f} of idle, looked up {own:.3f}")
    rest = sum(share[c] for c in HOST) - share["input"] - share["alloc"] - share["sync"]
    own = sum(found[c] for c in ("call", "dispatch", "python", "host_gap")) / points
    if not found["none"] and abs(rest - own) > SLACK + share["cold"]:
        problems.append(f"{name}: other host time: told {rest:.3f} of idle, looked up {own:.3f}")


def check(name, path, causes, problems):
    done = subprocess.run([causes, str(path)], capture_output=True, text=True, timeout=600)
    told = json.loads(done.stdout)
    check_sums(problems, name, told)
    events, header = reference.read_events(path)
    tables = reference.Import(events, header).tables
    reference.link(tables)
    works = [a for a in tables["activities"] if a.kind != "sync"]
    expect(problems, name, "idle time without work", told["total"]["idle_ns"] > 0 and not works, False)
    if not works:
        return
    outer, chains = outermost(tables["api_calls"])
    by_device = collections.defaultdict(list)
    for work in works:
        by_device[work.lane[0]].append(work)
    devices = [Device(rows, outer) for rows in by_device.values()]
    idle = {id(d): gaps_between(d.busy, *d.window) for d in devices}
    expect(problems, name, "idle_ns", told["total"]["idle_ns"], sum(map(length, idle.values())))
    graphs = any(len(c.activities) > 1 or c.is_graph for c in tables["api_calls"] if c.activities)
    all_linked = all(w.submit is not None for d in devices for w in d.works)
    if all_linked and not graphs and told["recorded_waits"] + told["inferred_waits"] == 0:
        late = sum(common(idle[id(d)], d.late(told["launch_limit_ns"], told["stream_limit_ns"]))
                   for d in devices)
        expect(problems, name, "unseen", told["total"]["causes"]["unseen"], late)
    if len(works) < 4000:
        check_host(problems, name, told, devices, Host(tables, chains))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--causes", required=True)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    traces = [(name, path) for name, path in datasets.golden_traces()
              if (any(part in name for part in options.names) if options.names else not TWINS.search(name))]
    traces.sort(key=lambda trace: trace[1].stat().st_size)
    problems = []
    began = time.monotonic()
    checked = 0
    for name, path in traces:
        if not options.names and time.monotonic() - began > BUDGET_S:
            break
        check(name, path, options.causes, problems)
        checked += 1
    if not datasets.CORPUS.exists():
        print(datasets.NO_CORPUS)
    for problem in problems:
        print(problem)
    if problems or checked == 0:
        sys.exit(f"flow: {len(problems)} differences in {checked} traces")
    print(f"flow: causes of {checked} traces are right")


if __name__ == "__main__":
    main()
