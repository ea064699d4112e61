#!/usr/bin/env python3
"""Random jobs with late ranks (random_jobs.py): `assay why` names the set that was made late, and what it costs within 15 % of what the job
takes less without; where nobody is late it names nobody.

  check_jobs.py --assay BINARY [--jobs 100] [--first 400] [--json FILE]

A set that costs less than 2 % of the run is not judged: below 1 % nobody is to be named. Fails below 98 %.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

from random_jobs import RandomJob

LEAST = 0.02      # of the run: what is judged
NEAR = 0.15       # of the gain: a record keeps device work by segment, not by kernel
GOAL = 0.98


def blame_of(assay, traces):
    with tempfile.TemporaryDirectory() as scratch:
        for rank, trace in enumerate(traces):
            (pathlib.Path(scratch) / f"rank{rank:02}.json").write_text(json.dumps(trace))
        done = subprocess.run([assay, "why", scratch, "--format", "json", "--threads", "1"], capture_output=True, text=True, check=True)
    blame = json.loads(done.stdout)["blame"]
    # The first set is the verdict where some rank is late, and only a verdict has a cause.
    sets = blame.get("sets") or [None]
    return blame, sets[0] if sets[0] and sets[0]["cause"] else None


def judge(assay, job):
    """"right", "wrong set", "wrong gain" or "small", and what was told."""
    traces, took_us = job.run()
    truth_us = took_us - job.run(late=False)[1]
    if truth_us < LEAST * took_us:
        return "small", ""
    blame, verdict = blame_of(assay, traces)
    if blame["replay_mismatches"]:
        return "off the record", f"{blame['replay_mismatches']} points"
    told = sorted(int(rank) for rank in verdict["ranks"]) if verdict else []
    if told != job.late:
        return "wrong set", f"{told}, not {job.late}; {truth_us:.0f} of {took_us:.0f} us"
    off = verdict["gain_ns"] / 1000 / truth_us - 1
    return ("right", "") if abs(off) <= NEAR else ("wrong gain", f"{100 * off:+.1f} % of {truth_us:.0f} us")


def judge_healthy(assay, job):
    verdict = blame_of(assay, job.run(late=False)[0])[1]
    return ("right", "") if verdict is None else ("wrong set", f"{verdict['ranks']} of a healthy job")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--assay", required=True)
    options.add_argument("--jobs", type=int, default=100)
    options.add_argument("--first", type=int, default=400)
    options.add_argument("--json")
    options = options.parse_args()
    rows = collections.defaultdict(collections.Counter)
    for seed in range(options.first, options.first + options.jobs):
        job = RandomJob(seed)
        kinds = [((job.layout, job.reason), judge(options.assay, job))]
        if seed % 4 == 0:
            kinds.append(((job.layout, "nobody late"), judge_healthy(options.assay, job)))
        for kind, (what, told) in kinds:
            rows[kind][what] += 1
            if what not in ("right", "small"):
                print(f"job {seed}, {', '.join(kind)}, {job.ranks} ranks: {what}: {told}")
    judged = sum(n for row in rows.values() for what, n in row.items() if what != "small")
    right = sum(row["right"] for row in rows.values())
    print(f"jobs: {right} of {judged} right ({100 * right / max(judged, 1):.2f} %)")
    if options.json:
        table = [{"layout": layout, "reason": reason, **row} for (layout, reason), row in sorted(rows.items())]
        pathlib.Path(options.json).write_text(json.dumps({"jobs": options.jobs, "first": options.first, "rows": table}))
    return 0 if judged and right >= GOAL * judged else 1


if __name__ == "__main__":
    sys.exit(main())
