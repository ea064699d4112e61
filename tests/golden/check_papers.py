#!/usr/bin/env python3
"""Runs every command in the tables of docs/papers.md: each must give rows.

    check_papers.py --assay build/release/assay

A command with --figure must give that figure as one table with rows. A command without it is followed by a table and
column of its CSV, which must have a value. The files that the page names are real recordings of this repository, or
training runs that check_breakdown_configs.py generates. NOT_RUN has the commands for which nothing is at hand.
"""

import argparse
import csv
import io
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import check_breakdown_configs as made
import datasets

PAGE = datasets.ROOT / "docs/papers.md"
RECORDED = {
    "eager.json.zst": "tests/data/h200_pairs/gpt2.before.json.zst",
    "sdpa.json.zst": "tests/data/h200_pairs/gpt2_sdpa.after.json.zst",
    "compiled.json.zst": "tests/data/h200_pairs/gpt2_compile.after.json.zst",
    "graph.json.zst": "tests/data/h200_pairs/gpt2_reduce_overhead.after.json.zst",
    "floor.json": "docs/measured/2026-11-26-nvidia-h200/floor.json",
    "bench.csv": "examples/h100_vllm_throughput.csv",
}
NOT_RUN = ("assay null-kernel", "assay replay",  # a GPU
           "assay breakdown shaped")  # no counters of matrix units of a trace with shapes are in the repository
LEAST = 70  # rows of the page
TIMEOUT_S = 600


def rows_of_page(text):
    """The rows of the tables of the papers: cells, without the table of measured values."""
    for line in text.split("## Measured")[0].splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 4 and cells[0]:
            yield cells


def make_inputs(folder, assay):
    for name, source in RECORDED.items():
        (folder / name).symlink_to(datasets.ROOT / source)
    for name, scale, tokens in (("b1s4", 1, 64), ("b2s4", 2, 128)):
        kernels, _, _ = made.generate(folder / name, scale, tokens, tokens)
        made.write_logs(folder / name)
        made.write_counters(folder / name / "counters", kernels)
    for platform, pace in (("h100", 1), ("gh200", 0.5)):
        (folder / platform).mkdir()
        for batch in (1, 2, 4, 8):
            rank = made.Rank(0, 0.2 * pace * batch ** 2, 7)
            for number in range(5, 9):
                rank.iteration(number, 64 * batch)
            rank.write(folder / platform / f"bert_b{batch}_s512.json")
    for name, work in (("gemm", "gemm:8192"), ("mixed", "60*gemm:2048 , 1*gemm:8192")):
        subprocess.run([assay, "power", "run", "--device", "simulated", "--workload", work, "--runs", "40",
                        "--record", folder / name, "-o", folder / f"{name}.txt"], check=True, capture_output=True, timeout=TIMEOUT_S)


def tables_of(text):
    """The tables of a CSV document by name; tables of one name in one list."""
    tables = {}
    for block in re.split(r"(?m)^# ", text)[1:]:
        name, _, body = block.partition("\n")
        tables.setdefault(name, []).append(list(csv.reader(io.StringIO(body.rstrip("\n")))))
    return tables


def values_of(tables, place):
    name, _, column = place.rpartition(".")
    # Of several inputs: "inputs.FILE.table".
    for header, *records in (one for full, several in tables.items() if f".{full}".endswith(f".{name}") for one in several):
        if column in header:
            yield from (record[header.index(column)] for record in records if record)
        elif header == ["key", "value"]:
            yield from (value for key, value in records if key == column)


def problem_of(assay, folder, command, place):
    words = shlex.split(command)[1:]
    done = subprocess.run([assay, *words, "--format", "csv"], cwd=folder, capture_output=True, text=True, check=False,
                          timeout=TIMEOUT_S)
    if done.returncode != 0:
        return f"exit code {done.returncode}: {done.stderr.strip()[:300]}"
    if "--figure" in words:
        header, *records = list(csv.reader(io.StringIO(done.stdout))) or [[]]
        if done.stdout.startswith("#") or not records:
            return f"not one table with rows: {done.stdout[:200]!r}"
        wrong = [record for record in records if len(record) != len(header)]
        return f"{len(wrong)} records are not as long as the header" if wrong else ""
    if not place:
        return "neither --figure nor a column"
    return "" if any(values_of(tables_of(done.stdout), place)) else f"no value at {place}"


def check(assay, folder):
    problems, ran, seen = [], {}, 0
    for number, _, cell, differs in rows_of_page(PAGE.read_text(encoding="utf-8")):
        seen += 1
        command, *places = re.findall(r"`([^`]+)`", cell) or [""]
        if not command:
            if not differs.startswith("not made"):
                problems.append(f"{number}: neither a command nor the reason why there is none")
            continue
        if command.startswith(NOT_RUN):
            continue
        if (command, *places) not in ran:
            ran[command, *places] = problem_of(assay, folder, command, places[0] if places else "")
        if ran[command, *places]:
            problems.append(f"{number}: {command}: {ran[command, *places]}")
    if seen < LEAST:
        problems.append(f"the page has {seen} rows, not {LEAST} or more: they were not read")
    return problems, len(ran)


def check_refusals(assay, folder):
    """A figure that the inputs do not allow, and a drawing, are refused in words."""
    for words, said in ((("--figure", "chopper13"), "has no figure chopper13. It has skip8, skip7a"),
                        (("--figure", "skip"), "has no figure skip"), (("--figure", "skip8", "-o", "f.svg"), "the page draws")):
        done = subprocess.run([assay, "fusion", "eager.json.zst", *words], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 2 or said not in done.stderr:
            yield f"{words}: exit code {done.returncode}, {done.stderr.strip()[:200]!r} without {said!r}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assay", required=True, type=pathlib.Path)
    assay = parser.parse_args().assay.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        make_inputs(folder, assay)
        problems, ran = check(assay, folder)
        problems += check_refusals(assay, folder)
    if problems:
        sys.exit("\n".join(problems))
    print(f"papers: {ran} commands of docs/papers.md give rows")


if __name__ == "__main__":
    main()
