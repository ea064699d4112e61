#!/usr/bin/env python3
"""Checks `assay why` and `assay whatif` on real traces: totals add up, invalid requests are refused, an action has one
value in every
place, sentences agree with values, and predictions are saved and checked.

  check_whatif.py --assay BINARY
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import datasets

BUDGET_S = 60        # no further trace starts after this; small ones go first
TOLD = {"up to", "simulated"}
REFUSALS = {"model_error", "unexplained", "unlinked", "cold", "nothing", "few_iterations", "not_capturable", "varies", "in_graphs", "chain_varies", "needs_ranks", "no_shapes", "no_peaks", "no_operators"}
# From a prototype of the definition: ms per iteration, median of five, and its interval.
KNOWN = {
    "old/v100_resnet50_2021-06.json.gz": {
        "cuda_graph": (47.2, 46.9, 51.9), "input": (32.0, 31.5, 34.9)},
}

# Text for the bound of a gain.
GRADES = {"upper_bound": "up to", "simulated": "simulated"}


def run(assay, *args, code=0):
    done = subprocess.run([assay, *args], capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != code:
        raise AssertionError(f"{' '.join(map(str, args))}: exit {done.returncode}: {done.stderr.strip()[-200:]}")
    return done.stdout if code == 0 else done.stderr


def same(what, got, wanted):
    if got != wanted:
        raise AssertionError(f"{what} is {got}, not {wanted}")


def check_why(assay, path):
    why = json.loads(run(assay, "why", path, "--format", "json"))
    if "path" not in why:
        return
    ns = sum(row["ns"] for row in why["causes"])
    if why["device_idle_share"] is not None:
        idle = sum(row["ns"] for row in why["causes"] if row["cause"] not in ("compute", "collective", "copy"))
        same("idle", round(idle / ns, 9) if ns else None, round(why["device_idle_share"], 9) if ns else None)
        same("opened_by", sum(row["ns"] for row in why["opened_by"]), idle)
    for row in why["opened_by"]:
        parts = ("gap_after_sync_ns", "gap_after_host_ns", "gap_while_queued_ns", "gap_before_first_ns", "gap_unknown_ns")
        same(f"opened_by {row['cause']}", sum(row[p] for p in parts), row["ns"])
    makespan = why["path"]["makespan_ns"]
    for table in ("causes", "parts", "ops"):
        same(f"path.{table}", sum(row["ns"] for row in why["path"][table]), makespan)
    layers = why["path"]["layers"]
    if layers:
        same("path.layers", sum(row["ns"] for row in layers), makespan)
        numbers = [row["layer"] for row in layers if row["layer"] is not None]
        same("layers on the path, each once", sorted(set(numbers)), sorted(numbers))


def check_whatif(assay, path, name):
    answer = json.loads(run(assay, "whatif", path, "--format", "json"))
    found = answer["whatif"]
    same("points off", found["identity"]["replay_mismatches"], 0)
    same("replayed", found["identity"]["replayed_ns"], found["identity"]["recorded_ns"])
    listed = 0
    for lever in found["actions"]:
        refused = lever["refused"]
        if refused is not None and refused not in REFUSALS:
            raise AssertionError(f"{lever['name']} is refused by {refused}")
        if refused is not None:
            same(f"{lever['name']}, refused", (lever["gain_ns"], lever["after_ns"], lever["cumulative_gain_ns"]), (None, None, None))
            continue
        if lever["kind"] not in TOLD or not 0 <= lever["run_gain_ns"] <= found["identity"]["recorded_ns"]:
            raise AssertionError(f"{lever}")
        listed += lever["cumulative_gain_ns"] or 0
    joint = found["joint"]
    if joint["refused"]:
        if joint["refused"] != "nothing":
            same("words of a refusal", answer["headline"][0].startswith("No replay is reported: "), True)
        same("levers told", [x["name"] for x in found["actions"] if x["refused"] is None and x["name"] != "warm"], [])
        return
    error, unexplained = found["identity"]["model_error"], found["identity"]["unexplained_path_share"]
    if abs(error) > 0.1 or unexplained > 0.2:
        raise AssertionError(f"told although the model error is {error} and {unexplained} is unexplained")
    same("list", listed, joint["run_gain_ns"])
    if "next" in found and joint["per"] == "run":
        same("path then", sum(row["ns"] for row in found["next"]), joint["after_ns"])
    check_one_number(assay, path, found)
    for edit, wanted in KNOWN.get(name, {}).items():
        lever = next(lever for lever in found["actions"] if lever["name"] == edit)
        got = tuple(round(lever[key] / 1e6, 1) for key in ("gain_ns", "low95_ns", "high95_ns"))
        if max(abs(a - b) for a, b in zip(got, wanted)) > 0.11:
            raise AssertionError(f"{edit} gives {got} ms, not {wanted}")


def check_one_number(assay, path, found):
    """An action of `report` and `overhead` has the gain and interval of its what-if change here."""
    alone = {lever["name"]: lever["run_gain_ns"] for lever in found["actions"]}
    between = {lever["name"]: (lever["run_low_ns"], lever["run_high_ns"]) for lever in found["actions"]}
    report = json.loads(run(assay, "report", path, "--format", "json"))
    levers = [lever for lever in report.get("actions") or [] if lever["edit"]]  # the others are no replays
    others = [lever["edit"] for lever in levers if lever["edit"] not in alone]
    if others:
        more = json.loads(run(assay, "whatif", path, "--format", "json", *[a for e in others for a in ("--edit", e)]))
        alone.update({lever["name"]: lever["run_gain_ns"] for lever in more["whatif"]["actions"]})
        between.update({lever["name"]: (lever["run_low_ns"], lever["run_high_ns"]) for lever in more["whatif"]["actions"]})
    for lever in report["summary"]["actions"]:
        if lever["edit"] in between:
            same(f"{lever['edit']} lies", (lever["gain_low_ns"], lever["gain_high_ns"]), between[lever["edit"]])
    by_key = {lever["code"]: lever["gain_ns"] for lever in report.get("actions") or []}
    for lever in levers:
        same(f"{lever['edit']} in report", lever["gain_ns"], alone[lever["edit"]])
    overhead = json.loads(run(assay, "overhead", path, "--format", "json"))
    for row in overhead["host_overhead"].get("diagnosis") or []:
        if row["same_as"] is not None:
            same(f"{row['code']} in overhead", row["gain_ns"], by_key[row["same_as"]])
        else:
            same(f"{row['code']} in overhead", row["gain_ns"], None)


def check_files(assay, path):
    """Changes from a file, a saved prediction, and its check against the recording it was made from."""
    with tempfile.TemporaryDirectory() as scratch:
        edits, frozen = pathlib.Path(scratch) / "edits.txt", pathlib.Path(scratch) / "frozen.ini"
        edits.write_text("# what to try\ninput\n  kernel:*=0.5  \n")
        named = json.loads(run(assay, "whatif", path, "--edits", str(edits), "--format", "json"))["whatif"]
        same("edits of a file", {lever["name"] for lever in named["actions"]}, {"input", "kernel:*=0.5"})
        text = run(assay, "whatif", path, "--edit", "kernel:*=0.5", "--save-prediction", str(frozen))
        same("words of a gain", text.startswith("With kernels * taking 50.0 % of their time"), True)
        told = json.loads(run(assay, "whatif", path, "--edit", "kernel:*=0.5", "--format", "json"))["whatif"]["joint"]
        same("prediction", f"gain_ns = {told['gain_ns']}" in frozen.read_text(), True)
        score = json.loads(run(assay, "whatif", path, "--check-prediction", str(frozen), "--format", "json"))["score"]
        same("measured", score["after_measured_ns"], told["before_ns"])
        same("gain measured", score["gain_measured_ns"], 0)
        frozen.write_text("[assay prediction]\nbefore_ns = 10\nwrong = 1\n")
        same("a wrong line", "'wrong' is not a line of a prediction" in run(assay, "whatif", path, "--check-prediction", str(frozen), code=2), True)
    for arguments, words in ((["--edit", "nonsense"], "there is no such edit"), (["--edit", "kernel:a=2"], "below 1"),
                             (["--save-prediction", "/tmp/x"], "name them with --edit")):
        same(f"{arguments}", words in run(assay, "whatif", path, *arguments, code=2), True)


def check_job(assay, folder, strangers):
    """For the ranks of a job `why` and `whatif` begin with the answer of `report` on all of them; for unmatched traces
    they do not."""
    report = json.loads(run(assay, "report", folder, "--format", "json"))
    for verb in ("why", "whatif"):
        told = json.loads(run(assay, verb, folder, "--format", "json"))
        same(f"blame of {verb}", told["blame"], report["blame"])
        alone = json.loads(run(assay, verb, *strangers, "--format", "json"))
        same(f"{verb} of strangers", ("blame" in alone, alone["headline"], len(alone["ranks"])), (False, [], len(strangers)))
    same("causes of why", json.loads(run(assay, "why", folder, "--format", "json"))["causes"], report["causes"])
    answer = report["summary"]["actions"]
    words = json.loads(run(assay, "whatif", folder, "--edit", "skew", "--format", "json"))
    same("levers of the job", [f": {lever['text']}, {GRADES[lever['bound']]} " in text for lever, text in zip(answer, words["headline"])], [True] * len(answer))
    same("each rank alone", words["headline"][-1].startswith("The following is for each rank alone"), True)
    for part in words["ranks"]:
        same("skew", [lever["refused"] for lever in part["whatif"]["actions"]], ["needs_ranks"])
        same("words of skew", part["headline"][0], "None of these changes can be simulated.")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--assay", required=True)
    options = options.parse_args()
    traces = sorted((path for name, path in datasets.golden_traces() if name.startswith("kineto")), key=lambda path: path.stat().st_size)
    begin, done, wrong, files = time.time(), 0, 0, False
    for path in traces:
        if time.time() - begin > BUDGET_S:
            break
        name = "/".join(path.parts[-2:])
        try:
            check_why(options.assay, str(path))
            check_whatif(options.assay, str(path), name)
            if not files and name in KNOWN:
                check_files(options.assay, str(path))
                files = True
        except (AssertionError, KeyError, ValueError) as problem:
            wrong += 1
            print(f"{name}: {problem!r}")
        done += 1
    job = datasets.CORPUS / "kineto/multirank/megatron_tp8_a100"
    if job.exists():
        try:
            check_job(options.assay, str(job), [str(datasets.CORPUS / "kineto/llm/mi300_bert_small.json.gz"),
                                                str(datasets.CORPUS / "kineto/vision/h100_nsfw_vit.json.gz")])
        except (AssertionError, KeyError, ValueError) as problem:
            wrong += 1
            print(f"{job.name}: {problem!r}")
    print(f"whatif: {done} traces, {wrong} wrong{'' if files else '; without the files'}")
    sys.exit(1 if wrong else 0 if done else 77)


if __name__ == "__main__":
    main()
