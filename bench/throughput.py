#!/usr/bin/env python3
"""Errors of every throughput method on every split of LLM-Inference-Bench, and how long that takes:
what docs/measured/throughput_llm_inference_bench.md shows. About half an hour on one core, most of it
ALA's boosted trees on S1; --quick leaves out S1, S4 and the forests.

    bench/throughput.py --table All_results.csv > table.md
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SPLITS = ["S1", "S2", "S3", "S4", "S5", "S6", "S7"]
METHODS = ["assay", "ala", "ala-pooled-log", "linear", "xgboost", "forest", "boosting", "linear-pooled",
           "xgboost-pooled", "forest-pooled", "boosting-pooled"]
SLOW = {"S1", "S4"}


def percent(share):
    if share is None:
        return "-"
    value = 100 * share
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def evaluate(assay, table, split, method):
    command = [assay, "throughput", "evaluate", table, "--split", split, "--method", method, "--format", "json"]
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - begin
    if done.returncode != 0:
        sys.exit(f"{split} {method}: {done.stderr.strip()[:300]}")
    return json.loads(done.stdout)["throughput"]["splits"][0], seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=ROOT / "build/release/assay")
    parser.add_argument("--table", required=True, help="All_results.csv of LLM-Inference-Bench")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--methods", default=",".join(METHODS))
    options = parser.parse_args()
    print("| split | method | n | median % | p90 % | mean % | in 90 % | prototype | s |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for split in SPLITS:
        for method in options.methods.split(","):
            if options.quick and (split in SLOW or "forest" in method):
                continue
            error, seconds = evaluate(options.assay, options.table, split, method)
            reference = "-"
            if error["reference_median_ape"] is not None:
                reference = f"{percent(error['reference_median_ape'])} / {percent(error['reference_p90_ape'])}"
            print(f"| {split} | {method} | {error['n']} | {percent(error['median_ape'])} | "
                  f"{percent(error['p90_ape'])} | {percent(error['mean_ape'])} | {percent(error['coverage90'])} | "
                  f"{reference} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
