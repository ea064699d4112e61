#!/usr/bin/env python3
"""What once went wrong, as it was found: path errors that aborted, inputs that outputs overwrote, traces that change
while they are read, libraries that every verb paid for, trees of JSON without a bottom, code from places that others
may write to, and numbers that were taken from half a file without a word."""

import argparse
import gzip
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_faults as faults

HANGS_S = 10
problems = []


def check(holds, message):
    if not holds:
        problems.append(message)


class Bench:
    def __init__(self, assay, folder):
        self.assay = assay
        self.folder = folder
        self.inputs = folder / "in"

    def run(self, *words, before=None, program=None, stdin=None, **variables):
        environment = dict(os.environ, HOME=str(self.folder / "home"), LC_ALL="C.UTF-8", **variables)
        command = [str(program or self.assay), *map(str, words)]
        try:
            return subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANGS_S, preexec_fn=before,
                                  stdin=stdin, env=environment, cwd=self.folder)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, "hang", "", "")

    def refused(self, words, *arguments, **options):
        done = self.run(*arguments, **options)
        name = " ".join(map(str, arguments))[:150]
        check(done.returncode == 2, f"{name}: ends with {done.returncode}, not 2: {done.stderr[-200:]}")
        check(words in done.stderr, f"{name}: does not say '{words}': {done.stderr[-300:]}")
        return done


def path_errors(bench):
    trace = bench.inputs / "rank0.json"
    loop = bench.folder / "loop"
    loop.symlink_to(loop)
    long = bench.folder / ("n" * 300)
    for path, words in ((loop, "Too many levels of symbolic links"), (long, "File name too long"),
                        (trace / "x.json", "Not a directory"), (bench.folder / "none/x.json", "No such file or directory")):
        for verb in (("report", trace, "-o", path), ("cache", trace, "-o", path), ("report", trace, "--perfetto", path),
                     ("tax", trace, "--export-kernel-db", path), ("null-kernel", "-o", path)):
            if verb[1] == trace and "--perfetto" in verb and not str(path).endswith(".json"):
                continue
            bench.refused(words, *verb)
    done = bench.run("sql", trace, "select " + ", ".join(f"count(*) as a_name_that_takes_room_{i}" for i in range(12)) +
                     " from ops")
    check(done.returncode == 0 or "DuckDB is not here" in done.stderr, f"sql of 300 bytes: {done.returncode} {done.stderr}")
    bench.refused("no file matches", "report", str(bench.folder / "none" / "*.json"))
    if os.geteuid() == 0:
        closed = bench.folder / "closed"
        closed.mkdir(mode=0o700)
        for verb in (("report", trace, "-o", closed / "x.json"), ("report", trace, "-o", closed / "x.xlsx"),
                     ("cache", trace, "-o", closed / "x.assay"), ("report", trace, "--perfetto", closed / "x.json"),
                     ("tax", trace, "--export-kernel-db", closed / "x.json"), ("null-kernel", "-o", closed / "x.json")):
            bench.refused("Permission denied", *verb, before=faults.as_nobody)
        bench.refused("no file matches", "report", str(closed / "*.json"), before=faults.as_nobody)


def overwritten(bench):
    """Inputs behind folders, patterns and standard input."""
    folder = bench.folder / "mine"
    shutil.copytree(bench.inputs / "ranks", folder)
    tables = bench.folder / "tables"
    tables.mkdir()
    shutil.copy(bench.inputs / "bench.csv", tables / "p.csv")
    alone = bench.folder / "alone.json"
    shutil.copy(bench.inputs / "rank0.json", alone)
    before = faults.state_of(folder) | faults.state_of(tables) | {"alone": alone.read_bytes()}
    words = "is an input: it would be overwritten"
    other = bench.inputs / "rank1.json"
    for output in ("-o", "--junit"):
        bench.refused(words, "diff", folder, other, output, folder / "rank0.json")
    bench.refused(words, "diff", folder / "*.json", other, "-o", folder / "rank0.json")
    bench.refused(words, "sql", folder, "select 1", "-o", folder / "rank0.json")
    bench.refused(words, "throughput", "fit", tables, "-o", tables / "p.csv")
    bench.refused(words, "report", folder, "-o", folder / "rank0.json")
    with open(alone, "rb") as stdin:
        bench.refused(words, "report", "-", "-o", alone, stdin=stdin)
    after = faults.state_of(folder) | faults.state_of(tables) | {"alone": alone.read_bytes()}
    check(before == after, "an input was overwritten")
    bench.refused("two outputs name this file", "diff", alone, other, "-o", "y.json", "--junit", "./y.json")
    done = bench.run("report", folder, "-o", folder / "report.html")
    again = bench.run("report", folder, "-o", folder / "report.html")
    check((done.returncode, again.returncode) == (0, 0), f"a page beside its traces, twice: {again.stderr}")


def shrinking(bench):
    """A trace that is cut while it is read is refused by name, or was read before that."""
    events = ",".join(f'{{"ph":"X","cat":"cpu_op","name":"op{i % 7}","pid":1,"tid":1,"ts":{i * 10},"dur":5}}'
                      for i in range(150_000))
    whole = ('{"traceEvents":[' + events + "]}").encode()
    path = bench.folder / "shrinks.json"
    refused = 0
    for turn in range(8):
        path.write_bytes(whole)
        process = subprocess.Popen([bench.assay, "info", path, "--threads", "4"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        time.sleep(0.004 * turn)
        os.truncate(path, 200_000 + 100_000 * turn)
        try:
            _, stderr = process.communicate(timeout=HANGS_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            check(False, f"a trace that shrinks, turn {turn}: hangs")
            continue
        check(process.returncode in (0, 2), f"a trace that shrinks ends with {process.returncode}")
        if process.returncode == 2:
            refused += 1
            check("shrinks.json" in stderr and ("changed while it was read" in stderr or "truncated" in stderr), stderr)
    check(refused > 0, "no turn met the reader in the middle")


def libraries(bench):
    done = subprocess.run(["ldd", bench.assay], capture_output=True, text=True, check=False)
    if done.returncode == 0 and "linux-vdso" in done.stdout:
        needed = [line.split()[0] for line in done.stdout.splitlines() if "vdso" not in line and "ld-linux" not in line]
        check(len(needed) < 12, f"assay starts with {len(needed)} libraries: {needed}")
        heavy = [name for name in needed if any(word in name for word in ("blas", "ceres", "xgboost", "lapack", "cholmod"))]
        check(not heavy, f"every verb pays for {heavy}")
    done = bench.run("--version", before=faults.limit(resource.RLIMIT_AS, 200 << 20))
    check(done.returncode == 0 and done.stdout.startswith("assay "), f"--version in 200 MB: {done.returncode}")
    if os.geteuid() == 0:
        done = bench.run("info", bench.inputs / "packed.json.gz", before=lambda: (
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1)), faults.as_nobody()))
        check(done.returncode == 0, f"info without threads: {done.returncode} {done.stderr}")


def nested(bench):
    path = bench.folder / "deep.json"
    path.write_text("[" * 20000 + "]" * 20000)
    for verb in ("fit", "predict", "suggest", "evaluate", "anneal"):
        extra = ("-o", bench.folder / "m.json") if verb == "fit" else ()
        done = bench.run("throughput", verb, path, *extra)
        check(done.returncode == 2 and "assay" in done.stderr, f"throughput {verb}: {done.returncode} {done.stderr}")
    for words in (("replay", path, "-o", bench.folder / "r.json"), ("launch", bench.inputs / "rank0.json", "--floor", path),
                  ("tax", bench.inputs / "rank0.json", "--replay", path)):
        done = bench.run(*words)
        check(done.returncode == 2, f"{words[0]} of a deep tree: {done.returncode} {done.stderr}")


def others_code(bench):
    """A program in a folder of everybody's runs and loads nothing that lies beside it."""
    open_folder = bench.folder / "open"
    (open_folder / "a/b/c/bin").mkdir(parents=True)
    program = open_folder / "a/b/c/bin/assay"
    shutil.copy(bench.assay, program)
    mark = bench.folder / "was_run"
    script = f"#!/bin/sh\ntouch {mark}\n"
    for place in (open_folder, open_folder / "a", open_folder / "a/b", open_folder / "a/b/c/bin"):
        planted = place / "collect/replay/build.sh"
        planted.parent.mkdir(parents=True)
        planted.write_text(script)
        planted.chmod(0o777)
    bench.run("replay", "--build", program=program, XDG_CACHE_HOME=str(bench.folder / "cache"))
    check(not mark.exists(), "replay --build ran a script that anybody could have written")
    relative = bench.folder / "work"
    (relative / "mycache/assay/bin").mkdir(parents=True)
    planted = relative / "mycache/assay/bin/assay-replay"
    planted.write_text(script)
    planted.chmod(0o755)
    subprocess.run([bench.assay, "replay", bench.inputs / "formats/kernel_db.json", "-o", relative / "r.json"], check=False,
                   capture_output=True, cwd=relative, env=dict(os.environ, XDG_CACHE_HOME="mycache", HOME="/nonexistent"))
    check(not mark.exists(), "replay ran a program below a relative cache folder")
    shared = bench.folder / "shared"
    (shared / "assay").mkdir(parents=True)
    (shared / "assay").chmod(0o777)
    done = bench.run("report", bench.inputs / "rank0.json", "--cache", XDG_CACHE_HOME=str(shared))
    check(done.returncode == 2 and "can be written to by others" in done.stderr, f"a cache of everybody's: {done.stderr}")


def half_files(bench):
    """Numbers from half a file come with a word of it."""
    table = faults.bench_table()
    cut = bench.folder / "cut.csv"
    cut.write_text(table[:-4])
    done = bench.run("throughput", "fit", cut, "-o", bench.folder / "model.json", "--method", "ala", "--format", "json")
    check("last_line_open" in done.stdout + done.stderr or "no line end" in done.stdout + done.stderr,
          f"fit of a table that was cut in a number: {done.returncode} {done.stderr}")
    trace = faults.small_trace(0)
    for value in ("seven", -7, 1.5, {"a": 1}, 10 ** 30):
        for event in trace["traceEvents"]:
            if event.get("cat") == "kernel":
                event["args"]["device"] = value
                event["pid"] = 5
        path = bench.folder / "device.json"
        path.write_text(json.dumps(trace))
        done = bench.run("report", path, "--format", "json")
        check('"device": 7' not in done.stdout, f"args.device {value!r} lost its sign")
        check("GPU 5" not in done.stdout and '"device": 5' not in done.stdout, f"args.device {value!r} became the process id")
    packed = bench.folder / "two.json.gz"
    packed.write_bytes(gzip.compress(json.dumps(faults.small_trace(0)).encode()) + b"xy")
    bench.refused("behind the end", "info", packed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assay", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-found-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        faults.make_inputs(folder / "in")
        bench = Bench(arguments.assay.resolve(), folder)
        for part in (path_errors, overwritten, shrinking, libraries, nested, others_code, half_files):
            part(bench)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"found: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
