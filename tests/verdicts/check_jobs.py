#!/usr/bin/env python3
"""Jobs whose truth is known, through `assay DIR` and `assay job`: who is named, what that costs, and whether both say the
same. A third of the jobs are asked again with an eighth of the files missing, but none of a rank to blame.

    check_jobs.py --assay build/release/assay [--jobs N] [--first SEED]
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import max_plus_jobs

NODE = 4


def draw(seed):
    """(kind, ranks, options, faults, what `options` hold of the fault, what is to be named)"""
    r = random.Random(seed)
    fault = ("none", "gpu", "link", "host", "node", "stage", "pause", "two", "gpu", "loader", "all")[seed % 11]
    kind = r.choice({"link": ["tp", "hsdp", "moe"], "two": ["tp", "hsdp"], "stage": ["pp"]}.get(fault, ["fsdp", "hsdp", "ddp", "tp", "moe", "pp"]))
    ranks = 16 if fault in ("link", "two", "node") or kind == "hsdp" else r.choice([8, 12, 16])
    ranks = 16 if kind == "pp" and ranks == 12 else ranks
    options = dict(gap=r.choice([1.2, .1, -1.0]), ev=r.choice([1.5, .2]), prefetch=r.choice([1, 2]), layers=r.choice([2, 3]),
                   iters=3, scale=r.choice([.5, 1.2]), node=NODE)
    rank, other = r.randrange(ranks), 0
    group = rank // NODE
    factor = r.choice([1.04, 1.08, 1.15])
    of_group = set(range(NODE * group, NODE * group + NODE))
    if fault == "none":
        return kind, ranks, options, [], (), set()
    if fault == "gpu":
        return kind, ranks, options, [("gpu", [rank], factor)], (), {rank}
    if fault == "node":
        return kind, ranks, options, [("gpu", sorted(of_group), factor)], (), of_group
    if fault == "link":
        return kind, ranks, options, [("link", [f"tp{group}"], r.choice([1.25, 1.4, 1.8]))], (), of_group
    if fault == "host":
        options["scale"] = .08
        return kind, ranks, options, [("host", [rank], 2.2)], (), {rank}
    if fault == "loader":
        return kind, ranks, options, [("loader", [rank], 5000)], (), {rank}
    if fault == "pause":
        return kind, ranks, options, [("pause", [rank], 9000, [2], 0)], (), {rank}
    if fault == "all":
        return kind, ranks, options, [("pause", range(ranks), 40000, [2], 0)], (), set()
    if fault == "stage":
        stage = r.randrange(4)
        options["imb"] = {stage: 1.2}
        return kind, ranks, options, [], ("imb",), set(range(stage * ranks // 4, (stage + 1) * ranks // 4))
    other = (group + 2) % (ranks // NODE)
    faults = [("gpu", [rank], 1.12), ("link", [f"tp{other}"], 1.5)]
    return kind, ranks, options, faults, (), {rank, *range(NODE * other, NODE * other + NODE)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    parser.add_argument("--jobs", type=int, default=23)
    parser.add_argument("--first", type=int, default=7714)
    options = parser.parse_args()

    def run(*arguments):
        done = subprocess.run([options.assay, *arguments, "--format", "json"], capture_output=True, text=True)
        return json.loads(done.stdout)

    def to_blame(document):
        return {int(rank) for row in document["job"]["worst"] if row["kind"] != "all" for rank in row["ranks"]}

    problems, named, priced, to_price, same = [], 0, 0, 0, 0
    cut, cut_named = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.first, options.first + options.jobs):
            kind, ranks, how, faults, different, want = draw(seed)
            job = str(pathlib.Path(folder) / f"{seed}_{kind}{ranks}")
            total, base = max_plus_jobs.write(job, kind, ranks, seed, how, faults, different)
            fleet, report = run("job", job), run("report", job)
            rows = fleet["job"]["worst"]
            got = to_blame(fleet)
            cost, told = total - base, fleet["job"]["saved_by_worst_ns"]
            little = cost < 0.005 * total and got <= want  # what costs nothing need not be named
            right = got == want or little
            text = f"{seed} {kind} of {ranks}: {cost / 1e6:.2f} of {total / 1e6:.1f} ms, told {told / 1e6:.2f}"
            if not right:
                problems.append(f"{text}: {sorted(got)} named, {sorted(want)} are to blame")
            if cost > 0.01 * total:
                to_price += 1
                priced += abs(told - cost) <= 0.15 * cost
                if abs(told - cost) > 0.15 * cost:
                    problems.append(f"{text}: the cost is wrong")
            if report["blame"]["replay_mismatches"]:
                problems.append(f"{text}: a replay without edits misses {report['blame']['replay_mismatches']} points")
                right = False
            if told > total * 1.001:
                problems.append(f"{text}: more than the run")
            named += right
            first = [document["headline"][0].split(":")[-1] for document in (fleet, report)]
            agree = first[0] == first[1] if rows else not report["blame"]["sets"] or "No rank" in " ".join(report["headline"])
            same += agree
            if not agree:
                problems.append(f"{text}: job says{first[0]}, the report{first[1]}")
            if seed % 3 == 0:
                cut += 1
                missing = [rank for rank in random.Random(seed).sample(range(ranks), ranks // 8) if rank not in want]
                for rank in missing:
                    (pathlib.Path(job) / f"rank{rank}.json.gz").unlink()
                left = to_blame(run("job", job))
                cut_named += left == want or little and left <= want
                if left != want:
                    problems.append(f"{text}: without ranks {missing} {sorted(left)} are named, {sorted(want)} are to blame")
    for problem in problems:
        print(problem)
    print(f"{named} of {options.jobs} jobs named, {priced} of {to_price} costs within 15 %, {same} told alike by both verbs, "
          f"{cut_named} of {cut} named with ranks missing")
    enough = cut_named >= 0.9 * cut and named >= 0.95 * options.jobs and priced >= 0.95 * to_price and same == options.jobs
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
