#!/usr/bin/env python3
"""Jobs of shapes and faults that the solver was not written for, through `assay DIR`, `assay job DIR` and `assay job --summaries`:
who is named, what that costs, and whether all three say the same. docs/measured/jobs_unseen.md has what came of it.

    check_unseen_jobs.py --assay build/release/assay [--first SEED --jobs N] [--table]
"""

import argparse
import collections
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import promised_jobs

KINDS = ("fsdp", "hsdp", "ddp", "tp", "moe", "cp", "pipe", "inter")
FAULTS = ("none", "gpu", "link", "node", "gpu", "host", "pause", "two", "none", "input", "work", "link", "stage", "gpu and link")
# Fast ones of each kind whose answer was wrong once: a slow half, experts of uneven load, interleaved pipelines, rings.
SEEDS = (205, 212, 214, 223, 228, 237)


def draw(seed):
    """(shape, fault, its parts as the simulator wants them, what is to be named, absent ranks)"""
    r = random.Random(seed * 7_368_787 + 5)
    kind = KINDS[seed % len(KINDS)]
    node = r.choice([4, 8])
    shape = {
        "kind": "pipe" if kind == "inter" else kind, "node": node, "inner": node, "ranks": r.choice([8, 16, 16, 32, 64]),
        "layers": r.choice([3, 4, 6]), "iterations": r.choice([3, 4, 5]), "scale": r.choice([0.5, 0.8, 1.2]),
        "gap": r.choice([1, 0.05, 0, -1.5]), "event": r.choice([1.6, 0.2]), "noise": r.choice([0.008, 0.012, 0.02]), "net": r.choice([0.03, 0.05]),
        "gather_us": r.choice([220, 400]), "reduce_us": r.choice([300, 700]), "p2p_us": r.choice([60, 110]), "prefetch": r.choice([1, 2]),
        "bucket": r.choice([1, 2]), "tokens": r.choice([0, 0.1, 0.25]), "ring": r.choice(["pairs", "pairs", "batch", "gather"]),
        "told": r.choice(["way", "peer"] if kind == "inter" else ["pair", "peer", "way"]), "rows": r.random() < 0.3,
        "skew": r.choice([0, 3000, 8000]), "drift": r.choice([0, 0, 20]), "stages": 4, "chunks": 1, "micro_batches": 8,
    }
    if kind in ("hsdp", "tp", "moe", "cp"):
        shape["ranks"] = r.choice([16, 32])
        shape["layers"] = 3
    if kind in ("moe", "cp"):
        shape["inner"] = r.choice([4, 8] if kind == "moe" else [2, 4, 8])
    if kind in ("pipe", "inter"):
        shape.update(inner=r.choice([1, 1, 2]), layers=1, iterations=3, chunks=1 if kind == "pipe" else r.choice([2, 3]))
        shape["ranks"] = r.choice([8, 16, 32] if shape["inner"] == 1 else [16, 32])
    ranks, inner, rank = shape["ranks"], shape["inner"], r.randrange(shape["ranks"])
    size = ranks // shape["stages"]
    fault = FAULTS[(seed // len(KINDS) + 3 * (seed % len(KINDS))) % len(FAULTS)]
    alone = kind in ("fsdp", "ddp")  # all ranks are one group: nothing to compare a link with
    if fault in ("link", "gpu and link") and alone or fault == "node" and ranks <= node or fault == "work" and kind not in ("moe", "cp"):
        fault = "gpu"
    if fault == "stage" and shape["kind"] != "pipe":
        fault = "node" if ranks > node else "gpu"
    slower, longer = r.choice([1.02, 1.03, 1.05, 1.10]), r.choice([1.15, 1.25, 1.5, 2.0])
    parts, named = [], []

    def add(how, ranks_of, **rest):
        parts.append({"kind": how, "ranks": ranks_of, **rest})
        named.append(("link" if how == "link" else "ranks", sorted(ranks_of)))

    def add_link(of):
        if shape["kind"] == "pipe" and inner == 1:
            first = of % (ranks - size)
            add("link", [first, first + size], pair=[first, first + size], factor=2 * max(longer, 1.5))
        else:
            first = of // inner * inner
            name = {"hsdp": "shard", "pipe": "tp"}.get(shape["kind"], shape["kind"])
            add("link", list(range(first, first + inner)), groups=[f"{name}{of // inner}"], factor=longer)

    if fault == "gpu":
        add("gpu", [rank], factor=slower)
    elif fault == "node":
        add("gpu", list(range(rank // node * node, rank // node * node + node)), factor=slower)
    elif fault == "stage":
        add("gpu", list(range(rank // size * size, rank // size * size + size)), factor=max(slower, 1.03))
    elif fault == "link":
        add_link(rank)
    elif fault == "host":
        shape["scale"] = 0.05
        add("host", [rank], factor=r.choice([1.3, 1.6, 2.0]))
    elif fault == "input":
        add("input", [rank], us=r.choice([3000, 6000]))
    elif fault == "pause":
        shape["iterations"] = 5
        add("pause", [rank], us=r.choice([8000, 15000]), iterations=[2, 4])
    elif fault == "work" and kind == "moe":
        others = [k for k in range(rank // inner * inner, rank // inner * inner + inner) if k != rank]
        add("work", [rank], op="grouped_gemm", factor=1.5, less=others, less_factor=1 - 0.5 / len(others))
    elif fault == "work":
        add("work", [rank], op="flash", factor=1.5)
    elif fault == "two":
        add("gpu", [rank], factor=1.06)
        other = (rank + ranks // 2 + 1) % ranks
        if r.random() < 0.5:
            add("gpu", [other], factor=1.10)
        else:
            add("input", [other], us=5000)
    elif fault == "gpu and link":
        longer = max(longer, 1.25)
        add_link((rank + ranks // 2) % ranks)
        add("gpu", [rank], factor=1.08)
    absent = [k for k in range(ranks) if all(k not in group for _, group in named)] if r.random() < 0.15 else []
    return shape, fault, parts, sorted(named), absent[:1]


def simulate(seed, folder):
    shape, fault, parts, named, absent = draw(seed)
    job = promised_jobs.Job(shape, seed, parts)
    cost = job.span - promised_jobs.Job(shape, seed).span
    # What each costs on top of the others.
    each = [job.span - promised_jobs.Job(shape, seed, parts[:k] + parts[k + 1:]).span for k in range(len(parts))] if len(parts) > 1 else [cost]
    promised_jobs.write(job, folder, absent)
    costs = [(kind, sorted(part["ranks"]), us * 1e3) for part, us in zip(parts, each) for kind in ["link" if part["kind"] == "link" else "ranks"]]
    text = f"{seed} {KINDS[seed % len(KINDS)]} of {shape['ranks']}, {fault}, gap {shape['gap']}"
    return {"seed": seed, "text": text, "fault": fault, "named": named, "costs": costs, "span": job.span * 1e3, "cost": cost * 1e3}


def first_line(document):
    return document["headline"][0].split(":")[-1]


def nobody(document):
    return "no rank is later" in " ".join(document["headline"]).lower()


def judge(assay, folder, truth):
    def run(*arguments):
        return subprocess.run([assay, *arguments, "--format", "json"], capture_output=True, text=True, check=True).stdout

    document, report = json.loads(run("job", folder)), json.loads(run("report", folder))
    records = str(pathlib.Path(folder).parent / f"records{truth['seed']}")
    subprocess.run([assay, "summarize", folder, "-o", records], capture_output=True, check=True)
    job = document["job"]
    got = sorted(("link" if row["kind"] == "links" else row["kind"] if row["kind"] == "all" else "ranks", sorted(map(int, row["ranks"]))) for row in job["worst"])
    missed = [one for one in truth["named"] if one not in got]
    wrong = [one for one in got if one not in truth["named"]]
    # What costs less than this is called variation.
    little = all(ns < 0.006 * truth["span"] for kind, ranks, ns in truth["costs"] if (kind, ranks) in missed)
    told, least = job["saved_by_worst_ns"], job["saved_at_least_ns"]
    cost = truth["cost"]
    from_records = json.loads(run("job", "--summaries", records))
    return {
        "named": not wrong and (not missed or little), "got": got, "told": told,
        "counts": cost >= 0.01 * truth["span"],
        "priced": abs(told - cost) <= 0.15 * cost or least <= cost <= told,
        "same": (first_line(document) == first_line(report) if job["worst"] else nobody(report)) and from_records["job"] == job,
        "exact": report["blame"]["replay_mismatches"] == 0,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    parser.add_argument("--first", type=int)
    parser.add_argument("--jobs", type=int, default=64)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    seeds = SEEDS if options.first is None else range(options.first, options.first + options.jobs)
    table = collections.defaultdict(collections.Counter)
    for seed in seeds:
        with tempfile.TemporaryDirectory() as scratch:
            truth = simulate(seed, scratch + "/traces")
            told = judge(options.assay, scratch + "/traces", truth)
        count = table[truth["fault"]]
        count["jobs"] += 1
        for what in ("named", "same", "exact"):
            count[what] += told[what]
        if told["counts"]:
            count["counts"] += 1
            count["priced"] += told["priced"]
        if not (told["named"] and told["same"] and told["exact"] and (told["priced"] or not told["counts"])):
            print(f"{truth['text']}: {truth['cost'] / 1e6:.2f} of {truth['span'] / 1e6:.1f} ms, told {told['told'] / 1e6:.2f}; {truth['named']} to name, "
                  f"{told['got']} named{'' if told['same'] else '; the verbs differ'}{'' if told['exact'] else '; the replay is not exact'}", flush=True)
    total = sum(table.values(), collections.Counter())
    if options.table:
        print("| cause | jobs | named, nothing else | cost within 15 % or in its range | verbs alike |\n|---|--:|--:|--:|--:|")
        for fault, count in table.items():
            print(f"| {fault} | {count['jobs']} | {count['named']} | {count['priced']} of {count['counts']} | {count['same']} |")
    print(f"{total['named']} of {total['jobs']} jobs named, {total['priced']} of {total['counts']} costs within 15 %, {total['same']} told alike, {total['exact']} exact")
    right = total["named"] == total["same"] == total["exact"] == total["jobs"] and total["priced"] == total["counts"]
    return 0 if right or options.first is not None else 1


if __name__ == "__main__":
    sys.exit(main())
