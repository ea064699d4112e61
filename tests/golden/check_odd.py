#!/usr/bin/env python3
"""Runs the binary on every broken input of tests/golden/odd_expectations.tsv and compares exit code, message, import
log and counts with the table."""

import argparse
import json
import re
import subprocess
import sys

import datasets

TABLE = datasets.ROOT / "tests/golden/odd_expectations.tsv"
SKIP = 77
TIMEOUT_S = 600


def expectations():
    lines = [line for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    keys = lines[0].split("\t")
    for line in lines[1:]:
        yield {key: "" if value == "-" else value
               for key, value in zip(keys, line.split("\t"), strict=True)}


def locate(name):
    for folder in (datasets.IN_REPOSITORY / "odd", datasets.CORPUS / "odd"):
        if (folder / name).exists():
            return folder / name
    return None


def value_at(summary, path):
    for key in path.split("."):
        summary = summary.get(key, {})
    return summary


def compare(conditions, lookup):
    """Complaints about `key=value` and `key>=value` conditions that do not hold."""
    for condition in conditions.split():
        key, relation, wanted = re.fullmatch(r"([\w.]+)(=|>=)(\w+)", condition).groups()
        got = lookup(key)
        wanted = json.loads(wanted)
        if not (got == wanted if relation == "=" else got is not None and got >= wanted):
            yield f"{key} is {got}, must be {relation} {wanted}"


def check(assay, path, want):
    command = [assay, "info", "--format", "json", *want["options"].split(), str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return [f"still running after {TIMEOUT_S} s"]
    problems = []
    if done.returncode != int(want["exit"]):
        problems.append(f"exit code {done.returncode}, must be {want['exit']}: "
                        f"{done.stderr.strip()[:300]}")
    if done.returncode == 2:
        if path.name not in done.stderr:
            problems.append(f"the message does not name the file: {done.stderr.strip()[:300]}")
        if want["error"] not in done.stderr:
            problems.append(f"the message lacks '{want['error']}': {done.stderr.strip()[:300]}")
        if done.stdout:
            problems.append("an error, but stdout is not empty")
        return problems
    try:
        summary = json.loads(done.stdout)
    except ValueError as error:
        return problems + [f"stdout is no JSON: {error}"]
    log = {entry["code"]: entry for entry in summary["import_log"]}
    problems += compare(want["log"], lambda code: log.get(code, {"count": 0})["count"])
    problems += compare(want["counts"], lambda key: value_at(summary, key))
    expected = set(re.findall(r"(\w+)>?=", want["log"]))
    problems += [f"unexpected data loss: {code}" for code, entry in log.items()
                 if entry["severity"] == "data_loss" and code not in expected]
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assay", required=True, help="the binary to test")
    assay = parser.parse_args().assay
    checked = failed = 0
    for want in expectations():
        path = locate(want["file"])
        if path is None:
            continue
        checked += 1
        problems = check(assay, path, want)
        failed += bool(problems)
        for problem in problems:
            print(f"{want['file']} {want['options']}: {problem}")
    if not checked:
        print(datasets.NO_CORPUS)
        return SKIP
    print(f"odd inputs: {checked - failed} of {checked} as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
