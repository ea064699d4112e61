#!/usr/bin/env python3
"""Writes docs/measured/fleet.md: which faults of made-up jobs `assay fleet` names, what it says that they cost against
the truth, and what the reduce takes. Five CPU-minutes.

    tools/measure_fleet.py --assay build/release/assay --model build/release/assay_fleet_model [--write]
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/measured/fleet.md"
FAULTS = ("slow_gpu:77:1.08", "slow_node:20:1.05", "slow_pod_links:3:1.5", "pauses:500:0.03:5", "fast_clock:300:200")
NAMES = {"rank 77", "node n20", "pod p3's links", "rank 500"}
SEEDS = {1024: 5, 16_384: 5, 102_400: 3}
HEALTHY = 200


# Of measurements by hand.
ESTIMATE = """
## 16,384 ranks of 200 MB on 64 nodes: an estimate

Nothing of that size was run. One trace of 259 MB of JSON (14 MB as gzip) takes `summarize` 0.6 CPU seconds and 122 MiB, as much
as `levels` takes for it. If cost goes with the bytes of JSON, traces shrink 15-fold as gzip, and the file system gives what is
asked for, 16,384 traces of 200 MB are 49 TB of JSON and 32 CPU hours: 30 minutes by 64 processes, one a node, two minutes by
1,024. Their 3.3 TB come off a file system of 100 GB/s in 33 s, so that it is the bound from some 3,500 cores on. The reduce adds the
seconds above for 220 collectives a rank; it grows with their number. `assay-fleet` waits for its last file: one trace of 3 GB of
JSON takes 7 s. Two cores show that processes share no cost, not how a cluster's file system behaves.
"""


class Measure:
    def __init__(self, assay, model):
        self.assay, self.model = assay, model

    def made(self, folder, ranks, seed, *faults):
        done = subprocess.run([self.model, str(ranks), str(seed), folder, str(max(ranks // 103, 1)), *faults],
                              capture_output=True, text=True, check=True)
        return {tuple(line.split()[:2]): int(line.split()[2]) for line in done.stdout.splitlines()[1:]}

    def fleet(self, folder, form="json"):
        """Output, CPU seconds, peak bytes."""
        with tempfile.TemporaryFile() as out:
            process = subprocess.Popen([self.assay, "fleet", "--from", folder, "--hosts", f"{folder}/hosts.tsv",
                                        "--format", form], stdout=out)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                sys.exit(f"assay fleet left with {process.returncode}")
            out.seek(0)
            return out.read(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024

    def job(self, ranks, seed, *faults):
        with tempfile.TemporaryDirectory() as folder:
            costs = self.made(folder, ranks, seed, *faults)
            text, cpu_s, peak = self.fleet(folder)
            return json.loads(text)["fleet"], costs, cpu_s, peak


def errors(fleet, costs):
    """Of each cost that is known by the truth: told, true."""
    rows = {row["name"]: row for row in fleet["worst"]}
    found = []
    for (kind, which), true in costs.items():
        row = rows.get(f"rank {which}" if kind == "rank" else f"node n{which}")
        if row:
            found.append((row["saved_alone_ns"], true))
    return found


def named_faults(measure):
    lines = ["| ranks | seeds | all five named | other names | cost of a row, worst error | CPU | peak |",
             "|---|---|---|---|---|---|---|"]
    costs_at = {}
    for ranks, seeds in SEEDS.items():
        right, false, worst, cpus, peaks = 0, 0, 0, [], []
        for seed in range(1, seeds + 1):
            fleet, costs, cpu_s, peak = measure.job(ranks, seed, *FAULTS)
            names = {row["name"] for row in fleet["worst"]}
            right += NAMES <= names and fleet["clocks"]["fast_clocks"] == 1
            false += len(names - NAMES)
            worst = max([worst] + [abs(told - true) for told, true in errors(fleet, costs)])
            cpus.append(cpu_s)
            peaks.append(peak)
            print(f"{ranks} ranks, seed {seed}: {cpu_s:.1f} s", file=sys.stderr)
        costs_at[ranks] = (min(cpus), max(peaks))
        lines.append(f"| {ranks:,} | {seeds} | {right} | {false} | {worst / 1e6:.2f} ms | {min(cpus):.1f} to "
                     f"{max(cpus):.1f} s | {max(peaks) / 2**20:,.0f} MiB |")
    return lines, costs_at


def single_faults(measure):
    lines = ["| job of 1,024 | seeds | named | other names |", "|---|---|---|---|"]
    cases = [(f"one GPU slower by {percent} %", (f"slow_gpu:77:{1 + percent / 100}",), {"rank 77"})
             for percent in (2, 2.5, 3, 5)]
    cases += [("a GPU held up for 5 ms at one place of each iteration", ("bursts:77:0.005",), {"rank 77"}),
              ("two slow GPUs in one node, 10 % and 9 %", ("slow_gpu:9:1.10", "slow_gpu:12:1.09"), {"rank 9", "rank 12"}),
              ("a GPU slower by 8 %, 5 % of all ranks absent", ("absent:1:0.05", "slow_gpu:77:1.08"), {"rank 77"})]
    for what, faults, names in cases:
        found, false = 0, 0
        for seed in range(1, 11):
            told = {row["name"] for row in measure.job(1024, seed, *faults)[0]["worst"]}
            found += names <= told
            false += len(told - names)
        lines.append(f"| {what} | 10 | {found} | {false} |")
    return lines


def healthy(measure):
    with_names = sum(bool(measure.job(1024, seed)[0]["worst"]) for seed in range(1000, 1000 + HEALTHY))
    return f"Of {HEALTHY} healthy jobs of 1,024 ranks {with_names} had a name in any family."


def sizes(measure, costs_at):
    cpu_s, peak = costs_at[16_384]
    with tempfile.TemporaryDirectory() as folder:
        measure.made(folder, 65_536, 1, *FAULTS)
        _, cpu_large, peak_large = measure.fleet(folder)
    visits = 220
    lines = [f"From 16,384 to 65,536 ranks CPU grows {cpu_large / cpu_s:.1f}-fold (a slope of "
             f"{math.log(cpu_large / cpu_s) / math.log(4):.2f} in log-log, linear is 1) and memory "
             f"{peak_large / peak:.1f}-fold: {peak_large / 2**20:,.0f} MiB, of which the records themselves are 176. Aimed at were",
             "4.6-fold, and 16 bytes a collective of a rank and 1 GiB: 1,244 MiB here, which holds; at 102,400 ranks it does not. While",
             "it matches, the reduce holds 24 bytes a visit rank by rank, and 16 more meeting by meeting.", ""]
    with tempfile.TemporaryDirectory() as folder:
        measure.made(folder, 102_400, 1, *FAULTS)
        stored = sum(file.stat().st_size for file in pathlib.Path(folder).glob("*.ranks"))
        page = len(measure.fleet(folder, "html")[0])
        data = len(measure.fleet(folder, "json")[0])
    lines += [f"At 102,400 ranks the records have {stored / 2**20:.0f} MiB ({stored / 102_400 / visits:.1f} bytes a "
              f"collective), the page {page / 2**10:,.0f} KiB, the JSON {data / 2**10:,.0f} KiB."]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    measure = Measure(arguments.assay, arguments.model)
    table, costs_at = named_faults(measure)
    text = "\n".join([
        "# Fleet: faults found, and what the reduce takes", "",
        "Made by `tools/measure_fleet.py --assay build/release/assay --model build/release/assay_fleet_model --write`, one",
        "process on a machine with two cores that others used as well: CPU seconds, not wall time. The jobs are made up",
        "(`tests/support/fleet_model.h`, which shares nothing with the reduce but the bytes of records): eight ranks a node,",
        "sixteen nodes a pod, 20 iterations of 11 collectives, kernels that vary by 1 %, clocks 2 ms apart and 5 ppm off.",
        "A real cluster has more kinds of variation; what is found there is not measured.", "",
        "## Five faults at once", "",
        "Rank 77 slower by 8 %, node 20 by 5 %, pod 3's links by half, rank 500 pausing 30 ms in every fifth iteration, and",
        "rank 300's clock 200 ppm fast, which is told and not blamed. The error is that of *saved alone* of ranks and nodes",
        "against the truth; the most that one of them costs is 112 ms.", "", *table, "",
        "## One fault, or none", "", *single_faults(measure), "", healthy(measure), "",
        "## Size", "", *sizes(measure, costs_at), "",
        "Real traces: the largest record of the 43 public ones has 15 KiB. The public job of eight ranks",
        "(`megatron_tp8_a100`): `fleet` and `assay DIR` name ranks 0 and 6 first; without all variation `fleet`'s replay",
        "takes 403 ms less, the dependency graph's 410 ms.", "", ESTIMATE.strip(), ""])
    if arguments.write:
        PAGE.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
