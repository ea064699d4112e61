#!/usr/bin/env python3
"""Memory of `assay report` over the ranks of a job, against one rank's.

    bench/ranks.py [--assay build/release/assay] [--make-trace build/bench/make_trace] [--copies 25]
                   [--formats terminal,html] [--counts 1,4,16,64] [--keep]

Makes the ranks from the eight of a tensor-parallel job: each is replicated whole copies at a time (25 are about
100 MB), says its own rank of the largest job, and has as many collectives as every other. They are written under
build/bench-data/ranks as they are needed and deleted afterwards: 64 take 6.4 GB. Memory is what the process
allocated at its peak (RssAnon, without the mapped file), and what the kernel calls its peak (ru_maxrss, with it).
"""

import argparse
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = pathlib.Path(os.environ.get("ASSAY_DATA") or ROOT.parent / "shared/data")
RANKS = CORPUS / "kineto/multirank/megatron_tp8_a100"
WORK = ROOT / "build/bench-data/ranks"
MB = 1_000_000
STRIDE_US = 700_000  # a little longer than each of the eight


def make_rank(maker, rank, world, copies):
    target = WORK / f"rank_{rank}.json"
    if target.exists():
        return target
    bases = sorted(RANKS.glob("*.json.gz"))
    text = gzip.decompress(bases[rank % len(bases)].read_bytes())
    text, found = re.subn(rb'"rank": \d+, "world_size": \d+', b'"rank": %d, "world_size": %d' % (rank, world), text)
    if found != 1:
        sys.exit(f"{bases[rank % len(bases)]}: {found} places tell the rank")
    base = WORK / "base.json"
    base.write_bytes(text)
    subprocess.run([maker, base, target, "--copies", str(copies), "--stride-us", str(STRIDE_US)], check=True,
                   stderr=subprocess.DEVNULL)
    base.unlink()
    return target


def peak_anonymous(pid, peak, done):
    while not done.wait(0.002):
        try:
            with open(f"/proc/{pid}/status", encoding="ascii") as status:
                for line in status:
                    if line.startswith("RssAnon:"):
                        peak[0] = max(peak[0], int(line.split()[1]) * 1024)
                        break
        except (FileNotFoundError, ProcessLookupError):
            return


def measure(command):
    """(seconds, peak RssAnon, ru_maxrss), bytes, of one process."""
    start = time.perf_counter()
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL)
    peak, done = [0], threading.Event()
    watcher = threading.Thread(target=peak_anonymous, args=(process.pid, peak, done))
    watcher.start()
    _, status, usage = os.wait4(process.pid, 0)
    done.set()
    watcher.join()
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))} left with {os.waitstatus_to_exitcode(status)}")
    return time.perf_counter() - start, peak[0], usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=ROOT / "build/release/assay")
    parser.add_argument("--make-trace", default=ROOT / "build/bench/make_trace")
    parser.add_argument("--copies", type=int, default=25)
    parser.add_argument("--formats", default="terminal,html")
    parser.add_argument("--counts", default="1,4,16,64")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    counts = sorted(map(int, options.counts.split(",")))
    print("| ranks | MB read | format | s | RssAnon MB | against the first | peak with mapped files MB | output MB |")
    print("|--:|--:|---|--:|--:|--:|--:|--:|")
    first = {}
    for count in counts:
        files = [make_rank(options.make_trace, rank, counts[-1], options.copies) for rank in range(count)]
        size = sum(path.stat().st_size for path in files)
        for form in options.formats.split(","):
            output = WORK / f"report.{form}"
            seconds, anonymous, peak = measure([options.assay, "report", *files, "--format", form, "-o", output])
            first.setdefault(form, anonymous)
            print(f"| {count} | {size / MB:.0f} | {form} | {seconds:.1f} | {anonymous / MB:.1f} | "
                  f"{anonymous / first[form]:.2f} | {peak / MB:.0f} | {output.stat().st_size / MB:.2f} |", flush=True)
    if not options.keep:
        shutil.rmtree(WORK)


if __name__ == "__main__":
    main()
