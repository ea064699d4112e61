#!/usr/bin/env python3
"""assay throughput plan on AIConfigurator's public rows: the answer is consistent, fits a screen and gets no more
expensive with looser limits. Contradictory specifications, models without specifications and files that are no tables
are refused by name. Also the claims of docs/measured/throughput_latency.md on intervals and probabilities with whole
benchmark runs left out."""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from datasets import CORPUS

TABLE = CORPUS / "bench/aiconfigurator_silicon_sample_A.csv.gz"
TRACE = CORPUS / "bench/AzureLLMInferenceTrace_conv.csv.gz"
PRICES = "gpu,usd_per_gpu_hour,watts,gpus_per_node,nodes\nh100_sxm,2.50,700,8,4\nh200_sxm,3.20,700,8,4\nb200_sxm,4.80,1000,8,4\n"
PRICE = {"h100_sxm": 2.5, "h200_sxm": 3.2, "b200_sxm": 4.8}
WATTS = {"h100_sxm": 700, "h200_sxm": 700, "b200_sxm": 1000}
ASKED = {"--model": "Qwen/Qwen3-32B", "--isl": "2048", "--osl": "200", "--rate": "20", "--ttft-ms": "500",
         "--tpot-ms": "50"}
LINES = 28
COLUMNS = 80
# Minimum shares, of covered intervals and of limits promised with at least 90 %; maximum Brier score.
COVERED = 0.85
KEPT = 0.90
BRIER = 0.10


def fail(text):
    sys.exit(text)


def run(assay, folder, verb, changed=(), *more, code=0):
    asked = dict(ASKED, **dict(changed)) if verb == "plan" else {}
    words = [word for pair in asked.items() if pair[1] is not None for word in pair]
    prices = ["--prices", "prices.csv"] if verb == "plan" else []
    done = subprocess.run([assay, "throughput", verb, "table.csv.gz", *words, *prices, *more], cwd=folder,
                          capture_output=True, text=True, check=False, timeout=900)
    if done.returncode != code:
        fail(f"{verb} {changed} {more}: left with {done.returncode}: {done.stderr[:300]}")
    return done.stdout if code == 0 else done.stderr


def plan(assay, folder, changed=(), *more):
    return json.loads(run(assay, folder, "plan", changed, "--format", "json", *more))["throughput"]


def check_sums(told):
    if not any(p["grade"] == "sure" for p in told["plans"]):
        fail("no plan is sure")
    for p in told["plans"]:
        gpus = p["replicas"] * p["n"]
        if p["plan_gpus"] != gpus or abs(p["usd_per_hour"] - gpus * PRICE[p["hw"]]) > 1e-9:
            fail(f"GPUs or dollars do not add up: {p}")
        if abs(p["tokens_per_s_per_gpu"] * gpus - 20 * 200) > 1e-6:
            fail(f"tokens/s/GPU times GPUs is not rate times answer: {p}")
        if abs(p["joules_per_token"] * 4000 - gpus * WATTS[p["hw"]]) > 1e-6:
            fail(f"J/token times tokens/s is not the watts: {p}")
        if (p["probability"] >= 0.9) != (p["grade"] == "sure") or p["load"] > told["most_load"] + 1e-9:
            fail(f"graded wrongly, or loaded too much: {p}")
        if p["hw"].startswith("h") and "fp4" in p["variant"]:
            fail(f"FP4 on a GPU without units for it: {p}")
    if not told["pareto"] or told["refused"][0]["count"] <= 0:
        fail("no frontier, or nothing was refused: heads do not divide by 3")


def cheapest(told):
    return min(p["usd_per_hour"] for p in told["plans"] if p["grade"] == "sure")


def check_order(assay, folder, told):
    for looser in ({"--ttft-ms": "1500"}, {"--tpot-ms": "100"}, {"--rate": "5"}):
        if cheapest(plan(assay, folder, looser)) > cheapest(told):
            fail(f"{looser} is dearer")
    if cheapest(plan(assay, folder, {}, "--confidence", "0.7")) > cheapest(told):
        fail("less confidence is dearer")
    for asked, said in (("0.95", False), ("0.99", True)):
        text = run(assay, folder, "plan", (), "--confidence", asked)
        if ("nothing above 95 % was ever measured" in text) != said:
            fail(f"a confidence of {asked} is{' not' if said else ''} called the process's own")


def check_screen(assay, folder):
    text = run(assay, folder, "plan", (), "--width", str(COLUMNS))
    lines = text.rstrip("\n").split("\n")
    if len(lines) > LINES or max(map(len, lines)) > COLUMNS:
        fail(f"{len(lines)} lines, the longest of {max(map(len, lines))} columns:\n{text}")
    if "90 % at 20 requests/s" not in lines[0] + " " + lines[1]:
        fail(f"the first sentence is no answer: {lines[0]}")


# A GPU without rows is included and marked, and the answer names its basis.
def check_new_gpu(assay, folder):
    (folder / "prices.csv").write_text(PRICES + "gb300,1.00,1400,8,4\n", encoding="utf-8")
    told = plan(assay, folder)
    text = run(assay, folder, "plan", (), "--width", str(COLUMNS))
    (folder / "prices.csv").write_text(PRICES, encoding="utf-8")
    new = [p for p in told["plans"] if p["hw"] == "gb300"]
    if not new or any(p["grade"] == "sure" or p["question"] != "hardware" or p["status"] != "outside"
                      or not p["sibling"] for p in new):
        fail(f"a GPU without rows: {new}")
    for word in ("outside", "wide", "Caveats: what may change", "never sure"):
        if word not in text:
            fail(f"'{word}' is not on the screen:\n{text}")


def check_trace(assay, folder):
    told = plan(assay, folder, {"--isl": None, "--osl": None, "--rate": None}, "--requests", str(TRACE))
    if (told["ii"], told["oo"]) != (1155, 211) or not 7 < told["rate_per_s"] < 9:
        fail(f"the trace of requests was read as {told['ii']} + {told['oo']} at {told['rate_per_s']}")


def check_words(assay, folder):
    """Every requested GPU is named; replicas are explained; no estimate is called optimal."""
    (folder / "prices.csv").write_text(PRICES + "T4,0.35,70,8,4\n", encoding="utf-8")
    text = " ".join(run(assay, folder, "plan").split())
    silent = " ".join(run(assay, folder, "plan", {"--ttft-ms": "1"}).split())
    (folder / "prices.csv").write_text(PRICES, encoding="utf-8")
    if not re.search(r"\d+ replicas? of \d+ × [a-z]\d+\w* with", text):
        fail(f"replicas are not explained: {text[:300]}")
    for gpu in ("h100_sxm", "h200_sxm", "b200_sxm", "T4"):
        if gpu not in text:
            fail(f"{gpu} was asked about, and nothing is said of it: {text[:900]}")
    if "Not on T4" not in text or "0 times" in text:
        fail(f"that there is no plan on T4: {text[:900]}")
    if "at best" in silent or "an estimated" not in silent or "90 % intervals begin at" not in silent:
        fail(f"the shortest time to the first token: {silent[:600]}")


def check_refusals(assay, folder):
    (folder / "facts.ini").write_text("[model Qwen/Qwen3-32B]\nactive_b = 40\n", encoding="utf-8")
    said = run(assay, folder, "plan", (), "--specs", "facts.ini", code=2)
    if "line 2" not in said or "active_b 40 is above parameters_b 32.76" not in said:
        fail(f"contradictory facts: {said}")
    if "nobody/has-it" not in run(assay, folder, "plan", {"--model": "nobody/has-it"}, code=2):
        fail("a model without facts is not named")
    said = run(assay, folder, "plan", (), "--engine", "orca", code=2)
    if "orca" not in said or "vllm" not in said:
        fail(f"an engine without rows: {said}")


def check_left_out(assay, folder):
    told = json.loads(run(assay, folder, "evaluate", (), "--split", "latency", "--format", "json"))["throughput"]
    for row in told["latency_errors"]:
        if row["split"] not in ("campaign", "model") or row["question"]:
            continue
        narrow = row["narrow_interval_coverage90"]
        if row["coverage90"] < COVERED or (row["narrow_interval_rows"] and narrow < COVERED):
            fail(f"{row['latency']} of a {row['split']} left out: {row['coverage90']:.3f} held, narrow {narrow}")
        if row["split"] != "campaign":
            continue
        if row["latency"] != "TTFT" and row["median_ape"] > row["baseline_median_ape"]:
            fail(f"{row['latency']} is no better than physics with a factor")
    if not any(row["split"] == "model" and row["narrow_interval_rows"] for row in told["latency_errors"]):
        fail("no narrow interval of a model left out")
    siblings = [row for row in told["latency_errors"] if row["split"] == "GPU" and row["question"] == "nearest GPU"]
    if len(siblings) != 3 or any(not row["baseline_median_ape"] > 0 for row in siblings):
        fail(f"the nearest GPU as a baseline: {siblings}")
    tpot = next(row for row in siblings if row["latency"] == "TPOT")
    if tpot["median_ape"] > tpot["baseline_median_ape"]:
        fail(f"TPOT of a GPU without rows is no better than the nearest GPU times bandwidth: {tpot}")
    gpus = [row for row in told["latency_errors"] if row["split"] == "GPU" and not row["question"]]
    if any(row["coverage90"] < COVERED for row in gpus):
        fail(f"intervals of GPUs without rows: {gpus}")
    sure = told["limits"][-1]
    if sure["met"] < KEPT or told["brier"] > BRIER:
        fail(f"limits: told {sure['told']:.3f}, met {sure['met']:.3f}, Brier {told['brier']:.3f}")


# Two runs of a custom client that calls the engine "vLLM" and names no GPU, planned with the table, which calls it
# "vllm".
def check_other_table(assay, folder):
    mine = folder / "mine"
    mine.mkdir()
    for flight, ttft, tpot in ((1, 30.1, 4.43), (32, 80.3, 6.61)):
        requests, prompt, answer = 10 * flight, 1024, 256
        seconds = 10 * (ttft + (answer - 1) * tpot) / 1000
        (mine / f"c{flight}.json").write_text(json.dumps({
            "backend": "vllm", "model_id": "meta-llama/Llama-3.1-8B-Instruct", "num_prompts": requests, "request_rate": "inf",
            "max_concurrency": flight, "duration": seconds, "completed": requests, "total_input_tokens": requests * prompt,
            "total_output_tokens": requests * answer, "mean_ttft_ms": ttft, "mean_tpot_ms": tpot}), encoding="utf-8")
    asked = ("--judge", "mine", "--judge-meta", "hardware=H100,variant=fp8")
    told = json.loads(run(assay, folder, "evaluate", (), *asked, "--format", "json"))["throughput"]
    judged = [row for row in told["judged"] if row["latency"] == "TPOT"]
    if [(row["bb"], row["measured_ms"], row["fw"]) for row in judged] != [(1, 4.43, "vllm"), (32, 6.61, "vllm")]:
        fail(f"rows of another table: {judged}")
    if any(row["question"] == "hardware" or not row["low90"] < row["told_ms"] < row["high90"] for row in judged):
        fail(f"what is told of another table: {judged}")
    (folder / "own.csv").write_text("engine,hardware,model,precision,ii,oo,bb,ttft_ms,tpot_ms\n"
                                    "vLLM,H100 80GB,Llama-3.1-8B,fp8,1024,256,8,44.9,4.92\n", encoding="utf-8")
    log = json.loads(run(assay, folder, "fit", (), "own.csv", "-o", "model.json", "--format", "json"))["import_log"]
    spelled = {note["code"]: note["count"] for note in log if note["code"].endswith("_spelled")}
    if spelled != {"engine_spelled": 1, "hardware_spelled": 1}:
        fail(f"one engine and one GPU under two names: {spelled}")
    for more, word in ((("--judge", "mine"), "--judge-meta"), ((*asked, "--split", "S1"), "--split"),
                       (("--judge-meta", "hardware=H100"), "--judge")):
        if word not in run(assay, folder, "evaluate", (), *more, code=2):
            fail(f"evaluate {more} is not refused by name")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assay", required=True, type=lambda text: str(pathlib.Path(text).resolve()))
    assay = parser.parse_args().assay
    if not TABLE.exists():
        print(f"skipped: {TABLE} is not there")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copy(TABLE, folder / "table.csv.gz")
        (folder / "prices.csv").write_text(PRICES, encoding="utf-8")
        told = plan(assay, folder)
        check_sums(told)
        check_screen(assay, folder)
        check_order(assay, folder, told)
        check_new_gpu(assay, folder)
        check_trace(assay, folder)
        check_words(assay, folder)
        check_refusals(assay, folder)
        check_left_out(assay, folder)
        check_other_table(assay, folder)
    print("plans: sums, screen, order, a trace of requests, refusals, what is left out and another table are as told")


if __name__ == "__main__":
    main()
