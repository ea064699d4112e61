#!/usr/bin/env python3
"""A report has one launch floor: whatever section prints it prints the same, over every trace at hand.

    check_floor.py --assay build/release/assay [NAME...]

What the floor should be is checked by check_tax.py; this looks at every key of every `report --format json` and `tax`
whose name says that it is one. NAMEs choose traces by a part of their name.
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
    """(path, nanoseconds) of every floor in the document; None where it is not known."""
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
    """Every object that tells a floor in full."""
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
        for verb in ("report", "tax"):
            done = subprocess.run([options.assay, verb, str(path), "--format", "json"], capture_output=True,
                                  text=True, timeout=TIMEOUT_S)
            problems = [done.stderr.strip()[:200]] if done.returncode else list(problems_of(json.loads(done.stdout)))
            checked += 1
            failed += bool(problems)
            for problem in problems:
                print(f"{verb} {name}: {problem}", file=sys.stderr)
    if checked == 0:
        print("no trace to check")
        return SKIP
    print(f"floor: {checked - failed} of {checked} documents hold one")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
