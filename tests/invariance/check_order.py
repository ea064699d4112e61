#!/usr/bin/env python3
"""The order of events in a file changes no answer: copies sorted, reversed and shuffled give the same JSON.

Byte offsets, sizes and checksums are of the file, not of the run, and are left out.
"""

import argparse
import gzip
import itertools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import datasets  # noqa: E402

SMALL_BYTES = 400_000  # as stored
VERBS = (["report", "--format", "json"], ["launch", "--format", "json"], ["whatif", "--format", "json"])
# Where the format itself gives the order of the file a meaning: begin and end events of one time
# (check_same_run.py).
ORDERED_PHASES = {"B", "E"}


def read_document(path):
    raw = path.read_bytes()
    if path.suffix == ".gz":
        raw = gzip.decompress(raw)
    return json.loads(raw.decode("utf-8"), strict=False)


def time_of(event):
    time = event.get("ts") if isinstance(event, dict) else None
    return float(time) if isinstance(time, (int, float, str)) and re.fullmatch(r"-?[\d.]+(e\d+)?", str(time)) else 0.0


def orders(events):
    shuffled = list(events)
    random.Random(20).shuffle(shuffled)
    yield "sorted", sorted(events, key=time_of)
    yield "reversed", events[::-1]
    yield "shuffled", shuffled


def write(path, document, events):
    if isinstance(document, list):
        path.write_text(json.dumps(events))
    else:
        path.write_text(json.dumps({**document, "traceEvents": events}))


def answer(assay, verb, path):
    run = subprocess.run([assay, verb[0], str(path), *verb[1:]], capture_output=True, text=True,
                         env={**os.environ, "ASSAY_CACHE": "off"}, check=False)
    text = re.sub(r'"(source_checksum|checksum|sha256|first_offset|offset|source_bytes|content_bytes)": *("[^"]*"|-?\d+)',
                  r'"\1": 0', run.stdout)
    return run.returncode, text.replace(str(path), "TRACE"), run.stderr.replace(str(path), "TRACE")


def first_difference(a, b):
    for one, other in itertools.zip_longest(a.splitlines(), b.splitlines(), fillvalue=""):
        if one != other:
            at = next((i for i, (x, y) in enumerate(zip(one, other)) if x != y), 0)
            return f"{one[max(0, at - 150):at + 100]!r} is {other[max(0, at - 150):at + 100]!r}"
    return "stderr or exit status"


def check(assay, path, folder):
    try:
        document = read_document(path)
    except ValueError:
        return []  # damaged on purpose: other tests read it
    events = document if isinstance(document, list) else document.get("traceEvents")
    if not isinstance(events, list) or not events:
        return []
    if any(isinstance(e, dict) and e.get("ph") in ORDERED_PHASES for e in events):
        return []
    copy = pathlib.Path(folder) / "trace.json"
    write(copy, document, events)
    expected = [answer(assay, verb, copy) for verb in VERBS]
    failed = []
    for name, changed in orders(events):
        write(copy, document, changed)
        for verb, wanted in zip(VERBS, expected):
            got = answer(assay, verb, copy)
            if got != wanted:
                failed.append(f"{path.name}, {name}: {verb[0]}: {first_difference(wanted[1], got[1])}")
                break
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assay", required=True)
    parser.add_argument("--all", action="store_true", help="traces of every size")
    parser.add_argument("--only", default="", help="traces whose name contains this")
    args = parser.parse_args()
    paths = [path for name, path in datasets.golden_traces() if args.only in name
             and path.suffix != ".zst" and (args.all or path.stat().st_size <= SMALL_BYTES)]
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            failed += check(args.assay, path, folder)
    for line in failed:
        print(line)
    print(f"{len(paths)} traces, {len(failed)} orders that change an answer")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
