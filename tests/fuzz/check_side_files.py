#!/usr/bin/env python3
"""Every verb that takes a side file (facts, names of kernels, maps, formulas, floors, prices, samples, models), with
changed copies of that file: an answer or a refusal in words, never a crash, a hang or an exit without a word. The
parsers alone are in fuzz/<parser>; here what they return is used.

    check_side_files.py --assay build/release/assay [--seconds 20] [--seed 1]
"""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORMATS = ROOT / "tests/data/formats"
TRACE = ROOT / "examples/h100_vit_inference.json.gz"
TABLE = ROOT / "tests/data/serving_public.csv"
# Files that formats/ has only as empty examples.
MADE = {
    "prices.csv": b"gpu,usd_per_gpu_hour,watts,gpus_per_node,nodes\nMI300X,2.50,700,8,4\nH200,3.20,700,8,4\n",
    "requests.csv": b"TIMESTAMP,ContextTokens,GeneratedTokens\n" + b"".join(
        b"2023-11-16 18:%02d:%02d.0000000,%d,%d\n" % (i // 30, 2 * i % 60, 300 + 7 * i, 20 + i) for i in range(60)),
    "bench.csv": b"Hardware,Framework,Model,Batch Size,Input Length,Output Length,Throughput (tokens/sec)\n" + b"".join(
        b"A100,vLLM,mistralai/Mistral-7B-v0.1,%d,%d,128,%d\n" % (bb, ii, 90 * bb ** 0.9 * (ii / 128) ** 0.3)
        for bb in (1, 4, 16, 64) for ii in (128, 512, 2048)),
}
TIMEOUT_S = 60
ASKED = ("--model", "zai-org/GLM-5", "--ttft-ms", "900", "--tpot-ms", "50", "--isl", "1000", "--osl", "200")

# The side file, and the command lines with "@" in its place.
SIDE_FILES = (
    ("facts.ini", ("throughput", "facts", "--specs", "@")),
    ("facts.ini", ("throughput", "facts", "my-7b", "--specs", "@")),
    ("facts.plain.ini", ("throughput", "facts", "--specs", "@")),
    ("facts.ini", ("throughput", "fit", "bench.csv", "-o", "model.json", "--specs", "@")),
    ("facts.plain.ini", ("throughput", "evaluate", "bench.csv", "--specs", "@")),
    ("facts.plain.ini", ("whatif", TRACE, "--edit", "roof", "--specs", "@")),
    ("facts.plain.ini", ("breakdown", TRACE, "--roofline", "--specs", "@")),
    ("facts.plain.ini", ("breakdown", TRACE, "--roofline", "--peaks", "My GPU", "--specs", "@")),
    ("kernels.txt", ("report", TRACE, "--kernels", "@")),
    ("kernels.vendor.txt", ("fusion", TRACE, "--kernels", "@")),
    ("breakdown_map.txt", ("breakdown", TRACE, "--attribution-rules", "@")),
    ("counter_formulas.ini", ("breakdown", TRACE, "--counters", FORMATS / "rocprof_counters.csv", "--formulas", "@")),
    ("rocprof_counters.csv", ("breakdown", TRACE, "--counters", "@")),
    ("counter_table.csv", ("breakdown", TRACE, "--counters", "@")),
    ("floor.json", ("launch", TRACE, "--floor", "@")),
    ("replay.json", ("overhead", TRACE, "--replay", "@")),
    ("nvidia_smi.csv", ("report", TRACE, "--telemetry", "@", "--telemetry-offset", "start")),
    ("turbostat.txt", ("breakdown", TRACE, "--telemetry", "@", "--telemetry-offset", "start")),
    ("request_log.json", ("report", TRACE, "--requests", "@")),
    ("request_log.jsonl", ("report", TRACE, "--requests", "@")),
    ("power_samples.csv", ("power", "attribute", TRACE, "--samples", "@", "--offset", "start")),
    ("model.json", ("throughput", "predict", "@", "--at", "bb=1,ii=128,oo=128")),
    ("bench.csv", ("throughput", "predict", "@", "--at", "bb=1,ii=128,oo=128")),
    ("bench.csv", ("throughput", "suggest", "@")),
    ("prices.csv", ("throughput", "plan", TABLE, "--prices", "@", *ASKED, "--rate", "2")),
    ("requests.csv", ("throughput", "plan", TABLE, "--requests", "@", *ASKED)),
)
WORDS = ("", "0", "-1", "1e308", "nan", "inf", "99999999999999999999", "[model x]", "[hardware ]", "=", "\x00", "é", "a" * 5000)


def changed(text, dice):
    """The file with a few lines or values left out, repeated or replaced."""
    lines = text.split(b"\n")
    for _ in range(dice.randrange(4)):
        if not lines:
            break
        at = dice.randrange(len(lines))
        change = dice.randrange(6)
        if change == 0:
            del lines[at]
        elif change == 1:
            lines.insert(at, lines[dice.randrange(len(lines))])
        elif change == 2:
            lines[at] = lines[at][:dice.randrange(len(lines[at]) + 1)]
        elif change == 3:
            parts = lines[at].split(b",") if b"," in lines[at] else lines[at].split(b" ")
            parts[dice.randrange(len(parts))] = dice.choice(WORDS).encode()
            lines[at] = (b"," if b"," in lines[at] else b" ").join(parts)
        elif change == 4:
            lines = lines[:at]
        elif lines[at]:
            place = dice.randrange(len(lines[at]))
            lines[at] = lines[at][:place] + bytes([dice.randrange(256)]) + lines[at][place + 1:]
    return b"\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    assay = str(pathlib.Path(given.assay).resolve())
    dice = random.Random(given.seed)
    until = time.monotonic() + given.seconds
    runs = answers = 0
    problems = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for made, content in MADE.items():
            (folder / made).write_bytes(content)
        subprocess.run([assay, "throughput", "fit", "bench.csv", "-o", "model.json"], cwd=folder, capture_output=True, check=True)
        originals = {side: (FORMATS / side if (FORMATS / side).exists() and side not in MADE else folder / side).read_bytes()
                     for side, _ in SIDE_FILES}
        while not problems and (runs < len(SIDE_FILES) or time.monotonic() < until):
            # The file as it is first.
            side, words = SIDE_FILES[runs % len(SIDE_FILES)]
            content = originals[side]
            path = folder / f"side.{side}"
            path.write_bytes(content if runs < len(SIDE_FILES) else changed(content, dice))
            command = [assay, *(str(path) if word == "@" else str(word) for word in words)]
            try:
                done = subprocess.run(command, cwd=folder, capture_output=True, timeout=TIMEOUT_S, check=False)
            except subprocess.TimeoutExpired:
                problems.append(f"run {runs}: still running after {TIMEOUT_S} s")
            else:
                answers += done.returncode == 0
                if done.returncode not in (0, 2, 3):
                    problems.append(f"run {runs}: exit code {done.returncode}: {done.stderr[-500:]}")
                elif done.returncode != 0 and not done.stderr.strip():
                    problems.append(f"run {runs}: exit code {done.returncode} without a word")
                elif runs < len(SIDE_FILES) and b"--help" in done.stderr:
                    problems.append(f"run {runs}: the command is wrong: {done.stderr!r}")
            runs += 1
            if problems:
                print(" ".join(command))
                print(f"seed {given.seed}, {side}: {path.read_bytes()[:2000]!r}")
    print(f"{runs} runs, {answers} answered")
    for problem in problems:
        print(problem)
    if not problems and answers < runs // 5:
        problems.append("most runs were refused: nothing was tested")
        print(problems[-1])
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
