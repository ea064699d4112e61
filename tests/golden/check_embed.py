#!/usr/bin/env python3
"""The program that embeds the library (examples/embed.cc): its kernel counts equal those of the trace, its headline
equals
that of the command line, and errors go to standard error.

    check_embed.py --embed build/release/examples/assay_example_embed --assay build/release/assay
"""

import argparse
import collections
import gzip
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACE = "examples/h100_vit_inference.json.gz"


def kernel_counts():
    """Kernel counts by name, most frequent first."""
    events = json.loads(gzip.open(ROOT / TRACE).read())["traceEvents"]
    names = [event["name"] for event in events if event.get("cat") == "kernel"]
    return [count for _, count in collections.Counter(names).most_common(5)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--embed", required=True)
    parser.add_argument("--assay", required=True)
    given = parser.parse_args()
    problems = []

    def run(*command):
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)

    done = run(given.embed, TRACE)
    if done.returncode != 0 or done.stderr:
        problems.append(f"exit code {done.returncode}, on standard error: {done.stderr!r}")
    text = " ".join(done.stdout.split())
    said = json.loads(run(given.assay, "report", TRACE, "--format", "json").stdout)["headline"]
    for sentence in said:
        # The example prints ASCII.
        plain = " ".join(sentence.replace("µ", "u").replace("×", "x").split())
        if plain not in text:
            problems.append(f"the verdict lacks: {sentence}")
    lines = done.stdout.splitlines()
    rule = next((i for i, line in enumerate(lines) if line.strip().startswith("---")), len(lines))
    counts = [int(line.split()[-5]) for line in lines[rule + 1 : rule + 6] if len(line.split()) > 5]
    if counts != kernel_counts():
        problems.append(f"kernels by launches: {counts}, in the trace {kernel_counts()}")

    missing = run(given.embed, "none.json")
    if missing.returncode != 1 or missing.stdout or "none.json" not in missing.stderr:
        problems.append(f"a missing trace: {missing}")

    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
