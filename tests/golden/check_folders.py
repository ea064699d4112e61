#!/usr/bin/env python3
"""Folders and patterns with files that are not traces: such files are skipped and listed on standard error; one that
was
named explicitly is an error.

    check_folders.py --assay build/release/assay
"""

import argparse
import json
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import datasets


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    assay = parser.parse_args().assay
    problems = []

    def run(*inputs):
        return subprocess.run([assay, "info", "--format", "json", *map(str, inputs)],
                              capture_output=True, text=True)

    def expect(what, holds, done):
        if not holds:
            problems.append(f"{what}: exit code {done.returncode}, {done.stderr.strip()[:300]}")

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        trace = next((datasets.IN_REPOSITORY / "kineto").rglob("*.json"))
        shutil.copy(trace, folder / "trace.json")
        (folder / "results.json").write_text('{"request_throughput": 3.5}')
        (folder / "notes.json").write_text("not JSON at all")
        connection = sqlite3.connect(folder / "browser.sqlite")
        connection.execute("CREATE TABLE moz_places(id)")
        connection.close()
        others = ["results.json", "notes.json", "browser.sqlite"]

        done = run(folder)
        alone = done.returncode == 0 and "ranks" not in json.loads(done.stdout)
        expect("one trace among others is shown alone", alone, done)
        for other in others:
            expect(f"{other} is named as skipped",
                   f"skipped {folder / other}" in done.stderr, done)
        shutil.copy(trace, folder / "SECOND.JSON")
        done = run(folder)
        expect("a trace in capital letters is one of two",
               done.returncode == 0 and len(json.loads(done.stdout).get("ranks", [])) == 2, done)
        (folder / "SECOND.JSON").unlink()
        done = run(folder / "*.json")
        expect("a pattern skips too", done.returncode == 0 and "results.json" in done.stderr, done)
        for other in others:
            done = run(folder / other)
            expect(f"{other} alone is an error", done.returncode == 2, done)
            done = run(folder, folder / other)
            expect(f"{other} named beside its folder is an error", done.returncode == 2, done)
        (folder / "cut.json").write_text('{"traceEvents": [{"ph": "X",')
        done = run(folder)
        expect("a damaged trace stops the set", done.returncode == 2 and "cut.json" in done.stderr, done)
        (folder / "cut.json").unlink()
        (folder / "trace.json").unlink()
        done = run(folder)
        expect("nothing left is an error", done.returncode == 2 and "none" in done.stderr, done)

    for problem in problems:
        print(problem)
    print(f"folders: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
