#!/usr/bin/env python3
"""Invariants of `report` and `overhead` over every available trace.

    check_overhead_everywhere.py --assay build/release/assay [NAME...]

A document has one launch-overhead floor: every key of a floor has the same value. No exclusive sum exceeds the time of
the host threads, in any window, and the sums of the default mode are exclusive. check_overhead.py checks the values.
NAMEs select traces by a part of their name.
"""

import argparse
import json
import re
import subprocess
import sys

import datasets

SKIP = 77
TIMEOUT_S = 600
FLOOR = re.compile(r"(^|_)floor_ns$|^trace_estimate_ns$")
# Not of a launch: the fastest read of a device's clock.
OTHER = {"clock_rtt_floor_ns"}
SOURCES = {"given", "measured", "published", "estimated", "none"}


def floors(node, path=""):
    """(path, nanoseconds) of every floor in the document; None if unknown."""
    if isinstance(node, dict):
        for key, value in node.items():
            place = f"{path}.{key}"
            if FLOOR.search(key) and key not in OTHER and not isinstance(value, (dict, list)):
                yield place, value
            elif path.endswith(".floor") and key.endswith("ns"):
                yield place, value
            yield from floors(value, place)
    elif isinstance(node, list):
        for value in node:
            yield from floors(value, path + "[]")


def blocks(node):
    """Every object with a complete floor."""
    if isinstance(node, dict):
        if isinstance(node.get("floor"), dict):
            yield node["floor"]
        for value in node.values():
            yield from blocks(value)
    elif isinstance(node, list):
        for value in node:
            yield from blocks(value)


def problems_of(document):
    found = list(floors(document))
    if len({value for _, value in found}) > 1:
        yield "two floors: " + ", ".join(f"{place[1:]} {value}" for place, value in found)
    told = {json.dumps(block, sort_keys=True) for block in blocks(document)}
    if len(told) > 1:
        yield "one floor told in two ways: " + " and ".join(sorted(told))
    for block in blocks(document):
        if block.get("source") not in SOURCES or (block.get("floor_ns") is None) != (block["source"] == "none"):
            yield f"no floor by the rules: {block}"
        if not block.get("text"):
            yield "a floor without a sentence"


# Time that leads to launches; each moment of a thread counts once.
EXCLUSIVE = "exclusive_py_ns", "exclusive_dispatch_ns", "exclusive_call_ns"
BESIDE = "other_host_ns", "waiting_ns"


def windows(overhead):
    yield "whole trace", overhead
    for kind in ("windows", "phases"):
        for window in overhead.get(kind) or []:
            yield f"{kind} {window['name']}", window


def bounds_of(document):
    overhead = document.get("host_overhead") or {}
    for name, window in windows(overhead) if "t_orch_exclusive_ns" in overhead else ():
        total = sum(window[key] for key in EXCLUSIVE)
        if total != window["t_orch_exclusive_ns"] or window["t_orch_ns"] not in (total, None):
            yield f"{name}: T_Orch is {window['t_orch_ns']}, its exclusive parts {total}"
        if total + sum(window[key] for key in BESIDE) > window["threads_span_ns"]:
            yield f"{name}: more host time than the threads had, {window['threads_span_ns']}"
        layers = [window[key] or 0 for key in ("ft_ns", "ct_ns", "kt_ns")]
        if window["t_orch_ns"] is not None and window["ct_ns"] is None:  # without a base: no split
            layers = [window["t_py_ns"], window["exclusive_dispatch_ns"], window["kt_ns"]]
            if overhead["dispatch_base_ns"] is not None or window["ft_ns"] is not None:
                yield f"{name}: half of a split is told"
        if (window["t_orch_ns"] or 0) != sum(layers):
            yield f"{name}: T_Orch is not the sum of its layers"
    if overhead.get("mode", "exclusive") != "exclusive":
        yield f"the default mode is {overhead['mode']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    parser.add_argument("names", nargs="*", help="only traces whose name contains one of these")
    options = parser.parse_args()
    if not (datasets.CORPUS / "kineto").is_dir():
        print(datasets.NO_CORPUS)
    traces = [(name, path) for name, path in datasets.golden_traces() if not name.startswith("perf/")]
    traces += [(f"nsys/{path.stem}", path) for path in sorted((datasets.CORPUS / "nsys").glob("*.sqlite"))]
    checked = failed = 0
    for name, path in traces:
        if not path.exists() or (options.names and not any(part in name for part in options.names)):
            continue
        for verb in ("report", "overhead"):
            done = subprocess.run([options.assay, verb, str(path), "--format", "json"], capture_output=True,
                                  text=True, timeout=TIMEOUT_S)
            problems = [done.stderr.strip()[:200]] if done.returncode else [
                *problems_of(json.loads(done.stdout)), *bounds_of(json.loads(done.stdout))]
            checked += 1
            failed += bool(problems)
            for problem in problems:
                print(f"{verb} {name}: {problem}", file=sys.stderr)
    if checked == 0:
        print("no trace to check")
        return SKIP
    print(f"overhead everywhere: {checked - failed} of {checked} documents are fine")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
