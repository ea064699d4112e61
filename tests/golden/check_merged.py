#!/usr/bin/env python3
"""Several ranks merged into one file: no kernel is linked to another rank's call, and the answer says what the file is.

Launch-to-start times of the merged file are those of its ranks' own files, with process ids as they were and with the
labels that serving engines put before them.
"""

import argparse
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

import datasets

RANKS = datasets.CORPUS / "kineto/multirank/megatron_tp8_a100"


def launch_of(assay, trace):
    return json.loads(subprocess.run([assay, "launch", str(trace), "--format", "json"], capture_output=True,
                                     check=True).stdout)["launch"]["whole"]


def merge(files, labelled):
    events = []
    for rank, file in enumerate(files):
        for event in json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]:
            if labelled and "pid" in event:
                event["pid"] = f"[TP{rank:02d}] {event['pid']}"
            events.append(event)
    return {"schemaVersion": 1, "traceEvents": events}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=datasets.ROOT / "build/release/assay")
    assay = pathlib.Path(parser.parse_args().assay).resolve()
    if not RANKS.exists():
        print("the ranks of a job are not here")
        return 77
    problems = []
    files = sorted(RANKS.glob("*.json.gz"))
    own = [launch_of(assay, file) for file in files]
    with tempfile.TemporaryDirectory() as folder:
        for labelled in (False, True):
            merged = pathlib.Path(folder) / "merged.json"
            merged.write_text(json.dumps(merge(files, labelled)))
            got = launch_of(assay, merged)
            for key in ("linked", "launches", "tklqt_ns"):
                want = sum(rank[key] for rank in own)
                if got[key] != want:
                    problems.append(f"labelled {labelled}: {key} is {got[key]}, of the ranks by themselves {want}")
            screen = subprocess.run([assay, str(merged)], capture_output=True, text=True, check=True).stdout
            if "several ranks: 8 processes on 8 GPUs" not in " ".join(screen.split()):
                problems.append(f"labelled {labelled}: the answer does not say that the file holds several ranks")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
