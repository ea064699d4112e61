#!/usr/bin/env python3
"""`assay job --parquet`: both layouts, read by DuckDB as Hive partitions and by hyparquet, compared with the JSON
answer and with the page that describes the columns (docs/formats/job_tables.md). The SQL of docs/job.md gives the
numbers of the answer. Exits with 77 (skipped) without DuckDB.

    check_job_tables.py --assay build/release/assay --model build/release/assay_job_model
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import datasets
from check_job import FAULTS, traces_of_a_job

SKIPPED = 77
EXAMPLE = sorted((datasets.ROOT / "examples").glob("*.json.gz"))[0]
PAGE = datasets.ROOT / "docs/formats/job_tables.md"
FLEET = datasets.ROOT / "docs/job.md"


def described():
    """{table: [(column, type)]} of the page."""
    tables, name = {}, None
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            tables[name := line[3:]] = []
        elif (row := re.match(r"\| `(\w+)` \| (\w+) \|", line)):
            tables[name].append((row[1], row[2]))
    return tables


class Checks:
    def __init__(self, assay, model, folder):
        self.assay, self.model, self.folder, self.problems = assay, model, pathlib.Path(folder), []

    def run(self, *words):
        return subprocess.run([self.assay, *map(str, words)], capture_output=True, text=True)

    def expect(self, what, holds, done=None):
        if not holds:
            tail = f": exit code {done.returncode}, {(done.stdout + done.stderr).strip()[:600]}" if done else ""
            self.problems.append(what + tail)

    def sql(self, statement):
        done = self.run("sql", EXAMPLE, "--allow-files", "--format", "json", "-c", statement)
        if done.returncode != 0:
            self.problems.append(f"{statement}: {done.stderr}")
            return []
        return json.loads(done.stdout)["rows"]

    def table(self, folder, name):
        return f"read_parquet('{folder}/*/{name}.parquet', hive_partitioning = true)"

    def columns(self, folder, partition):
        for name, wanted in described().items():
            told = {row["column_name"]: row["column_type"] for row in self.sql(f"DESCRIBE SELECT * FROM {self.table(folder, name)}")}
            told.pop(partition if partition != "rank" else "", None)
            self.expect(f"{folder.name}: {name} has {told}, the page {dict(wanted)}", told == dict(wanted))
        files = {path.stem for path in folder.glob("*/*.parquet")}
        self.expect(f"{folder.name}: tables {sorted(files)}", files == set(described()))

    def answer(self, folder, fleet, ranks):
        """Numbers of the answer from the tables."""
        [told] = self.sql(f"SELECT count(*) AS n, count(DISTINCT rank) AS d, min(rank) AS a, max(rank) AS z FROM {self.table(folder, 'ranks')}")
        self.expect(f"every rank has a row: {told}", told == {"n": ranks, "d": ranks, "a": 0, "z": ranks - 1})
        parts = {row["state"]: row["ns"] for row in
                 self.sql(f"SELECT state, sum(ns)::BIGINT AS ns FROM {self.table(folder, 'parts')} GROUP BY state")}
        for row in fleet["parts"]:
            self.expect(f"{row['cause']}: {parts.get(row['cause'])}, {row['ns']} in the answer", parts.get(row["cause"]) == row["ns"])
        [odd] = self.sql(f"SELECT count(*) AS n FROM (SELECT rank, sum(ns) AS ns FROM {self.table(folder, 'parts')} GROUP BY rank) "
                         f"JOIN {self.table(folder, 'ranks')} USING (rank) WHERE ns <> window_ns")
        self.expect("the parts of each rank add up to its window", odd["n"] == 0)
        told = self.sql(f"SELECT iter, count(*) AS ranks_in, max(span_ns) AS worst_ns FROM {self.table(folder, 'iterations')} "
                        "GROUP BY iter ORDER BY iter")
        self.expect("iterations are those of the answer",
                    told == [{key: row[key] for key in ("iter", "ranks_in", "worst_ns")} for row in fleet["iterations"]])
        kernels = {row["name"]: (row["count"], row["ns"]) for row in
                   self.sql(f"SELECT name, sum(count)::BIGINT AS count, sum(dur_ns)::BIGINT AS ns FROM {self.table(folder, 'kernels')} GROUP BY name")}
        for row in fleet["kernels"]:
            self.expect(f"kernel {row['name'][:40]}", kernels.get(row["name"]) == (row["count"], row["dur_ns"]))
        scores = {row["rank"]: row for row in self.sql(f"SELECT rank, above_usual, peers, excess_ns FROM {self.table(folder, 'ranks')}")}
        for row in fleet["ranks"]:
            own = scores.get(row["rank"], {})
            self.expect(f"rank {row['rank']}: {own}", own.get("excess_ns") == row["rank_excess_ns"] and own.get("peers") == row["peers"]
                        and abs((own["above_usual"] or 0) - (row["above_usual"] or 0)) < 1e-6)
        [odd] = self.sql(f"SELECT count(*) AS n FROM {self.table(folder, 'collectives')} WHERE end_ns <= start_ns OR work_ns < 0")
        self.expect("every part ends behind its begin", odd["n"] == 0)

    def another_reader(self, folder):
        files = sorted(folder.glob("*/iterations.parquet"))[:4] + sorted(folder.glob("*/collectives.parquet"))[:4]
        done = subprocess.run(["node", str(datasets.ROOT / "tests/parquet/sum_columns.mjs"), *map(str, files)],
                              capture_output=True, text=True) if shutil.which("node") else None
        if done is None or done.returncode == SKIPPED:
            print("hyparquet is not here (npm ci --prefix tests/parquet): DuckDB alone reads the tables")
            return
        for path, sums in json.loads(done.stdout).items():
            columns = [column for column in sums if column != "rows"]
            told = ", ".join(f"sum({column})::VARCHAR AS {column}" for column in columns)
            [row] = self.sql(f"SELECT count(*) AS rows, {told} FROM read_parquet('{path}', hive_partitioning = false)")
            self.expect(f"{path}: hyparquet {sums}, DuckDB {row}", row == sums)

    def documented(self, folder, fleet):
        """Each line of SQL in docs/job.md gives the number that the page names."""
        lines = re.findall(r"^\| `job\.([\w.\[\]]+)` \| `(SELECT .+?)` \|$", FLEET.read_text(), re.MULTILINE)
        self.expect("docs/job.md has lines of SQL", len(lines) >= 4)
        for key, statement in lines:
            statement = re.sub(r"DIR/\*/(\w+)\.parquet'", lambda m: f"{folder}/*/{m[1]}.parquet', hive_partitioning = true", statement)
            rows = self.sql(statement.replace("\\|", "|"))
            told = list(rows[0].values())[0] if rows else None
            wanted = fleet
            for step in re.findall(r"\w+", key):
                wanted = wanted[int(step)] if step.isdigit() else wanted[step]
            self.expect(f"{statement}: {told}, {key} is {wanted}", told == wanted or
                        (isinstance(wanted, float) and told is not None and abs(told - wanted) < 1e-6))

    def layouts(self):
        small = self.folder / "small"
        traces_of_a_job(self.folder / "traces", ranks=16, per_node=4)
        done = self.run("job", self.folder / "traces", "--parquet", small, "--format", "json")
        if "install_deps.sh query" in done.stderr:
            print("skipped: DuckDB is not here")
            sys.exit(SKIPPED)
        self.expect("a rank's folder each", done.returncode == 0 and {path.name for path in small.iterdir()} ==
                    {f"rank={r}" for r in range(16)}, done)
        fleet = json.loads(done.stdout)["job"]
        self.columns(small, "rank")
        self.answer(small, fleet, 16)
        self.another_reader(small)
        self.documented(small, fleet)
        subprocess.run([self.model, "600", "1", str(self.folder / "model"), "7", *FAULTS], check=True, capture_output=True)
        large = self.folder / "large"
        done = self.run("job", "--summaries", self.folder / "model", "--parquet", large, "--format", "json")
        self.expect("256 ranks a folder", done.returncode == 0 and {path.name for path in large.iterdir()} ==
                    {f"bucket={k}" for k in range(3)}, done)
        self.columns(large, "bucket")
        self.answer(large, json.loads(done.stdout)["job"], 600)
        self.another_reader(large)
        [told] = self.sql(f"SELECT min(rank) AS a, max(rank) AS z FROM {self.table(large, 'iterations')} WHERE bucket = 1")
        self.expect(f"a bucket holds its ranks: {told}", told == {"a": 256, "z": 511})
        again = self.run("job", "--summaries", self.folder / "model", "--format", "json")
        self.expect("the answer is the same without tables", again.stdout == done.stdout)

    def refusals(self):
        done = self.run("job", self.folder / "nowhere", "--parquet", self.folder / "small")
        self.expect("a folder that is not empty is refused before all work", done.returncode == 2 and "not an empty folder" in done.stderr, done)
        done = self.run("job", "--summaries", self.folder / "nowhere", "--parquet", self.folder / "never")
        self.expect("after an error nothing is left", done.returncode == 2 and not list(self.folder.glob("never*")), done)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    parser.add_argument("--model", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checks = Checks(arguments.assay, arguments.model, folder)
        checks.layouts()
        checks.refusals()
    for problem in checks.problems:
        print(problem, file=sys.stderr)
    if checks.problems:
        return 1
    print("tables of a job: fine")
    return 0


if __name__ == "__main__":
    sys.exit(main())
