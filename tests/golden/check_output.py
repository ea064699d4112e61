#!/usr/bin/env python3
"""An output file is written completely or not at all, and its name determines the format.

Cases: a full disk (/dev/full and a limit on file sizes, because a tiny file system needs privileges), missing or
read-only folders, inputs as outputs, links, pipes, and readers that stop early.
"""

import argparse
import contextlib
import gzip
import json
import os
import pathlib
import re
import shlex
import sqlite3
import resource
import subprocess
import sys
import tempfile

from datasets import ROOT

TRACE = ROOT / "examples/h100_vit_inference.json.gz"
TIMEOUT_S = 600
problems = []


def expect(condition, what):
    if not condition:
        problems.append(what)


def run(assay, *arguments, **options):
    return subprocess.run([assay, *map(str, arguments)], capture_output=True, text=True, timeout=TIMEOUT_S,
                          check=False, **options)


def small_files_only():
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))


def check_formats(assay, folder):
    for name, begins in (("r.html", "<!doctype html>"), ("r.json", "{"), ("r.md", "**Host-bound: "), ("r.csv", "#")):
        done = run(assay, "report", TRACE, "-o", folder / name)
        text = (folder / name).read_text(encoding="utf-8") if done.returncode == 0 else ""
        expect(text.startswith(begins), f"{name} begins with {text[:20]!r}: {done.stderr}")
    run(assay, "report", TRACE, "-o", folder / "named.html", "--format", "json")
    expect(json.loads((folder / "named.html").read_text()), "--format does not win over the file's name")


def check_failures(assay, folder):
    old = folder / "old.html"
    old.write_text("the report of yesterday")
    full = run(assay, "report", TRACE, "-o", old, preexec_fn=small_files_only)
    expect(full.returncode != 0, "a disk without room is no failure")
    expect(old.read_text() == "the report of yesterday", "a failed write damages the old file")
    expect(run(assay, "report", TRACE, "-o", folder / "new.html", preexec_fn=small_files_only).returncode != 0,
           "a disk without room is no failure for a new file")
    expect(not (folder / "new.html").exists(), "a failed write leaves half a file")
    for path, words in (("/dev/full", "No space left"), (folder / "none/r.html", "No such file"), (folder, "directory")):
        done = run(assay, "report", TRACE, "-o", path, "--format", "html")
        expect(done.returncode == 2 and words in done.stderr, f"{path}: {done.returncode}, {done.stderr}")
    copy = folder / "trace.json.gz"
    copy.write_bytes(TRACE.read_bytes())
    done = run(assay, "report", copy, "-o", copy)
    expect(done.returncode == 2 and copy.read_bytes() == TRACE.read_bytes(), "an input is overwritten")


def check_diff_formats(assay, folder):
    """The format follows from the name, or the name is refused."""
    for name, start in {
        "d.xml": "<?xml",
        "d.junit": "<?xml",
        "d.json": "{",
        "d.JSON": "{",
        "d.csv": "# ",
        "d.md": "#",
        "d.html": "<!doctype html>",
        "d.txt": "B takes as long as A",
    }.items():
        done = run(assay, "diff", TRACE, TRACE, "-o", folder / name)
        text = (folder / name).read_text() if done.returncode == 0 else done.stderr
        expect(start in text[:60] or (start == "#" and "# " in text), f"diff -o {name}: {text[:60]!r}")
    for verb in (("diff", TRACE, TRACE), ("report", TRACE)):
        done = run(assay, *verb, "-o", folder / "d.yaml")
        refused = done.returncode == 2 and "--format" in done.stderr and not (folder / "d.yaml").exists()
        expect(refused, f"{verb[0]} -o d.yaml: {done.returncode} {done.stderr}")
    done = run(assay, "report", TRACE, "-o", folder / "r.xml")
    expect(done.returncode == 2, "report writes a page for people into .xml")
    done = run(assay, "diff", TRACE, TRACE, "--format", "yaml")
    expect("html, xlsx, junit, annotations" in done.stderr, f"diff --format yaml: {done.stderr}")
    expect("html" in run(assay, "diff", "--help").stdout, "diff --help does not know html")


def check_inputs_survive(assay, folder):
    """A command does not overwrite its input, whatever option names the file."""
    inputs = {name: folder / name for name in ("in.json", "log.csv", "sizes.csv")}
    inputs["in.json"].write_bytes(gzip.decompress(TRACE.read_bytes()))
    inputs["log.csv"].write_text("time,power\n1,2\n")
    inputs["sizes.csv"].write_text("batch,tklqt\n1,2\n2,3\n")
    before = {name: path.read_bytes() for name, path in inputs.items()}
    trace, log, sizes = (str(path) for path in inputs.values())
    for command in (
        ("diff", trace, TRACE, "--junit", trace),
        ("report", trace, "--telemetry", log, "-o", log),
        ("report", trace, "--perfetto", trace),
        ("breakdown", "--config", f"a={TRACE}", "--config", f"b={trace}", "-o", trace),
        ("sweep", "--table", sizes, "-o", sizes),
        ("overhead", TRACE, "--kernels", log, "-o", log),
        ("overhead", trace, "--export-kernel-db", trace),
        ("throughput", "suggest", sizes, "-o", sizes),
        ("throughput", "fit", sizes, "-o", sizes),
        ("cache", trace, "-o", trace),
    ):
        done = run(assay, *command)
        expect(done.returncode == 2 and "is an input" in done.stderr, f"{command}: {done.returncode} {done.stderr}")
    for name, path in inputs.items():
        expect(path.read_bytes() == before[name], f"{name} was overwritten")


def check_examples(assay, folder):
    """Help begins with valid command lines: every option belongs to the verb, and those on one trace run."""
    (folder / "trace.json.gz").write_bytes(TRACE.read_bytes())
    (folder / "prices.csv").write_text("gpu,usd_per_gpu_hour\nH100,2.5\nH200,3.2\nB200,4.8\n")
    for verb in json.loads(run(assay, "options").stdout)["verbs"]:
        name = verb["name"]
        if " " in name or name in ("", "options", "power", "throughput"):
            continue
        lines = [line[2:] for line in run(assay, *name.split(), "--help").stdout.split("\n") if line.startswith("  assay ")]
        expect(lines and all(line.startswith(f"assay {name}") or name == "example" for line in lines),
               f"{name} --help has no examples: {lines}")
        known = {word for option in verb["options"] for word in option["names"]}
        for line in lines:
            words = shlex.split(re.split(r"  +| [|] ", line)[0])[1:]
            own = words[:words.index("--")] if "--" in words else words
            odd = [word for word in own if word.startswith("-") and word not in known]
            expect(not odd, f"{name}: the example has {odd}, which it does not know")
            if words[1:2] == ["trace.json.gz"] and name not in ("sql", "export"):
                done = subprocess.run([assay, *words], cwd=folder, capture_output=True, text=True, check=False)
                expect(done.returncode == 0, f"{line}: {done.returncode} {done.stderr[:200]}")


def check_words(assay, folder):
    """Sentences that precede any number."""
    empty = folder / "none.json"
    empty.write_text('{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, '
                     '"ts": 1, "dur": 2}]}')
    text = run(assay, "launch", empty).stdout
    expect(text.startswith("No GPU work in this trace: 1 operator"), f"launch without kernels: {text[:80]}")
    expect("TKLQT" not in text, "launch without kernels prints a table of zeros")
    text = run(assay, "breakdown", empty).stdout
    expect("there is nothing to place" in text and "(none)" not in text, f"levels without kernels: {text[:200]}")
    expect("rocprofv3" in run(assay, "report", "--help").stdout, "report --help does not know rocprofv3")
    database = folder / "profile.rpd"
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        for table in ("rocpd_api", "rocpd_op", "rocpd_string"):
            connection.execute(f"CREATE TABLE {table} (id INTEGER)")
    for command in (("report", database), ("breakdown", TRACE, "--counters", database)):
        done = run(assay, *command)
        expect(done.returncode == 2 and "RPD profile" in done.stderr, f"{command[0]} of an RPD profile: {done.stderr}")


def check_special(assay, folder):
    link, target = folder / "link.html", folder / "target.html"
    target.write_text("")
    link.symlink_to(target)
    run(assay, "report", TRACE, "-o", link)
    expect(link.is_symlink() and target.stat().st_size > 500_000, "a link is replaced and not followed")
    run(assay, "report", TRACE, "-o", "/dev/null", "--format", "html")
    expect(not pathlib.Path("/dev/null").is_file(), "/dev/null has become a file")
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["head", "-c", "15", pipe], stdout=subprocess.PIPE) as reader:
        done = run(assay, "report", TRACE, "-o", pipe, "--format", "html")
        expect(done.returncode == 0, f"a pipe whose reader stops early: {done.returncode} {done.stderr}")
        expect(reader.communicate(timeout=TIMEOUT_S)[0] == b"<!doctype html>", "a pipe gets something else")
    expect(pipe.is_fifo(), "a pipe is replaced by a file")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=ROOT / "build/release/assay", type=pathlib.Path)
    assay = parser.parse_args().assay.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_formats(assay, folder)
        check_failures(assay, folder)
        check_diff_formats(assay, folder)
        check_inputs_survive(assay, folder)
        check_words(assay, folder)
        check_examples(assay, folder)
        check_special(assay, folder)
        leftovers = [path.name for path in folder.iterdir() if ".tmp-" in path.name]
        expect(not leftovers, f"temporary files stay: {leftovers}")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
