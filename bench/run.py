#!/usr/bin/env python3
"""Measures what bench/README.md claims: `assay launch` end to end against a bare simdjson pass and
against Python's own reading, and how long `assay throughput` takes to fit a table and to answer ten
thousand points.

    bench/run.py [--quick] [--repeats N] [--bench-dir build/bench] [--assay build/release/assay]

Every number is the median of interleaved repeats (assay, yardstick, assay, yardstick, ...) of fresh
processes over files in the page cache. Time is wall time around the process; memory is the largest
RssAnon (what the process allocated, without the mapped file) seen while it ran. Traces are made once
and kept in build/bench-data. --quick leaves out the 1 GB file.
"""

import argparse
import csv
import gzip
import hashlib
import json
import os
import pathlib
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = pathlib.Path(os.environ.get("ASSAY_DATA") or ROOT.parent / "shared/data")
DATA = ROOT / "build/bench-data"

# The trace that is replicated: an LLM forward pass on an H100, 474 bytes an event, with frames,
# allocator events and both kinds of launches. The fallback is in the repository.
BASE = CORPUS / "kineto/llm/h100_qwen1.5-0.5b.json.gz"
FALLBACK = ROOT / "examples/h100_vit_inference.json.gz"
LARGEST = CORPUS / "perf/DERIVED_concat4.json.gz"
# One whose replays are told (of BASE too little work has a launch): three iterations of training.
TOLD = CORPUS / "kineto/hta/a100_nccl_parser_r0of2.json.gz"
RANKS = CORPUS / "kineto/multirank/megatron_tp8_a100"
TABLE = CORPUS / "bench/argonne_All_results.csv"

BATCHES_AND_LENGTHS = "bb=1:2:4:8:16:24:32:48:64:128,len=128:192:256:384:512:768:1024:1536:1792:2048"
# 10,000 points each: one configuration at 100 lengths and batch sizes; 100 configurations at as many: a grid, nearly
# half of which nobody measured, the first of the table, or some that are not in the table; and 1,000 of these at 10.
ONE_CONFIGURATION = ("hw=H100,model=Llama-3-8B,fw=vLLM,n=1,bb=1..100,len=" +
                     ":".join(str(128 + 20 * k) for k in range(100)))
MANY_CONFIGURATIONS = ("hw=A100|H100|GH200|MI300X|MI250,n=1:2:4:8,fw=vLLM,"
                       "model=Llama-2-7b|Llama-3-8B|Mistral-7B|Qwen2-7B|Mixtral-8x7B," + BATCHES_AND_LENGTHS)

MB = 1_000_000


def measured_configurations(count=100):
    """Arguments that ask for so many configurations of the table."""
    with open(TABLE, newline="", encoding="utf-8") as file:
        configurations = dict.fromkeys(tuple(row[:4]) for row in list(csv.reader(file))[1:])
    grids = (f"hw={hw},n={n},fw={fw},model={model},{BATCHES_AND_LENGTHS}"
             for hw, n, fw, model in list(configurations)[:count])
    return [part for grid in grids for part in ("--grid", grid)]


def unmeasured_configurations(count, points):
    """Arguments that ask for so many configurations that have no row: hardware and frameworks that ran together with
    any model; numbers of devices of the table first, then others; otherwise in an order without a pattern."""
    with open(TABLE, newline="", encoding="utf-8") as file:
        measured = dict.fromkeys(tuple(row[:4]) for row in list(csv.reader(file))[1:])
    ran = dict.fromkeys((hw, fw) for hw, _, fw, _ in measured)
    models = dict.fromkeys(model for _, _, _, model in measured)
    def mixed(configuration):
        return int.from_bytes(hashlib.sha256("|".join(configuration).encode()).digest()[:8], "big")
    grids = []
    for devices in (("1", "2", "4", "8"), ("3", "6", "16")):
        some = [(hw, n, fw, model) for hw, fw in ran for model in models for n in devices]
        some = sorted((c for c in some if c not in measured), key=mixed)
        grids += [f"hw={hw},n={n},fw={fw},model={model},{points}" for hw, n, fw, model in some]
    return [part for grid in grids[:count] for part in ("--grid", grid)]


def inflate(source, target):
    if not target.exists():
        partial = target.with_suffix(".part")
        with gzip.open(source) as packed, open(partial, "wb") as plain:
            shutil.copyfileobj(packed, plain, 1 << 20)
        partial.rename(target)
    return target


def pack(source, target):
    if not target.exists():
        partial = target.with_suffix(".part")
        with open(partial, "wb") as packed:
            subprocess.run(["gzip", "-1", "-c", str(source)], stdout=packed, check=True)
        partial.rename(target)
    return target


def make_trace(maker, base, name, size, steps=0):
    target = DATA / name
    if not target.exists():
        partial = target.with_suffix(".part")
        subprocess.run([maker, base, partial, "--bytes", str(size), "--steps", str(steps)],
                       check=True)
        partial.rename(target)
    return target


def rss_anon_bytes(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            for line in status:
                if line.startswith("RssAnon:"):
                    return int(line.split()[1]) * 1024
    except (FileNotFoundError, ProcessLookupError):
        pass
    return 0


def run_once(command, watch_memory=False):
    """(wall seconds, peak RssAnon, stdout) of one process."""
    start = time.perf_counter()
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    peak = 0
    if watch_memory:
        while process.poll() is None:
            peak = max(peak, rss_anon_bytes(process.pid))
            time.sleep(0.001)
    output, error = process.communicate()
    wall = time.perf_counter() - start
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nleft with {process.returncode}: "
                 f"{error.decode(errors='replace')[:500]}")
    return wall, peak, output


def cpu_seconds(command):
    """Processor time of one process, in user mode and in the kernel."""
    def spent():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime
    before = spent()
    run_once(command)
    return spent() - before


def interleaved(commands, repeats):
    """Median wall seconds of each command, runs taken in turns."""
    walls = {name: [] for name in commands}
    for _ in range(repeats):
        for name, command in commands.items():
            walls[name].append(run_once(command)[0])
    return {name: statistics.median(times) for name, times in walls.items()}


def table(title, head, rows):
    print(f"\n### {title}\n")
    print("| " + " | ".join(head) + " |")
    print("|" + "|".join("---" if i == 0 else "--:" for i in range(len(head))) + "|")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    sys.stdout.flush()


def summary_of(assay, path):
    return json.loads(run_once([assay, "info", "--format", "json", path])[2])


def events_in(assay, path):
    summary = summary_of(assay, path)
    return summary["rows"]["events"], summary["links"]["kernels_linked"]


class Bench:
    def __init__(self, options):
        self.assay = pathlib.Path(options.assay).resolve()
        self.bare = pathlib.Path(options.bench_dir).resolve() / "bare_pass"
        self.maker = pathlib.Path(options.bench_dir).resolve() / "make_trace"
        self.repeats = options.repeats
        self.one_core = ["taskset", "-c", "0"] if shutil.which("taskset") else []

    def launch(self, path, threads):
        return [*(self.one_core if threads == 1 else []), self.assay, "launch", path, "--threads",
                str(threads), "--format", "json", "-o", os.devnull]

    def speed(self, path):
        size = path.stat().st_size
        seconds = interleaved({
            "assay": self.launch(path, 1),
            "bare": [*self.one_core, self.bare, path],
            "tokens": [*self.one_core, self.bare, path, "--tokens"],
            "assay 2": self.launch(path, 2),
        }, self.repeats)
        events, linked = events_in(self.assay, path)
        passes = run_once([*self.one_core, self.bare, path, "--passes", "4"])[2].decode()
        warm = max(float(line.split()[2]) for line in passes.splitlines()[1:])
        peak = max(run_once(self.launch(path, 1), watch_memory=True)[1] for _ in range(3))
        rate = {name: size / MB / wall for name, wall in seconds.items()}
        return [path.name, f"{size / MB:.1f}", f"{events:,}", f"{linked:,}",
                f"{rate['assay']:.0f}", f"{rate['bare']:.0f}",
                f"**{rate['assay'] / rate['bare']:.2f}**", f"{rate['tokens']:.0f}", f"{warm:.0f}",
                f"{events / seconds['assay'] / 1e6:.2f}", f"{peak / size:.3f}",
                f"{seconds['assay'] / seconds['assay 2']:.2f}"]

    def packed(self, plain, packed):
        size = plain.stat().st_size
        seconds = interleaved({
            "plain 1": self.launch(plain, 1), "packed 1": self.launch(packed, 1),
            "plain 2": self.launch(plain, 2), "packed 2": self.launch(packed, 2),
            "gzip -dc": ["gzip", "-dc", packed],
        }, max(3, self.repeats // 2))
        peak = run_once(self.launch(packed, 2), watch_memory=True)[1]
        return [packed.name, f"{packed.stat().st_size / MB:.1f}", f"{size / MB:.1f}",
                *(f"{size / MB / seconds[name]:.0f}" for name in
                  ("plain 1", "packed 1", "plain 2", "packed 2", "gzip -dc")),
                f"{peak / size:.3f}"]

    def python(self, path, repeats):
        """Assay's whole report against Python's parsing and linking of the same file, on one core."""
        commands = {
            "python": [*self.one_core, sys.executable, ROOT / "bench/python_floor.py", path],
            "launch": self.launch(path, 1),
            "report": [*self.one_core, self.assay, "report", path, "--threads", "1", "-o", os.devnull],
        }
        least = json.loads(run_once(commands["python"])[2])
        events, linked = events_in(self.assay, path)
        if least["kernels_linked"] != linked:
            sys.exit(f"{path}: Python links {least['kernels_linked']} kernels, assay {linked}")
        seconds = interleaved(commands, repeats)
        peak = {name: run_once(command, watch_memory=True)[1] for name, command in commands.items()}
        return [path.name, f"{events:,}", *(f"{seconds[name]:.2f}" for name in commands),
                f"**{seconds['python'] / seconds['launch']:.0f}**", f"**{seconds['python'] / seconds['report']:.0f}**",
                f"{peak['python'] / MB:,.0f}", f"{peak['report'] / MB:,.0f}"]

    def cached(self, path):
        """First look at a trace against looks at its cached form, taken in turns; the first keeps that form."""
        folder = DATA / "cache"
        looks = {"plain": [], "keeping": [], "second": []}
        command = self.launch(path, 1)
        for _ in range(max(3, self.repeats // 2)):
            shutil.rmtree(folder, ignore_errors=True)
            looks["plain"].append(run_once(command)[0])
            looks["keeping"].append(run_once([*command, f"--cache={folder}"])[0])
            looks["second"].append(run_once([*command, f"--cache={folder}"])[0])
        kept = sum(file.stat().st_size for file in folder.rglob("*.assay"))
        shutil.rmtree(folder)
        plain, keeping, second = (statistics.median(looks[name]) for name in ("plain", "keeping", "second"))
        return [path.name, f"{path.stat().st_size / MB:.0f}", f"{kept / MB:.0f}", f"{plain:.2f}", f"{keeping:.2f}",
                f"{second:.2f}", f"**{plain / second:.1f}**"]

    def levels(self, repeats):
        """What bench/breakdown.py says of a set of ranks."""
        done = subprocess.run([sys.executable, ROOT / "bench/breakdown.py", "--assay", self.assay, "--runs", str(repeats), RANKS],
                              capture_output=True, text=True, check=True)
        return re.findall(r"(\d+) ranks, ([\d.]+) MB: whole (\d+) MB/s, reading (\d+) MB/s, levels (\d+) MB/s; "
                          r"whole / reading ([\d.]+)", done.stdout)

    def flow(self, path, repeats):
        """Processor time of reading, of the graph with causes and critical path, and of all replays of `whatif`."""
        verbs = ("info", "why", "whatif")
        seconds = {verb: [] for verb in verbs}
        for _ in range(repeats):
            for verb in verbs:
                seconds[verb].append(cpu_seconds([*self.one_core, self.assay, verb, path, "--threads", "1",
                                                  "--format", "json", "-o", os.devnull]))
        reading, why, whatif = (statistics.median(seconds[verb]) for verb in verbs)
        graph = why - reading
        summary = summary_of(self.assay, path)
        events = summary["rows"]["events"]
        return [path.name, f"{events:,}", f"{summary['tables']['activities']:,}", f"{reading:.2f}", f"{graph:.2f}",
                f"**{graph / reading:.2f}**", f"{graph / events * 1e6:.2f}", f"{whatif - why:.2f}"]

    def levers(self, path, repeats):
        """Processor time of what-if beyond reading: one edit, all levers, and thirty edits with their order; of these also
        how long one waits beyond one edit, in as many threads as there are cores."""
        thirty = [f"{edit}{digit}" for edit in ("faster_cpu=1.", "op:aten::*=0.", "kernel:*=0.") for digit in range(1, 10)]
        thirty += ["sync", "copies", "comm"]
        asked = {"info": [], "one": ["--edit", "sync"], "all": [], "thirty": [word for edit in thirty for word in ("--edit", edit)]}
        out = ["--format", "json", "-o", DATA / "whatif.json"]
        commands = {what: [self.assay, "info" if what == "info" else "whatif", path, *words, *out] for what, words in asked.items()}
        seconds, levers = {}, 0
        for what, command in commands.items():
            seconds[what] = statistics.median(cpu_seconds([*self.one_core, *command, "--threads", "1"]) for _ in range(repeats))
            if what == "all":
                levers = len(json.loads((DATA / "whatif.json").read_text())["whatif"]["actions"])
        walls = interleaved({what: commands[what] for what in ("one", "thirty")}, repeats)
        rows = summary_of(self.assay, path)
        return [path.name, f"{rows['rows']['events']:,}", f"{rows['tables']['activities']:,}",
                *(f"{seconds[what] - seconds['info']:.2f}" for what in ("one", "all", "thirty")),
                f"{walls['thirty'] - walls['one']:.2f}", str(levers)]

    def throughput(self, repeats):
        """Rows of (what, median processor seconds); predictions read a model file of the whole table."""
        model = DATA / "throughput_model.json"
        predict = [*self.one_core, self.assay, "throughput", "predict", model, "--format", "json", "-o", os.devnull]
        commands = {
            "fit 4,682 rows": [*self.one_core, self.assay, "throughput", "fit", TABLE, "-o", model],
            "read the model, 1 point": [*predict, "--at", "hw=H100,model=Llama-3-8B,fw=vLLM,n=1,bb=96,len=1024"],
            "read, 10,000 points of 1 configuration": [*predict, "--grid", ONE_CONFIGURATION],
            "read, 10,000 points of 100 measured configurations": [*predict, *measured_configurations()],
            "read, 10,000 points of 100 configurations, half of them never measured":
                [*predict, "--grid", MANY_CONFIGURATIONS],
            "read, 10,000 points of 100 configurations, none of them ever measured":
                [*predict, *unmeasured_configurations(100, BATCHES_AND_LENGTHS)],
            "read, 10,000 points of 1,000 configurations, none of them ever measured":
                [*predict, *unmeasured_configurations(1000, "bb=3:20,len=128:300:700:1024:2048")],
        }
        return [[what, f"{statistics.median(cpu_seconds(command) for _ in range(repeats)):.2f}"]
                for what, command in commands.items()]


def throughput_table(bench, repeats):
    table("assay throughput on LLM-Inference-Bench, one core", ["what", "user + system s"],
          bench.throughput(max(3, repeats // 2)))


def machine():
    model = "unknown processor"
    for line in open("/proc/cpuinfo", encoding="ascii", errors="replace"):
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return f"{model}, {len(os.sched_getaffinity(0))} cores, Linux {platform.release()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--throughput", action="store_true", help="only the part about assay throughput")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--assay", default=ROOT / "build/release/assay")
    parser.add_argument("--bench-dir", default=ROOT / "build/bench")
    options = parser.parse_args()
    bench = Bench(options)
    DATA.mkdir(parents=True, exist_ok=True)

    if options.throughput:
        throughput_table(bench, options.repeats)
        return
    base = inflate(BASE if BASE.exists() else FALLBACK, DATA / "base.json")
    sizes = [10, 100] if options.quick else [10, 100, 1000]
    plain = [make_trace(bench.maker, base, f"replicated_{n}MB.json", n * MB) for n in sizes]
    if LARGEST.exists():
        plain.append(inflate(LARGEST, DATA / "largest_real.json"))
    for path in plain:
        run_once(["cat", path])  # into the page cache

    print(f"{machine()}; medians of {options.repeats}, base {base.stat().st_size / MB:.1f} MB"
          f"{'' if BASE.exists() else ' (the example: the corpus is not here)'}")
    table("One core, plain JSON",
          ["trace", "MB", "events", "kernels linked", "assay launch MB/s", "bare pass MB/s",
           "ratio", "tokens only MB/s", "bare pass again MB/s", "M events/s", "RssAnon / byte", "2 threads"],
          [bench.speed(path) for path in plain])

    table("The least a Python tool does (parse, link, sum TKLQT) against Assay's whole analysis, one core",
          ["trace", "events", "Python s", "assay launch s", "assay report s", "launch ratio", "report ratio",
           "Python MB", "report MB"],
          [bench.python(path, 3) for path in plain[1:]])

    table("The dependency graph, one core: processor seconds beyond reading",
          ["trace", "events", "activities", "reading", "graph, causes, path", "of reading", "per million events",
           "replays of all levers"],
          [bench.flow(path, max(3, options.repeats // 2)) for path in plain[1:]])

    if TOLD.exists():
        told = inflate(TOLD, DATA / "told.json")
        table("Replays that are told, one core: processor seconds beyond reading",
              ["trace", "events", "activities", "one edit", "all levers", "30 edits in their order",
               "waited for 30 beyond one, all cores", "actions"],
              [bench.levers(make_trace(bench.maker, told, f"told_{n}MB.json", n * MB), 3) for n in sizes[1:]])

    packed = [(plain[1], pack(plain[1], DATA / "replicated_100MB.json.gz"))]
    if LARGEST.exists():
        packed.append((plain[-1], LARGEST))
    table("gzip: MB of JSON per second, on one core and with two threads",
          ["trace", "MB packed", "MB plain", "plain, 1", "gz, 1", "plain, 2", "gz, 2",
           "`gzip -dc`", "RssAnon / byte"],
          [bench.packed(*pair) for pair in packed])

    table("A second look: assay launch --cache, one core",
          ["trace", "MB", "kept MB", "without a cache, s", "first look, which keeps it, s", "second look, s",
           "without / second"],
          [bench.cached(path) for path in plain if path.stat().st_size >= 100 * MB])

    rows = []
    for steps in (10, 1000):
        path = make_trace(bench.maker, base, f"steps_{steps}_100MB.json", 100 * MB, steps)
        seconds = interleaved({"assay": bench.launch(path, 1)}, bench.repeats)["assay"]
        rows.append([f"{steps:,}", f"{path.stat().st_size / MB:.1f}", f"{seconds * 1000:.0f}",
                     f"{path.stat().st_size / MB / seconds:.0f}"])
    table("Iterations: the same 100 MB in 10 and in 1,000 ProfilerSteps",
          ["steps", "MB", "ms", "MB/s"], rows)

    if RANKS.exists():
        table("assay breakdown over a set of ranks, one thread",
              ["ranks", "MB plain", "whole MB/s", "reading MB/s", "placing and summing MB/s", "whole / reading"],
              bench.levels(options.repeats))
    if TABLE.exists():
        throughput_table(bench, options.repeats)


if __name__ == "__main__":
    main()
