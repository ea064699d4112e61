#!/usr/bin/env python3
"""Raw reports of Nsight Systems are exported once by the installed nsys, and give the same answer as their export. Those of
Nsight Compute are printed by the installed ncu.

    check_nsys_reports.py --assay build/release/assay
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import managed_memory

RAW = pathlib.Path(__file__).resolve().parents[1] / "data/formats/nsys_raw.nsys-rep"
NSYS = """#!/bin/sh
echo "$@" >> {calls}
[ "$1 $2 $3 $4 $5 $6" = "export --type sqlite --force-overwrite true --output" ] || exit 9
case "$8" in *broken*) echo "Processing"; echo "Importer error status: the report is damaged."; exit 1;; esac
echo "Processing 100%"
cp {export} "$7"
"""


NCU = """#!/bin/sh
[ "$1 $3 $4 $5 $6" = "--import --csv --page raw --log-file" ] || exit 9
case "$2" in *broken*) echo "==ERROR== Failed to load report"; exit 1;; esac
cp {table} "$7"
"""


class Machine:
    """A home, a folder of reports and a fake nsys."""

    def __init__(self, assay, folder):
        self.assay, self.folder, self.faults = assay, pathlib.Path(folder), []
        self.export = managed_memory.steps(True).write(self.folder / "export.sqlite")
        self.calls = self.folder / "calls"
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        nsys = self.bin / "nsys"
        nsys.write_text(NSYS.format(calls=self.calls, export=self.export))
        nsys.chmod(0o755)
        self.home = self.folder / "home"
        self.home.mkdir()

    def report(self, name):
        path = self.folder / "reports" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(RAW.read_bytes())
        return path

    def run(self, path, **changes):
        env = {"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(self.home), "TMPDIR": str(self.folder), "ASSAY_CACHE": "off"}
        env = {key: value for key, value in {**env, **changes}.items() if value is not None}
        return subprocess.run([self.assay, "why", path, "--format", "json"], capture_output=True, text=True, env=env, check=False)

    def called(self):
        return len(self.calls.read_text().splitlines()) if self.calls.exists() else 0

    def kept(self):
        return sorted((self.home / ".cache/assay/nsys").glob("*"))

    def expect(self, what, holds, said=""):
        if not holds:
            self.faults.append(f"{what}: {str(said)[-600:]}")


def without_inputs(text):
    lines = text.splitlines()
    return [line for line in lines if not any(word in line for word in (".sqlite", ".nsys-rep", "checksum", "bytes"))]


def check(machine):
    expected = machine.run(machine.export)
    machine.expect("the export has an answer", expected.returncode == 0, expected.stderr)
    path = machine.report("a.nsys-rep")
    first = machine.run(path)
    machine.expect("a report", without_inputs(first.stdout) == without_inputs(expected.stdout), first.stdout + first.stderr)
    machine.expect("names the report", "a.nsys-rep" in first.stdout and ".cache" not in first.stdout, first.stdout)
    machine.expect("says what runs", f"exporting it with {machine.bin}/nsys" in first.stderr, first.stderr)
    again = machine.run(path)
    machine.expect("an unchanged report is not exported again", again.stdout == first.stdout and machine.called() == 1, again.stderr)
    path.write_bytes(RAW.read_bytes() + b"x")
    changed = machine.run(path)
    machine.expect("a changed one is", changed.returncode == 0 and machine.called() == 2 and len(machine.kept()) == 1, machine.kept())
    machine.kept()[0].write_bytes(b"SQLite format 3\0 damaged")
    damaged = machine.run(path)
    machine.expect("a damaged export is refused and made again",
                   damaged.returncode == 2 and machine.run(path).returncode == 0 and machine.called() == 3, damaged.stderr)

    broken = machine.run(machine.report("broken.nsys-rep"))
    machine.expect("a report that nsys refuses",
                   broken.returncode == 2 and "Importer error status: the report is damaged." in broken.stderr and not broken.stdout,
                   broken.stderr)
    none = machine.run(machine.report("b.nsys-rep"), PATH="/nowhere")
    machine.expect("without nsys",
                   none.returncode == 2 and ("nsys export --type sqlite FILE" in none.stderr or "exporting it with /" in none.stderr),
                   none.stderr)
    before = sorted(machine.folder.glob("assay-*"))
    homeless = machine.run(path, HOME=None)
    machine.expect("without a cache folder", without_inputs(homeless.stdout) == without_inputs(expected.stdout), homeless.stderr)
    machine.expect("nothing is left behind", sorted(machine.folder.glob("assay-*")) == before and len(machine.kept()) == 1, machine.kept())

    for name in ("broken.nsys-rep", "b.nsys-rep"):
        (machine.folder / "reports" / name).unlink()
    folder = machine.run(machine.folder / "reports")
    machine.expect("a folder of reports", folder.returncode == 0 and "a.nsys-rep" in folder.stdout, folder.stderr)
    (machine.folder / "reports" / "a.sqlite").write_bytes(machine.export.read_bytes())
    calls = machine.called()
    both = machine.run(machine.folder / "reports")
    machine.expect("an export next to its report counts alone",
                   both.returncode == 0 and "a.sqlite" in both.stdout and "a.nsys-rep" not in both.stdout and machine.called() == calls,
                   both.stdout[-300:] + both.stderr)


def check_counters(machine):
    """A report of Nsight Compute gives the answer of its table."""
    table, trace = machine.folder / "table.csv", machine.folder / "counted.json"
    names = ("gemm", "relu")
    rows = [f'"{i}","1","{names[i % 2]}","(128, 1, 1)","(64, 1, 1)","{1000 + i}","{50 + i % 2}"' for i in range(40)]
    table.write_text("\n".join(['"ID","Process ID","Kernel Name","Block Size","Grid Size","gpu__time_duration.sum",'
                                '"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"', '"","","","","","nsecond","%"', *rows]))
    events = []
    for i in range(40):
        shape = {"correlation": i + 1, "device": 0, "stream": 7, "grid": [64, 1, 1], "block": [128, 1, 1]}
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 100 * i, "dur": 5,
                       "args": {"correlation": i + 1}})
        events.append({"ph": "X", "cat": "kernel", "name": names[i % 2], "pid": 0, "tid": 7, "ts": 100 * i + 10, "dur": 50,
                       "args": shape})
    trace.write_text(json.dumps({"traceEvents": events}))
    report, broken = machine.folder / "counted.ncu-rep", machine.folder / "broken.ncu-rep"
    for path in (report, broken):
        path.write_bytes((RAW.parent / "ncu_report.ncu-rep").read_bytes())

    def answer(counters, path=f"{machine.bin}:/usr/bin:/bin"):
        run = subprocess.run([machine.assay, "breakdown", trace, "--counters", counters, "--format", "json"], capture_output=True,
                             text=True, check=False, env={"PATH": path, "HOME": str(machine.home), "TMPDIR": str(machine.folder)})
        if run.returncode != 0:
            return run.stderr
        return [line for line in run.stdout.splitlines() if not any(word in line for word in ("table.csv", ".ncu-rep", "checksum", "bytes"))]

    expected = answer(table)
    machine.expect("a table of counters has an answer", isinstance(expected, list) and any("tensor" in line for line in expected), expected)
    machine.expect("without ncu", "on a machine with ncu run ncu --import FILE --csv --page raw" in answer(report, "/nowhere"), "")
    ncu = machine.bin / "ncu"
    ncu.write_text(NCU.format(table=table))
    ncu.chmod(0o755)
    before = sorted(machine.folder.glob("assay-*"))
    machine.expect("a report of counters", answer(report) == expected, answer(report))
    machine.expect("a report that ncu refuses", "Failed to load report" in answer(broken), answer(broken))
    machine.expect("no table is left", sorted(machine.folder.glob("assay-*")) == before)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True, type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(args.assay.resolve(), folder)
        check(machine)
        check_counters(machine)
    print("\n".join(machine.faults) or "raw reports answer as their exports")
    return bool(machine.faults)


if __name__ == "__main__":
    sys.exit(main())
