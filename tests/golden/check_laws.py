#!/usr/bin/env python3
"""No verb reports an impossible value on a real trace: the program checks its answers
(src/report/document/self_check.h), and
under ASSAY_SELF_CHECK a violated law is an error. By default on the small traces.

    check_laws.py --assay build/release/assay [--all] [--only NAME]
"""

import argparse
import os
import subprocess
import sys

import datasets

SMALL_BYTES = 700_000  # as stored
VERBS = (["report", "--full"], ["why"], ["launch"], ["breakdown", "--roof"], ["overhead"], ["fusion"], ["whatif"],
         ["sweep"], ["power"])
BROKEN = "assay: self-check: "


def broken(assay, verb, path):
    """The violated laws; a verb that refuses the trace violates none."""
    env = {**os.environ, "ASSAY_CACHE": "off", "ASSAY_SELF_CHECK": "1"}
    run = subprocess.run([assay, *verb, str(path), "--format", "json"], capture_output=True, text=True, env=env, check=False)
    return [line[len(BROKEN):] for line in run.stderr.splitlines() if line.startswith(BROKEN)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    answers, problems = 0, 0
    for name, path in datasets.golden_traces():
        if options.only not in name or not options.all and path.stat().st_size > SMALL_BYTES:
            continue
        for verb in VERBS:
            answers += 1
            for law in broken(options.assay, verb, path):
                problems += 1
                print(f"assay {' '.join(verb)} {name}: {law}")
    print(f"{answers} answers, {problems} broken laws")
    return 1 if problems or not answers else 0


if __name__ == "__main__":
    sys.exit(main())
