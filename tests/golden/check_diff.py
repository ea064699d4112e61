#!/usr/bin/env python3
"""Compares `assay diff` with a second computation of the time per iteration.

    check_diff.py --assay build/release/assay

For pairs of real traces with ProfilerSteps, the device timeline is cut at every start and end. Each slice belongs to
one activity (compute before communication before copies, then the earliest start), an idle slice to the activity that
ends it, by the definitions of docs/metrics.md. Sums per kernel name and iteration give the means of each side. For
every pair, in both directions: contributions sum to the change at every level, a side compared with itself is zero,
exchanged sides give the opposite. Also checks gates, exit codes and the formats for CI.

Exit code 77: no traces to check.
"""

import argparse
import bisect
import collections
import fractions
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import check_breakdown
import datasets
import reference

SKIP = 77
TIMEOUT_S = 600
PRIORITY = {"compute": 0, "comm": 1, "copy": 2}
LEVELS = ("parts", "operations", "kernels", "chains")
TAIL = "(idle after the last work)"
# Pairs from the corpus: two code versions, two ranks, two machines, traces without iterations.
PAIRS = [
    ("kineto/old/v100_resnet50_2021-06", "kineto/old/v100_resnet50_2021_operator_cats"),
    ("kineto/multirank/megatron_tp8_a100/megatron_kineto_0", "kineto/multirank/megatron_tp8_a100/megatron_kineto_1"),
    ("kineto/llm/h100_qwen1.5-0.5b", "kineto/vision/h100_nsfw_vit"),
    ("kineto/llm/mi300_bert_small", "kineto/llm/h100_qwen1.5-0.5b"),
    ("kineto/vllm/vllm_mi300_decode_exec", "kineto/sglang/sglang_mi300_qwen3-8b_prefilldecode"),
]


def run(assay, *arguments, code=(0,)):
    command = [str(assay), "diff", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode not in code:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr.strip()[:300]}")
    return done


def diff(assay, *arguments):
    return json.loads(run(assay, *arguments, "--format", "json").stdout)["diff"]


def iteration_of(steps, time):
    return next((i for i, (start, end, _) in enumerate(steps) if start <= time < end), None)


def slices(own):
    """(start, end, its activity or None) along one GPU; activities are in order."""
    order = {id(a): i for i, a in enumerate(own)}
    edges = collections.defaultdict(lambda: ([], []))
    for a in own:
        if a.dur > 0:
            edges[a.start][0].append(a)
            edges[a.start + a.dur][1].append(a)
    active = set()
    for at, after in itertools.pairwise(sorted(edges)):
        starting, ending = edges[at]
        active -= {id(a) for a in ending}
        active |= {id(a) for a in starting}
        best = min((own[order[i]] for i in active),
                   key=lambda a: (PRIORITY[check_breakdown.type_of(a)], order[id(a)]), default=None)
        yield at, after, best


def expected(path):
    """Per iteration and GPU: kernel name -> ns; None without ProfilerSteps."""
    events, header = reference.read_events(path)
    tables = reference.Import(events, header).tables
    reference.link(tables)
    steps = check_breakdown.steps_of(tables)
    if steps is None:
        return None
    rows = [a for a in tables["activities"] if a.kind in ("kernel", "memcpy", "memset")]
    queued_before = check_breakdown.queued_before_recording(rows)
    lanes = {}
    for a in rows:
        lanes.setdefault(a.lane, len(lanes))
    samples = collections.defaultdict(collections.Counter)
    tails = collections.Counter()
    for gpu in sorted({a.lane[0] for a in rows}):
        own = sorted((a for a in rows if a.lane[0] == gpu), key=lambda a: (a.start, lanes[a.lane], -a.dur))
        for a in own:
            asked = a.call.start if a.call is not None else a.start
            a.iteration = None if queued_before(a) else iteration_of(steps, asked)
            if a.iteration is not None:
                samples[gpu, a.iteration][a.name] += 0
        starts = [a.start for a in own]

        def give_idle(start, end, to):
            begin = end
            if to is not None and to.iteration is not None:
                begin = min(max(start, steps[to.iteration][0]), end)
                samples[gpu, to.iteration][to.name] += end - begin
            for i, (low, high, _) in enumerate(steps):
                tails[gpu, i] += max(0, min(begin, high) - max(start, low))

        first = min(own[0].start, steps[0][0])
        give_idle(first, own[0].start, own[0])
        for start, end, owner in slices(own):
            if owner is None:
                give_idle(start, end, own[bisect.bisect_left(starts, end)])
            elif owner.iteration is not None:
                samples[gpu, owner.iteration][owner.name] += end - start
        give_idle(max(a.start + a.dur for a in own), max(steps[-1][1], own[-1].start), None)
    for key, ns in tails.items():
        if key in samples and ns:
            samples[key][TAIL] += ns
    return samples


def check_side(samples, report, letter, problems):
    n = len(samples)
    if report["sides"][f"{letter}_samples"] != n:
        problems.append(f"{letter}: {report['sides'][f'{letter}_samples']} samples, should be {n}")
        return
    total = collections.Counter()
    for sample in samples.values():
        total.update(sample)
    mean = fractions.Fraction(sum(total.values()), n)
    if abs(report["sides"][f"{letter}_time_ns"] - mean) > fractions.Fraction(1, 2):
        problems.append(f"{letter}: time is {report['sides'][f'{letter}_time_ns']}, should be {float(mean)}")
    found = {row[f"{letter}_name"]: row[f"{letter}_ns"] for row in report["kernels"] if row[f"{letter}_name"]}
    if set(found) != set(total):
        problems.append(f"{letter}: other kernels: {sorted(set(found) ^ set(total))[:3]}")
    for name, ns in total.items():
        # Busy and idle time are rounded separately.
        if abs(found.get(name, 0) - fractions.Fraction(ns, n)) >= 2:
            problems.append(f"{letter}: {name[:60]} takes {found.get(name)}, should be {ns / n}")


def check_sums(report, problems):
    change = report["sides"]["change_ns"]
    if change != report["sides"]["b_time_ns"] - report["sides"]["a_time_ns"]:
        problems.append("the change is not B - A")
    for level in LEVELS:
        rows = report[level]
        if sum(row["change_ns"] for row in rows) != change:
            problems.append(f"{level} do not sum to the change")
        for letter in "ab":
            if sum(row[f"{letter}_ns"] for row in rows) != report["sides"][f"{letter}_time_ns"]:
                problems.append(f"{level} do not sum to {letter}")
        for row in rows:
            if row["change_ns"] != row["more_calls_ns"] + row["slower_ns"] + row["idle_change_ns"]:
                problems.append(f"{level}: the change of {row} is not the sum of its parts")


def check_opposite(there, back, problems):
    for level in LEVELS:
        def key(row, a, b):
            return (row[f"{a}_name"] or "", row[f"{b}_name"] or "", row["match"])
        forth = {key(row, "a", "b"): row for row in there[level]}
        mirrored = {key(row, "b", "a"): row for row in back[level]}
        if set(forth) != set(mirrored):
            problems.append(f"{level}: exchanged sides match other items: {sorted(set(forth) ^ set(mirrored))[:2]}")
            continue
        for name, row in forth.items():
            for field in ("change_ns", "more_calls_ns", "slower_ns", "idle_change_ns"):
                if row[field] != -mirrored[name][field]:
                    problems.append(f"{level}: {field} of {name[0][:40]} is not the opposite")
            if row["low95_ns"] is not None and row["low95_ns"] != -mirrored[name]["high95_ns"]:
                problems.append(f"{level}: the interval of {name[0][:40]} is not the mirror image")


def check_itself(assay, path, problems):
    report = diff(assay, path, path)
    for level in LEVELS:
        for row in report[level]:
            if any(row[field] for field in ("change_ns", "more_calls_ns", "slower_ns", "idle_change_ns")):
                problems.append(f"{path.name} against itself: {level} has a change in {row}")
            if row["kind"] != "both" or row["match"] != "name" or row["noise"] != "no_change":
                problems.append(f"{path.name} against itself: {level} has {row}")
    for row in report["metrics"]:
        if row["change"] not in (0, None):
            problems.append(f"{path.name} against itself: {row}")


def check_pair(assay, a, b):
    problems = []
    there, back = diff(assay, a, b), diff(assay, b, a)
    check_sums(there, problems)
    check_opposite(there, back, problems)
    check_itself(assay, a, problems)
    sides = expected(a), expected(b)
    if None not in sides:
        for letter, side in zip("ab", sides):
            check_side(side, there, letter, problems)
    return problems


def with_times(path, factor, out):
    """A copy of a trace with only the device durations scaled."""
    events, header = reference.read_events(path)
    for event in events:
        if event.get("cat") == "kernel":
            event["dur"] = float(event["dur"]) * factor
    out.write_text(json.dumps({**header, "traceEvents": events}, default=str))


def check_gates(assay, path):
    """Exit codes and formats: one trace compared with itself with longer kernels, alone and repeated."""
    problems = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for side, factor in (("a", 1.0), ("b", 1.5)):
            (folder / side).mkdir()
            for repeat in range(5):
                with_times(path, factor * (1 + 0.001 * repeat), folder / side / f"run{repeat}.json")
        one, other = folder / "a/run0.json", folder / "b/run0.json"
        many = folder / "a", folder / "b"
        cases = [
            ((one, other, "--fail-on", "kernel_sum>+10%"), 2, "does not show noise"),
            ((one, other, "--fail-on", "kernel_sum>+10%", "--fail-on-any"), 1, "Crossed"),
            ((one, other, "--fail-on", "kernel_sum>+60%"), 0, ""),
            ((*many, "--fail-on", "kernel_sum>+10%"), 1, "Crossed"),
            ((*many, "--fail-on", "kernel_sum>+60%"), 0, ""),
            ((*many, "--fail-on", "kernels>+0"), 0, ""),
            ((many[0], many[0], "--fail-on", "kernel_sum>=+0%"), 1, "Crossed"),
            ((*many, "--fail-on", "speed>+10%"), 2, "tklqt_ns"),
            ((*many, "--fail-on", "kernel_sum"), 2, "no comparison"),
            ((one, folder / "missing.json"), 2, "missing.json"),
        ]
        for arguments, code, words in cases:
            done = run(assay, *arguments, code=range(256))
            if done.returncode != code or words not in done.stderr:
                problems.append(f"{arguments}: exit code {done.returncode}, should be {code}: {done.stderr[:200]}")
        junit = folder / "gates.xml"
        run(assay, *many, "--fail-on", "kernel_sum>+10%", "--fail-on", "kernels>+0", "--junit", junit, code=(1,))
        suite = xml.etree.ElementTree.parse(junit).getroot().find("testsuite")
        counted = {key: suite.get(key) for key in ("tests", "failures", "errors")}
        if counted != {"tests": "3", "failures": "1", "errors": "0"} or len(suite.findall("testcase/failure")) != 1:
            problems.append(f"JUnit counts {counted}")
        junit.unlink()
        run(assay, one, folder / "missing.json", "--fail-on", "kernel_sum>+10%", "--junit", junit, code=(2,))
        suite = xml.etree.ElementTree.parse(junit).getroot().find("testsuite") if junit.exists() else {}
        counted = {key: suite.get(key) for key in ("tests", "failures", "errors")}
        if counted != {"tests": "2", "failures": "0", "errors": "2"} or \
                "missing.json" not in suite.find("testcase/error").get("message"):
            problems.append(f"JUnit of a side that is not there: {counted}")
        lines = run(assay, *many, "--fail-on", "kernel_sum>+10%", "--format", "annotations", code=(1,)).stdout.splitlines()
        if not lines[0].startswith("::error title=assay diff kernel_sum>+10%25::Crossed") or \
                not lines[-1].startswith("::notice title=assay diff::B "):
            problems.append(f"annotations are {lines}")
        markdown = run(assay, *many, "--format", "md").stdout
        if markdown.count("<details>") != markdown.count("</details>") or "<details>" not in markdown:
            problems.append("Markdown folds nothing")
        if diff(assay, *many)["sides"]["a_block_kind"] != "runs":
            problems.append("five files a side are no repeats")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=datasets.ROOT / "build/release/assay", type=pathlib.Path)
    assay = parser.parse_args().assay.resolve()
    traces = dict(datasets.golden_traces())
    failed = checked = 0
    for a, b in PAIRS:
        if a not in traces or b not in traces:
            continue
        checked += 1
        for problem in check_pair(assay, traces[a], traces[b])[:10]:
            failed += 1
            print(f"{a} against {b}: {problem}")
    for problem in check_gates(assay, traces["kineto/llm/mi300_bert_small"]):
        failed += 1
        print(f"gates: {problem}")
    if failed:
        sys.exit(1)
    print(f"diff: {checked} pairs agree with a second computation")
    if checked == 0:
        print(datasets.NO_CORPUS)
        sys.exit(SKIP)


if __name__ == "__main__":
    main()
