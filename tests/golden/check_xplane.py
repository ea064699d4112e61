#!/usr/bin/env python3
"""An XSpace gives the answer of the trace.json with the same events; a truncated or damaged one is refused by name.

    check_xplane.py --assay build/release/assay
"""

import argparse
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import xplane

ROWS = pathlib.Path(__file__).resolve().parents[1] / "fuzz/corpus/chrome/xprof_lanes.json"


class Checker:
    def __init__(self, assay, folder):
        self.assay, self.folder, self.faults = assay, pathlib.Path(folder), []

    def run(self, path, *options):
        env = {**os.environ, "ASSAY_CACHE": "off"}
        return subprocess.run([self.assay, "report", path, "--format", "json", *options], capture_output=True, text=True, env=env,
                              check=False)

    def answer(self, path, *options):
        """The document without properties of the file."""
        run = self.run(path, *options)
        if run.returncode != 0:
            return f"{path.name}: {run.returncode} {run.stderr}"
        document = json.loads(run.stdout)
        document.pop("inputs", None)
        document["import_log"] = [entry for entry in document["import_log"] if entry["code"] != "number_as_string"]
        for entry in document["import_log"]:
            place = entry.pop("first_offset", None)
            self.expect(f"{path.name}: a place in JSON that is not in the file", path.suffix == ".json" or place is None, entry)
        return json.dumps(document, sort_keys=True).replace(path.name, "FILE")

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def expect(self, what, holds, said=""):
        if not holds:
            self.faults.append(f"{what}: {str(said)[:600]}")

    def same(self, what, expected, path, *options):
        found = self.answer(path, *options)
        at = next((i for i, (a, b) in enumerate(zip(expected, found)) if a != b), min(len(expected), len(found)))
        self.expect(what, found == expected, f"{expected[max(at - 200, 0):at + 100]} | {found[max(at - 200, 0):at + 100]}")

    def refused(self, what, path, words, *options):
        run = self.run(path, *options)
        self.expect(what, run.returncode == 2 and words in run.stderr and not run.stdout, f"{run.returncode} {run.stderr}")


def check(checker):
    document = json.loads(ROWS.read_text())
    rows = document["traceEvents"]
    expected = checker.answer(checker.write("rows.json", ROWS.read_bytes()))
    checker.expect("the rows have an answer", expected.startswith("{"), expected)
    checker.expect("with kernels", "gemm_fusion_dot_1" in expected)
    whole = xplane.space(xplane.planes_of(rows))
    checker.same("the same rows", expected, checker.write("a.xplane.pb", whole))
    checker.same("compressed", expected, checker.write("b.xplane.pb.gz", gzip.compress(whole)))
    checker.same("by content", expected, checker.write("without_ending", whole))
    checker.same("calls in a plane of their own", expected,
                 checker.write("d.xplane.pb", xplane.space(xplane.planes_of(rows, calls_apart=True))))
    names = {row["name"] for row in rows if row["ph"] == "X"}
    checker.same("display names", expected, checker.write("e.xplane.pb", xplane.space(xplane.planes_of(rows), displayed=names)))
    # Absolute times of a real clock: only the origin shifts.
    epoch = 1_753_000_000_123_456_789
    moved = json.loads(json.dumps(document))
    for row in moved["traceEvents"]:
        if row["ph"] == "X":
            row["ts"] += 1_753_000_000_123_456
    late = checker.answer(checker.write("f.xplane.pb", xplane.space(xplane.planes_of(rows, start_ns=epoch))))
    lasts = json.loads(late)["summary"]["total_ns"] if late.startswith("{") else late
    checker.expect("an absolute clock", lasts == json.loads(expected)["summary"]["total_ns"], lasts)
    # Picoseconds are rounded once for begin and end: adjacent events stay adjacent.
    touching = xplane.Plane("/device:GPU:0")
    line = touching.line(13, "Stream #13(Compute)", 0)
    for i in range(2000):
        line.append((i * 10_333_333, 10_333_333, "kernel", i + 1))
    answer = checker.answer(checker.write("g.xplane.pb", xplane.space([touching])))
    checker.expect("rows that touch leave no gap", '"share": 1.0' in answer or "99.9" not in answer, answer)
    sums = xplane.planes_of(rows)
    sums[0].line(99, "sums", 0).append((12, None, "a sum", 0))
    found = checker.run(checker.write("h.xplane.pb", xplane.space(sums)))
    checker.expect("sums are counted, not read", found.returncode == 0 and '"unknown_phase"' in found.stdout, found.stdout[-400:])

    planes = xplane.planes_of(rows)
    parts = [xplane.message(1, plane.written()) for plane in planes]
    cut = checker.write("cut.xplane.pb", (parts[0] + parts[1])[:-20])
    checker.refused("a cut file", cut, "ends within a plane")
    kept = checker.run(cut, "--allow-truncated")
    checker.expect("planes before the cut", kept.returncode == 0 and '"truncated"' in kept.stdout, kept.stderr)
    line = xplane.message(3, xplane.number(1, 1) + b"\x0b")  # a group, which no field here is
    bad = xplane.message(1, xplane.message(2, "/host:CPU") + line) + parts[1]
    checker.refused("bytes that are no field", checker.write("bad.xplane.pb", bad), "byte 17: these bytes are not part of an XSpace")
    for at in range(0, len(whole), 37):
        changed = bytearray(whole)
        changed[at] ^= 0xFF
        run = checker.run(checker.write("changed.xplane.pb", bytes(changed)), "--allow-truncated")
        checker.expect(f"byte {at} changed", run.returncode in (0, 2), f"{run.returncode} {run.stderr}")


def check_speed(checker):
    """100,000 events: at least 0.3 of the speed of the same events as JSON."""
    planes, rows = [xplane.Plane("/device:GPU:0"), xplane.Plane("/host:CPU")], []
    for pid, name in ((1, "/device:GPU:0"), (701, "/host:CPU")):
        rows.append({"ph": "M", "name": "process_name", "pid": pid, "tid": 13, "args": {"name": name}})
    rows.append({"ph": "M", "name": "thread_name", "pid": 1, "tid": 13, "args": {"name": "Stream #13(Compute)"}})
    rows.append({"ph": "M", "name": "thread_name", "pid": 701, "tid": 13, "args": {"name": "python"}})
    for i in range(50_000):
        planes[0].line(13, "Stream #13(Compute)", 0).append((i * 20_000_000 + 9_000_000, 8_000_000, f"fusion_{i % 50}", i + 1))
        planes[1].line(13, "python", 0).append((i * 20_000_000, 5_000_000, "cuLaunchKernel", i + 1))
        rows.append({"ph": "X", "name": f"fusion_{i % 50}", "pid": 1, "tid": 13, "ts": i * 20 + 9, "dur": 8,
                     "args": {"correlation_id": str(i + 1)}})
        rows.append({"ph": "X", "name": "cuLaunchKernel", "pid": 701, "tid": 13, "ts": i * 20, "dur": 5,
                     "args": {"correlation_id": str(i + 1)}})
    files = [checker.write("large.xplane.pb", xplane.space(planes)),
             checker.write("large.json", json.dumps({"displayTimeUnit": "ns", "traceEvents": rows}).encode())]
    seconds = []
    for path in files:
        tries = []
        for _ in range(3):
            before = os.times()
            subprocess.run([checker.assay, "info", path], capture_output=True, check=False, env={**os.environ, "ASSAY_CACHE": "off"})
            after = os.times()
            tries.append(after.children_user + after.children_system - before.children_user - before.children_system)
        seconds.append(min(tries))
    checker.expect("speed", seconds[0] * 0.3 < seconds[1], f"{seconds[0]:.2f} s for XSpace, {seconds[1]:.2f} s for JSON")
    return f"{seconds[0]:.2f} s of CPU time for 100,000 rows, as JSON {seconds[1]:.2f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True, type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(args.assay.resolve(), folder)
        check(checker)
        speed = check_speed(checker)
    print("\n".join(checker.faults) or f"an XSpace answers as its trace.json; {speed}")
    return bool(checker.faults)


if __name__ == "__main__":
    sys.exit(main())
