#!/usr/bin/env python3
"""Rank records of real traces and of broken ones: sizes, the same bytes twice, what is named and counted.

    check_fleet.py --assay build/release/assay
"""

import argparse
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

import datasets

MOST_BYTES = 256 * 1024


def records_of(data):
    """(path, bytes) of every record, by their heads alone."""
    records, at = [], 0
    while at < len(data):
        assert data[at:at + 8] == b"ASYRANK1", at
        stamp, payload = struct.unpack_from("<IQ", data, at + 12)
        size = 32 + stamp + payload
        length, start = data[at + 32], at + 33
        if length >= 0x80:
            length, start = length & 0x7F | data[at + 33] << 7, at + 34
        records.append((data[start:start + length].decode(), data[at:at + size]))
        at += size
    return records


class Checks:
    def __init__(self, assay, folder):
        self.assay, self.folder, self.problems = assay, pathlib.Path(folder), []

    def run(self, *arguments, **environment):
        return subprocess.run([self.assay, *map(str, arguments)], capture_output=True, text=True,
                              env={**os.environ, **environment})

    def expect(self, what, holds, done=None):
        if not holds:
            tail = f": exit code {done.returncode}, {(done.stdout + done.stderr).strip()[:600]}" if done else ""
            self.problems.append(what + tail)

    def summarize(self, name, *arguments, **environment):
        done = self.run("summarize", *arguments, "--out", self.folder / name, **environment)
        data = b"".join(file.read_bytes() for file in sorted((self.folder / name).glob("*.ranks")))
        return done, data

    def traces(self):
        roots = (datasets.IN_REPOSITORY / "kineto", datasets.CORPUS / "kineto")
        return sorted(path for root in roots for path in root.rglob("*.json*") if path.is_file())

    def every_trace(self):
        files = self.traces()
        listed = self.folder / "list"
        listed.write_text("".join(f"{file.stat().st_size}\t{file}\n" for file in files))
        done, first = self.summarize("first", f"@{listed}")
        records = records_of(first)
        self.expect("most traces have a record", done.returncode == 0 and len(records) > 0.9 * len(files), done)
        self.expect("those without are named", done.stderr.count("not read: ") == len(files) - len(records), done)
        for path, record in records:
            self.expect(f"{path}: {len(record)} bytes", len(record) <= MOST_BYTES)
        _, second = self.summarize("second", f"@{listed}")
        self.expect("the same bytes twice", first == second)
        done, again = self.summarize("first", f"@{listed}", "--resume")
        self.expect("nothing is read twice with --resume", again == first, done)
        for shard in range(2):
            self.summarize("split", f"@{listed}", "--shard", f"{shard}/3")
        _, all_three = self.summarize("split", f"@{listed}", "--shard", "auto", SLURM_PROCID="2", SLURM_NTASKS="3")
        split = records_of(all_three)
        self.expect("three shards write the same records", sorted(split) == sorted(records))
        self.largest = max((len(record), path) for path, record in records)

    def broken_traces(self):
        source = next(path for path in self.traces() if path.suffix == ".json" and path.stat().st_size > 20_000)
        good, cut, empty = (self.folder / f"job/{name}.json" for name in ("good", "cut", "empty"))
        good.parent.mkdir()
        shutil.copy(source, good)
        cut.write_bytes(source.read_bytes()[:10_000])
        empty.write_bytes(b"")
        gone = self.folder / "job/gone.json"
        listed = self.folder / "broken"
        listed.write_text(f"{good}\n{cut}\n{empty}\n{gone}\n")
        done, data = self.summarize("broken_out", f"@{listed}")
        self.expect("one bad trace does not end the others", done.returncode == 0 and len(records_of(data)) == 1, done)
        for bad in (cut, empty, gone):
            self.expect(f"{bad.name} is named", f"not read: {bad}: " in done.stderr, done)
        self.expect("they are counted", "3 not read" in done.stdout, done)
        done = self.run("summarize", f"@{listed}", "--out", self.folder / "strict", "--strict")
        self.expect("--strict leaves with 3", done.returncode == 3, done)
        done = self.run("summarize", empty, "--out", self.folder / "none")
        self.expect("nothing readable is an error", done.returncode == 2, done)
        done = self.run("summarize", good, "--out", self.folder / "none", "--shard", "auto")
        self.expect("--shard auto without a launcher is an error", done.returncode == 2, done)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    arguments = parser.parse_args()
    for name in list(os.environ):
        if name.startswith(("SLURM_", "OMPI_", "PMI_", "JOB_COMPLETION")):
            del os.environ[name]
    with tempfile.TemporaryDirectory() as folder:
        checks = Checks(arguments.assay, folder)
        checks.every_trace()
        checks.broken_traces()
    for problem in checks.problems:
        print(problem, file=sys.stderr)
    if checks.problems:
        return 1
    print("fleet: fine, the largest record has {} bytes ({})".format(*checks.largest))
    return 0


if __name__ == "__main__":
    sys.exit(main())
