#!/usr/bin/env python3
"""`assay report` over the ranks of a job: the sentences on the job come first, and memory is that of one rank.

Values of the job are compared with `assay breakdown`, which check_breakdown.py verifies. For the memory test one trace
is made long and used for eight ranks.
"""

import argparse
import collections
import gzip
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import datasets

RANKS = datasets.CORPUS / "kineto/multirank/megatron_tp8_a100"
TWO = datasets.CORPUS / "kineto/multirank/hta_sampled_128"  # two of 128 ranks, which only send and receive
COPIES = 8
SAME = ("gpus", "stragglers", "arrivals", "alignment", "clock_offsets")
problems = []


def expect(fact, what):
    if not fact:
        problems.append(what)


def output(assay, *arguments):
    return subprocess.run([assay, *map(str, arguments)], capture_output=True, timeout=600, check=True).stdout


def check_words(assay):
    report = json.loads(output(assay, "report", RANKS, "--format", "json"))
    levels = json.loads(output(assay, "breakdown", RANKS, "--format", "json"))
    for key in SAME:
        expect(report["breakdown"][key] == levels["breakdown"][key], f"{key} differs from that of levels")
    check_ratios(levels["breakdown"])
    begin = "No rank is later than the others, but their hosts stall now and then, and all wait"
    expect(report["headline"][0].startswith(begin), f"the verdict begins with {report['headline'][0]}")
    expect(any(text.startswith("Over 8 ranks ") for text in report["headline"]), "nothing on where the time went")
    expect(report["bottleneck"] == "collective_wait", f"the cause is {report['bottleneck']}")
    check_blame(report)
    expect(len(report["ranks"]) == 8, "eight ranks have a report each")
    for form in ("terminal", "md", "csv", "html"):
        text = output(assay, "report", RANKS, "--format", form, "--width", "200", "--full").decode()
        told = text.find(begin[:30])
        expect(0 <= told and "-bound" not in text[:told], f"{form} does not begin with the job")
    with tempfile.TemporaryDirectory() as name:
        other = pathlib.Path(name) / "again.json.gz"
        other.write_bytes((RANKS / "megatron_kineto_1.json.gz").read_bytes())
        twice = json.loads(output(assay, "report", RANKS / "megatron_kineto_1.json.gz", other, "--format", "json"))
    expect("breakdown" not in twice, "the same rank twice is no job")


def launching_us(path):
    """From the first to the last launch of a rank, less the calls that wait: the minimum time of its host."""
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    calls = [event for event in events if event.get("cat") in ("cuda_runtime", "cuda_driver")]
    launches = [event["ts"] for event in calls if "aunchKernel" in event["name"]]
    waits = sum(event["dur"] for event in calls if "ynchronize" in event["name"])
    return max(launches) - min(launches) - waits


def check_blame(report):
    """The run takes at least as long as the hosts of the other ranks need to launch. A replay of collectives alone
    would give 227 of 634 ms for ranks 0, 2 and 6, because it ignores stalls hidden by waiting."""
    blame = report["blame"]
    expect(blame["replay_mismatches"] == 0, f"{blame['replay_mismatches']} points are off the record")
    launching = {int(path.name.split("_")[-1].split(".")[0]): launching_us(path) for path in RANKS.glob("*.json.gz")}
    for found in blame["sets"]:
        others = [us for rank, us in launching.items() if str(rank) not in found["ranks"]]
        left_us = (blame["makespan_ns"] - found["gain_ns"]) / 1000
        if others:
            expect(left_us >= max(others), f"ranks {found['ranks']} save too much: {left_us:.0f} of {max(others):.0f} us")
    states = {row["cause"]: row["ns"] for row in report["causes"]}
    idle = sum(ns for state, ns in states.items() if state not in ("compute", "collective", "copy", "comm_wait", "transfer"))
    for key, total in (("comm_wait_ns", states["comm_wait"]), ("transfer_ns", states["transfer"]), ("idle_ns", idle)):
        expect(sum(row[key] for row in blame["ranks"]) == total, f"{key} of the ranks does not add up")


def check_ratios(levels):
    """Each GPU against the median of the others: over all its kernels, and in its slowest operation."""
    total = {gpu["gpu"]: gpu["dur_ns"] for gpu in levels["gpus"]}
    ops = collections.defaultdict(collections.Counter)
    for row in levels["rows"]:
        if row["op_type"] not in ("comm", "copy"):
            ops[row["op"]][row["gpu"]] += row["dur_ns"]
    for gpu in levels["gpus"]:
        own = gpu["gpu"]
        middle = statistics.median(dur for other, dur in total.items() if other != own)
        expect(math.isclose(gpu["compute_ratio"], total[own] / middle), f"GPU {own}: compute_ratio {gpu['compute_ratio']}")
        above = [durs[own] / statistics.median(dur for other, dur in durs.items() if other != own)
                 for durs in ops.values() if len(durs) > 1 and durs[own] >= 0.01 * total[own]]
        expect(math.isclose(gpu["slowest_op_ratio"], max(above)), f"GPU {own}: {gpu['slowest_op_ratio']}, not {max(above)}")


def every(node, key):
    """The objects anywhere in a document that have a key."""
    if isinstance(node, dict):
        if isinstance(node.get(key), str):
            yield node
        node = list(node.values())
    for inner in node if isinstance(node, list) else ():
        yield from every(inner, key)


def check_two(assay):
    """A straggler of two: 271,973 us of kernels against 210,320 us, without communication."""
    if not TWO.exists():
        return
    report = json.loads(output(assay, "report", TWO, "--format", "json"))
    words = " ".join(report["headline"])
    expect("GPU 1 computes longest, 1.29 times the other GPU; furthest above the other in " in words, f"two GPUs: {words}")
    # Its kernels are all called SendRecv. The operators of their launches are all-to-all, all-reduce and all-gather,
    # and the two ranks share none of them: they are in different groups of the 128 ranks.
    told = "No collective is matched over these ranks: who waits for whom is not known."
    expect(told in words, f"not matched: {words}")
    levels = json.loads(output(assay, "breakdown", TWO, "--format", "json"))
    expect(told in levels["headline"], f"levels does not say that nothing is matched: {levels['headline']}")
    kinds = {row["name"] for row in every(levels, "name") if row["name"] in ("all_to_all", "all_reduce", "all_gather", "send_recv")}
    expect(kinds == {"all_to_all", "all_reduce", "all_gather"}, f"kinds of the two ranks: {kinds}")
    check_ratios(levels["breakdown"])


def long_trace(path):
    """One rank repeated several times."""
    trace = json.loads(gzip.decompress((RANKS / "megatron_kineto_0.json.gz").read_bytes()))
    del trace["distributedInfo"]
    events = trace["traceEvents"]
    times = [event["ts"] for event in events if "ts" in event]
    stride = max(times) - min(times) + 10_000
    shifted = []
    for copy in range(COPIES):
        for event in events:
            event = dict(event, ts=event.get("ts", min(times)) + copy * stride)
            if "args" in event:
                event["args"] = {key: value + copy * 10_000_000 if key in ("correlation", "External id") else value
                                 for key, value in event["args"].items()}
            if "id" in event and isinstance(event["id"], int):
                event["id"] += copy * 10_000_000
            shifted.append(event)
    path.write_text(json.dumps(dict(trace, traceEvents=shifted)))


def peak_bytes(assay, *arguments):
    """Measured by the program itself, because wait4 includes the memory of the forking process."""
    done = subprocess.run([assay, *map(str, arguments), "--perf", "-o", os.devnull], capture_output=True, text=True,
                          timeout=600, check=True)
    return 1024 * int(re.findall(r"^perf write .* peak (\d+) kB", done.stderr, re.MULTILINE)[0])


def check_memory(assay, folder):
    trace = folder / "long.json"
    long_trace(trace)
    for rank in range(8):
        (folder / f"rank_{rank}.json").symlink_to(trace)
    ranks = sorted(folder.glob("rank_*.json"))
    for form in ("terminal", "html", "json"):
        two, eight = (peak_bytes(assay, "report", *ranks[:count], "--format", form) for count in (2, 8))
        # A rank keeps its graph and the data of the straggler analysis: a twelfth of the memory of reading. Two runs
        # differ by a tenth.
        expect(eight < 1.75 * two, f"{form}: eight ranks take {eight / 1e6:.0f} MB where two take {two / 1e6:.0f}")


def check_helper(assay, folder):
    """A trace without GPU activity and rank does not change the names of the ranks in its folder."""
    for rank in RANKS.glob("*.json.gz"):
        (folder / rank.name).symlink_to(rank)
    alone = json.loads(output(assay, "report", folder, "--format", "json"))
    helper = folder / "a_tokenizer.json"
    helper.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "tokenize", "pid": 7, "tid": 7, "ts": 1000.5 + 100 * i, "dur": 50,
         "args": {"External id": i + 1}} for i in range(50)]}))
    helped = json.loads(output(assay, "report", folder, "--format", "json"))
    expect(helped["blame"] == alone["blame"], "a helper's trace changes who is late")
    expect(helped["headline"][0] == alone["headline"][0], f"with a helper's trace: {helped['headline'][0]}")
    expect(any(text.startswith("a_tokenizer.json has no GPU work") for text in helped["headline"]),
           "the helper's file is not named")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=datasets.ROOT / "build/release/assay")
    assay = pathlib.Path(parser.parse_args().assay).resolve()
    if not RANKS.exists():
        print("the ranks of a job are not here")
        return 77
    check_words(assay)
    check_two(assay)
    with tempfile.TemporaryDirectory() as name:
        check_memory(assay, pathlib.Path(name))
    with tempfile.TemporaryDirectory() as name:
        check_helper(assay, pathlib.Path(name))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
