#!/usr/bin/env python3
"""What sanitizers reported in any process of the suite: a test may expect a failure, or not look at a process at all,
and a report counts nevertheless. `begin FOLDER` empties the folder, `end FOLDER` prints what lies there and fails over
it. tests/CMakeLists.txt names the folder to the sanitizers."""

import pathlib
import sys

LINES = 60  # of each report: the error, its stack and where the memory came from


def begin(folder):
    folder.mkdir(exist_ok=True)
    for report in folder.iterdir():
        report.unlink()
    return 0


def end(folder):
    reports = sorted(path for path in folder.iterdir() if path.stat().st_size)
    for report in reports:
        print(f"{report}:")
        print("\n".join(report.read_text(errors="replace").splitlines()[:LINES]))
    if reports:
        print(f"{len(reports)} processes were reported by sanitizers")
    return 1 if reports else 0


if __name__ == "__main__":
    steps = {"begin": begin, "end": end}
    if len(sys.argv) != 3 or sys.argv[1] not in steps:
        sys.exit("usage: sanitizer_reports.py begin|end FOLDER")
    sys.exit(steps[sys.argv[1]](pathlib.Path(sys.argv[2])))
