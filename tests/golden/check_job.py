#!/usr/bin/env python3
"""Rank summaries of real and of broken traces: sizes, reproducible bytes, named and counted faults. Then `assay job` on
a job
with known faults: its summaries in any order and in any files, after a killed process, and of a real job compared with
`assay DIR`.

    check_job.py --assay build/release/assay --model build/release/assay_job_model
"""

import argparse
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import datasets

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import sanitizers

MOST_BYTES = 256 * 1024


def records_of(data):
    """(path, bytes) of every record, from the headers only."""
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


FAULTS = ("slow_gpu:77:1.08", "slow_node:20:1.05", "slow_pod_links:3:1.5", "pauses:500:0.03:5", "fast_clock:300:200")
NAMES = {"rank 77", "node n20", "pod p3's links", "rank 500"}


def traces_of_a_job(folder, ranks=16, per_node=4, iterations=4, slow=(5,), factor=1.2):
    """Kineto traces of a job in which some GPUs have slower kernels; clocks differ by up to 2 ms. Per iteration every
    rank has four collectives with the ranks of its node and one with the ranks of its position on all nodes. Returns
    the length of the job in ns."""
    random_ = random.Random(7)
    offset = [random_.uniform(-2000, 2000) for _ in range(ranks)]
    now, events = [0.0] * ranks, [[] for _ in range(ranks)]
    steps = ["node"] * 4 + ["across"]

    def add(r, name, stream, start, length, correlation, **more):
        common = {"ph": "X", "ts": round(1e9 + start + offset[r], 3)}
        # The host launches a whole iteration at its start.
        launched = 1e9 + begin[r] + offset[r] + correlation % (2 * len(steps)) * 5
        events[r].append({**common, "ts": round(launched, 3), "cat": "cuda_runtime", "name": "cudaLaunchKernel",
                          "pid": 1, "tid": 1, "dur": 4.0, "args": {"correlation": correlation}})
        events[r].append({**common, "cat": "kernel", "name": name, "pid": 0, "tid": stream, "dur": round(length, 3),
                          "args": {"device": 0, "stream": stream, "correlation": correlation, **more}})

    correlation = 2 * len(steps) - 2
    for iteration in range(iterations):
        begin = [end + 12 for end in now]
        for kind in steps:
            correlation += 2
            work = [2000 * random_.gauss(1, 0.005) * (factor if r in slow else 1) for r in range(ranks)]
            for r in range(ranks):
                add(r, "gemm", 7, now[r] + 20, work[r] - 20, correlation)
            group = [f"{kind}{r // per_node if kind == 'node' else r % per_node}" for r in range(ranks)]
            for r in range(ranks):
                members = [m for m in range(ranks) if group[m] == group[r]]
                end = max(now[m] + work[m] for m in members) + 300
                add(r, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 7, now[r] + work[r], end - now[r] - work[r],
                    correlation + 1, **{"Collective name": "allreduce", "Process Group Name": group[r],
                                        "Group size": len(members), "Process Group Ranks": str(members)})
            ends = [max(now[m] + work[m] for m in range(ranks) if group[m] == group[r]) + 300 for r in range(ranks)]
            now = ends
        for r in range(ranks):
            events[r].append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{iteration}", "pid": 1, "tid": 1,
                              "ts": round(1e9 + begin[r] + offset[r] - 1, 3), "dur": round(now[r] + 11 - begin[r], 3)})
            # It waits for the end of the iteration.
            events[r].append({"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "pid": 1, "tid": 1,
                              "ts": round(1e9 + begin[r] + offset[r] + 60, 3), "dur": round(now[r] - begin[r] - 53, 3),
                              "args": {"correlation": 100_000 + iteration}})
    folder.mkdir()
    for r in range(ranks):
        (folder / f"rank{r}.json").write_text(json.dumps({
            "schemaVersion": 1, "deviceProperties": [{"id": d, "name": "model"} for d in range(per_node)],
            "distributedInfo": {"backend": "nccl", "rank": r, "world_size": ranks}, "traceEvents": events[r]}))
    return max(now) * 1000


class Checks:
    def __init__(self, assay, model, folder):
        self.assay, self.model, self.folder, self.problems = assay, model, pathlib.Path(folder), []

    def run(self, *arguments, **environment):
        return subprocess.run([self.assay, *map(str, arguments)], capture_output=True, text=True,
                              env={**os.environ, **environment})

    def expect(self, what, holds, done=None):
        if not holds:
            tail = f": exit code {done.returncode}, {(done.stdout + done.stderr).strip()[:600]}" if done else ""
            self.problems.append(what + tail)

    def summarize(self, name, *arguments, **environment):
        done = self.run("summarize", *arguments, "-o", self.folder / name, **environment)
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
        done = self.run("summarize", f"@{listed}", "-o", self.folder / "strict", "--strict")
        self.expect("--strict leaves with 3", done.returncode == 3, done)
        done = self.run("summarize", empty, "-o", self.folder / "none")
        self.expect("nothing readable is an error", done.returncode == 2, done)
        done = self.run("summarize", good, "-o", self.folder / "none", "--shard", "auto")
        self.expect("--shard auto without a launcher is an error", done.returncode == 2, done)

    # ---- assay job ----

    def made(self, name, ranks, files, *faults, seed=1):
        """A folder of rank summaries, and the true cost of the faults."""
        done = subprocess.run([self.model, str(ranks), str(seed), str(self.folder / name), str(files), *faults],
                              capture_output=True, text=True, check=True)
        costs = {tuple(line.split()[:2]): int(line.split()[2]) for line in done.stdout.splitlines()[1:]}
        return self.folder / name, costs

    def fleet(self, folder, *more, form="json"):
        return self.run("job", "--summaries", folder, "--format", form, *more)

    def known_faults(self):
        folder, costs = self.made("model", 1024, 5, *FAULTS)
        hosts = ("--hosts", folder / "hosts.tsv")
        done = self.fleet(folder, *hosts)
        fleet = json.loads(done.stdout)["job"]
        rows = {row["name"]: row for row in fleet["worst"]}
        self.expect("every fault is named and nothing else", set(rows) == NAMES, done)
        for (kind, which), cost in costs.items():
            told = rows[f"rank {which}" if kind == "rank" else f"node n{which}"]["saved_alone_ns"]
            self.expect(f"{kind} {which}: {told} saved, {cost} by the truth", abs(told - cost) <= max(0.03 * cost, 3e5))
        self.expect("no row saves more than all", all(row["saved_ns"] <= fleet["saved_by_worst_ns"] for row in rows.values()))
        self.expect("the fast clock is told and not blamed", fleet["clocks"]["fast_clocks"] == 1)
        short = self.fleet(folder, *hosts, form="terminal").stdout.splitlines()
        self.expect("15 lines of 80 columns", len(short) <= 15 and max(map(len, short)) <= 80)
        heat = [bytes.fromhex(row["heat_cells"]) for row in fleet["heat_rows"]]
        self.expect("the map is 512 x 256 at most", len(heat) <= 512 and max(map(len, heat)) <= 256)
        slow = next(row for row in fleet["heat_rows"] if row["heat_row"] == "node n62")  # of rank 500
        self.expect("a pause is seen in its node's row", max(bytes.fromhex(slow["heat_cells"])) > 130)
        page = self.fleet(folder, *hosts, form="html").stdout
        self.expect("page and data stay small", len(page) <= 4 << 20 and len(done.stdout) <= 8 << 20)
        return folder, done.stdout

    def hard_jobs(self):
        """Jobs with two faults, moving faults, and summaries with missing or impossible values."""
        def told(name, ranks, *faults, hosts=True):
            folder, costs = self.made(name, ranks, 4, *faults, seed=3)
            done = self.fleet(folder, *(("--hosts", folder / "hosts.tsv") if hosts else ()))
            document = json.loads(done.stdout)
            shutil.rmtree(folder)
            return document["job"], " ".join(document["headline"]), document["summary"]["confidence"]["text"], costs

        fleet, words, _, _ = told("slow_and_pausing", 256, "slow_gpu:9:1.10", "pauses:9:0.02:4")
        self.expect(f"a slow rank that pauses as well is said to be both: {words}",
                    [(row["name"], row["kind"]) for row in fleet["worst"]] == [("rank 9", "pauses"), ("rank 9", "rank")] and
                    fleet["worst"][0]["paused_iterations"] == 5)
        fleet, words, _, _ = told("moving", 512, "moving_node:5:1.10:5")
        self.expect(f"a fault that moves from node to node: {words}",
                    sorted((row["name"], row["kind"]) for row in fleet["worst"]) == [(f"node n{5 + k}", "set") for k in range(4)])
        fleet, words, _, _ = told("slow_large", 2048, "slow_large:3:1.6")
        self.expect(f"links that are slow for large transfers alone: {words}", [row["name"] for row in fleet["worst"]] ==
                    ["pod p3's links"])
        fleet, words, _, _ = told("slow_all", 2048, "slow_pod_links:3:1.5")
        self.expect(f"and for all: {words}", [row["name"] for row in fleet["worst"]] == ["pod p3's links"])
        fleet, words, _, costs = told("ends_early", 256, "ends_early:17:0.5", "slow_gpu:100:1.08")
        self.expect(f"a record that ends early is told: {words}", "Rank 17 has 10 of the others' 20 iterations" in words and
                    fleet["matching"]["short_ranks"] == 1 and [row["name"] for row in fleet["worst"]] == ["rank 100"])
        for name, fault, absent in (("gap", "absent_run:100:1:9", 9), ("world_once", "world_told_once:320:1", 1)):
            fleet, words, _, costs = told(name, 256, fault, "slow_gpu:20:1.08")
            least, most = fleet["saved_at_least_ns"], fleet["saved_by_worst_ns"]
            true = costs["rank", "20"]
            self.expect(f"{name}: {true} ns by the truth, between {least} and {most}: {words}", least < 0.8 * true and
                        0.99 * true < most < 1.2 * true and " to " in words and "savings are a range" in words and
                        "up to" in words and fleet["missing_ranks"] == absent)
        self.expect(f"one rank has, not have: {words}", "1 of 256 ranks has no record: 0;" in words)
        fleet, words, _, _ = told("world_small", 256, "world_told:128:1", "slow_gpu:20:1.08")
        self.expect(f"more ranks than the traces tell of: {words}", "The traces state 128 ranks, but rank numbers go up to 255" in words
                    and fleet["missing_ranks"] == 0 and fleet["matching"]["beyond_world"] == 128)
        for fault, sentence in (("same_host:0:1", "all ranks state one host"), ("host_per_rank:0:1", "each rank states another host")):
            fleet, _, reason, _ = told("hosts", 64, fault, "slow_gpu:20:1.08", hosts=False)
            self.expect(f"{fault}: {reason}", sentence in reason and "--hosts FILE" in reason and fleet["nodes_from"] == "none")
        fleet, words, reason, _ = told("clocks", 64, "fast_clock:17:200", "fast_clock:18:-200", "fast_clock:30:150")
        self.expect(f"three clocks that run off blame nobody: {words}", fleet["worst"] == [] and "3 clocks run off" in reason)

    def memory(self):
        """1.8 kB a collective and rank, and 64 MiB: docs/job.md. Of 2,048 ranks of 220."""
        if sanitizers.built_with(self.assay):  # Sanitizers keep freed memory.
            return
        folder, _ = self.made("large", 2_048, 20)
        process = subprocess.Popen([self.assay, "job", "--summaries", folder], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        bound = 1_800 * 2_048 * 220 + (64 << 20)
        self.expect(f"the reduce of 2,048 ranks takes {usage.ru_maxrss} KiB, at most {bound >> 10}",
                    process.returncode == 0 and usage.ru_maxrss * 1024 <= bound)
        shutil.rmtree(folder)

    def any_order(self, folder, told):
        """The answer has the same bytes for any distribution of the records over files."""
        records = [one for file in folder.glob("*.ranks") for one in records_of(file.read_bytes())]
        for seed in (1, 2):
            random.Random(seed).shuffle(records)
            turned = self.folder / f"turned{seed}"
            turned.mkdir()
            step = 300 * seed
            for at in range(0, len(records), step):
                (turned / f"{at}.ranks").write_bytes(b"".join(data for _, data in records[at:at + step]))
            done = self.fleet(turned, "--hosts", folder / "hosts.tsv")
            self.expect("records in another order and in other files say the same", done.stdout == told, done)

    def damaged(self, folder):
        damaged = self.folder / "damaged"
        damaged.mkdir()
        files = sorted(folder.glob("*.ranks"))
        data = bytearray(files[0].read_bytes())
        data[40_000] ^= 1
        (damaged / "a.ranks").write_bytes(data)
        for file in files[1:-1]:
            shutil.copy(file, damaged)
        (damaged / "z.ranks").write_bytes(files[-1].read_bytes()[:-100])
        done = self.fleet(damaged)
        document = json.loads(done.stdout)
        fleet = document["job"]
        self.expect("two records are damaged", fleet["unused_records"] == 2 and fleet["missing_ranks"] == 2, done)
        self.expect("each is named by its file and byte",
                    {row["what"].split(":")[0] for row in fleet["unused"]} == {"a.ranks", "z.ranks"}, done)
        self.expect("the verdict tells the missing ranks", "2 of 1,024 ranks have no record" in " ".join(document["headline"]), done)
        self.expect("--strict leaves with 3", self.fleet(damaged, "--strict").returncode == 3)
        few = self.folder / "few"
        few.mkdir()
        shutil.copy(files[0], few)
        done = self.fleet(few, "--min-ranks", "0.5")
        self.expect("fewer ranks than asked for: no diagnosis",
                    "no diagnosis" in json.loads(done.stdout)["headline"][0], done)
        confidence = json.loads(self.fleet(few).stdout)["summary"]["confidence"]
        self.expect("few ranks: low confidence",
                    confidence["grade"] == "low" and "of 1,024 ranks are here" in confidence["text"], confidence)
        (few / "bad.ranks").write_bytes(b"no record")
        self.expect("no record at all is an error", self.fleet(few / "bad.ranks").returncode == 2)
        self.expect("a folder without records is an error", self.fleet(self.folder / "job").returncode == 2)
        (few / "hosts").write_text("0 n0\nno table")
        done = self.fleet(few, "--hosts", few / "hosts")
        self.expect("a list of hosts that is none is refused by its line", done.returncode == 2 and "line 2" in done.stderr, done)

    def killed(self):
        """A process that is killed midway, and run again."""
        files = self.traces()
        listed = self.folder / "again"
        listed.write_text("".join(f"{file}\n" for file in files))
        out = self.folder / "killed"
        process = subprocess.Popen([self.assay, "summarize", f"@{listed}", "-o", out], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        while process.poll() is None and sum(file.stat().st_size for file in out.glob("*.ranks")) < 40_000:
            time.sleep(0.001)
        process.kill()
        process.wait()
        before = sum(len(records_of(file.read_bytes())) for file in out.glob("*.ranks"))
        self.expect("it was killed before its end", 0 < before < len(files))
        done = self.run("summarize", f"@{listed}", "-o", out, "--resume")
        self.expect("the rest is read", f"{before} had a record already" in done.stdout, done)
        whole = self.fleet(self.folder / "first")
        again = self.fleet(out)
        self.expect("and says the same", whole.returncode == 0 and whole.stdout == again.stdout, again)

    def several_tasks(self):
        for environment in ({"OMPI_COMM_WORLD_SIZE": "4"}, {"PMI_SIZE": "4"},
                            {"SLURM_NTASKS": "4", "SLURM_STEP_ID": "0", "SLURM_PROCID": "1"}):
            done = self.run("job", "--summaries", self.folder / "model", **environment)
            self.expect(f"one of several tasks is refused, with what to do: {environment}",
                        done.returncode == 2 and "--shard auto" in done.stderr and "--summaries" in done.stderr, done)
        done = self.run("job", "--summaries", self.folder / "model", SLURM_NTASKS="4")
        self.expect("a batch script is no step", done.returncode == 0, done)

    def made_traces(self):
        """From traces to the answer, compared with `assay DIR`."""
        true = traces_of_a_job(self.folder / "made") - traces_of_a_job(self.folder / "fine", factor=1)
        done = self.run("job", self.folder / "made", "--format", "json")
        fleet = json.loads(done.stdout)["job"]
        self.expect("the slow GPU is named and nothing else", [row["name"] for row in fleet["worst"]] == ["rank 5"], done)
        self.expect("nodes are a guess from the devices", fleet["nodes_from"] == "guess", done)
        self.expect("its kernels take longer", fleet["worst"][0]["kernel_excess_ns"] > 0 == fleet["worst"][0]["other_excess_ns"], done)
        self.expect("clocks 2 ms apart are brought together", fleet["clocks"]["residual_max_ns"] < 1000, done)
        blame = json.loads(self.run("report", self.folder / "made", "--format", "json").stdout)["blame"]
        late = blame["sets"][0]
        self.expect(f"the report names the same: {late['ranks']}", [int(rank) for rank in late["ranks"]] == [5])
        saved = fleet["worst"][0]["saved_ns"]
        self.expect(f"its cost: {saved} ns, {true} by the truth", abs(saved - true) < 0.01 * true)
        self.expect(f"and {late['gain_ns']} by the dependency graph", abs(saved - late["gain_ns"]) < 0.2 * saved)
        fine = json.loads(self.run("job", self.folder / "fine", "--format", "json").stdout)["job"]
        self.expect("without it nobody is named", fine["worst"] == [])
        (self.folder / "made/rank9.json").write_bytes(b"")
        (self.folder / "made/rank3.json").unlink()
        done = self.run("job", self.folder / "made", "--format", "json")
        document = json.loads(done.stdout)
        self.expect("one empty and one missing rank change no name",
                    [row["name"] for row in document["job"]["worst"]] == ["rank 5"], done)
        told = " ".join(document["headline"])
        self.expect("both are told, with the reason", "2 of 16 ranks have no record: 3, 9" in told and "rank9.json" in told, done)

    def one_truth(self):
        """The summaries and the whole dependency graphs name the same ranks and match the same collectives."""
        sets = {name: datasets.CORPUS / name for name in ("kineto/multirank/megatron_tp8_a100", "kineto/multirank/hta_sampled_128",
                                                          "odd/missing_rank") if (datasets.CORPUS / name).is_dir()}
        for ranks, per_node, slow, factor in ((16, 4, (5,), 1.05), (16, 4, (5,), 1.02), (16, 8, (9,), 1.1), (8, 8, (3,), 1.1),
                                              (4, 4, (2,), 1.2), (32, 8, (17,), 1.1), (16, 4, (5, 10), 1.2), (16, 4, (), 1)):
            folder = self.folder / f"one_truth_{ranks}_{per_node}_{len(slow)}_{factor}"
            traces_of_a_job(folder, ranks=ranks, per_node=per_node, slow=slow, factor=factor)
            sets[folder.name] = folder
        for name, folder in sets.items():
            report = json.loads(self.run("report", folder, "--format", "json").stdout)
            done = self.run("job", folder, "--format", "json")
            fleet = json.loads(done.stdout)["job"]
            verdict = " ".join(report["summary"]["headline"])
            told = re.match(r"Ranks? ([\d, and]+?) (?:is|are|makes?) (?:late|the others)", verdict)
            late = set(map(int, re.findall(r"\d+", told.group(1)))) if told else set()
            named = [int(row["ranks"][0]) for row in fleet["worst"] if row["kind"] in ("rank", "pauses")]
            if fleet["matching"]["too_few_peers"] == 0:
                self.expect(f"{name}: the report has {late} late, fleet {named}", set(named[:len(late)]) == late and
                            (late or not named), done)
            else:
                self.expect(f"{name}: too few for fleet, which sends on to the report", not named and
                            (fleet["matching"]["matched"] == 0 or "assay DIR" in json.loads(done.stdout)["headline"][0]), done)
            trust = re.search(r"(\d+) of (\d+) collectives matched", report["summary"]["confidence"]["text"])
            told = int(trust.group(1)) if trust else 0
            self.expect(f"{name}: {told} collectives matched, {fleet['matching']['matched']} by fleet",
                        told == fleet["matching"]["matched"], done)

    def real_job(self):
        job = datasets.CORPUS / "kineto/multirank/megatron_tp8_a100"
        if not job.is_dir():
            print(datasets.NO_CORPUS)
            return
        kept = self.folder / "kept"
        done = self.run("job", job, "--summary-dir", kept, "--format", "json")
        fleet = json.loads(done.stdout)["job"]
        again = self.fleet(kept)
        self.expect("traces and their records say the same", done.stdout == again.stdout, again)
        late = json.loads(self.run("report", job, "--format", "json").stdout)["blame"]
        # The hosts of all ranks stall: no straggler is named.
        self.expect("job names nobody", fleet["worst"] == [], done)
        saved = fleet["saved_by_worst_ns"] + fleet["saved_by_rest_ns"]
        common = late["jitter_gain_ns"]
        self.expect(f"without variation: {saved} ns saved, {common} by the dependency graph", saved == common)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    parser.add_argument("--model", required=True)
    arguments = parser.parse_args()
    for name in list(os.environ):
        if name.startswith(("SLURM_", "OMPI_", "PMI_", "JOB_COMPLETION")):
            del os.environ[name]
    with tempfile.TemporaryDirectory() as folder:
        checks = Checks(arguments.assay, arguments.model, folder)
        checks.every_trace()
        checks.broken_traces()
        checks.any_order(*(known := checks.known_faults()))
        checks.damaged(known[0])
        checks.hard_jobs()
        checks.memory()
        checks.killed()
        checks.several_tasks()
        checks.made_traces()
        checks.one_truth()
        checks.real_job()
    for problem in checks.problems:
        print(problem, file=sys.stderr)
    if checks.problems:
        return 1
    print("fleet: fine, the largest record has {} bytes ({})".format(*checks.largest))
    return 0


if __name__ == "__main__":
    sys.exit(main())
