#!/usr/bin/env python3
"""Compares `assay breakdown` with a second computation of durations, launch overhead and overlap.

    check_breakdown.py --assay build/release/assay [--coverage] [NAME...]

Computes kernels, their durations, O_prep, O_call, the wait for collectives and the overlap with collectives per GPU and
iteration from the JSON of the trace with the Python standard library, by the definitions of docs/metrics.md. Also per
phase, if the phases are known without following operators; the sums over phases must give the iteration. A person
classified collectives and copies by kernel name (tests/data/kernel_names.tsv). On complete rank sets the spans must
close to the nanosecond. --coverage prints the table of docs/measured/breakdown_coverage.md instead.

Exit code 77: no traces to check.
"""

import argparse
import bisect
import collections
import csv
import json
import pathlib
import re
import subprocess
import sys

import datasets
import kernel_names
import reference

BLOCKING = re.compile(r"^(cu|hip)\w*Synchronize|^(cuda|cu|hip|hipDrv)Memcpy(?!\w*Async)")
SUMS = ("activities", "kernels", "dur_ns", "idle_ns", "comm_wait_ns", "comm_in_gap_ns", "copy_ns", "overlap_ns")
IDLE = ("prep_ns", "call_ns", "idle_other_ns")  # shared among the causes of idle time
OPTIMIZER_OPS = ("_fused_adam", "_fused_sgd", "FusedAdam", "_fused_adagrad")
FOREACH_OPS = ("_foreach_", "multi_tensor")
SKIP = 77
TIMEOUT_S = 600
LARGEST = 30_000_000  # bytes of JSON: larger files take Python too long to read
ENGINE = "autograd::engine::evaluate_function"


def merge(intervals):
    merged = []
    for start, end in sorted(i for i in intervals if i[1] > i[0]):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def covered(merged, starts, start, end):
    """Length of the part of [start, end) inside merged intervals."""
    total = 0
    i = max(bisect.bisect_right(starts, start) - 1, 0)
    while i < len(merged) and merged[i][0] < end:
        total += max(0, min(end, merged[i][1]) - max(start, merged[i][0]))
        i += 1
    return total


def intersect(a, b):
    result = []
    starts = [i[0] for i in b]
    for start, end in a:
        i = max(bisect.bisect_right(starts, start) - 1, 0)
        while i < len(b) and b[i][0] < end:
            low, high = max(start, b[i][0]), min(end, b[i][1])
            if high > low:
                result.append([low, high])
            i += 1
    return result


def type_of(activity):
    if activity.kind != "kernel":
        return "copy"
    kind = kernel_names.read(activity.name)["kind"]
    return "comm" if kind == "communication" else "compute"


def steps_of(tables):
    """(start, end, number) of ProfilerStep#n; None if the trace has none."""
    widest = {}
    for row in tables["annotations"] + tables["ops"]:
        found = re.fullmatch(r"ProfilerStep#(\d+)", row.name)
        if not found or row.dur == 0:
            continue
        number = int(found.group(1))
        if number not in widest or row.dur > widest[number][1] - widest[number][0]:
            widest[number] = (row.start, row.start + row.dur)
    steps = sorted((start, end, number) for number, (start, end) in widest.items())
    return [(start, min(end, steps[i + 1][0]) if i + 1 < len(steps) else end, number)
            for i, (start, end, number) in enumerate(steps)] or None


def ancestors(op):
    while op is not None:
        yield op
        op = op.parent


# Names of kernels that compute gradients. Kernels of the input gradient of a convolution also run as transposed
# convolutions, so they count only if the trace has other gradient kernels.
NAMED = re.compile(r"wgrad|igemm_wrw|(?<!igemm_)bwd(?!_?data)|backward(?!_?data)", re.IGNORECASE)
NAMED_DATA = re.compile(r"dgrad|igemm_bwd|(bwd|backward)_?data", re.IGNORECASE)


class Phases:
    """Phase of a launch: from the autograd engine, else from labels, else from optimizer operators."""

    def __init__(self, tables):
        self.labels = collections.defaultdict(list)
        for row in tables["annotations"]:
            phase = self.word(row.name.lower())
            if phase and row.dur > 0:
                self.labels[row.lane].append((row.start, row.end, phase))
        for rows in self.labels.values():
            rows.sort(key=lambda r: (r[0], -r[1]))
        self.backward_thread = {op for op in tables["op_sequences"]
                                if reference.whole(op.args.get("Fwd thread id"))}
        self.trains = any(op.name.startswith(ENGINE) or self.backward_name(op.name) for op in tables["ops"])

    @staticmethod
    def backward_name(name):
        """True for an operator that only a backward pass calls, for traces without the engine's own events."""
        if "::" in name:
            return "_backward" in name or name.startswith("torch::autograd::AccumulateGrad")
        return re.fullmatch(r".+Backward\d*", name, re.DOTALL) is not None

    @staticmethod
    def word(text):
        if "optimizer" in text or "zero_grad" in text:
            return "optimizer"
        if "recompute" in text or "backward" in text or text.endswith(("(b)", "(w)")):
            return "backward"
        return "forward" if "forward" in text or text.endswith("(f)") else None

    def of(self, call):
        if any(op.name.startswith(ENGINE) or "CheckpointFunctionBackward" in op.name
               or op in self.backward_thread or self.backward_name(op.name) for op in ancestors(call.op)):
            return "backward"
        inside = [label for label in self.labels.get(call.lane, ())
                  if label[0] <= call.start < label[1]]
        told = inside[-1][2] if inside else None
        by_operator = any(
            any(part in op.name for part in OPTIMIZER_OPS)
            or (self.trains and any(part in op.name for part in FOREACH_OPS))
            for op in ancestors(call.op))
        if told == "optimizer" or by_operator:
            return "optimizer"
        return told or ("forward" if call.op is not None else "none")


def queued_before_recording(rows):
    """True if an event ended before its stream ran anything launched in the recording. A stream without launches is
    compared with the first of all streams."""
    first = {}  # per stream; None is the trace
    for a in rows:
        if a.kind == "kernel" and a.call is not None:
            for lane in (a.lane, None):
                first[lane] = min(first.get(lane, a.start), a.start)
    return lambda a: a.call is None and bool(first) and a.end <= first.get(a.lane, first[None])


def expected(tables):
    """Sums per (gpu, iteration), per (gpu, iteration, phase), and the span of every GPU."""
    steps = steps_of(tables)
    phases = Phases(tables)
    blocked = merge([c.start, c.end] for c in tables["api_calls"] if BLOCKING.search(c.name))
    rows = [a for a in tables["activities"] if a.kind in ("kernel", "memcpy", "memset")]
    queued_before = queued_before_recording(rows)
    trains = any(NAMED.search(a.name) for a in rows)
    by_iteration = collections.defaultdict(collections.Counter)
    by_phase = collections.defaultdict(collections.Counter)
    spans = {}
    for gpu in sorted({a.lane[0] for a in rows}):
        own = [a for a in rows if a.lane[0] == gpu]
        comm = merge([a.start, a.end] for a in own if type_of(a) == "comm")
        held = intersect(comm, blocked)
        both = merge([a.start, a.end] for a in own if type_of(a) != "compute")
        both_starts = [i[0] for i in both]
        starts, held_starts = [i[0] for i in comm], [i[0] for i in held]
        reached = None
        for a in sorted(own, key=lambda a: (a.start, a.end)):
            at = a.call.start if a.call is not None else a.start
            iteration = None
            if steps is not None and not queued_before(a):
                iteration = next((n for s, e, n in steps if s <= at < e), None)
            add = collections.Counter(activities=1, kernels=int(a.kind == "kernel"), dur_ns=a.dur)
            kind = type_of(a)
            if kind != "comm":
                add["overlap_ns"] = covered(comm, starts, a.start, a.end)
            if kind == "compute":
                if reached is not None and a.start >= reached:
                    launch = min(max(a.call.start if a.call is not None else reached, reached), a.start)
                    early = covered(held, held_starts, reached, launch)
                    late = covered(comm, starts, launch, a.start)
                    beside = covered(both, both_starts, reached, a.start)
                    collective = covered(comm, starts, reached, a.start)
                    add["idle_ns"] = a.start - reached - beside
                    add["most_prep_ns"] = launch - reached - covered(both, both_starts, reached, launch)
                    add["comm_wait_ns"] = early + late
                    add["comm_in_gap_ns"] = collective - early - late
                    add["copy_ns"] = beside - collective
                first = spans[gpu][0] if gpu in spans else a.start
                reached = a.end if reached is None else max(reached, a.end)
                spans[gpu] = (first, reached)
            by_iteration[gpu, iteration].update(add)
            if a.call is not None:
                phase = phases.of(a.call)
                if phase == "none" and kind == "compute" and (NAMED.search(a.name) or trains and NAMED_DATA.search(a.name)):
                    phase = "backward"
                by_phase[gpu, iteration, phase].update(add)
    return steps is not None, by_iteration, by_phase, spans


def compare(what, found, wanted, problems):
    for key in sorted(set(found) | set(wanted), key=str):
        for name in SUMS:
            if found[key][name] != wanted[key][name]:
                problems.append(f"{what} {key}: {name} is {found[key][name]}, should be {wanted[key][name]}")


def document(assay, *inputs):
    command = [assay, "breakdown", *map(str, inputs), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr.strip()[:300]}")
    return json.loads(done.stdout)


def run(assay, *inputs):
    return document(assay, *inputs)["breakdown"]


PLAIN = {"recompute": "backward", "prefill": "forward", "decode": "forward"}
# Traces of a serving engine state prefill and decode for launches without operators too.
GENERATION = ("prefill", "decode")


def check_trace(assay, path):
    events, header = reference.read_events(path)
    tables = reference.Import(events, header).tables
    reference.link(tables)
    has_steps, by_iteration, by_phase, spans = expected(tables)
    levels = run(assay, path)
    found, found_phase = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    generates = False
    for row in levels["rows"]:
        iteration = row["iter"] if has_steps else None
        sums = {name: row[name] for name in SUMS if name != "idle_ns"}
        sums["idle_ns"] = sum(row[name] for name in IDLE)
        sums["prep_ns"] = row["prep_ns"]
        if row["launch_ns"] != row["prep_ns"] + row["call_ns"]:
            return [f"launch_ns is not prep_ns + call_ns in {row}"]
        found[row["gpu"], iteration].update(sums)
        phase = PLAIN.get(row["phase"], row["phase"])
        generates |= row["phase"] in GENERATION
        found_phase[row["gpu"], iteration, phase].update(sums)
    problems = []
    compare("gpu, iteration", found, by_iteration, problems)
    for key, wanted in by_iteration.items():
        if found[key]["prep_ns"] > wanted["most_prep_ns"]:
            problems.append(f"{key}: O_prep is {found[key]['prep_ns']}, at most {wanted['most_prep_ns']}")
    # A run that computes gradients must not be reported as forward only.
    undone = [a for a in tables["activities"] if a.kind == "kernel" and a.call is not None
              and any(Phases.backward_name(op.name) for op in ancestors(a.call.op))]
    backward = sum(sums["kernels"] for key, sums in found_phase.items() if key[2] == "backward")
    if undone and not backward:
        problems.append(f"{len(undone)} kernels lie in backward operators, and all are told as something else")
    linked = all(a.call is not None for a in tables["activities"] if a.kind in ("kernel", "memcpy", "memset"))
    if linked and not generates:
        compare("gpu, iteration, phase", found_phase, by_phase, problems)
    for gpu in levels["gpus"]:
        first, last = spans.get(gpu["device"], (0, 0))
        if gpu["span_ns"] != last - first or gpu["closure_ns"] != 0:
            problems.append(f"gpu {gpu['gpu']}: span {gpu['span_ns']}, should be {last - first}; "
                            f"closure {gpu['closure_ns']}")
    unplaced = levels["unplaced"]
    if unplaced["flows_compared"] != unplaced["flows_agree"]:
        problems.append(f"{unplaced['flows_agree']} of {unplaced['flows_compared']} flows agree with "
                        "the sequence numbers")
    return problems + check_evidence(assay, path, levels)


GUESSES = ("structure", "twin")  # attributed by structure or by a matched iteration


def check_evidence(assay, path, levels):
    """Every activity has evidence: count and time by source and phase equal those of the tables."""
    if not levels["rows"]:
        return []
    places = document(assay, path, "--explain-attribution", "*")["evidence"]["places"]
    problems = []
    told, asked = collections.Counter(), collections.Counter()
    for row in levels["attributed_by"]:
        told[row["source"], row["sure"]] = row["time_ns"]
    for row in places:
        asked[row["source"], row["sure"]] += row["time_ns"]
    nothing = {key: time for key, time in asked.items() if key[0] == "nothing"}
    if {key: time for key, time in asked.items() if key not in nothing} != dict(told):
        problems.append(f"evidence by source {dict(asked)}, should be {dict(told)}")
    for source, sure in asked:
        if (sure == "likeness") != (source in GUESSES):
            problems.append(f"{source} is told to be {sure}")
    if sum(row["activities"] for row in places) != sum(row["activities"] for row in levels["rows"]):
        problems.append("evidence does not hold every activity once")
    likeness = sum(time for (source, _), time in asked.items() if source in GUESSES)
    if likeness != sum(row["likeness_ns"] for row in levels["rows"]):
        problems.append("rows by likeness do not add up to what evidence says")
    return problems


def check_sets(assay):
    """Complete rank sets: spans close, every collective matches, the file order has no effect."""
    folder = datasets.CORPUS / "kineto/multirank/megatron_tp8_a100"
    files = sorted(folder.glob("*.json*"))
    if len(files) < 8:
        return None
    levels, reverse = run(assay, folder), run(assay, *reversed(files))
    problems = []
    if levels != reverse:
        problems.append("the order of files changes the result")
    for gpu in levels["gpus"]:
        total = gpu["dur_ns"] - gpu["overlapping_kernels_ns"] + sum(
            gpu[name] for name in ("launch_ns", "comm_wait_ns", "comm_in_gap_ns", "copy_ns", "idle_other_ns"))
        if total != gpu["span_ns"] or gpu["overlapping_kernels_ns"] != 0:
            problems.append(f"rank {gpu['rank']}: {total} of {gpu['span_ns']} ns")
    alignment = levels["alignment"]
    if alignment["collectives_matched"] != 84 or alignment["collectives_unmatched"] != 0:
        problems.append(f"alignment {alignment}")
    return problems


def size_of(path):
    data = pathlib.Path(path).read_bytes()
    return int.from_bytes(data[-4:], "little") if data[:2] == b"\x1f\x8b" else len(data)


def stacks_and_flows(path):
    if not str(path).endswith((".json", ".json.gz")) or "rocprof" in str(path):
        return "neither"
    events, _ = reference.read_events(path)
    modules = any(str(e.get("name", "")).startswith("nn.Module") for e in events if isinstance(e, dict))
    flows = any(str(e.get("cat", "")).lower() in reference.FORWARD_BACKWARD_FLOWS
                for e in events if isinstance(e, dict))
    return " and ".join([w for w, there in (("stacks", modules), ("flows", flows)) if there]) or "neither"


def told_layers():
    """Layers that a person counted in a trace, by its name in the corpus."""
    table = datasets.CORPUS / "verdicts.tsv"
    if not table.exists():
        return {}
    with open(table, encoding="utf-8", newline="") as rows:
        return {re.sub(r"\.(json|gz|sqlite|db|csv)(?=\.|$)", "", row["trace"]): row["layers"]
                for row in csv.DictReader(rows, delimiter="\t")}


# Of other recorders, for --coverage.
OTHER_TRACES = [(name, datasets.CORPUS / name) for name in (
    "nsys/cloverleaf_a100.sqlite", "nsys/rtx3060_bert_fused_op.sqlite", "nsys/rtx3060_report1.sqlite",
    "rocm/rocpd/bmm_20251230_mi300x_163_results.db", "rocm/rocpd/ck_bmm_mi300x_28_results.db",
    "rocm/rocprofv3/DERIVED_mi350x_first300_results.json.gz", "rocm/rocprofv3/decode_kernel_trace.csv")
                if (datasets.CORPUS / name).exists()]


def print_coverage(assay, traces):
    told = told_layers()
    print("| trace | has | unplaced | outside layers | layers | a person counted | from | on guesses | no phase | no work "
          "| why not |")
    print("|---|---|---:|---:|---:|---|---|---:|---:|---:|---|")
    for name, path in traces + OTHER_TRACES:
        whole = document(assay, path)
        levels, roof = whole["breakdown"], whole["roofline"]
        u = levels["unplaced"]
        if not u["total_ns"]:
            continue
        reasons = ", ".join(f"{r['reason']} {100 * r['share']:.1f} %" for r in levels["unattributed_reasons"])
        guessed = sum(r["share"] for r in levels["attributed_by"] if r["source"] in GUESSES)
        no_work = f"{100 * roof['unknown_ns'] / roof['kernel_ns']:.1f} %" if roof["kernel_ns"] else ""
        print(f"| {name} | {stacks_and_flows(path)} | {100 * u['share']:.2f} % | {100 * u['no_layer_share']:.1f} % "
              f"| {u['layers']} | {told.get(name, '')} | {u['layer_source']} | {100 * guessed:.1f} % "
              f"| {100 * u['no_phase_share']:.1f} % | {no_work} | {reasons} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=datasets.ROOT / "build/release/assay", type=pathlib.Path)
    parser.add_argument("--coverage", action="store_true", help="print the table of what could be placed")
    parser.add_argument("names", nargs="*", help="parts of names of traces; all when absent")
    options = parser.parse_args()
    if not options.assay.exists():
        sys.exit(f"{options.assay} is not built")
    traces = [(name, path) for name, path in datasets.golden_traces()
              if "DERIVED" not in name and (not options.names or any(n in name for n in options.names))]
    if options.coverage:
        print_coverage(options.assay, traces)
        return 0
    checked = failed = 0
    for name, path in traces:
        if not options.names and size_of(path) > LARGEST:
            continue
        try:
            problems = check_trace(options.assay, path)
        except (KeyError, json.JSONDecodeError) as error:
            print(f"{name}: not read here ({error!r})")
            continue
        checked += 1
        failed += bool(problems)
        for problem in problems[:6]:
            print(f"{name}: {problem}")
    problems = check_sets(options.assay) if not options.names else None
    for problem in problems or []:
        print(f"megatron_tp8_a100: {problem}")
    failed += bool(problems)
    if checked == 0:
        print(datasets.NO_CORPUS)
        return SKIP
    print(f"{checked} traces checked, {failed} differ" + ("" if problems is not None else "; no rank set"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
