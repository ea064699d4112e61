#!/usr/bin/env python3
"""Writes docs/measured/job.md: which faults of made-up jobs `assay job` names, what it says that they cost against
the truth, what map and reduce take (bench/job.py), and the acceptance table. Some ten CPU-minutes.

    tools/measure_job.py --assay build/release/assay --model build/release/assay_job_model
                           [--make-trace build/bench/make_trace] [--write] [--quick] [--keep FOLDER [--only PART]]

With --keep each part's figures lie in FOLDER, and those that are there are not measured again.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import job as scale  # noqa: E402

PAGE = ROOT / "docs/measured/job.md"
NAMES = {"rank 77", "node n20", "pod p3's links", "rank 500"}
SIZES = (1024, 4_096, 16_384)
SEEDS = range(1, 6)
HEALTHY = 200
MIB = 2**20


class Measure:
    def __init__(self, assay, model):
        self.assay, self.model = assay, model

    def job(self, ranks, seed, *faults):
        """The answer of a made-up job, what its faults cost by the truth, CPU seconds and peak bytes."""
        with tempfile.TemporaryDirectory() as folder:
            made = subprocess.run([self.model, str(ranks), str(seed), folder, str(max(ranks // 103, 1)), *faults],
                                  capture_output=True, text=True, check=True)
            costs = {tuple(line.split()[:2]): int(line.split()[2]) for line in made.stdout.splitlines()[1:]}
            cpu_s, peak, text = scale.spent([self.assay, "job", "--summaries", folder, "--hosts", f"{folder}/hosts.tsv",
                                             "--format", "json"])
            return json.loads(text)["job"], costs, cpu_s, peak


def errors(fleet, costs):
    """Of each cost that is known by the truth: told, true."""
    rows = {row["name"]: row for row in fleet["worst"]}
    found = []
    for (kind, which), true in costs.items():
        row = rows.get(f"rank {which}" if kind == "rank" else f"node n{which}")
        if row:
            found.append((row["saved_alone_ns"], true))
    return found


def named_faults(measure, sizes, seeds):
    lines = ["| ranks | seeds | all five named | other names | cost of a row, worst error | CPU | peak |",
             "|---|---|---|---|---|---|---|"]
    figures = []
    for ranks in sizes:
        right, false, worst, cpus, peaks = 0, 0, 0, [], []
        for seed in seeds:
            fleet, costs, cpu_s, peak = measure.job(ranks, seed, *scale.FAULTS)
            names = {row["name"] for row in fleet["worst"]}
            right += NAMES <= names and fleet["clocks"]["fast_clocks"] == 1
            false += len(names - NAMES)
            worst = max([worst] + [abs(told - true) for told, true in errors(fleet, costs)])
            cpus.append(cpu_s)
            peaks.append(peak)
            print(f"{ranks} ranks, seed {seed}: {cpu_s:.1f} s", file=sys.stderr)
        figures.append((ranks, len(seeds), right, false, worst))
        lines.append(f"| {ranks:,} | {len(seeds)} | {right} | {false} | {worst / 1e6:.2f} ms | {min(cpus):.1f} to "
                     f"{max(cpus):.1f} s | {max(peaks) / MIB:,.0f} MiB |")
    return lines, figures


def single_faults(measure):
    lines = ["| job of 1,024 | seeds | named | other names |", "|---|---|---|---|"]
    cases = [(f"one GPU slower by {percent} %", (f"slow_gpu:77:{1 + percent / 100}",), {"rank 77"})
             for percent in (2, 2.5, 3, 5)]
    cases += [("a GPU held up for 5 ms at one place of each iteration", ("bursts:77:0.005",), {"rank 77"}),
              ("two slow GPUs in one node, 10 % and 9 %", ("slow_gpu:9:1.10", "slow_gpu:12:1.09"), {"rank 9", "rank 12"}),
              ("a GPU slower by 8 %, 5 % of all ranks absent", ("absent:1:0.05", "slow_gpu:77:1.08"), {"rank 77"}),
              ("a fault of 10 % that moves from node to node every five iterations", ("moving_node:5:1.10:5",),
               {"node n5", "node n6", "node n7", "node n8"}),
              ("a pod's links slower by 60 % for large transfers alone", ("slow_large:3:1.6",), {"pod p3's links"}),
              ("a GPU slower by 8 %, one record that ends half way", ("ends_early:17:0.5", "slow_gpu:77:1.08"), {"rank 77"})]
    for what, faults, names in cases:
        found, false = 0, 0
        for seed in range(1, 11):
            told = {row["name"] for row in measure.job(1024, seed, *faults)[0]["worst"]}
            found += names <= told
            false += len(told - names)
        lines.append(f"| {what} | 10 | {found} | {false} |")
    return lines


def ranges(measure, seeds=30):
    """How often the true cost lies in the range that is told where ranks are absent."""
    lines = ["| job of 1,024, a GPU slower by 8 %, absent | seeds | truth in the range | range / truth, in the middle |", "|---|---|---|---|"]
    for share in (0.01, 0.05, 0.2):
        held, told, widths = 0, 0, []
        for seed in range(201, 201 + seeds):
            # Every seed leaves out other ranks; rank 77 has to be there.
            fleet, costs, _, _ = measure.job(1024, seed, f"absent:{seed}:{share}", "slow_gpu:77:1.08")
            if "rank 77" not in {row["name"] for row in fleet["worst"]}:
                continue
            true = costs["rank", "77"]
            least, most = fleet["saved_at_least_ns"], fleet["saved_by_worst_ns"]
            told += 1
            held += least - 0.03 * true <= true <= most + 0.03 * true
            widths.append((most - least) / true)
        middle = sorted(widths)[len(widths) // 2] if widths else float("nan")
        lines.append(f"| {share * 100:g} % of all ranks | {told} | {held} | {middle:.2f} |")
    return lines


def healthy(measure):
    return sum(bool(measure.job(1024, seed)[0]["worst"]) for seed in range(1000, 1000 + HEALTHY))


def tests_run(build):
    """{test: Passed, Skipped, Failed} of the tests that prove rows of the table."""
    done = subprocess.run(["ctest", "--test-dir", build, "-R", r"^(golden/job|golden/job_tables|job/mpi|job/slurm|unit/job)$"],
                          capture_output=True, text=True)
    found = re.findall(r"Test +#\d+: (\S+) [.* ]*(\w+)", done.stdout)
    return {name: word for name, word in found}


def acceptance(figures, named_healthy, told, tests):
    rows = {row["ranks"]: row for row in told["reduce"]}
    last = told["reduce"][-1]
    by = lambda *names: ", ".join(f"`{name}`: {tests.get(name, 'not run').lower()}" for name in names)  # noqa: E731
    faults = "; ".join(f"{ranks:,}: {right} of {seeds}, {false} others, {worst / 1e6:.2f} ms" for ranks, seeds, right, false, worst in figures)
    few, many = rows.get(4_096), rows.get(16_384)
    growth = "not run" if not (few and many) else \
        f"CPU × {many['cpu_s'] / few['cpu_s']:.1f}; {many['peak'] / MIB:,.0f} MiB, of {(1_800 * 16_384 * scale.COLLECTIVES + 2**26) / MIB:,.0f} allowed"
    ready = "not opened" if last["ready_ms"] is None else f"opens in {last['ready_ms'] / 1000:.2f} s"
    one, large = told["map"], told["large"]
    efficiency = "not run" if one is None else f"{one['efficiency']:.2f}"
    return ["| # | check | aim | measured |", "|--:|---|---|---|",
            f"| 1 | one process, `mpirun`, Slurm steps and arrays | same bytes | {by('job/mpi', 'job/slurm')} |",
            f"| 2 | a task killed half way, run again | same bytes, at most 1 file read again a task | {by('golden/job', 'job/mpi')} |",
            f"| 3 | one rank cut, one empty, one missing | exit 0, each named | {by('golden/job', 'job/mpi')} |",
            f"| 4 | records of all public traces | at most 256 KiB, same bytes twice | {by('golden/job')} |",
            f"| 5 | five faults at once | all named, 0 false, within 3 % or 0.3 ms | {faults} |",
            f"| 6 | {HEALTHY} healthy jobs of 1,024 | names in at most 10 | {named_healthy} |",
            f"| 7 | clocks, 9 of 11 collectives in the node | at most 5 µs off | {by('unit/job')} |",
            f"| 8 | shifted sequence numbers | 9 matched, 2 unmatched | {by('unit/job')} |",
            f"| 9 | reduce, 4,096 to 16,384 ranks | CPU × 4.6; 1.8 kB a collective + 64 MiB | {growth} |",
            f"| 10 | page and data at {last['ranks']:,} ranks | 4 MiB, 8 MiB, opens | {last['page'] / MIB:.2f} MiB, "
            f"{last['json'] / MIB:.2f} MiB, {ready} |",
            f"| 11 | map, CPU of one over two processes | 0.93 | {efficiency} |",
            f"| 12 | map of a trace of 1 GB | 1.1 × `breakdown`; {large['bound'] / 1e6:.0f} MB | {large['ratio']:.2f} ×; "
            f"{large['anonymous'] / 1e6:.0f} MB |",
            f"| 13 | `mpirun assay job` without `assay-job` | exit 2, both ways out named | {by('job/mpi')} |"]


def kept(folder, name, make):
    """Figures of a part: those in the folder, else measured now, and put there."""
    file = folder / f"{name}.json" if folder else None
    if file and file.exists():
        return json.loads(file.read_text())
    made = json.loads(json.dumps(make()))
    if file:
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(made) + "\n")
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True, type=pathlib.Path)
    parser.add_argument("--model", required=True, type=pathlib.Path)
    parser.add_argument("--make-trace", default=ROOT / "build/bench/make_trace", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--quick", action="store_true", help="small jobs and few seeds, to try this script")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--only", help="measure this part and no other")
    arguments = parser.parse_args()
    arguments.pairs = 2 if arguments.quick else 7
    arguments.ranks = [1024, 4096] if arguments.quick else [1024, 4096, 16_384]
    measure = Measure(arguments.assay, arguments.model)
    parts = {"faults": lambda: named_faults(measure, SIZES[:1] if arguments.quick else SIZES, SEEDS),
             "singles": lambda: single_faults(measure), "ranges": lambda: ranges(measure, 5 if arguments.quick else 30),
             "healthy": lambda: healthy(measure), "scale": lambda: scale.measured(arguments),
             "tests": lambda: tests_run(arguments.assay.parent)}
    if arguments.only:
        kept(arguments.keep, arguments.only, parts[arguments.only])
        return
    made = {name: kept(arguments.keep, name, part) for name, part in parts.items()}
    (table, figures), told, tests = made["faults"], made["scale"], made["tests"]
    singles, covered, named_healthy = made["singles"], made["ranges"], made["healthy"]
    text = "\n".join([
        "# Job: faults found, and what map and reduce take", "",
        "Made by `tools/measure_job.py --assay build/release/assay --model build/release/assay_job_model --write` on",
        f"{told['machine']}, which others used as well: CPU seconds, not wall time. The jobs are made up",
        "(`tests/support/job_model.h`, which shares nothing with the reduce but the bytes of records): eight ranks a node,",
        "sixteen nodes a pod, 20 iterations of 11 collectives, kernels that vary by 1 %, clocks 2 ms apart and 5 ppm off.",
        "A real cluster has more kinds of variation; what is found there is not measured.", "",
        "## Five faults at once", "",
        "Rank 77 slower by 8 %, node 20 by 5 %, pod 3's links by half, rank 500 pausing 30 ms in every fifth iteration, and",
        "rank 300's clock 200 ppm fast, which is told and not blamed. The error is that of *saved alone* of ranks and nodes",
        "against the truth; the most that one of them costs is 112 ms.", "", *table, "",
        "## One fault, or none", "", *singles, "",
        f"Of {HEALTHY} healthy jobs of 1,024 ranks {named_healthy} had a name in any family.", "",
        "## What a range holds", "",
        "It is unknown how long others would wait for absent ranks, and the answer gives a range. The truth counts as in it up to",
        "3 % of itself beyond its ends; seeds that no other table uses, those of which rank 77 is there and named.", "", *covered, "",
        "## The map", "", *scale.map_text(told), "",
        "## The reduce", "",
        "Five faults at once, 220 collectives a rank. The bound is 1.8 kB of memory a collective and 64 MiB (a test).", "",
        *scale.reduce_text(told["reduce"]), "",
        "Real traces: the largest record of the public ones has 15 KiB. The public job of eight ranks",
        "(`megatron_tp8_a100`): `job` and `assay DIR` name no rank (a test).", "",
        "## 16,384 ranks of 200 MB on 64 nodes: an estimate", "", *scale.estimate_text(told), "",
        "## What was asked for", "", *acceptance(figures, named_healthy, told, tests), ""])
    if arguments.write:
        PAGE.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
