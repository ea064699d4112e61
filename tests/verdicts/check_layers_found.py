#!/usr/bin/env python3
"""Holds `assay breakdown` against the layers and phases that a person found in each public trace.

    check_layers_found.py --assay BINARY [--list]

Columns `layers` and `phases` of the corpus's verdicts.tsv; its verdicts.md explains them. Of every
row that has one and whose trace is here, `assay breakdown FILE --format json` must say
  layers  as many in every stack: "24+12" is one stack of 24 and another of 12. Stacks that the
          person did not count (fewer layers than the smallest counted one) are let pass
  phases  shares of the time of kernels, collectives included, within 3 points; prefill and decode
          are forward, recomputed work is backward. What the person gave to no phase (kernels
          without a launch) may be any phase or none; what levels gives to none may be no more
KNOWN lists what fails with its reason: a failure that is not in it, and one that no longer fails,
fail the test. --list prints every row with what levels says.
"""

import argparse
import collections
import csv
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/golden"))
from datasets import CORPUS  # noqa: E402

POINTS = 3.0
SKIP = 77
NAMES = {"prefill": "fwd", "decode": "fwd", "forward": "fwd", "backward": "bwd", "recompute": "bwd",
         "optimizer": "opt"}
KNOWN = {
    ("layers", "kineto/vllm/vllm_mi300_decode_capture.json.gz"):
        "a recording of graphs: the launches of its layers ran nothing",
}


def stacks_of(levels):
    """Distinct layers of every stack, from the name of the source: "24 of A; 12 of B", or one stack."""
    unplaced = levels["unplaced"]
    source = unplaced["layer_source"] or ""
    parts = source.split("; ")
    if all(part.split(" of ")[0].isdigit() for part in parts):
        return sorted((int(part.split(" of ")[0]) for part in parts), reverse=True)
    return [unplaced["layers"]] if unplaced["layers"] else []


def same_layers(found, wanted):
    """The stacks that were counted, and beside them only smaller ones."""
    rest = list(found)
    for layers in wanted:
        if layers not in rest:
            return False
        rest.remove(layers)
    return all(layers < min(wanted) for layers in rest)


def shares_of(levels):
    time_ns = collections.Counter()
    for row in levels["rows"]:
        if row["op_type"] != "copy":
            time_ns[NAMES.get(row["phase"], "none")] += row["dur_ns"]
    whole = sum(time_ns.values())
    return {phase: round(100 * ns / whole, 1) for phase, ns in time_ns.items()} if whole else {}


def same_shares(found, wanted):
    untold = 100 - sum(wanted.values())
    unknown = found.get("none", 0)
    return unknown <= untold + POINTS and all(
        wanted.get(phase, 0) - unknown - POINTS <= found.get(phase, 0) <= wanted.get(phase, 0) + untold + POINTS
        for phase in set(NAMES.values()))


def check(row, levels):
    """(column, found, wanted, right) of every column that the row fills."""
    if row["layers"]:
        found, wanted = stacks_of(levels), [int(n) for n in row["layers"].split("+")]
        yield "layers", "+".join(map(str, found)) or "0", row["layers"], same_layers(found, wanted)
    if row["phases"]:
        found = shares_of(levels)
        wanted = {p.split("=")[0]: float(p.split("=")[1]) for p in row["phases"].split(",")}
        told = ",".join(f"{phase}={share}" for phase, share in sorted(found.items()))
        yield "phases", told, row["phases"], same_shares(found, wanted)


def levels_of(assay, path):
    done = subprocess.run([assay, "breakdown", str(path), "--format", "json"], capture_output=True, timeout=600,
                          check=False)
    if done.returncode != 0:
        raise SystemExit(f"{path}: {done.stderr.decode(errors='replace')[:300]}")
    return json.loads(done.stdout)["breakdown"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--assay", required=True)
    parser.add_argument("--list", action="store_true", help="print every row with what levels says")
    options = parser.parse_args()
    table = CORPUS / "verdicts.tsv"
    if not table.exists():
        print("no corpus: set ASSAY_DATA")
        return SKIP
    right, total, problems = collections.Counter(), collections.Counter(), []
    with open(table, encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    for row in rows:
        path = CORPUS / row["trace"]
        if not (row["layers"] or row["phases"]) or not path.exists():
            continue
        for column, found, wanted, good in check(row, levels_of(options.assay, path)):
            total[column] += 1
            right[column] += good
            if options.list:
                print(f"{'ok  ' if good else 'FAIL'} {column} {row['trace']}: {found}, a person {wanted}")
            known = KNOWN.get((column, row["trace"]))
            if not good and known is None:
                problems.append(f"{row['trace']}: {column} are {found}, a person found {wanted}")
            if good and known is not None:
                problems.append(f"{row['trace']}: {column} are right now; take it out of KNOWN ({known})")
    for column in sorted(total):
        print(f"{column}: {right[column]} of {total[column]} right")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
