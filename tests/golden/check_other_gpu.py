#!/usr/bin/env python3
"""Predictions for other GPUs and GPU utilization on real traces: on its own card a run takes the recorded time,
intervals contain their middles, no GPU exceeds the bound, and MFU equals that of an independent program."""

import argparse
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from datasets import CORPUS, IN_REPOSITORY, NO_CORPUS, ROOT

OTHERS = "H100,H200,B200,A100-80GB,L40S,MI300X"
# Recorded on: a trace, and the name of its card.
RUNS = [
    ("examples/h100_vit_inference.json.gz", "H100"),
    ("tests/data/h200_pairs/bert_batch8.json.zst", "H200"),
    ("tests/data/h200_pairs/gpt2_sdpa.after.json.zst", "H200"),
    ("tests/data/h200_pairs/checkpoint.before.json.zst", "H200"),
    ("tests/data/kineto/llm/mi300_bert_small.json.gz", "MI300X"),
]
# MFU, and MFU with all pairs over MFU, both from a Python prototype.
USES = [
    ("h200_pairs/gpt2.before.json.zst", 0.002, 1.0),
    ("h200_pairs/gpt2_sdpa.after.json.zst", 0.005, 1.009),
    ("h200_pairs/bert_batch8.json.zst", 0.094, 1.0),
    ("kineto/llm/h100_qwen1.5-0.5b.json.gz", 0.117, 1.043),
    ("kineto/sglang/sglang_mi300_qwen3-8b_prefilldecode.json.gz", 0.169, 1.020),
]


def run(assay, *args, code=0):
    done = subprocess.run([assay, *map(str, args)], capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != code:
        raise AssertionError(f"{' '.join(map(str, args))}: exit {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout if code == 0 else done.stderr


def is_true(what, holds):
    if not holds:
        raise AssertionError(what)


def check_own_card(assay, path, card):
    answer = json.loads(run(assay, "whatif", path, "--on", card, "--as-recorded", "--format", "json"))
    on = answer["whatif"]["on"]
    if on["refused"]:
        return
    own = on["gpus"][0]
    is_true(f"{path}: {card} is the recorded card, change {own['change']}", own["change"] == "none")
    is_true(f"{path}: host is as recorded", on["host"] == "recorded")
    for key in ("run_ns", "run_low_ns", "run_high_ns"):
        is_true(f"{path}: {key} {own[key]}, recorded {on['recorded_ns']}", own[key] == on["recorded_ns"])
    for key in ("gain", "gain_low", "gain_high", "kernels", "kernels_low", "kernels_high"):
        is_true(f"{path}: {key} is {own[key]}", own[key] == 1)


def check_others(assay, path):
    answer = json.loads(run(assay, "whatif", path, "--on", OTHERS, "--format", "json"))
    on = answer["whatif"]["on"]
    if on["refused"]:
        return None
    near = 1 + 1e-6
    is_true(f"{path}: bound", on["bound_gain_low"] <= on["bound_gain"] * near <= on["bound_gain_high"] * near * near)
    is_true(f"{path}: host pace", on["host_pace_low"] <= on["host_pace"] <= on["host_pace_high"] <= 1)
    is_true(f"{path}: every GPU has a row", len(on["gpus"]) == len(OTHERS.split(",")))
    for row in on["gpus"]:
        name = f"{path} on {row['gpu']}"
        is_true(f"{name}: gain", row["gain_low"] <= row["gain_high"] <= on["bound_gain_high"] * near)
        is_true(f"{name}: run", row["run_low_ns"] <= row["run_high_ns"])
        if row["gain"] is not None:
            is_true(f"{name}: gain in its interval", row["gain_low"] / near <= row["gain"] <= row["gain_high"] * near)
            is_true(f"{name}: run in its interval", row["run_low_ns"] <= row["run_ns"] <= row["run_high_ns"])
            is_true(f"{name}: kernels", row["kernels_low"] <= row["kernels"] <= row["kernels_high"])
        families = [f for f in on["families"] if f["gpu"] == row["gpu"]]
        is_true(f"{name}: families", families and all(f["low_ns"] <= f["ns"] + 1 <= f["high_ns"] + 2 for f in families))
    return answer


def check_first_sentences(assay, answers):
    first = answers["examples/h100_vit_inference.json.gz"]["headline"][0]
    is_true(f"host-bound run: {first}", first.startswith("Your host binds first: "))
    for line in run(assay, "whatif", ROOT / "examples/h100_vit_inference.json.gz", "--on", "B200,L40S", "--width", "80").splitlines():
        is_true(f"a line of {len(line)} columns: {line}", len(line) <= 80)


def check_refusals(assay):
    trace = ROOT / "examples/h100_vit_inference.json.gz"
    is_true("an unknown card", "no such GPU" in run(assay, "whatif", trace, "--on", "H900", code=2))
    is_true("not with edits", run(assay, "whatif", trace, "--on", "B200", "--edit", "sync", code=2))
    is_true("needs --on", "--on" in run(assay, "whatif", trace, "--cpu-speed", "2", code=2))
    said = run(assay, "whatif", trace, "--on", "Gaudi2")
    is_true(f"a card without an architecture: {said}", "lacks architecture" in " ".join(said.split()))


def check_prices(assay):
    """Cost is time times price, the energy bound is power times the longest time, and invalid prices are refused by
    name."""
    trace = ROOT / "tests/data/h200_pairs/bert_batch8.json.zst"
    with tempfile.TemporaryDirectory() as folder:
        def ask(text, *args, code=0):
            prices = pathlib.Path(folder) / "prices.csv"
            prices.write_text(text, encoding="utf-8")
            return run(assay, "whatif", trace, "--on", "B200,L40S", "--prices", prices, *args, code=code)

        rows = "gpu,usd_per_gpu_hour,watts\nh200_sxm,3.20,\nB200,4.80,900\nL40S,0.90,\nH100,2,\n"
        answer = json.loads(ask(rows, "--format", "json"))
        on = answer["whatif"]["on"]
        costs = on["costs"]
        is_true(f"rows: {costs}", [row["recorded_gpu"] for row in costs] == [True, False, False])
        runs = [{"run_ns": on["run_ns"], "gain": 1, "gain_low": 1, "gain_high": 1}, *on["gpus"]]
        for row, of, price, watts in zip(costs, runs, (3.2, 4.8, 0.9), (700, 900, 350)):
            is_true(f"dollars: {row}", abs(row["usd"] - of["run_ns"] / 3.6e12 * price) < 1e-9)
            is_true(f"same work: {row}", abs(row["usd_for_hour"] - price / of["gain"]) < 1e-9)
            is_true(f"its interval: {row}", abs(row["usd_for_hour_low"] * of["gain_high"] - price) < 1e-9 and abs(row["usd_for_hour_high"] * of["gain_low"] - price) < 1e-9)
            is_true(f"power of the file, or the board: {row}", row["watts_at_most"] == watts)
            if "run_high_ns" in of:
                is_true(f"joules: {row}", abs(row["joule_at_most"] - watts * of["run_high_ns"] / 1e9) < 1e-6)
        is_true(f"said: {answer['headline']}", "cheapest at these prices" in answer["headline"][1])
        screen = ask(rows, "--width", "80")
        is_true("cost on the screen", "same work" in screen and "energy, at" in screen)
        is_true(f"80 columns: {screen}", all(len(line) <= 80 for line in screen.splitlines()))
        head = "gpu,usd_per_gpu_hour\n"
        for text, said in ((head + "B200,4\n", "no price of L40S"), (head + "B200,4\nL40S,-1\n", "line 3: usd_per_gpu_hour '-1' is not a number above 0"),
                           (head + "B200,4\nL40S,1\nH900,2\n", "'H900': no such GPU"), (head + "B200,4\nL40S,1\nb200_sxm,2\n", "'B200' and 'b200_sxm' are one GPU"),
                           (head + "B200,4\nL40S\n", "line 3: has no price"), ("gpu,price\nB200,4\n", "no column is called 'usd_per_gpu_hour'"), (head, "lists no GPU")):
            error = ask(text, code=2)
            is_true(f"{said}: {error}", said in error and "prices.csv" in error)
    is_true("prices need --on", "--prices need --on" in run(assay, "whatif", trace, "--prices", "p.csv", code=2))
    is_true("no costs without prices", json.loads(run(assay, "whatif", trace, "--on", "B200", "--format", "json"))["whatif"]["on"]["costs"] == [])


def check_token_cost(assay):
    """Dollars per million output tokens where the steps of an engine count them, else nothing."""
    decode, plain = ROOT / "tests/data/kineto/vllm/vllm_mi300_decode_exec.json.gz", ROOT / "tests/data/h200_pairs/bert_batch8.json.zst"
    with tempfile.TemporaryDirectory() as folder:
        prices = pathlib.Path(folder) / "prices.csv"
        prices.write_text("gpu,usd_per_gpu_hour\nMI300X,2\nH200,3.2\nB200,4.8\n", encoding="utf-8")
        asked = (decode, "--peaks", "MI300X", "--on", "H200,B200", "--prices", prices)
        costs = json.loads(run(assay, "whatif", *asked, "--format", "json"))["whatif"]["on"]["costs"]
        is_true(f"rows: {costs}", [row["gpu"] for row in costs][1:] == ["H200", "B200"] and costs[0]["recorded_gpu"])
        for row in costs:  # one step, with 32 sequences in decode and no prompt
            is_true(f"interval: {row}", all(abs(row["usd_per_mtok" + end] - row["usd" + end] / 32 * 1e6) < 1e-9 for end in ("_low", "_high")))
            is_true(f"middle: {row}", row["usd"] is None or abs(row["usd_per_mtok"] - row["usd"] / 32 * 1e6) < 1e-9)
        screen = run(assay, "whatif", *asked, "--width", "80")
        is_true(f"on the screen: {screen}", "$/Mtok" in screen and all(len(line) <= 80 for line in screen.splitlines()))
        asked = (plain, "--on", "H200,B200", "--prices", prices)
        costs = json.loads(run(assay, "whatif", *asked, "--format", "json"))["whatif"]["on"]["costs"]
        is_true(f"no tokens: {costs}", costs and all(row[key] is None for row in costs for key in ("usd_per_mtok", "usd_per_mtok_low", "usd_per_mtok_high")))
        is_true("nothing is said", "Mtok" not in run(assay, "whatif", *asked))


def check_answer(assay):
    """The default verb shows the same sentences and the same table below its answer, and the same object in JSON."""
    trace = ROOT / "tests/data/h200_pairs/bert_batch8.json.zst"
    with tempfile.TemporaryDirectory() as folder:
        prices = pathlib.Path(folder) / "prices.csv"
        prices.write_text("gpu,usd_per_gpu_hour\nH200,3.2\nB200,4.8\nL40S,0.9\n", encoding="utf-8")
        for options in ((), ("--as-recorded", "--prices", prices), ("--cpu-speed", "2", "--link-gb-s", "100"), ("--like", trace)):
            asked = (trace, "--on", "B200,L40S", *options)
            report = json.loads(run(assay, *asked, "--format", "json"))
            alone = json.loads(run(assay, "whatif", *asked, "--format", "json"))
            is_true(f"the same object: {options}", report["whatif"]["on"] == alone["whatif"]["on"])
            is_true(f"the same sentences: {options}", report["whatif"]["headline"] == alone["headline"])
    plain, screen = run(assay, trace, "--width", "80"), run(assay, trace, "--on", "B200,L40S", "--width", "80")
    is_true(f"the answer stays: {screen}", screen.startswith(plain + "\n"))
    table = run(assay, "whatif", trace, "--on", "B200,L40S", "--width", "80").split("The run on other GPUs", 1)[1].split("\n\n", 1)[0]
    is_true(f"the table of whatif: {screen}", table in screen)
    alone = json.loads(run(assay, "whatif", trace, "--on", "B200,L40S", "--format", "json"))
    is_true(f"the deciding sentence: {screen}", alone["headline"][0] in " ".join(screen.split()))
    is_true(f"80 columns: {screen}", all(len(line) <= 80 for line in screen.splitlines()))
    for words in (("--full",), ("--format", "md")):
        is_true(f"{words}", "The run on other GPUs" in run(assay, trace, "--on", "B200", *words))
    is_true("nothing without --on", "whatif" not in json.loads(run(assay, trace, "--format", "json")))
    for words, said in ((("--on", "H900"), "--on H900: no such GPU"), (("--cpu-speed", "2"), "need --on GPU"), (("--on", "B200", "--quiet"), "--quiet"),
                        ((trace, "--on", "B200"), "--on is for one trace here")):
        error = run(assay, trace, *words, code=2)
        is_true(f"{said}: {error}", said in error)
    error = run(assay, ROOT / "tests/data/formats/bench.vllm.json", "--on", "B200", code=2)
    is_true(f"no trace: {error}", "--on replays a trace" in error)


def check_predictions(assay):
    """A saved prediction is exact for the recorded card, and is scored on no other card, program or number of iterations."""
    trace, other = ROOT / "tests/data/h200_pairs/bert_batch8.json.zst", ROOT / "tests/data/h200_pairs/gpt2.before.json.zst"
    vit = ROOT / "examples/h100_vit_inference.json.gz"
    with tempfile.TemporaryDirectory() as folder:
        saved = pathlib.Path(folder) / "saved.ini"

        def save(path, *args):
            return json.loads(run(assay, "whatif", path, "--save-prediction", saved, "--format", "json", *args))["whatif"]["on"]

        def check(path, *args, code=0):
            return run(assay, "whatif", path, "--check-prediction", saved, *args, code=code)

        on = save(trace, "--on", "B200,H200", "--as-recorded")
        score = json.loads(check(trace, "--format", "json"))["score"]
        is_true(f"its own card: {score}", score["in_interval"] is True and score["error_share"] == 0 and score["gpu"] == on["gpus"][1]["gpu"])
        is_true(f"as recorded: {score}", score["host"] == "recorded" and score["after_measured_ns"] == on["recorded_ns"] == score["after_measured_low_ns"])
        is_true("said", "The prediction held" in check(trace))
        text = saved.read_text(encoding="utf-8")
        row = on["gpus"][1]["run_ns"]
        saved.write_text(text.replace(f"= {row}\n", f"= {row // 2}\n"), encoding="utf-8")
        score = json.loads(check(trace, "--format", "json"))["score"]
        is_true(f"half of it: {score}", score["in_interval"] is False and abs(score["error_share"] + 0.5) < 1e-6)
        said = " ".join(check(trace).split())
        is_true(f"said: {said}", "50.0 % too little" in said and "did not hold" in said)
        longer = re.sub(r"(iterations|calls) = (\d+)", lambda line: f"{line[1]} = {line[2]}0", text)
        saved.write_text(longer, encoding="utf-8")
        error = check(trace, code=2)
        is_true(f"ten times as many iterations: {error}", " here, and the prediction is of " in error and "iteration" in error)
        saved.write_text(text.replace("\ngpus = 1", "\ngpus = 8"), encoding="utf-8")
        is_true("GPUs", "1 GPU here, and the prediction is of 8" in check(trace, code=2))
        saved.write_text(text + "speed = 1\n", encoding="utf-8")
        error = check(trace, code=2)
        is_true(f"a wrong line: {error}", "'speed' is not a line of a prediction" in error and "saved.ini" in error)
        saved.write_text(text, encoding="utf-8")
        error = check(other, code=2)
        is_true(f"another program: {error}", "gpt2.before" in error and "shows another program than bert_batch8" in error)
        error = check(vit, code=2)
        is_true(f"another GPU: {error}", "recorded on Nvidia H100" in error and "the prediction is of Nvidia B200" in error)

        on = save(trace, "--on", "H200")
        score = json.loads(check(trace, "--format", "json"))["score"]
        is_true(f"without the profiler: {score}", score["host"] == "untraced" and score["after_measured_ns"] == on["run_ns"] and score["error_share"] == 0)
        is_true(f"an interval: {score}", score["after_measured_low_ns"] < score["after_measured_ns"] < score["after_measured_high_ns"])
        error = run(assay, "whatif", trace, "--on", "Gaudi2", "--save-prediction", saved, code=2)
        is_true(f"no time: {error}", "no prediction of Gaudi2" in error)


def check_like(assay):
    """The host of the trace is the default. With a host of half the speed the run is that of --cpu-speed 0.5; other
    programs are refused."""
    trace, other = ROOT / "examples/h100_vit_inference.json.gz", ROOT / "tests/data/h200_pairs/bert_batch8.json.zst"

    def on(*args):
        return json.loads(run(assay, "whatif", trace, "--on", "B200", "--format", "json", *args))["whatif"]["on"]

    own, plain = on("--like", trace), on()
    is_true(f"its own host: {own}", own["host"] == "like" and own["host_like"] == trace.name and own["host_like_ratio"] == 1)
    is_true("the same middle", own["run_ns"] == plain["run_ns"] and own["gpus"][0]["run_ns"] == plain["gpus"][0]["run_ns"])
    is_true("a wider interval", own["host_pace_low"] < plain["host_pace_low"] or own["host_pace_high"] > plain["host_pace_high"])
    is_true("no other host", plain["host_like"] is None and plain["host_like_ratio"] is None)
    with tempfile.TemporaryDirectory() as folder:
        slow = pathlib.Path(folder) / "slow.json"
        content = json.loads(gzip.decompress(trace.read_bytes()))
        for event in content["traceEvents"]:
            if isinstance(event.get("ts"), (int, float)):
                event["ts"] *= 2
            if isinstance(event.get("dur"), (int, float)):
                event["dur"] *= 2
        slow.write_text(json.dumps(content), encoding="utf-8")
        like, half = on("--like", slow), on("--cpu-speed", "0.5")
        is_true(f"half the speed: {like['host_like_ratio']}", abs(like["host_like_ratio"] - 2) < 0.02)
        is_true(f"{like['run_ns']} and {half['run_ns']}", abs(like["run_ns"] / half["run_ns"] - 1) < 0.01)
        said = run(assay, "whatif", trace, "--on", "B200", "--like", slow)
        is_true(f"said: {said}", "In slow.json," in " ".join(said.split()))
    error = run(assay, "whatif", trace, "--on", "B200", "--like", other, code=2)
    is_true(f"another program: {error}", "bert_batch8" in error and "shows another program than h100_vit" in error)
    is_true("no trace", run(assay, "whatif", trace, "--on", "B200", "--like", ROOT / "missing.json", code=2))
    is_true("one of both", run(assay, "whatif", trace, "--on", "B200", "--like", trace, "--cpu-speed", "2", code=2))
    is_true("--like needs --on", "--on" in run(assay, "whatif", trace, "--like", trace, code=2))


def check_without_launches(assay):
    """Kernels without launch calls have an interval; a run of only such kernels has neither a bound nor a host."""
    trace = ROOT / "tests/data/kineto/hta/trace_compare_base.json.gz"
    answer = json.loads(run(assay, "whatif", trace, "--on", "H100,A100-80GB,V100-32GB", "--peaks", "A100-80GB", "--format", "json"))
    on = answer["whatif"]["on"]
    is_true(f"refused: {on['refused']}", on["refused"] is None and on["unlinked_share"] > 0.5)
    for key in ("host", "host_pace", "bound_gain", "knee", "slack_5_percent"):
        is_true(f"no {key}: {on[key]}", on[key] is None)
    newer, own, other = on["gpus"]
    is_true(f"own card: {own}", own["change"] == "none" and own["gain_low"] == own["gain"] == own["gain_high"] == 1)
    for row in (newer, other):
        is_true(f"an interval: {row}", row["gain"] is None and row["binds"] is None and row["gain_low"] < 1.01 and row["gain_high"] > 0.99)
        is_true(f"kernels: {row}", 0 < row["kernels_low"] <= row["kernels_high"])
        is_true(f"as the kernels, at one end: {row}", abs(row["gain_high"] - max(1, 1 / row["kernels_low"])) < 0.01 and abs(row["gain_low"] - min(1, 1 / row["kernels_high"])) < 0.01)
    said = " ".join(answer["headline"])
    is_true(f"said: {said}", "no bound is given" in said and "Your host binds" not in said)


def check_use(assay, path, mfu, all_pairs):
    roofline = json.loads(run(assay, "breakdown", path, "--roofline", "--format", "json"))["roofline"]
    use = roofline["utilisation"]
    is_true(f"{path}: MFU {use['mfu']}, expected {mfu}", abs(use["mfu"] - mfu) < 0.0006)
    ratio = use["mfu_palm"] / use["mfu"]
    is_true(f"{path}: all pairs {ratio}, expected {all_pairs}", abs(ratio - all_pairs) < 0.002)
    is_true(f"{path}: HFU", use["hfu"] >= use["mfu"] >= use["mfu_low"] and use["mfu_high"] >= use["mfu"])
    is_true(f"{path}: peak", use["peak_flop_per_s"] > 0 and use["peak_source"])
    for key in ("product_flop", "model_flop"):
        total = sum(row[key] for row in roofline["product_phases"])
        is_true(f"{path}: phases add up to {key}", abs(total - use[key]) <= 1e-9 * use[key])


def check_first_screen(assay):
    """MFU only for GPU-bound runs, equal to that of breakdown; gates and rows of diff."""
    pairs = ROOT / "tests/data/h200_pairs"
    after, before = pairs / "precision.after.json.zst", pairs / "precision.before.json.zst"
    screen = " ".join(run(assay, after).split())
    use = json.loads(run(assay, "breakdown", after, "--roofline", "--format", "json"))["roofline"]["utilisation"]
    is_true(f"MFU on the first screen: {screen}", f"MFU {100 * use['mfu']:.1f} %" in screen)
    report = json.loads(run(assay, after, "--format", "json"))
    codes = {f["code"]: f for f in report["summary"]["findings"]}
    is_true("MFU as a finding", abs(codes["use.mfu"]["values"]["mfu_share"] - use["mfu"]) < 1e-9)
    is_true("MFU in the report", report["roofline"]["utilisation"]["mfu"] == use["mfu"])
    is_true("no MFU of a host-bound run", "MFU" not in run(assay, ROOT / "examples/h100_vit_inference.json.gz"))
    held = run(assay, "diff", before, after, "--fail-on", "mfu<0.35", "--fail-on", "mbu<+0")
    is_true(f"gates that hold: {held}", "2 of 2 passed" in " ".join(held.split()))
    done = subprocess.run([assay, "diff", before, after, "--fail-on", "mfu<0.95"], capture_output=True, text=True, check=False)
    is_true(f"a gate that fails: {done.returncode}", done.returncode == 1)
    metrics = {m["metric"]: m for m in json.loads(run(assay, "diff", before, after, "--format", "json"))["diff"]["metrics"]}
    is_true("HFU is at least MFU", metrics["hfu"]["b"] >= metrics["mfu"]["b"] > metrics["mfu"]["a"] > 0)
    no_shapes = ROOT / "tests/data/kineto/rocm/mi210_gpu_only.json.gz"
    said = run(assay, "diff", no_shapes, no_shapes, "--fail-on", "mfu<0.35", code=2)
    is_true(f"no MFU without shapes: {said}", "no metric 'mfu'" in said)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    assay = parser.parse_args().assay
    answers = {}
    for path, card in RUNS:
        check_own_card(assay, ROOT / path, card)
        answers[path] = check_others(assay, ROOT / path)
    check_first_sentences(assay, answers)
    check_refusals(assay)
    check_prices(assay)
    check_token_cost(assay)
    check_answer(assay)
    check_predictions(assay)
    check_like(assay)
    check_without_launches(assay)
    check_first_screen(assay)
    uses = 0
    for path, mfu, all_pairs in USES:
        found = next((root / path for root in (IN_REPOSITORY, CORPUS) if (root / path).exists()), None)
        if found is not None:
            check_use(assay, found, mfu, all_pairs)
            uses += 1
    print(f"{len(RUNS)} runs on other GPUs, MFU of {uses} runs" + ("" if CORPUS.exists() else f"; {NO_CORPUS}"))


if __name__ == "__main__":
    sys.exit(main())
