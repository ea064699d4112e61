#!/usr/bin/env python3
"""What a job of many ranks takes: the map by one process and by two, the map of one trace of 1 GB, the reduce against ranks,
the page; and from these an estimate of a job that nobody ran.

    bench/job.py [--assay build/release/assay] [--model build/release/assay_job_model] [--make-trace build/bench/make_trace]
                   [--pairs 7] [--ranks 1024,4096,16384] [--json FILE]

Everything is processor time in user mode and the kernel, so that a busy machine changes little; runs that are compared are
taken in turns. tools/measure_job.py writes docs/measured/job.md of the same figures and of the faults that are found.
"""

import argparse
import gzip
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import ranks as rank_traces
import run as base_run

ROOT = pathlib.Path(__file__).resolve().parent.parent
MIB = 2**20
GB = 1e9
RUNS = 3
COLLECTIVES = 220  # of a rank of the made-up jobs
REAL_GZ = base_run.LARGEST
FAULTS = ("slow_gpu:77:1.08", "slow_node:20:1.05", "slow_pod_links:3:1.5", "pauses:500:0.03:5", "fast_clock:300:200")


def spent(command, **more):
    """(processor seconds, peak bytes, what it printed) of one process."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([str(word) for word in command], stdout=out, stderr=subprocess.DEVNULL, **more)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))} left with {process.returncode}")
        out.seek(0)
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, out.read()


def map_shards(assay, folder, shards):
    """Processor seconds of so many processes at once."""
    def child_seconds():
        usage = os.times()
        return usage.children_user + usage.children_system
    with tempfile.TemporaryDirectory() as out:
        before = child_seconds()
        running = [subprocess.Popen([assay, "summarize", folder, "-o", out, "--shard", f"{k}/{shards}", "--threads", "1"],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for k in range(shards)]
        if any(process.wait() != 0 for process in running):
            sys.exit("assay summarize failed")
        return child_seconds() - before


def map_efficiency(assay, maker, pairs):
    """Processor time of one process over that of two for the same eight traces, pair by pair."""
    if not rank_traces.RANKS.is_dir():
        return None
    rank_traces.WORK.mkdir(parents=True, exist_ok=True)
    files = [rank_traces.make_rank(maker, rank, 8, 12) for rank in range(8)]
    folder = rank_traces.WORK
    ratios, ones = [], []
    map_shards(assay, folder, 1)
    for _ in range(pairs):
        one = map_shards(assay, folder, 1)
        ones.append(one)
        ratios.append(one / map_shards(assay, folder, 2))
    size = sum(file.stat().st_size for file in files)
    shutil.rmtree(folder)
    return {"pairs": pairs, "files": 8, "bytes": size, "one_s": statistics.median(ones), "ratios": ratios,
            "efficiency": statistics.median(ratios)}


def large_trace(assay, maker):
    """The map of a trace of 1 GB beside `assay breakdown` of it."""
    base_run.DATA.mkdir(parents=True, exist_ok=True)
    base = base_run.inflate(base_run.BASE if base_run.BASE.exists() else base_run.FALLBACK, base_run.DATA / "base.json")
    trace = base_run.make_trace(maker, base, "replicated_1000MB.json", 1_000_000_000)
    times = {"summarize": [], "breakdown": []}
    anonymous = 0
    with tempfile.TemporaryDirectory() as out:
        commands = {"summarize": [assay, "summarize", trace, "-o", out, "--threads", "1"],
                    "breakdown": [assay, "breakdown", trace, "--threads", "1", "-o", os.devnull]}
        for _ in range(3):
            for name, command in commands.items():
                times[name].append(spent(command)[0])
        anonymous = rank_traces.measure(commands["summarize"])[1]
    size = trace.stat().st_size
    told = {name: statistics.median(all_) for name, all_ in times.items()}
    return {"bytes": size, "summarize_s": told["summarize"], "levels_s": told["breakdown"],
            "ratio": statistics.median(a / b for a, b in zip(times["summarize"], times["breakdown"])), "anonymous": anonymous,
            "bound": 0.2 * size + 256e6}


def packed_trace(assay):
    """A large real trace as gzip: its size unpacked, and what its map takes."""
    if not REAL_GZ.exists():
        return None
    plain = 0
    with gzip.open(REAL_GZ) as file:
        while block := file.read(1 << 22):
            plain += len(block)
    with tempfile.TemporaryDirectory() as out:
        command = [assay, "summarize", REAL_GZ, "-o", out, "--threads", "1"]
        cpu_s = statistics.median(spent(command)[0] for _ in range(3))
        record = sum(file.stat().st_size for file in pathlib.Path(out).glob("*.ranks")) // 3
    return {"stored": REAL_GZ.stat().st_size, "plain": plain, "cpu_s": cpu_s, "record": record}


def reduce(assay, model, ranks):
    """The reduce of a made-up job with five faults, its processor time the median of RUNS; also page and data."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([model, str(ranks), "1", folder, str(max(ranks // 103, 1)), *FAULTS], check=True, capture_output=True)
        stored = sum(file.stat().st_size for file in pathlib.Path(folder).glob("*.ranks"))
        command = [assay, "job", "--summaries", folder, "--hosts", f"{folder}/hosts.tsv", "--format"]
        runs = [spent([*command, "json"]) for _ in range(RUNS)]
        cpu_s = statistics.median(run[0] for run in runs)
        _, peak, data = runs[0]
        told = {"ranks": ranks, "cpu_s": cpu_s, "peak": peak, "records": stored, "json": len(data)}
        page = pathlib.Path(folder) / "page.html"
        page.write_bytes(spent([*command, "html"])[2])
        told["page"] = page.stat().st_size
        opened = subprocess.run(["node", str(ROOT / "bench/open_page.mjs"), str(page)], capture_output=True, text=True) \
            if shutil.which("node") else None
        told["ready_ms"] = json.loads(opened.stdout)["ready_ms"] if opened and opened.returncode == 0 else None
        return told


def slope(rows):
    """Of log CPU over log ranks, by least squares, with 1.96 standard errors; None for fewer than three."""
    if len(rows) < 3:
        return None
    x = [math.log(row["ranks"]) for row in rows]
    y = [math.log(row["cpu_s"]) for row in rows]
    mean_x, mean_y = statistics.mean(x), statistics.mean(y)
    spread = sum((a - mean_x) ** 2 for a in x)
    rise = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / spread
    left = sum((b - mean_y - rise * (a - mean_x)) ** 2 for a, b in zip(x, y)) / (len(x) - 2)
    return rise, 1.96 * math.sqrt(left / spread)


def measured(options):
    rows = [reduce(options.assay, options.model, ranks) for ranks in options.ranks]
    return {"machine": base_run.machine(), "map": map_efficiency(options.assay, options.make_trace, options.pairs),
            "large": large_trace(options.assay, options.make_trace), "packed": packed_trace(options.assay), "reduce": rows}


# ---- as text ----

def map_text(told):
    lines = []
    if told["map"]:
        one = told["map"]
        lines += [f"One process against two, each on its shard of the same {one['files']} traces ({one['bytes'] / 1e6:.0f} MB of JSON), "
                  f"processor time, {one['pairs']} pairs in turns: {one['efficiency']:.2f} in the middle "
                  f"({min(one['ratios']):.2f} to {max(one['ratios']):.2f}). At least 0.93 was aimed at. Two processes on one "
                  "machine show that they share no cost, not how a cluster's file system behaves.", ""]
    large = told["large"]
    lines += [f"A trace of {large['bytes'] / GB:.2f} GB of JSON takes `summarize` {large['summarize_s']:.1f} processor seconds, "
              f"{large['ratio']:.2f} times what `breakdown` takes for it (at most 1.1 was aimed at), and {large['anonymous'] / 1e6:.0f} MB "
              f"of memory beside the mapped file (aim: {large['bound'] / 1e6:.0f} MB)."]
    if told["packed"]:
        one = told["packed"]
        lines += ["", f"A real trace of {one['stored'] / 1e6:.0f} MB as gzip, {one['plain'] / GB:.2f} GB unpacked, takes {one['cpu_s']:.1f} s; "
                  f"its record has {one['record'] / 1024:.0f} KiB."]
    return lines


def reduce_text(rows):
    lines = ["| ranks | CPU | peak | bytes of memory a collective | records | bytes of a record a collective | page | JSON | page opens |",
             "|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for row in rows:
        visits = row["ranks"] * COLLECTIVES
        ready = "-" if row["ready_ms"] is None else f"{row['ready_ms'] / 1000:.2f} s"
        lines.append(f"| {row['ranks']:,} | {row['cpu_s']:.1f} s | {row['peak'] / MIB:,.0f} MiB | {row['peak'] / visits:.0f} | "
                     f"{row['records'] / MIB:,.0f} MiB | {row['records'] / visits:.1f} | {row['page'] / 1024:,.0f} KiB | "
                     f"{row['json'] / 1024:,.0f} KiB | {ready} |")
    if (fit := slope(rows)) is not None:
        lines += ["", f"CPU grows as ranks to the power {fit[0]:.2f} ± {fit[1]:.2f}."]
    by_ranks = {row["ranks"]: row for row in rows}
    if {4_096, 16_384} <= set(by_ranks):
        few, many = by_ranks[4_096], by_ranks[16_384]
        lines[-1] += (f" From 4,096 to 16,384 ranks {many['cpu_s'] / few['cpu_s']:.1f}-fold (at most 4.6 was aimed at), memory "
                      f"{many['peak'] / few['peak']:.1f}-fold.")
    return lines


def estimate_text(told, ranks=16_384, stored=200e6, nodes=64, collectives=5000):
    """What follows for a job that nobody ran, with all that is assumed."""
    if not told["packed"]:
        return ["The corpus with a large real trace is not here: no estimate."]
    one, last = told["packed"], told["reduce"][-1]
    unpacked = one["plain"] / one["stored"]
    second_a_byte = one["cpu_s"] / one["plain"]
    json_bytes = ranks * stored * unpacked
    cpu_s = json_bytes * second_a_byte
    on_disk = ranks * stored
    visits = ranks * collectives
    a_visit = last["cpu_s"] / (last["ranks"] * COLLECTIVES)
    bytes_a_visit = last["peak"] / (last["ranks"] * COLLECTIVES)
    record = last["records"] / (last["ranks"] * COLLECTIVES) * collectives
    lines = ["Nothing of that size was run. Assumed: cost goes with the bytes of JSON, and is that of the real trace above; traces "
             f"shrink {unpacked:.1f}-fold as gzip, as it does; every process has a core of this machine's speed; the file system gives what "
             f"is asked for; {collectives:,} collectives a rank; a collective of the reduce costs what it does at {last['ranks']:,} ranks.", "",
             f"{ranks:,} traces of {stored / 1e6:.0f} MB are {json_bytes / 1e12:.0f} TB of JSON and {cpu_s / 3600:,.0f} CPU hours:", "",
             f"| on {nodes} nodes | the map | reading {on_disk / 1e12:.1f} TB at 20, 100, 400 GB/s |", "|---|--:|--:|"]
    reading = ", ".join(f"{on_disk / (rate * GB):.0f}" for rate in (20, 100, 400)) + " s"
    for each in (1, 16, 64):
        wall = cpu_s / (nodes * each)
        lines.append(f"| {each} process{'es' if each > 1 else ''} a node | {wall / 60:.0f} min | {reading} |" if wall > 120
                     else f"| {each} processes a node | {wall:.0f} s | {reading} |")
    lines += ["", f"At 100 GB/s the file system is the bound from some {cpu_s / (on_disk / (100 * GB)):,.0f} cores on. `assay-job` waits for its "
              f"last file: one takes {stored * unpacked * second_a_byte:.0f} s. Records of {min(record, 256 * 1024) / 1024:.0f} KiB are "
              f"{ranks * min(record, 256 * 1024) / GB:.1f} GB; the reduce is one process with {visits * a_visit:.0f} s and "
              f"{visits * bytes_a_visit / GB:.1f} GB of memory."]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=ROOT / "build/release/assay", type=pathlib.Path)
    parser.add_argument("--model", default=ROOT / "build/release/assay_job_model", type=pathlib.Path)
    parser.add_argument("--make-trace", default=ROOT / "build/bench/make_trace", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--ranks", default="1024,4096,16384")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    options.ranks = sorted(map(int, options.ranks.split(",")))
    told = measured(options)
    if options.json:
        options.json.write_text(json.dumps(told, indent=1) + "\n")
    print(f"### A job of many ranks\n\n{told['machine']}\n")
    print("\n".join([*map_text(told), "", *reduce_text(told["reduce"]), "", *estimate_text(told)]))


if __name__ == "__main__":
    main()
