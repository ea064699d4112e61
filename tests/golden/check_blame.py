#!/usr/bin/env python3
"""A public timeline of 45 steps on 32 × 2 pipeline workers, replayed as a job and compared with the results published
by
its source: 6.887 s of 9.067 with the last stage's work at the mean of all, 5.897 with all work there.

    check_blame.py --blame build/release/tests/assay_job_blame [--all]

Without --all five steps are replayed. The timeline lacks some of the source's data, so results agree within 5 %.
"""

import argparse
import collections
import gzip
import json
import statistics
import subprocess
import sys

import datasets

TIMELINE = datasets.CORPUS / "kineto/other/bytedance_timeline_SE.json.gz"
PUBLISHED = {"recorded": 9.067e9, "last stage": 6.887e9, "all": 5.897e9}  # ns, mean over the steps
WORKERS = 32


def meeting_of(event, dp, stage):
    """The collective of a part; empty for local work."""
    name, seq = event["name"], event["args"].get("seq_id")
    if name == "forward-send":
        return f"f {dp} {stage} {seq}"
    if name == "forward-recv":
        return f"f {dp} {stage - 1} {seq}"
    if name == "backward-send":
        return f"b {dp} {stage - 1} {seq}"
    if name == "backward-recv":
        return f"b {dp} {stage} {seq}"
    if name in ("grads-reduce-scatter", "params-all-gather", "layernorm-grads-all-reduce"):
        return f"{name} {stage} {seq}"
    return f"{name} {dp} {seq}" if name == "embedding-grads-all-reduce" else ""


def steps_of(events):
    steps = collections.defaultdict(list)
    lanes = {}
    for event in events:
        if event.get("ph") != "X":
            continue
        dp = event["pid"]
        stage, lane = divmod(event["tid"] - 10 * dp, 320)
        meeting = meeting_of(event, dp, stage)
        key = (lane, event["name"] if meeting else "")
        number = lanes.setdefault(key, len(lanes))
        begin = event["ts"] * 1000
        row = (2 * dp + stage, number, begin, begin + event["dur"] * 1000, event["name"], meeting)
        steps[event["args"]["step"]].append("\t".join(str(int(x) if isinstance(x, float) else x) for x in row))
    return steps


def replay(tool, rows):
    last = ",".join(str(2 * dp + 1) for dp in range(WORKERS))
    everyone = ",".join(str(r) for r in range(2 * WORKERS))
    asked = "\n".join([*rows, f"mean\t{last}", f"mean\t{everyone}"]) + "\n"
    done = subprocess.run([tool, "--joint-start", "--tolerance", "50000"], input=asked, capture_output=True, text=True,
                          check=True)
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    return {"errors": int(lines[0][0]), "recorded": int(lines[0][1]), "last stage": int(lines[1][1]),
            "all": int(lines[2][1])}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blame", required=True)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    if not TIMELINE.exists():
        print("the timeline is not here")
        return 77
    steps = steps_of(json.loads(gzip.decompress(TIMELINE.read_bytes())))
    chosen = sorted(steps) if options.all else sorted(steps)[:5]
    found = [replay(options.blame, steps[step]) for step in chosen]
    problems = [f"{one['errors']} points are off the record" for one in found if one["errors"]]
    for what, published in PUBLISHED.items():
        mean = statistics.mean(one[what] for one in found)
        off = mean / published - 1
        print(f"{what}: {mean / 1e9:.3f} s over {len(found)} steps; published {published / 1e9:.3f} ({100 * off:+.1f} %)")
        if abs(off) > 0.05:
            problems.append(f"{what} is {100 * off:+.1f} % off what was published")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
