#!/usr/bin/env python3
"""The same bytes at any number of threads: `report` on single traces and on the ranks of a job, as text, JSON, page and
timeline,
in one thread and in several.

    check_threads.py --assay build/release/assay
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import datasets

MANY = ("2", "5")  # threads, against one
RANKS = 8          # a folder of at most this many traces is also read as one job


def jobs():
    folders = {}
    for _, path in datasets.golden_traces():
        folders.setdefault(path.parent, []).append(path)
    return [files for _, files in sorted(folders.items()) if 1 < len(files) <= RANKS]


def asked():
    """(files, output, options): a page for all inputs, because it contains the JSON document; other formats for some.
    """
    singles = [[path] for _, path in datasets.golden_traces()]
    for files in singles + jobs():
        yield files, "page.html", ()
    for files in singles[::8] + jobs()[:2]:
        yield files, "report.json", ()
        yield files, "-", ("--full",)
        yield files, "-", ("--perfetto", "timeline.json")


def answer(assay, files, output, options, threads):
    """Exit code, standard streams and written files, by name."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([assay, "report", *map(str, files), "--threads", threads, "-o", output, *options],
                              capture_output=True, cwd=folder)
        found = {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}
    return {"exit code": done.returncode, "standard output": done.stdout, "standard error": done.stderr, **found}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True, type=pathlib.Path)
    assay = parser.parse_args().assay.resolve()
    problems, compared = [], 0
    for files, output, options in asked():
        alone = answer(assay, files, output, options, "1")
        if alone["exit code"] == 1 or (output != "-" and output not in alone):
            problems.append(f"{files[0]}: no answer: {alone['standard error'][:300]}")
        for threads in MANY:
            found = answer(assay, files, output, options, threads)
            compared += 1
            problems += [f"{files[0].name}{' and others' if len(files) > 1 else ''}, {output} {' '.join(options)}: "
                         f"{what} differs with {threads} threads"
                         for what in sorted(alone.keys() | found.keys()) if alone.get(what) != found.get(what)]
    for problem in problems:
        print(problem)
    if not datasets.CORPUS.is_dir():
        print(datasets.NO_CORPUS)
    print(f"{compared} answers compared with those of one thread, {len(problems)} differences")
    return 1 if problems or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
