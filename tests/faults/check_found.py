#!/usr/bin/env python3
"""What once went wrong, as it was found: path errors that aborted, inputs that outputs overwrote, traces that change
while they are read, libraries that every verb paid for, trees of JSON without a bottom, code from places that others
may write to, and numbers that were taken from half a file without a word."""

import argparse
import contextlib
import gzip
import json
import os
import pathlib
import re
import resource
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_faults as faults

HANGS_S = 10
HANGS_SANITISED_S = 120  # these take up to ten times as long, without a hang
MB = 1 << 20
problems = []


def check(holds, message):
    if not holds:
        problems.append(message)


class Bench:
    def __init__(self, assay, folder):
        self.assay = assay
        self.folder = folder
        self.inputs = folder / "in"
        self.commands = 0
        self.hangs_s = HANGS_SANITISED_S if faults.sanitised(assay) else HANGS_S

    def run(self, *words, before=None, program=None, stdin=None, **variables):
        environment = dict(os.environ, HOME=str(self.folder / "home"), LC_ALL="C.UTF-8", **variables)
        command = [str(program or self.assay), *map(str, words)]
        self.commands += 1
        try:
            return subprocess.run(command, capture_output=True, text=True, check=False, timeout=self.hangs_s, preexec_fn=before,
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
                     ("overhead", trace, "--export-kernel-db", path), ("null-kernel", "-o", path)):
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
                     ("overhead", trace, "--export-kernel-db", closed / "x.json"), ("null-kernel", "-o", closed / "x.json")):
            bench.refused("Permission denied", *verb, before=faults.as_nobody)
        for pattern in (closed / "*.json", closed / "r?/*.json", bench.folder / "clos?d/*.json"):
            done = bench.refused("no file matches", "report", str(pattern), before=faults.as_nobody)
            if "?d/" not in str(pattern):
                check("Permission denied" in done.stderr, f"{pattern}: not why nothing matches: {done.stderr}")


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
    # As `>>` of a shell does.
    for arguments, given in ((("report", alone), alone), (("report", folder, "--format", "json"), folder / "rank0.json"),
                             (("throughput", "evaluate", tables), tables / "p.csv"), (("info", "-"), alone)):
        with open(given, "ab") as stdout, open(given, "rb") as stdin:
            done = subprocess.run([bench.assay, *map(str, arguments)], stdout=stdout, stderr=subprocess.PIPE, stdin=stdin,
                                  check=False, text=True, timeout=bench.hangs_s)
        check(done.returncode == 2 and words in done.stderr, f"{arguments[0]} >> its input: {done.returncode} {done.stderr}")
    with open(bench.folder / "log.txt", "ab") as stdout:
        stdout.write(b"before\n")
        stdout.flush()
        done = subprocess.run([bench.assay, "info", alone], stdout=stdout, stderr=subprocess.PIPE, check=False, text=True)
        check(done.returncode == 0, f"info >> a log: {done.stderr}")
    after = faults.state_of(folder) | faults.state_of(tables) | {"alone": alone.read_bytes()}
    check(before == after, "an input was overwritten")
    # What a shell's `>` made in the folder a moment ago is no input.
    with open(folder / "out.json", "wb") as stdout:
        done = subprocess.run([bench.assay, "report", folder, "--format", "json"], stdout=stdout, stderr=subprocess.PIPE,
                              check=False, text=True, timeout=bench.hangs_s)
    check(done.returncode == 0, f"report FOLDER > FOLDER/out.json: {done.returncode} {done.stderr}")
    (folder / "out.json").unlink()
    bench.refused("two outputs name this file", "diff", alone, other, "-o", "y.json", "--junit", "./y.json")
    done = bench.run("report", folder, "-o", folder / "report.html")
    again = bench.run("report", folder, "-o", folder / "report.html")
    check((done.returncode, again.returncode) == (0, 0), f"a page beside its traces, twice: {again.stderr}")


def pipes(bench):
    """What can be read once is read once: the answer is the file's, or a refusal that says so, at no time a wait for a
    writer that does not come."""
    trace, formats = bench.inputs / "rank0.json", bench.inputs / "formats"
    cases = [(verb, source) for verb in (("report",), ("info",), ("launch",), ("diff", trace), ("cache", "-o", "piped.assay"))
             for source in (trace, bench.inputs / "packed.json.gz", formats / "nsys.sqlite", formats / "assaytrace.assaytrace",
                            formats / "rocprof_csv.csv", formats / "rocprof_json.json", formats / "document.json",
                            bench.inputs / "bench.csv")]
    cases += [(("throughput", "evaluate"), bench.inputs / "bench.csv"), (("throughput", "evaluate"), trace),
              (("launch", trace, "--kernels"), formats / "kernels.txt"), (("launch", trace, "--kernels"), trace),
              (("overhead", trace, "--replay"), trace), (("overhead", trace, "--floor"), formats / "floor.json"),
              (("breakdown", trace, "--counters"), formats / "ncu_raw.csv"), (("breakdown", trace, "--attribution-rules"), trace),
              (("breakdown", trace, "--telemetry"), formats / "nvidia_smi.csv")]
    for number, (verb, source) in enumerate(cases):
        pipe = bench.folder / f"pipe{number}"
        os.mkfifo(pipe)
        writer = subprocess.Popen(["sh", "-c", f"exec cat '{source}' > '{pipe}'"], stderr=subprocess.DEVNULL)
        done = bench.run(*verb, pipe)
        writer.kill()
        writer.wait()
        name = f"{verb} of {source.name} through a pipe"
        right = bench.run(*verb, source)
        same = done.stdout.split("checksum")[0].replace(str(pipe), "F").split()[-20:]
        expected = right.stdout.split("checksum")[0].replace(str(source), "F").split()[-20:]
        if done.returncode == 0:
            check(right.returncode == 0 and len(same) == len(expected), f"{name}: another answer")
            continue
        check(done.returncode == 2, f"{name}: ends with {done.returncode}: {done.stderr}")
        told = any(words in done.stderr for words in ("pipe", "regular file", "neither nanoseconds"))
        check(told or right.returncode == 2, f"{name}: does not say why: {done.stderr}")
    pipe = bench.folder / "out.assay"
    os.mkfifo(pipe)
    bench.refused("not overwritten", "cache", trace, "-o", pipe)


def said(bench):
    """What cannot be printed is said, by verbs that print by themselves as well; a file that an option names is read."""
    for verb in (("doctor",), ("cache", "--prune"), ("--version",), ("options",), ("explain", "ops")):
        for stdout in ("/dev/full", "closed"):
            words = [bench.assay, *verb]
            command = ["sh", "-c", '"$@" ' + (">&-" if stdout == "closed" else "> /dev/full"), "sh", *map(str, words)]
            done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, timeout=bench.hangs_s,
                                  env=dict(os.environ, XDG_CACHE_HOME=str(bench.folder / "no_such")))
            check(done.returncode == 2 and "standard output" in done.stderr,
                  f"{verb} where nothing can be printed ({stdout}): {done.returncode} {done.stderr}")
    bench.refused("go with --counters", "breakdown", bench.inputs / "rank0.json", "--specs", bench.folder / "no_such.ini")
    bench.refused("no_such.ini", "breakdown", bench.inputs / "rank0.json", "--roofline", "--specs", bench.folder / "no_such.ini")
    bench.refused("goes with --build", "replay", bench.inputs / "rank0.json", "-o", bench.folder / "r.json", "--python", "no/such")
    bench.refused("leave out --config", "breakdown", "--roofline", "--config", f"a={bench.inputs / 'rank0.json'}")


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
            _, stderr = process.communicate(timeout=bench.hangs_s)
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
    if faults.sanitised(bench.assay):
        return
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
                  ("overhead", bench.inputs / "rank0.json", "--replay", path)):
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
        planted = place / "collect/build_for_torch.sh"
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


def others_library(bench):
    """A DuckDB beside the program is loaded where nobody else could have put it there, and only there."""
    compiler = shutil.which("cc") or shutil.which("c++")
    if not compiler:
        return
    place = bench.folder / "shared_place"
    (place / "bin").mkdir(parents=True)
    (place / "lib").mkdir()
    program, library, mark = place / "bin/assay", place / "lib/libduckdb.so", bench.folder / "was_loaded"
    shutil.copy(bench.assay, program)
    source = bench.folder / "planted.c"
    source.write_text('#include <stdio.h>\n__attribute__((constructor)) static void begin(void) {'
                      f'FILE* f = fopen("{mark}", "w"); if (f) fclose(f); }}\n')
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True, capture_output=True)
    for folder_mode, library_mode, loaded in ((0o755, 0o755, True), (0o777, 0o755, False), (0o755, 0o777, False)):
        library.parent.chmod(folder_mode)
        library.chmod(library_mode)
        mark.unlink(missing_ok=True)
        bench.run("sql", bench.inputs / "rank0.json", "select 1", program=program, DUCKDB_ROOT="")
        check(mark.exists() == loaded, f"a library with modes {folder_mode:o}, {library_mode:o}: "
              f"{'loaded' if mark.exists() else 'not loaded'}")


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


def small_stack(bench):
    """Too small a stack is refused in words, before it is used up."""
    for kilobytes in (64, 96, 128, 192, 256, 512):
        def limit(kilobytes=kilobytes):
            resource.setrlimit(resource.RLIMIT_STACK, (kilobytes << 10, kilobytes << 10))
        done = bench.run("report", bench.inputs / "rank0.json", before=limit)
        if kilobytes < 256:
            check(done.returncode == 2 and "ulimit -s" in done.stderr, f"stack of {kilobytes} KB: {done.returncode} {done.stderr}")
        else:
            check(done.returncode == 0, f"stack of {kilobytes} KB: {done.returncode} {done.stderr}")


def device_numbers(bench):
    """Numbers that no machine's GPUs have are told."""
    trace = faults.small_trace(0)
    for value, told in ((7, False), (65536, True), (4294967295, True)):
        for event in trace["traceEvents"]:
            if event.get("cat") == "kernel":
                event["args"]["device"] = value
        path = bench.folder / "device.json"
        path.write_text(json.dumps(trace))
        done = bench.run("report", path, "--format", "json")
        check(("odd_device" in done.stdout) == told, f"args.device {value}: {'not told' if told else 'told'}")


def zstd_frames(text, window=None):
    """The text as zstd in blocks that are stored: RFC 8878, 3.1.1. window: its exponent, which has to be told."""
    head = b"\x28\xb5\x2f\xfd" + (bytes([0x00, (window - 10) << 3]) if window else b"\xa0" + struct.pack("<I", len(text)))
    blocks = b""
    for at in range(0, len(text), 100_000):
        piece = text[at:at + 100_000]
        last = at + 100_000 >= len(text)
        blocks += struct.pack("<I", len(piece) << 3 | last)[:3] + piece
    return head + blocks


def compressed(bench):
    """What pzstd and zstd --long write is read; what lies behind the end of a gzip is no cut."""
    text = (bench.inputs / "rank0.json").read_bytes()
    whole = json.loads(bench.run("info", bench.inputs / "rank0.json", "--format", "json").stdout)
    skipped = b"\x50\x2a\x4d\x18" + struct.pack("<II", 4, 0)
    for name, packed in (("pzstd", skipped + zstd_frames(text)), ("long", zstd_frames(text, window=28)),
                         ("two", zstd_frames(text[:3000]) + skipped + zstd_frames(text[3000:]))):
        path = bench.folder / f"{name}.json.zst"
        path.write_bytes(packed)
        done = bench.run("info", path, "--format", "json")
        check(done.returncode == 0, f"{name}: {done.returncode} {done.stderr}")
        if done.returncode == 0:
            check(json.loads(done.stdout)["rows"] == whole["rows"], f"{name}: other rows than the text")
    path = bench.folder / "longest.json.zst"
    path.write_bytes(zstd_frames(text, window=31))
    bench.refused("window above 512 MiB", "info", path)
    path = bench.folder / "two.json.gz"
    path.write_bytes(gzip.compress(text) + b"xy")
    done = bench.refused("follow the end", "info", path)
    check("truncated" not in done.stderr, f"two bytes too many are called a cut: {done.stderr}")


def bombs(bench):
    """Files that say little and expand to much end early, whichever option names them."""
    bomb = bench.folder / "bomb.csv.gz"
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    with open(bomb, "wb") as file:
        file.write(packer.compress(b"batch,tklqt_us,launches\n"))
        for _ in range(600):
            file.write(packer.compress(b"0" * MB))
        file.write(packer.flush())
    trace = bench.inputs / "rank0.json"
    in_900_mb = None if faults.sanitised(bench.assay) else faults.limit(resource.RLIMIT_AS, 900 * MB)
    for verb in (("breakdown", trace, "--telemetry", bomb), ("breakdown", trace, "--counters", bomb),
                 ("launch", trace, "--floor", bomb), ("overhead", trace, "--replay", bomb), ("sweep", "--table", bomb),
                 ("power", "attribute", trace, "--samples", bomb), ("report", trace, "--kernels", bomb),
                 ("throughput", "fit", bomb, "-o", bench.folder / "m.json"), ("throughput", "evaluate", bomb),
                 ("throughput", "predict", bomb, "--at", "bb=4,ii=256,oo=256"),
                 ("throughput", "fit", bench.inputs / "bench.csv", "--specs", bomb, "-o", bench.folder / "m.json")):
        bench.refused("holds more text than any file of its kind", *verb, before=in_900_mb)


def an_export(path, kernels):
    """An export of Nsight Systems with so many launches and kernels."""
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
        base.executemany("INSERT INTO StringIds VALUES (?, ?)", [(1, "cudaLaunchKernel_v7000"), (2, "ampere_sgemm")])
        base.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, "
                     "correlationId INTEGER, nameId INTEGER, eventClass INTEGER)")
        base.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, "
                     "contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, shortName INTEGER, "
                     "demangledName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, "
                     "blockZ INTEGER, graphNodeId INTEGER)")
        base.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, 1, 0)",
                         [(1000 * k, 1000 * k + 300, 1 << 24, k) for k in range(kernels)])
        base.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, 7, ?, 0, 2, 2, 1, 1, 1, 32, 1, 1, NULL)",
                         [(1000 * k + 500, 1000 * k + 900, k) for k in range(kernels)])
        base.commit()


def databases(bench):
    """Compressed SQLite is read; of damaged SQLite no part is taken for all."""
    path = bench.folder / "export.sqlite"
    an_export(path, 600)
    right = bench.run("info", path, "--format", "json")
    check(right.returncode == 0 and json.loads(right.stdout)["launch"]["kernels"] == 600,
          f"an export of 600 kernels: {right.returncode} {right.stderr}")
    packed = bench.folder / "packed.sqlite.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    temporary = bench.folder / "tmp"
    temporary.mkdir()
    done = bench.run("info", packed, "--format", "json", TMPDIR=str(temporary))
    check(done.returncode == 0, f"a compressed export: {done.returncode} {done.stderr}")
    if done.returncode == 0:
        check(json.loads(done.stdout)["launch"] == json.loads(right.stdout)["launch"], "compressed, it says something else")
    bench.refused("cannot be decompressed to", "info", packed, TMPDIR=str(temporary),
                  before=faults.limit(resource.RLIMIT_FSIZE, 8192))
    # The folder is at fault, not the trace.
    bench.refused("temporary folder in /proc", "info", packed, TMPDIR="/proc")
    packed.write_bytes(gzip.compress(path.read_bytes())[:-2000])
    bench.refused("ends too early", "info", packed, TMPDIR=str(temporary))
    check(not list(temporary.iterdir()), f"left where temporary files are: {list(temporary.iterdir())}")
    # What database it is shows once it is unpacked.
    rocpd, squeezed = bench.inputs / "formats/rocpd.db", bench.folder / "rocpd.db.gz"
    squeezed.write_bytes(gzip.compress(rocpd.read_bytes()))
    says = [bench.run("info", given).stderr.replace(str(given), "FILE") for given in (rocpd, squeezed)]
    check(says[0] == says[1] and "in this run of rocprofv3" in says[0], f"rocpd, bare and packed: {says}")
    profile = bench.folder / "profile.rpd.gz"
    profile.write_bytes(gzip.compress((bench.inputs / "formats/rpd.rpd").read_bytes()))
    done = bench.run("info", profile)
    check(done.returncode == 0 and "82.0 µs" in done.stdout,
          f"a packed RPD profile: {done.returncode} {done.stderr}")
    whole = path.read_bytes()
    size = struct.unpack(">H", whole[16:18])[0]
    pages = len(whole) // size
    for page in range(1, pages):
        for other in (b"\0" * size, whole[-size:] if page + 1 < pages else whole[size:2 * size]):
            damaged = bench.folder / "damaged.sqlite"
            damaged.write_bytes(whole[:page * size] + other + whole[(page + 1) * size:])
            done = bench.run("info", damaged, "--format", "json")
            check(done.returncode in (0, 2), f"page {page} of {pages}: {done.returncode} {done.stderr}")
            if done.returncode == 0:
                kept = json.loads(done.stdout)["launch"]
                check((kept["kernels"], kept["linked"]) == (600, 600), f"page {page} of {pages} damaged, not a word: {kept}")


def accounts(bench):
    """Size and checksum of what a report is made of."""
    def inputs_of(*words, **options):
        done = bench.run(*words, "--format", "json", **options)
        check(done.returncode == 0, f"{words}: {done.returncode} {done.stderr}")
        return json.loads(done.stdout) if done.returncode == 0 else {"inputs": [{}], "files": [{}]}

    trace = bench.folder / "counted.json"
    text = (bench.inputs / "rank0.json").read_bytes()
    trace.write_bytes(text)
    first = inputs_of("report", trace)["inputs"][0]
    check(first.get("stored_bytes") == len(text), f"its size: {first}")
    check(re.fullmatch("xxh3:[0-9a-f]{16}", first.get("checksum", "")) is not None, f"its checksum: {first}")
    with open(trace, "rb") as stdin:
        piped = subprocess.run([bench.assay, "info", "-", "--format", "json"], capture_output=True, check=False,
                               input=text, timeout=bench.hangs_s)
        check(json.loads(piped.stdout)["inputs"][0].get("checksum") == first.get("checksum"), "through a pipe it is another")
    made = bench.folder / "counted.assay"
    check(bench.run("cache", trace, "-o", made).returncode == 0, "cache")
    kept = inputs_of("launch", made)["inputs"][0]
    check((kept.get("stored_bytes"), kept.get("checksum")) == (first.get("stored_bytes"), first.get("checksum")),
          f"a cached form tells its source's: {kept}")
    trace.write_bytes(text.replace(b"aten::relu", b"aten::rely", 1))
    check(inputs_of("info", trace)["inputs"][0].get("checksum") != first.get("checksum"), "a letter changed, and it did not")
    # Large enough for a thread of its own.
    large = bench.folder / "large.json"
    large.write_bytes(text[:-2] + b"," + b",".join(
        b'{"ph":"X","cat":"cpu_op","name":"more","pid":1,"tid":2,"ts":%d,"dur":5}' % (2_000_000 + 10 * i)
        for i in range(90_000)) + b"]}")
    sums = {inputs_of("info", large, "--threads", threads)["inputs"][0].get("checksum") for threads in ("1", "2", "4")}
    check(len(sums) == 1 and None not in sums, f"one file, and as many threads as checksums: {sums}")
    packed = bench.folder / "large.json.gz"
    packed.write_bytes(gzip.compress(large.read_bytes(), 1))
    sums = {inputs_of("info", packed, "--threads", threads)["inputs"][0].get("checksum") for threads in ("1", "4")}
    check(len(sums) == 1 and None not in sums, f"one packed file: {sums}")
    table = bench.inputs / "bench.csv"
    told = inputs_of("throughput", "suggest", table, "--grid", "bb=1..64*2,len=128|512")
    check(isinstance(told["inputs"][0], dict) and told["inputs"][0].get("stored_bytes") == table.stat().st_size and
          "checksum" in told["inputs"][0] and "files" not in told, f"a table: {told['inputs']}")
    log = bench.folder / "kernels.txt"
    shutil.copy(bench.inputs / "formats/kernels.txt", log)
    before = inputs_of("launch", trace, "--kernels", log).get("files", [{}])
    check([one.get("option") for one in before] == ["--kernels"], f"a table of kernels: {before}")
    log.write_text(log.read_text() + "# more\n")
    after = inputs_of("launch", trace, "--kernels", log).get("files", [{}])
    check(before[0].get("checksum") != after[0].get("checksum"), "the table of kernels changed, and its checksum did not")
    done = bench.run("launch", trace, "--kernels", log)
    check(f"checksum {after[0].get('checksum')}" in " ".join(done.stdout.split()), "on the screen no checksum")


def false_accounts(bench):
    """Half a log, a changed model and a recording that is none are not taken for whole ones."""
    trace = faults.small_trace(0)
    trace["baseTimeNanoseconds"] = 1_712_142_494_000_000_000  # 2024-04-03 11:08:14 UTC
    for event in trace["traceEvents"]:
        if "ts" in event:
            event["ts"], event["dur"] = (event["ts"] - 1e6) * 500, event["dur"] * 500
    path = bench.folder / "timed.json"
    path.write_text(json.dumps(trace))
    log = "timestamp, power.draw [W], utilization.gpu [%]\n" + "".join(
        f"2024/04/03 11:08:{14 + i // 10}.{i % 10}00, {200 + i}.91 W, {i} %\n" for i in range(20))
    for cut in (0, 1, 3, 7, 12, 25, 39):
        name = bench.folder / "log.csv"
        name.write_text(log[:len(log) - cut])
        done = bench.run("breakdown", path, "--telemetry", name, "--format", "json")
        check(done.returncode == 0, f"a log: {done.returncode} {done.stderr}")
        told = "telemetry_rows_cut" in done.stdout
        check(told == (cut > 0), f"a log without its last {cut} bytes: told {told}")
    model = bench.folder / "model.json"
    check(bench.run("throughput", "fit", bench.inputs / "bench.csv", "-o", model, "--method", "ala").returncode == 0, "fit")
    text = model.read_text()
    point = ("--at", "bb=4,ii=256,oo=256")
    check(bench.run("throughput", "predict", model, *point).returncode == 0, "a model as it was written")
    for at in [i for i, c in enumerate(text) if c in "13579"][::7]:
        model.write_text(text[:at] + "2" + text[at + 1:])
        done = bench.run("throughput", "predict", model, *point)
        check(done.returncode == 2, f"a model with another digit at {at}: {done.returncode} ...{text[at - 20:at + 10]}...")
    for command, code in (("true", 2), ("exit 7", 7)):
        done = bench.run("record", "-o", bench.folder / "none.assaytrace", "--", "sh", "-c", command)
        check(done.returncode == code, f"record of '{command}', which has nothing to record: {done.returncode}")
        check("nothing was recorded" in done.stderr, f"record: {done.stderr}")
        check(not (bench.folder / "none.assaytrace").exists(), "a recording of nothing")


def pruned(bench):
    """assay cache --prune: what is stale or unused goes, what is used or somebody else's stays."""
    home = bench.folder / "kept"
    home.mkdir(mode=0o700)
    kept = home / "assay"
    traces = [bench.folder / f"cached{i}.json" for i in range(3)]
    for path in traces:
        shutil.copy(bench.inputs / "rank0.json", path)
        check(bench.run("info", path, "--cache", XDG_CACHE_HOME=str(home)).returncode == 0, "info --cache")
    check(len(list(kept.glob("*.assay"))) == 3, f"three cached traces: {list(kept.iterdir())}")
    (kept / "notes.txt").write_text("mine")
    half = kept / "x.json-00.assay.tmp-1"
    for name, days in ((half, 2), (kept / "y.json-00.assay.tmp-2", 0)):
        name.write_text("half")
        os.utime(name, (time.time() - days * 86400,) * 2)
    doctor = bench.run("doctor", XDG_CACHE_HOME=str(home)).stdout
    check(str(kept) in doctor, f"doctor names no cache: {doctor[-300:]}")
    traces[0].write_text(traces[1].read_text().replace("aten::relu", "aten::rely"))  # stale
    traces[1].unlink()
    done = bench.run("cache", "--prune", XDG_CACHE_HOME=str(home))
    left = sorted(path.name.split("-")[0] for path in kept.iterdir())
    check(done.returncode == 0 and left == ["cached2.json", "notes.txt", "y.json"], f"pruned: {left} {done.stderr}")
    check("3 cached traces removed" in done.stdout and "2 kept" in done.stdout, f"pruned: {done.stdout}")
    for days, stays in (("=5", True), ("=1", False)):
        for path in kept.glob("cached2*"):
            os.utime(path, (time.time() - 3 * 86400,) * 2)
        bench.run("cache", "--prune" + days, XDG_CACHE_HOME=str(home))
        check(bool(list(kept.glob("cached2*"))) == stays, f"unused for three days, --prune{days}")
    check((kept / "notes.txt").exists(), "a file that is not Assay's was removed")
    for wrong in ("--prune=soon", "--prune=-1", "--prune=1e9"):
        bench.refused("a number of days", "cache", wrong, XDG_CACHE_HOME=str(home))
    kept.chmod(0o777)
    bench.refused("can be written to by others", "cache", "--prune", XDG_CACHE_HOME=str(home))
    done = bench.run("cache", "--prune", XDG_CACHE_HOME=str(bench.folder / "no_such"))
    check(done.returncode == 0 and "0 cached traces removed" in done.stdout, f"no cache: {done.returncode} {done.stderr}")


def doctor(bench):
    """assay doctor: what is loaded is named with its terms, and NOTICE knows all of it."""
    done = bench.run("doctor", COLUMNS="200")
    check(done.returncode == 0, f"doctor: {done.returncode} {done.stderr}")
    sections = re.split(r"\n\n", done.stdout)
    titles = [section.splitlines()[0] for section in sections]
    for wanted in ("Libraries that every verb starts with", "Libraries opened when a verb needs them",
                   "Other parts of Assay", "Cache"):
        check(wanted in titles, f"doctor has no '{wanted}': {titles}")
    rows = [line.split() for line in sections[1].splitlines()[1:]]
    linked = subprocess.run(["ldd", bench.assay], capture_output=True, text=True, check=False).stdout
    wanted = {line.split()[0].split(".so")[0] for line in linked.splitlines() if "=> /" in line}
    check(wanted and wanted <= {row[0] for row in rows}, f"doctor does not name {wanted - {row[0] for row in rows}}")
    for row in rows:
        check(pathlib.Path(row[-1]).exists() and len(row) >= 4, f"doctor, without its terms or its file: {row}")
    notice = (faults.ROOT / "NOTICE").read_text().lower()
    for name in ("fmt", "simdjson", "libcsv", "sqlite", "isa-l", "zstandard", "openblas", "ceres", "xgboost", "duckdb",
                 "muparser", "libxlsxwriter"):
        check(name in notice, f"NOTICE does not name {name}")
    alone = bench.folder / "alone"
    alone.mkdir(mode=0o755)
    shutil.copy(bench.assay, alone / "assay")
    done = bench.run("doctor", program=alone / "assay")
    check(done.returncode == 0 and re.search("libassay_record.so +missing", done.stdout) is not None,
          f"a program without its parts: {done.returncode} {done.stdout[-600:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assay", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="", help="the parts with this word in their name")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-found-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        faults.make_inputs(folder / "in")
        bench = Bench(arguments.assay.resolve(), folder)
        for part in (path_errors, overwritten, pipes, said, shrinking, libraries, nested, others_code, others_library, half_files, device_numbers, small_stack,
                     compressed, bombs, databases, accounts, false_accounts, pruned, doctor):
            if arguments.only in part.__name__:
                part(bench)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"found: {bench.commands} commands, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
