#!/usr/bin/env python3
"""docs/papers.md: every command that it does not exempt makes rows in the table that it names.

The recordings of this repository stand in for those of the papers: the numbers are not the papers', the tables are.
"""

import argparse
import json
import re
import shlex
import subprocess
import sys

from datasets import IN_REPOSITORY, ROOT

PAIRS = IN_REPOSITORY / "h200_pairs"
FILES = {
    "TRACE": IN_REPOSITORY / "h200_jobs/job4.assaytrace.gz",
    "EAGER": PAIRS / "gpt2.before.json.zst",
    "COMPILED": PAIRS / "gpt2_compile.after.json.zst",
    "B1": PAIRS / "gpt2_compile.after.json.zst",
    "B4": PAIRS / "gpt2_sdpa.after.json.zst",
    "B16": PAIRS / "gpt2.before.json.zst",
    "C1": PAIRS / "gpt2_compile.after.json.zst",
    "C4": PAIRS / "gpt2_sdpa.after.json.zst",
    "C16": PAIRS / "gpt2.before.json.zst",
    "JOB": IN_REPOSITORY / "h200_jobs/job4.assaytrace.gz",
    "LOG": IN_REPOSITORY / "h200_jobs/job4.csv.gz",
    "WORK": IN_REPOSITORY / "h200_work/work.json.gz",
    "COUNTERS": IN_REPOSITORY / "h200_work/counters.csv.gz",
}
# Tables that these recordings of one GPU cannot fill: the place must exist.
EMPTY_HERE = {"figures.communication"}
ROW = re.compile(r"^\| (?P<what>[^|]+) \| (?P<shows>[^|]+) \| (?P<command>[^|]+) \| (?P<table>[^|]*) \| *(?P<why>[^|]*?) *\|$")
LEAST_ROWS = 20


def rows():
    for line in (ROOT / "docs/papers.md").read_text(encoding="utf-8").splitlines():
        found = ROW.match(line)
        if found and found["command"].startswith("`assay "):
            yield found


def filled(command):
    words = shlex.split(command)
    for name in sorted(FILES, key=len, reverse=True):
        words = [re.sub(rf"(^|=){name}$", lambda found: found.group(1) + str(FILES[name]), word) for word in words]
    return words[1:]


def place(document, path):
    for key in path.split("."):
        document = document.get(key) if isinstance(document, dict) else None
    return document


def problem_of(assay, command, table):
    done = subprocess.run([assay, *filled(command), "--format", "json"], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        return f"exit {done.returncode}: {done.stderr.strip()[-200:]}"
    found = place(json.loads(done.stdout), table)
    if table in EMPTY_HERE:
        return None if isinstance(found, list) else f"no table {table}"
    return None if found else f"nothing in {table}"


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--assay", required=True)
    options = options.parse_args()
    problems, run = [], 0
    for row in rows():
        if row["why"]:
            continue
        run += 1
        command, table = row["command"].strip("`"), row["table"].strip("`")
        problem = problem_of(options.assay, command, table)
        if problem:
            problems.append(f"{row['what']}: {command}: {problem}")
    if run < LEAST_ROWS:
        problems.append(f"only {run} commands were found in docs/papers.md")
    for problem in problems:
        print(problem)
    print(f"papers: {run} commands run")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
