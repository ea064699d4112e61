#!/usr/bin/env python3
"""Compares `assay overhead --format json` with a second computation from the JSON.

    check_overhead.py --assay build/release/assay [NAME...]

Written from docs/metrics.md (Overhead) without Assay's code; slow and simple. Links between operators, calls and
kernels come from reference.py. NAMEs select traces by a part of their name.
"""

import argparse
import collections
import json
import re
import subprocess
import sys
import time

import datasets
import kernel_names
import reference

SKIP = 77
TIMEOUT_S = 600
ESTIMATES_NS = 500, 1_000_000  # an estimate outside is rejected
LEAST_SAMPLES = 8
BUDGET_S = 30  # no further trace starts after this; small ones go first
NOISE_NS = 100
# Other ranks and forms of a run that is already checked; they are read if named on the command line. Calls in which a
# thread does no launch work: it waits for the device or maps memory.
TAKES_OUT = re.compile(r"^(?!\w*Memcpy\w*Async)(?!\w*Get\w*Alloc)(cuda|cu|hip)\w*(Synchronize|Memcpy|Malloc|MemAlloc|HostAlloc"
                       r"|HostRegister|HostUnregister|Free|MemCreate|MemMap|MemUnmap|MemRelease|MemSetAccess"
                       r"|AddressReserve|PoolTrimTo|ArrayCreate|ArrayDestroy)")
QUEUE_FULL_NS = 100_000  # a longer launch call waits for the queue
TWINS = re.compile(r"megatron_kineto_[1-7]|rank-1$|operator_cats|trace_diff_control")

# The board name from the driver, and the null-kernel launch time under the PyTorch profiler.
FLOORS = {"A100-SXM4-80GB": 2261, "H100 PCIe": 2375, "GH200": 2772}

GENERIC = {"kernel", "kernel2", "_kernel", "device_kernel", "kernel_entry", "run", "launch",
           "execute", "invoke", "main", "entry", "call", "operator()", "global_kernel"}
GEMM = ["gemm", "wgmma", "sm90", "sm100", "cutlass", "cublas", "cudnn", "xmma", "tensorop"]
ATTENTION = ["flash_fwd", "flash_bwd", "flash", "fmha", "attention"]


def clean(raw):
    """Equal for two kernels exactly if Assay's cleaned names are equal; the text may differ."""
    text = raw.replace("(anonymous namespace)::", "").replace("<unnamed>::", "")
    # Removes parameters and template arguments of all scopes, outermost first.
    kept, depth = [], 0
    for i, char in enumerate(text):
        if char in "<({[" and not (char == "<" and (i == 0 or not re.match(r"[\w\]]", text[i - 1]))):
            depth += 1
        elif char in ">)}]" and depth:
            depth -= 1
        elif depth == 0:
            kept.append(char)
    parts = "".join(kept).strip().split(" ")[-1].split("::")
    name = parts[-1]
    if name.lower() in GENERIC and len(parts) > 1:
        name = parts[-2] + "_" + name
    lower = raw.lower()
    attention = next((word for word in ATTENTION if word in lower), None)
    gemm = attention is None and any(word in lower for word in GEMM)
    architecture = None
    for match in re.finditer(r"(?:sm|gfx)_?\d{2,4}(?!\d)", lower):
        before = raw[match.start() - 1] if match.start() else " "
        if not before.isalpha() or raw[match.start()] == "S":
            architecture = match.group()
            break
    return name, attention, gemm, architecture


def is_library(name):
    return kernel_names.read(name)["vendor_library"] == "1"


def is_library_in_the_paper(name):
    return kernel_names.read(name)["paper_library"] == "1"


def round_half_up(numerator, denominator):
    return (2 * numerator + denominator) // (2 * denominator)


def quantile(values, q):
    place = (len(values) - 1) * q
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


class OpenFrames:
    """The open frames of one thread, queried at ascending times."""

    def __init__(self, frames):
        self.frames = sorted(frames, key=lambda frame: frame.start)
        self.next = 0
        self.open = []

    def starts_at(self, time_ns):
        while self.next < len(self.frames) and self.frames[self.next].start <= time_ns:
            self.open.append(self.frames[self.next])
            self.next += 1
        self.open = [frame for frame in self.open if frame.end > time_ns]
        return [frame.start for frame in self.open]


def ask_frames(tables, rows, answer):
    """answer(row, starts of the frames open at row.start on its thread) for all rows."""
    frames = collections.defaultdict(list)
    for frame in tables["frames"]:
        frames[frame.lane].append(frame)
    by_lane = collections.defaultdict(list)
    for row in rows:
        by_lane[row.lane].append(row)
    for lane, lane_rows in by_lane.items():
        open_frames = OpenFrames(frames[lane])
        for row in sorted(lane_rows, key=lambda row: row.start):
            answer(row, open_frames.starts_at(row.start))


def around(op):
    """op and its enclosing operators, innermost first, without profiler steps."""
    chain = []
    while op is not None:
        if not reference.is_step(op):
            chain.append(op)
        op = op.parent
    return chain


def engine_runs(op, numbered):
    """True if PyTorch's backward engine runs an operator, without Python: decided by the first conclusive name among op
    and its enclosing operators. numbered: the file numbers the engine's nodes."""
    for op in around(op):
        if op.name.startswith(("autograd::engine::", "torch::autograd::")):
            return True
        node = re.fullmatch(r"[^ :.#]+Backward(\d*)", op.name)
        if node:
            return bool(node.group(1)) or not numbered
    return False


def attribute(tables):
    """Sets for every call with device work: entry, torch start (or None), root start."""
    numbered = any(op.name.endswith("Backward0") for op in tables["ops"])
    calls = [call for call in tables["api_calls"] if call.activities]
    below = collections.Counter()
    for call in calls:
        chain = around(call.op)
        for op in chain:
            below[id(op)] += 1
        aten = [op for op in chain if op.name.startswith("aten::")]
        call.entry = aten[0] if aten else chain[0] if chain else None
        call.root = chain[-1].start if chain else call.start
        call.torch, call.engine = None, False
        if call.entry is not None:
            outer = [op for op in chain[chain.index(call.entry) + 1:]
                     if not op.name.startswith("aten::")]
            if outer:
                call.torch = outer[0].start
                call.engine = engine_runs(outer[0], numbered)
    entries = {}
    for call in calls:
        call.alone = call.entry is not None and below[id(call.entry)] == 1
        if call.entry is not None:
            entries.setdefault(id(call.entry), (call.entry, []))[1].append(call)

    def take_torch(op, starts):
        if starts:
            for call in entries[id(op)][1]:
                call.torch, call.engine = max(starts), False

    def take_root(call, starts):
        call.root = min([call.root, call.start] + starts)

    ask_frames(tables, [op for op, _ in entries.values()], take_torch)
    ask_frames(tables, calls, take_root)


def owned_calls(tables):
    """Calls that launched kernels, each with its first kernel as call.first."""
    owned = []
    for call in tables["api_calls"]:
        if call.kernels:
            call.first = call.kernels[0]
            owned.append(call)
    return owned


def unique_key(kernel):
    args = kernel.args
    op_args = kernel.call.entry.args if kernel.call.entry is not None else {}
    dims = op_args.get("Input Dims", op_args.get("Input dims"))
    def triple(value):
        return tuple(int(x) for x in value) if isinstance(value, list) else (0, 0, 0)
    return (clean(kernel.name), triple(args.get("grid")), triple(args.get("block")),
            int(args.get("shared memory") or 0), json.dumps(dims))


def median(values):
    values = sorted(values)
    low, high = values[(len(values) - 1) // 2], values[len(values) // 2]
    return low + (high - low + 1) // 2


def dispatch_base(owned, is_library):
    native = [call for call in owned
              if call.entry is not None and not is_library(call.first.name)]
    for alone in (True, False):
        groups = collections.defaultdict(list)
        for call in native:
            if call.alone or not alone:
                groups[unique_key(call.first)].append(call.start - call.entry.start)
        means = [round_half_up(sum(times), len(times)) for times in groups.values()]
        means = [mean for mean in means if mean > NOISE_NS]
        if means:
            return median(means)
    return None


def launch_floor(tables, header, kernels):
    """(source, nanoseconds) of the launch-overhead floor of the trace."""
    names = {int(device["id"]): device.get("name") or ""
             for device in header.get("deviceProperties") or [] if "id" in device}
    used = {names.get(kernel.lane[0], "") for kernel in kernels}
    published = {next((ns for board, ns in FLOORS.items() if board.lower() in name.lower()), None)
                 for name in used}
    if len(published) == 1 and None not in published:
        return "published", published.pop()
    streams = collections.defaultdict(list)
    for activity in tables["activities"]:
        if activity.kind != "sync":
            streams[activity.lane].append(activity)
    samples = []
    for activities in streams.values():
        drained = None
        for row in sorted(activities, key=lambda row: (row.start, -row.dur)):
            call = row.call
            if row.kind == "kernel" and call is not None and call.kernels[0] is row:
                if not call.is_graph and (drained is None or call.start >= drained):
                    samples.append(row.start - call.start)
            drained = row.end if drained is None else max(drained, row.end)
    if len(samples) < LEAST_SAMPLES:
        return "none", None
    value = quantile(sorted(samples), 0.05)
    if not ESTIMATES_NS[0] <= value <= ESTIMATES_NS[1]:
        return "none", None
    return "estimated", int(value + 0.5)


def outermost_ends(tables):
    """Sets op.before for every outermost operator: the end of the previous one on its thread."""
    lanes = collections.defaultdict(list)
    for op in tables["ops"]:
        chain = around(op)
        if chain and chain[-1] is op:
            lanes[op.lane].append(op)
    for ops in lanes.values():
        latest = None
        for op in sorted(ops, key=lambda op: (op.start, -op.dur)):
            op.before = latest
            latest = op.end if latest is None else max(latest, op.end)


class Thread:
    """Time of one thread without its waits."""

    def __init__(self, calls):
        self.waits = [(call.start, call.end) for call in calls if TAKES_OUT.search(call.name)]

    def worked(self, start, end, but=()):
        """Length of [start, end) outside the waits and `but`, by interval between their edges."""
        spans = [(max(a, start), min(b, end)) for a, b in [*self.waits, *but] if a < end and b > start]
        edges = sorted({start, end, *(edge for span in spans for edge in span)})
        return sum(b - a for a, b in zip(edges, edges[1:]) if not any(x <= a and b <= y for x, y in spans))


def exclusive(tables, owned, base):
    """The exclusive sums of docs/metrics.md: Python, dispatch, its excess over the base, calls."""
    outermost_ends(tables)
    calls = collections.defaultdict(list)
    for call in tables["api_calls"]:
        calls[call.lane].append(call)
    owners = {id(call) for call in owned}
    sums = collections.Counter()
    for lane, lane_calls in calls.items():
        reached, between = None, []
        for call in sorted(lane_calls, key=lambda call: (call.start, -call.dur)):
            if id(call) not in owners:
                between.append(call)
                continue
            thread = Thread(between)
            start = call.start if reached is None else max(call.start, reached)
            opened = min(start, call.root if reached is None else max(call.root, reached))
            entry = python = start
            if call.entry is not None:
                entry = min(max(call.entry.start, opened), start)
                begin = [opened] if call.torch is None else [opened, call.torch]
                if call.torch is None:
                    python = entry
                else:
                    before = around(call.entry)[-1].before
                    python = min(max(begin + ([] if before is None else [before])), entry)
                if call.engine:
                    entry = python
            end = max(call.end, start)
            full = [(max(start, call.start + QUEUE_FULL_NS), end)]
            # Only waits that began in this tile belong to it.
            thread.waits = [(a, b) for a, b in thread.waits if a >= opened]
            dispatch = thread.worked(entry, start)
            sums["py"] += thread.worked(python, entry)
            sums["dispatch"] += dispatch
            sums["call"] += Thread([]).worked(start, end, full)
            if call.entry is not None and is_library(call.first.name):
                sums["ct"] += max(0, dispatch - base)
            reached, between = end if reached is None else max(reached, end), []
    return sums


def overhead(path):
    """The keys of the overhead section that follow from the file by simple rules."""
    events, header = reference.read_events(path)
    data = reference.Import(events, header)
    tables = data.tables
    reference.link(tables)
    attribute(tables)
    kernels = [row for row in tables["activities"] if row.kind == "kernel"]
    owned = owned_calls(tables)
    base = dispatch_base(owned, is_library)
    literal_base = dispatch_base(owned, is_library_in_the_paper) or 0
    floor_source, known_floor = launch_floor(tables, header, kernels)
    floor = known_floor or 0
    want = collections.OrderedDict()
    want["floor.source"] = floor_source
    want["floor.floor_ns"] = known_floor
    want["n"] = len(kernels)
    want["n_launch"] = len(owned)
    parts = exclusive(tables, owned, base or 0)
    want["t_py_ns"] = want["exclusive_py_ns"] = parts["py"]
    want["dispatch_base_ns"] = base
    want["exclusive_dispatch_ns"] = parts["dispatch"]
    want["ct_ns"] = parts["ct"]
    want["ft_ns"] = parts["py"] + parts["dispatch"] - parts["ct"]
    if base is None and parts["ct"] > 0:  # no native call to compare with
        want["ft_ns"] = want["ct_ns"] = None
    want["kt_ns"] = want["exclusive_call_ns"] = parts["call"]
    want["t_orch_ns"] = want["t_orch_exclusive_ns"] = parts["py"] + parts["dispatch"] + parts["call"]
    if kernels and want["t_orch_ns"] == 0:  # nothing could be attributed: unknown, not 0
        want.update(dict.fromkeys(("t_py_ns", "ft_ns", "ct_ns", "kt_ns", "t_orch_ns")))
    want["t_py_as_printed_ns"] = sum(call.entry.start - call.torch for call in owned
                                  if call.entry is not None and call.torch is not None)
    want["t_orch_as_printed_ns"] = want["t_py_as_printed_ns"] + len(owned) * (literal_base + floor) + sum(
        max(0, call.start - call.entry.start - literal_base) for call in owned
        if call.entry is not None and is_library_in_the_paper(call.first.name))
    if kernels and want["t_orch_as_printed_ns"] == 0:
        want.update(dict.fromkeys(("t_py_as_printed_ns", "t_orch_as_printed_ns")))
    want["t_device_ns"] = sum(kernel.dur for kernel in kernels)
    starts = [row.start for table in ("ops", "api_calls") for row in tables[table]]
    starts += [kernel.start for kernel in kernels]
    starts += [call.root for call in owned]
    launches = [call.first.start - call.start for call in owned]
    want["kt_fw_ns"] = sum(max(0, max(0, ns) - floor) for ns in launches if ns > -10_000)
    want["orphans.without_call"] = sum(kernel.call is None for kernel in kernels)
    want["orphans.without_op"] = sum(call.entry is None for call in owned)
    want["orphans.without_py"] = sum(call.entry is not None and call.torch is None
                                     for call in owned)
    want["t_e2e_ns"] = max(kernel.end for kernel in kernels) - min(starts) if kernels else 0
    return want


def lookup(section, key):
    for part in key.split("."):
        if not isinstance(section, dict) or part not in section:
            return "missing"
        section = section[part]
    return section


def differences(assay, path):
    done = subprocess.run([assay, "overhead", "--format", "json", str(path)], capture_output=True,
                          text=True, timeout=TIMEOUT_S)
    if done.returncode != 0:
        return [f"exit code {done.returncode}: {done.stderr.strip()[:300]}"]
    section = json.loads(done.stdout)["host_overhead"]
    problems = [f"{key} is {lookup(section, key)}, the reference says {value}"
                for key, value in overhead(path).items() if lookup(section, key) != value]
    split = section["ct_ns"] is not None
    if split and section["ft_ns"] + section["ct_ns"] + section["kt_ns"] != section["t_orch_ns"]:
        problems.append("ft + ct + kt is not t_orch")
    if section["t_orch_exclusive_ns"] > section["threads_span_ns"]:
        problems.append("the exclusive sum exceeds the host threads' span")
    families = sum(family["t_orch_ns"] or 0 for family in section["families"])
    if families != (section["t_orch_ns"] or 0):
        problems.append(f"families add up to {families}, not to t_orch")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assay", required=True, help="the binary to test")
    parser.add_argument("names", nargs="*", help="only traces whose name contains one of these")
    options = parser.parse_args()
    if not (datasets.CORPUS / "kineto").is_dir():
        print(datasets.NO_CORPUS)
    checked = failed = left_out = 0
    began = time.monotonic()
    traces = [(name, path) for name, path in datasets.golden_traces()
              if path.exists() and name.startswith("kineto/")]
    for name, path in sorted(traces, key=lambda trace: trace[1].stat().st_size):
        if options.names and not any(part in name for part in options.names):
            continue
        if not options.names and TWINS.search(name):
            continue
        if not options.names and time.monotonic() - began > BUDGET_S:
            left_out += 1
            continue
        problems = differences(options.assay, path)
        checked += 1
        failed += bool(problems)
        for problem in problems:
            print(f"{name}: {problem}")
    print(f"overhead: {checked} traces, {failed} differ" +
          (f", {left_out} left out for time" if left_out else ""))
    if checked == 0:
        return SKIP
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
