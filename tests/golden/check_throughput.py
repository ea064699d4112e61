#!/usr/bin/env python3
"""The throughput sections against LLM-Inference-Bench: used and dropped rows, folds and saturation curves against an
independent implementation, errors of ALA's database and of a baseline against the figures of a prototype in another
language (docs/measured/throughput_llm_inference_bench.md)."""

import argparse
import collections
import csv
import json
import math
import pathlib
import subprocess
import sys

import datasets

TABLE = datasets.CORPUS / "bench/argonne_All_results.csv"
SKIP = 77
TIMEOUT_S = 600
MASK = (1 << 64) - 1

# Median and 90th percentile in percent, rounded as the prototype prints them. Columns of groups are dependent: the
# minimum-norm solution, by NumPy's lstsq (singular values below 1e-10 of the largest count as zero).
LEAST_SQUARES = {("S4", "linear-pooled"): (224.3, 6473), ("S6", "linear-pooled"): (2182, 19104),
                 ("S7", "linear-pooled"): (292.6, 4919)}
PROTOTYPE = {("S3", "ala"): (5.04, 24.22), ("S3", "xgboost"): (23.71, 40.77), ("S1", "xgboost"): (4.43, 26.04)}
TOLERANCE = 0.01
# Rows faster than reading the weights once per token: used in the published training data, never predicted.
INFEASIBLE = 33

# Files that are not throughput tables, and a word of the refusal.
REFUSED = {"vidur_a100_dgx_all_reduce.csv.gz": "Vidur", "vidur_a100_llama3-8b_mlp.csv.gz": "Vidur",
           "AzureLLMInferenceTrace_conv.csv.gz": "trace of requests", "arise_mlcommons_tokens.csv": "no column for"}
# Rows used of other tables: distinct keys counted with csv.
OTHERS = {"argonne_Fig_16_a_b_power_results.csv": 48, "argonne_Fig_5_b_TP_EP_PP_results.csv": 371}


def fold(name):
    h = 0xCBF29CE484222325
    for byte in name.encode():
        h = ((h ^ byte) * 0x100000001B3) & MASK
    h = ((h ^ (h >> 33)) * 0xFF51AFD7ED558CCD) & MASK
    h = ((h ^ (h >> 33)) * 0xC4CEB9FE1A85EC53) & MASK
    return (h ^ (h >> 33)) % 5


def read_table():
    """Rows with distinct keys, the first of each: (cfg, length, batch, throughput)."""
    seen, rows = set(), []
    with TABLE.open(newline="") as file:
        for cells in list(csv.reader(file))[1:]:
            if tuple(cells[:6]) in seen:
                continue
            seen.add(tuple(cells[:6]))
            rows.append(("|".join(cells[:4]), cells[4], cells[5], float(cells[7])))
    return rows


def expected_folds(rows):
    names = {"S1": lambda r: f"{r[0]}|{r[1]}|{r[1]}", "S2": lambda r: f"{r[0]}|{r[1]}|{r[1]}|{r[2]}",
             "S5": lambda r: r[0]}
    sizes = {}
    for split, name in names.items():
        count = collections.Counter(fold(name(row)) for row in rows)
        for k in range(5):
            sizes[split, str(k)] = (len(rows) - count[k], count[k])
    return sizes


def squares(points, rate):
    """Least sum of squares of C - A exp(-rate b) with A, C free; sufficient if both are positive."""
    n = len(points)
    e = [math.exp(-rate * b) for b, _ in points]
    t = [t for _, t in points]
    se, see, st, set_ = sum(e), sum(x * x for x in e), sum(t), sum(x * y for x, y in zip(e, t, strict=True))
    determinant = n * see - se * se
    c = (st * see - se * set_) / determinant
    a = (se * st - n * set_) / determinant
    return sum((c - a * x - y) ** 2 for x, y in zip(e, t, strict=True)), a, c


def best_rate(points):
    """Ternary search from a fine grid, unlike the library's method."""
    grid = [math.exp(math.log(1e-5) * (1 - i / 2000)) for i in range(2001)]
    at = min(range(len(grid)), key=lambda i: squares(points, grid[i])[0])
    low, high = grid[max(at - 1, 0)], grid[min(at + 1, 2000)]
    for _ in range(200):
        third = (high - low) / 3
        if squares(points, low + third)[0] < squares(points, high - third)[0]:
            high -= third
        else:
            low += third
    return (low + high) / 2


def check_curves(rows, fits, problems):
    groups = collections.defaultdict(list)
    for cfg, length, batch, throughput in rows:
        groups[f"{cfg}|{length}|{length}"].append((float(batch), throughput))
    missing = sum(len(points) for points in groups.values()) - sum(fit["points"] for fit in fits)
    if missing != INFEASIBLE or not {fit["group"] for fit in fits} <= set(groups):
        problems.append(f"{missing} rows take no part in the curves, expected {INFEASIBLE}")
    compared = 0
    for fit in fits:
        points = groups[fit["group"]]
        inside = 1e-4 < fit["b"] < 0.5 and 0 < fit["a"] < 9e5 and 0 < fit["c"] < 9e5
        if len(points) < 4 or len(points) != fit["points"] or not inside:
            continue
        compared += 1
        if compared % 10:
            continue  # a tenth is enough, and quick
        rate = best_rate(points)
        _, a, c = squares(points, rate)
        for name, value in (("a", a), ("b", rate), ("c", c)):
            if abs(fit[name] / value - 1) > 2e-4:
                problems.append(f"{fit['group']}: {name} = {fit[name]}, expected {value}")
    if compared < 500:
        problems.append(f"only {compared} groups could be compared")


def run(assay, table, *arguments):
    command = [assay, "throughput", "evaluate", str(table), *arguments, "--format", "json"]
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=datasets.ROOT / "build/release/assay", type=pathlib.Path)
    assay = parser.parse_args().assay.resolve()
    if not TABLE.exists():
        print(datasets.NO_CORPUS)
        return SKIP
    problems = []
    rows = read_table()

    done = run(assay, TABLE, "--split", "all", "--method", "linear")
    if done.returncode != 0:
        sys.exit(f"exit code {done.returncode}: {done.stderr.strip()[:300]}")
    found = json.loads(done.stdout)["throughput"]
    if (found["rows"], found["dropped"], found["infeasible"]) != (len(rows), {"duplicate_key": 57}, INFEASIBLE):
        problems.append(f"rows {found['rows']}, dropped {found['dropped']}, infeasible {found['infeasible']}")
    sizes = {(f["split"], f["fold"]): (f["train_rows"], f["test_rows"]) for f in found["folds"]}
    for key, size in expected_folds(rows).items():
        if sizes.get(key) != size:
            problems.append(f"fold {key}: {sizes.get(key)}, expected {size}")
    if [size for (split, _), size in sizes.items() if split in ("S3", "S4")] != [(3417, 1298), (2893, 1822)]:
        problems.append("S3 and S4 have other sizes than 3417/1298 and 2893/1822")
    if sum(split == "S6" for split, _ in sizes) != 15 or sum(split == "S7" for split, _ in sizes) != 9:
        problems.append("15 models and 9 kinds of hardware are left out one by one")
    check_curves(rows, found["fits"], problems)

    for (split, method), (median, p90) in (PROTOTYPE | LEAST_SQUARES).items():
        done = run(assay, TABLE, "--split", split, "--method", method)
        error = json.loads(done.stdout)["throughput"]["splits"][0]
        if error["n"] == 0 and method == "xgboost":
            continue  # a build without XGBoost
        for name, expected in (("median_ape", median), ("p90_ape", p90)):
            if abs(100 * error[name] / expected - 1) > TOLERANCE:
                problems.append(f"{split} {method}: {name} {100 * error[name]:.2f} %, expected {expected}")

    for name, word in REFUSED.items():
        done = run(assay, TABLE.parent / name, "--split", "S2", "--method", "linear")
        if done.returncode != 2 or word not in done.stderr:
            problems.append(f"{name}: exit code {done.returncode}, {done.stderr.strip()[:200]}")
    for name, count in OTHERS.items():
        done = run(assay, TABLE.parent / name, "--split", "S2", "--method", "linear")
        if done.returncode != 0 or json.loads(done.stdout)["throughput"]["rows"] != count:
            problems.append(f"{name}: not {count} rows")

    for problem in problems:
        print(problem)
    if not problems:
        print(f"{len(rows)} rows, {len(found['fits'])} curves, folds and errors as expected")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
