#!/usr/bin/env python3
"""`assay sql` and `assay export` against the trace's own file, read by Python, and against each other.

`sql` needs DuckDB; `export` (CSV and JSON lines) does not.
"""

import argparse
import collections
import csv
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import datasets

EXAMPLE = sorted((datasets.ROOT / "examples").glob("*.json.gz"))[0]
problems = []


def expect(fact, what):
    if not fact:
        problems.append(what)


def run(assay, *arguments, text=None, env=None):
    return subprocess.run([assay, *map(str, arguments)], capture_output=True, input=text, timeout=600, check=False,
                          env=dict(os.environ, **(env or {})))


def rows(assay, sql, *inputs):
    done = run(assay, "sql", *(inputs or [EXAMPLE]), "-c", sql, "--format", "json")
    if done.returncode != 0:
        problems.append(f"{sql}: {done.stderr.decode()}")
        return []
    return json.loads(done.stdout)["rows"]


def check_sql(assay):
    events = json.loads(gzip.decompress(EXAMPLE.read_bytes()))["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    by_name = collections.Counter(event["name"] for event in kernels)
    told = {row["name"]: row["n"] for row in
            rows(assay, "select name, count(*) n from activities where kind = 'kernel' group by name")}
    expect(told == dict(by_name), "kernels by name differ from the file's")
    [total] = rows(assay, "select sum(dur_ns) as ns, count(distinct rank) as ranks from activities where kind='kernel'")
    micros = sum(round(event["dur"] * 1000) for event in kernels)
    expect(total == {"ns": micros, "ranks": 1}, f"{total} instead of {micros} ns")
    both = rows(assay, "select rank, count(*) n from ops group by rank order by rank", EXAMPLE, EXAMPLE)
    expect([row["rank"] for row in both] == [0, 1] and both[0]["n"] == both[1]["n"], f"two inputs: {both}")

    report = json.loads(run(assay, "report", EXAMPLE, "--format", "json", "--top", "0").stdout)
    told = rows(assay, "select * exclude (rank) from launch_top_kernels")
    expect(told == report["launch"]["top_kernels"], "launch_top_kernels is not launch.top_kernels")
    expect([row["text"] for row in rows(assay, "select text from headline order by position")] == report["headline"],
           "verdict differs from the report's")
    odd = rows(assay, "select {'a': 1} as s, 1.50::decimal(4,2) as d, date '2020-01-02' as t, null as n, 'x' as \"a.b\"")
    expect(odd == [{"s": "{'a': 1}", "d": "1.50", "t": "2020-01-02", "n": None, "a_b": "x"}], f"odd types: {odd}")

    for sql, words in (("select nothing from nowhere", b"Catalog Error"), ("selec 1", b"Parser Error"),
                       ("select * from read_csv('/etc/passwd')", b"Permission Error"),
                       ("copy (select 1) to '/tmp/assay-must-not-be'", b"Permission Error"),
                       ("from assay_scan(null)", b"no table of that name"),
                       ("set enable_external_access = true", b"rror"), ("insert into ops values (1)", b"rror")):
        done = run(assay, "sql", EXAMPLE, "-c", sql)
        expect(done.returncode == 2 and words in done.stderr, f"{sql}: {done.returncode} {done.stderr!r}")
        expect(b"INTERNAL" not in done.stderr, f"{sql}: {done.stderr!r}")
    expect(not pathlib.Path("/tmp/assay-must-not-be").exists(), "SQL wrote a file")
    done = run(assay, "sql", EXAMPLE, "vacuum")
    expect(done.returncode == 0, f"a statement of one word: {done.stderr!r}")
    done = run(assay, "sql", EXAMPLE, "--timeout", "0.2", "with recursive t(n) as (select 1 union all select n + 1 from t) "
               "select max(n) from t")
    expect(done.returncode == 2 and b"--timeout 0.2 s" in done.stderr, f"an endless statement: {done.stderr!r}")

    shell = run(assay, "sql", EXAMPLE, text=b".help\n.schema ops\nselect ';' as\nx; select 2 as y -- end; \n")
    expect(shell.returncode == 0 and b"dur_ns" in shell.stdout and b"y\n" in shell.stdout, f"shell: {shell}")
    bad = run(assay, "sql", EXAMPLE, text=b"selec; select 1;")
    expect(bad.returncode == 2 and bad.stdout == b"", "a shell without a terminal goes on after an error")
    cut = run(assay, "sql", EXAMPLE, "select * from range(1000)", "--width", "80").stdout.decode()
    expect("first 100 rows" in cut, "a long result is not cut for people")
    plain = run(assay, "sql", EXAMPLE, "select range from range(1000)", "--format", "csv").stdout.decode()
    expect(plain.splitlines() == ["range", *map(str, range(1000))], "CSV is not the bare rows")


def check_unknown(assay):
    """Numbers that the file does not have are NULL: 21 collectives of old NCCL rows without sequence numbers and peers."""
    trace = datasets.ROOT.parent / "shared/data/kineto/hta/a100_nccl_parser_r0of2.json.gz"
    if not trace.exists():
        return
    found = rows(assay, "select count(*) n, count(seq) seq, count(peer) peer, min(in_elements) least from collectives", trace)
    expect(found == [{"n": 21, "seq": 0, "peer": 0, "least": 53}], f"unknown numbers: {found}")


def check_examples(assay):
    page = (datasets.ROOT / "docs/sql.md").read_text()
    examples = re.findall(r"```sql\n(.*?)```", page, re.DOTALL)
    expect(len(examples) >= 6, "docs/sql.md has no examples")
    for sql in examples:
        expect(rows(assay, sql), f"an example of docs/sql.md gives no rows: {sql}")


def check_hostile(assay, folder):
    name = "=cmd|' /C calc'!A0 \"q\", <b>\n\u202e\u2028 \\ end "
    trace = folder / "hostile.json"
    trace.write_text(json.dumps({"traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}))
    assay_name = rows(assay, "select name from ops", trace)[0]["name"] if duckdb_here(assay) else name
    for form in ("csv", "jsonl"):
        out = folder / form
        done = run(assay, "export", trace, "-o", out, "--format", form)
        expect(done.returncode == 0, f"hostile names: {done.stderr!r}")
        path = out / f"rank=0/ops.{form}"
        if form == "csv":
            with open(path, newline="") as file:
                got = next(csv.DictReader(file))["name"]
        else:
            got = json.loads(path.read_text().split("\n")[0])["name"]
        expect(got == assay_name == name, f"{form}: {got!r}, SQL: {assay_name!r}")


def duckdb_here(assay):
    return b"DuckDB is not here" not in run(assay, "sql", EXAMPLE, "-c", "select 1").stderr


def json_lines(path):
    return [json.loads(line) for line in path.read_text().split("\n")[:-1]]


def check_parquet(assay, folder):
    for form in ("jsonl", "parquet"):
        done = run(assay, "export", EXAMPLE, "-o", folder / form, "--format", form)
        expect(done.returncode == 0, f"export {form}: {done.stderr!r}")
    tables = {path.stem for path in (folder / "jsonl/rank=0").iterdir()}
    expect(tables == {path.stem for path in (folder / "parquet/rank=0").iterdir()}, "Parquet has other tables")
    for table in sorted(tables):
        path = folder / f"parquet/rank=0/{table}.parquet"
        done = run(assay, "sql", EXAMPLE, "--allow-files", "--format", "json", "-c",
                   f"select * from read_parquet('{path}', hive_partitioning = false)")
        expect(json.loads(done.stdout)["rows"] == json_lines(folder / f"jsonl/rank=0/{table}.jsonl"),
               f"{table}: Parquet and JSON lines differ")


def check_export(assay, folder):
    read = {}
    for form in ("csv", "jsonl"):
        done = run(assay, "export", EXAMPLE, "-o", folder / form, "--format", form)
        expect(done.returncode == 0, f"export {form}: {done.stderr!r}")
        read[form] = {path.stem for path in (folder / form / "rank=0").iterdir()}
    expect(len(set(map(frozenset, read.values()))) == 1 and "launch_top_kernels" in read["csv"], "formats differ in tables")
    for table in sorted(read["csv"]):
        with open(folder / f"csv/rank=0/{table}.csv", newline="") as file:
            from_csv = list(csv.DictReader(file))
        from_json = json_lines(folder / f"jsonl/rank=0/{table}.jsonl")
        expect(len(from_csv) == len(from_json), f"{table}: {len(from_csv)} rows in CSV, {len(from_json)} in JSON lines")
        for a, b in zip(from_csv, from_json):
            same = {key: "" if value is None else str(value).lower() if isinstance(value, bool) else value
                    for key, value in b.items()}
            wrong = [key for key, value in same.items()
                     if not (float(a[key]) == value if isinstance(value, float) else a[key] == str(value))]
            expect(not wrong, f"{table}: CSV and JSON lines differ in {wrong}")

    foreign = folder / "foreign"
    foreign.mkdir()
    (foreign / "mine.txt").write_text("mine")
    for target, words in ((foreign, b"not an empty folder"), (folder / "csv", b"not an empty folder"),
                          ("/proc/nowhere/x", b"cannot create"), (EXAMPLE, b"is an input"),
                          (foreign / "mine.txt", b"not an empty folder")):
        done = run(assay, "export", EXAMPLE, "-o", target, "--format", "csv")
        expect(done.returncode == 2 and words in done.stderr, f"{target}: {done.returncode} {done.stderr!r}")
    broken = folder / "broken.json"
    broken.write_text("{")
    done = run(assay, "export", EXAMPLE, broken, "-o", folder / "half", "--format", "csv")
    left = [path.name for path in folder.iterdir() if path.name.startswith("half")]
    expect(done.returncode == 2 and not left, f"a failed export leaves {left}")
    limited = subprocess.run(["bash", "-c", f"ulimit -f 8; trap '' XFSZ; exec '{assay}' export '{EXAMPLE}' -o "
                              f"'{folder}/full' --format csv"], capture_output=True, check=False)
    left = [path.name for path in folder.iterdir() if path.name.startswith("full")]
    expect(limited.returncode == 2 and not left, f"a full disk: {limited.returncode}, {left}, {limited.stderr!r}")
    two = run(assay, "export", EXAMPLE, EXAMPLE, "-o", folder / "two", "--format", "csv")
    expect(two.returncode == 0 and {p.name for p in (folder / "two").iterdir()} == {"rank=0", "rank=1"}, "two inputs")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["sql", "export"])
    parser.add_argument("--assay", default=datasets.ROOT / "build/release/assay")
    options = parser.parse_args()
    assay = pathlib.Path(options.assay).resolve()
    missing = run(assay, "sql", EXAMPLE, "-c", "select 1", env={"DUCKDB_ROOT": "/nowhere"})
    expect(missing.returncode == 2 and b"install_deps.sh query" in missing.stderr, "without DuckDB sql does not say how to get it")
    expect(b"(/nowhere/libduckdb.so: " in missing.stderr, "DUCKDB_ROOT is not where sql looks")
    duckdb = duckdb_here(assay)
    if options.what == "sql" and not duckdb and not problems:
        print("DuckDB is not here")
        return 77
    with tempfile.TemporaryDirectory() as name:
        if options.what == "sql":
            check_sql(assay)
            check_unknown(assay)
            check_examples(assay)
            check_parquet(assay, pathlib.Path(name))
        else:
            check_export(assay, pathlib.Path(name))
    with tempfile.TemporaryDirectory() as name:
        check_hostile(assay, pathlib.Path(name))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
