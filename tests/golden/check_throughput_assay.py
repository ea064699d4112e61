#!/usr/bin/env python3
"""The assay method on LLM-Inference-Bench, on the splits that take seconds, against an independent
implementation (a prototype in Python with NumPy and SciPy, with the same kernel and parameters)."""

import argparse
import json
import pathlib
import subprocess
import sys

from datasets import CORPUS

TABLE = CORPUS / "bench/argonne_All_results.csv"
# Split: (median, 90th percentile of the absolute percentage error, coverage), of the prototype.
PROTOTYPE = {"S3": (0.0426, 0.1951, 0.898), "S4": (0.0410, 0.2139, 0.895)}
TOLERANCE = (0.0015, 0.005, 0.01)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True, type=pathlib.Path)
    assay = parser.parse_args().assay.resolve()
    if not TABLE.exists():
        print(f"{TABLE.name} is not here")
        return 77
    done = subprocess.run([assay, "throughput", "evaluate", TABLE, "--split", ",".join(PROTOTYPE),
                           "--method", "assay", "--format", "json"],
                          capture_output=True, text=True, check=True, timeout=800)
    problems = []
    for split in json.loads(done.stdout)["throughput"]["splits"]:
        found = (split["median_ape"], split["p90_ape"], split["coverage90"])
        for value, expected, tolerance in zip(found, PROTOTYPE[split["name"]], TOLERANCE):
            if abs(value - expected) > tolerance:
                problems.append(f"{split['name']}: {value:.4f}, the prototype has {expected}")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
