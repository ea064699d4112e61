#!/usr/bin/env python3
"""Compares `assay info --format json` with the golden summaries that reference.py wrote, key by key.

    check_golden.py --assay build/release/assay [--live] [NAME...]

--live computes the reference anew instead of reading the checked-in summary. NAMEs choose traces by
a part of their name.
"""

import argparse
import json
import subprocess
import sys

import datasets
import reference

SKIP = 77
TIMEOUT_S = 600


def flatten(value, prefix=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flatten(inner, f"{prefix}{key}.")
    else:
        yield prefix[:-1], value


def differences(assay, path, want):
    done = subprocess.run([assay, "info", "--format", "json", str(path)], capture_output=True,
                          text=True, timeout=TIMEOUT_S)
    if done.returncode != 0:
        return [f"exit code {done.returncode}: {done.stderr.strip()[:300]}"]
    got = json.loads(done.stdout)
    log = {entry["code"]: entry["count"] for entry in got["import_log"]}
    # Of the import log, only the codes that the reference computes; the rest has its own tests.
    want = dict(want)
    wanted_log = want.pop("import_log")
    problems = [f"import_log.{code} is {log.get(code, 0)}, the reference says "
                f"{wanted_log.get(code, 0)}"
                for code in reference.LOG_CODES if log.get(code, 0) != wanted_log.get(code, 0)]
    have = dict(flatten(got))
    for key, value in flatten(want):
        if key not in have:
            problems.append(f"{key} is missing, the reference says {value}")
        elif have[key] != value:
            problems.append(f"{key} is {have[key]}, the reference says {value}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assay", required=True, help="the binary to test")
    parser.add_argument("--live", action="store_true", help="compute the reference anew")
    parser.add_argument("names", nargs="*", help="only traces whose name contains one of these")
    options = parser.parse_args()
    if not (datasets.CORPUS / "kineto").is_dir():
        print(datasets.NO_CORPUS)
    checked = failed = 0
    for name, path in datasets.golden_traces():
        if options.names and not any(part in name for part in options.names):
            continue
        golden = datasets.SUMMARIES / f"{name}.json"
        if options.live:
            want = reference.summarize(path)
        elif golden.exists():
            want = json.loads(golden.read_text())
        else:
            print(f"{name}: has no golden summary; run tests/golden/reference.py --update")
            failed += 1
            continue
        checked += 1
        problems = differences(options.assay, path, want)
        failed += bool(problems)
        for problem in problems:
            print(f"{name}: {problem}")
    if not checked:
        return SKIP
    print(f"golden summaries: {checked - failed} of {checked} agree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
