#!/usr/bin/env python3
"""Checks the diagnoses of `assay diff` on generated runs with a known difference.

    check_diff_verdicts.py --assay build/release/assay

One slow rank of eight is named, not the collective that the others wait in. One outlier step is no change. A loader
that takes 28 ms less is reported despite a step of 600 ms. Pairs of the same program show no change, and pairs show a
change that differences between machines hide; each with its opposite. A rank missing on one side is not waiting, a
drift is no change, a whole trace is no iteration.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile


SEEDS = 40
MOST_TOLD = 5  # at 5 %, more occur by chance in 1.4 of 100 cases


def event(cat, name, start, dur, tid, pid=100, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": start / 1000, "dur": dur / 1000, "args": args}


def trace(steps, rank=None, world=8):
    """A trace of steps, each (ns before the kernel, ns of the kernel, end of the collective or None), by ns of begins:
    [(begin, wait, kernel, collective end), ...]."""
    events, correlation = [], 0
    for number, (begin, wait, kernel, end, until) in enumerate(steps):
        events.append(event("user_annotation", f"ProfilerStep#{number}", begin, until - begin, 1))
        events.append(event("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", begin + 1000,
                            wait, 1))
        at = begin + 2000 + wait
        correlation += 1
        events.append(event("cpu_op", "aten::mm", at, 9000, 1))
        events.append(event("cuda_runtime", "cudaLaunchKernel", at + 2000, 4000, 1, correlation=correlation))
        events.append(event("kernel", "ampere_sgemm_128x64_nn", at + 10000, kernel, 7, 0, device=0, stream=7,
                            correlation=correlation))
        if end is None:
            continue
        correlation += 1
        events.append(event("cpu_op", "c10d::allreduce_", at + 12000, 9000, 1))
        events.append(event("cuda_runtime", "cudaLaunchKernel", at + 14000, 4000, 1, correlation=correlation))
        start = at + 12000 + kernel
        events.append(event("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)", start, end - start, 20,
                            0, device=0, stream=20, correlation=correlation, Seq=number,
                            **{"Collective name": "allreduce", "In msg nelems": 4096, "Out msg nelems": 4096,
                               "Group size": world, "dtype": "BFloat16", "Process Group Name": "0",
                               "Process Group Ranks": str(list(range(world)))}))
    head = {"schemaVersion": 1, "baseTimeNanoseconds": 0, "traceEvents": events}
    if rank is not None:
        head["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": world}
    return json.dumps(head)


def single(lengths):
    """A run of one GPU: the length of each step in ms, most of it the loader."""
    steps, at = [], 1_000_000
    for ms in lengths:
        length = round(ms * 1e6)
        steps.append((at, length - 1_100_000, 1_000_000, None, at + length))
        at += length
    return trace(steps)


def job(folder, slow, by_ns, seed, steps=12, world=8):
    """Ranks whose step ends together, with the collective; rank `slow` computes by_ns longer."""
    rng = random.Random(seed)
    folder.mkdir()
    own = [[2_000_000 + rng.randint(-20_000, 20_000) + (by_ns if rank == slow else 0) for _ in range(steps)]
           for rank in range(world)]
    begins, at = [], 1_000_000
    for step in range(steps):
        begins.append(at)
        at += max(own[rank][step] for rank in range(world)) + 400_000
    for rank in range(world):
        rows = []
        for step, begin in enumerate(begins):
            until = begins[step + 1] if step + 1 < steps else at
            rows.append((begin, 20_000, own[rank][step], until - 20_000, until))
        (folder / f"rank{rank}.json").write_text(trace(rows, rank, world))


def document(assay, *arguments):
    done = subprocess.run([assay, "diff", *map(str, arguments), "--format", "json", "-o", "-"], capture_output=True,
                          text=True, timeout=300)
    if done.returncode != 0:
        raise SystemExit(f"diff {arguments}: {done.stderr}")
    return json.loads(done.stdout)


def verdict(assay, *arguments):
    return document(assay, *arguments)["headline"]


def write(folder, name, text):
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text)
    return path


def check(problems, what, holds, words):
    if not holds:
        problems.append(f"{what}: " + " ".join(words[:3]))


def check_jobs(assay, folder, problems):
    job(folder / "even", None, 0, 1)
    job(folder / "again", None, 0, 2)
    job(folder / "slow", 5, 412_000, 3)
    words = verdict(assay, folder / "even", folder / "slow")
    said = " ".join(words)
    check(problems, "the slow rank is not named", "Rank 5 takes 41" in said and "longer per iteration by itself" in said, words)
    check(problems, "the wait stands as a collective's", "AllReduce" not in said.split("Rank 5")[0], words)
    words = verdict(assay, folder / "slow", folder / "even")
    check(problems, "the rank that was mended is not named", "Rank 5 takes 41" in " ".join(words), words)
    words = verdict(assay, folder / "even", folder / "again")
    check(problems, "a rank is named where none changed", "by itself" not in " ".join(words), words)
    check(problems, "a job against itself changed", words[0].startswith("No significant change"), words)
    check(problems, "noise has sources", "come from" not in " ".join(words), words)
    (folder / "again" / "rank7.json").unlink()
    made = document(assay, folder / "even", folder / "again")
    check(problems, "waiting is told apart where a rank is missing",
          "waiting for other ranks" not in [row["a_name"] for row in made["diff"]["parts"]], made["headline"])
    check(problems, "the missing rank is not told", "the first that one side lacks is rank 7" in " ".join(made["headline"]),
          made["headline"])


def check_basis(assay, folder, problems):
    """Each comparison is named correctly: a whole trace is no iteration, an autocorrelated series is not certain, an
    end is no additional activity."""
    rng = random.Random(5)
    labelled = single(steps_of(rng, 150.6))
    run = write(folder, "run.json", labelled)
    bare = json.loads(labelled)
    bare["traceEvents"] = [e for e in bare["traceEvents"] if not e["name"].startswith("ProfilerStep")]
    bare = write(folder, "bare.json", json.dumps(bare))
    words = verdict(assay, run, bare)
    check(problems, "a whole trace is an iteration", "iteration" not in words[0] and "1 whole trace a side" in words[0], words)
    made = document(assay, run, write(folder, "other.json", single(steps_of(rng, 150.6))))
    names = [row["a_name"] for row in made["diff"]["parts"]]
    check(problems, "the end of a trace is other work", "idle: after the last work" in names and "other device work" not in names,
          made["headline"])
    drifting = write(folder, "drifting.json", single([150.6 + 0.4 * i + rng.uniform(-1.5, 1.5) for i in range(16)]))
    made = document(assay, run, drifting, "--fail-on", "time>+1%")
    sides = made["diff"]["sides"]
    check(problems, "a drift is a change", made["headline"][0].startswith("Too few independent iterations: B is "),
          made["headline"])
    faster = write(folder, "faster.json", single([10, 10, 11, 75, 60, 12]))
    few = write(folder, "few.json", single([150.6 + rng.uniform(-1.5, 1.5) for _ in range(6)]))
    uneven = document(assay, few, faster)
    check(problems, "iterations that do not overlap show no direction", uneven["headline"][0].startswith("B is ")
          and uneven["headline"][1].startswith("Every iteration of B (") and uneven["diff"]["sides"]["apart"]
          and uneven["diff"]["sides"]["low95_ns"] >= -1.1 * uneven["diff"]["sides"]["a_time_ns"], uneven["headline"])
    check(problems, "its gate says otherwise", [row["outcome"] for row in made["diff"]["gates"]] == ["within_noise"]
          and sides.get("too_few_independent") and 1 <= sides["b_independent"] < 4, made["headline"])


def steps_of(rng, middle, count=16, far=None):
    lengths = [middle + rng.uniform(-1.5, 1.5) for _ in range(count)]
    if far is not None:
        lengths[far] = 600
    return lengths


def check_steps(assay, folder, problems):
    rng = random.Random(7)
    before = write(folder, "before.json", single(steps_of(rng, 150.6)))
    mended = write(folder, "mended.json", single(steps_of(rng, 122.5)))
    mended_far = write(folder, "mended_far.json", single(steps_of(rng, 122.5, far=4)))
    told = 0
    for seed in range(SEEDS):
        draws = random.Random(100 + seed)
        plain = write(folder, "plain.json", single(steps_of(draws, 150.6)))
        outlier = write(folder, "outlier.json", single(steps_of(draws, 150.6, far=seed % 16)))
        words = verdict(assay, plain, outlier)
        told += not words[0].startswith(("No significant change", "Too noisy for a conclusion"))
    if told > MOST_TOLD:
        problems.append(f"one far step is a change in {told} of {SEEDS} runs")
    words = verdict(assay, before, mended)
    check(problems, "the loader's gain", words[0].startswith("B is 18.") and "idle: data loading" in " ".join(words), words)
    words = verdict(assay, before, mended_far)
    check(problems, "the loader's gain beside a far step", words[0].startswith("The typical iteration is 18."), words)


def check_pairs(assay, folder, problems):
    rng = random.Random(11)
    for name in ("a", "same", "slower"):
        (folder / name).mkdir()
    for pair in range(8):
        machine = 100 * (1 + 0.05 * (pair - 3.5) / 3.5)
        for name, factor in (("a", 1), ("same", 1), ("slower", 1.02)):
            own = machine * factor * (1 + 0.001 * rng.gauss(0, 1))
            write(folder / name, f"run{pair}.json", single([own + rng.uniform(-0.1, 0.1) for _ in range(6)]))
    a = folder / "a"
    words = verdict(assay, a, folder / "same", "--paired")
    check(problems, "pairs of the same program", words[0].startswith("No significant change") and "8 pairs of runs" in words[0],
          words)
    check(problems, "the least change is not told", "With these pairs a change of the mean under about" in words[1], words)
    words = verdict(assay, a, folder / "slower", "--paired")
    check(problems, "pairs of a slower program", words[0].startswith("B is 2.") or words[0].startswith("B is 1.9"), words)
    words = verdict(assay, a, folder / "slower")
    check(problems, "unpaired, machines hide it", "oise" in words[0].split(":")[0] or "noisy" in words[0].split(":")[0], words)
    (folder / "slower" / "run7.json").unlink()
    done = subprocess.run([assay, "diff", str(a), str(folder / "slower"), "--paired"], capture_output=True, text=True)
    if done.returncode != 2 or "A has 8, B 7" not in done.stderr:
        problems.append(f"pairs that do not fit: {done.returncode} {done.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    assay = parser.parse_args().assay
    problems = []
    for part in (check_jobs, check_basis, check_steps, check_pairs):
        with tempfile.TemporaryDirectory() as folder:
            part(assay, pathlib.Path(folder), problems)
    for problem in problems:
        print(problem)
    print("what diff says of known differences: " + ("wrong" if problems else "right"))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
