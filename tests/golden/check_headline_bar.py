#!/usr/bin/env python3
"""The bar contains the causes of the headline with the same share, and all findings count the same iterations: on small
traces,
and on synthetic exports of Nsight Systems in which a program uses managed memory.

    check_headline_bar.py --assay build/release/assay [--all]
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import datasets
import managed_memory

SMALL_BYTES = 600_000  # as stored
HOST = ("call", "dispatch", "python", "host_gap", "latency")
# By code, if codes differ: the share in a headline, and the causes that sum to it.
EXACT = {"compute_share": ("compute",), "exposed_comm_share": ("collective", "comm_wait", "transfer"),
         "exposed_copy_share": ("copy",), "init_share": ("cold",), "input_share": ("input",), "sync_share": ("sync",),
         "no_work_share": ("nothing_asked",), "allocation_share": ("alloc",), "unexplained_share": ("unseen",)}
BY_CODE = {("undetermined.no_launch_record", "unexplained_share"): ("no_evidence",),
           ("migration_bound.host", "idle_share"): ("migration",)}
# At most this sum: the headline counts only the stalls.
AT_MOST = {("host_bound.stalls_unrecorded", "host_share"): ("host_gap", "python"),
           ("host_bound.stalls_page_faults", "host_share"): ("host_gap", "python")}


def shown(text):
    """Percentages of the terminal's bar by name: (least, most)."""
    found = {}
    for legend, bound, number in re.findall(r"[█▓▒░·] ([^█▓▒░·%]+?) ([<>]?)([\d.]+) %", text):
        value = float(number)
        found[legend] = {"<": (0, value), ">": (value, 100)}.get(bound, (value - 0.51, value + 0.51))
    return found


def check(assay, path, legends, known):
    """Problems; none without an answer. known: bottleneck, headline and further codes of the run, if known."""
    env = {**os.environ, "ASSAY_CACHE": "off"}
    run = subprocess.run([assay, "report", str(path), "--format", "json"], capture_output=True, text=True, env=env, check=False)
    summary = json.loads(run.stdout).get("summary") if run.returncode == 0 else None
    if not summary or not summary["findings"] or not summary["total_ns"]:
        return None
    causes = {cause["cause"]: cause["ns"] / summary["total_ns"] for cause in summary["causes"]}
    if not causes:
        return None
    problems = []
    codes = [finding["code"] for finding in summary["findings"]]
    told = (summary["bottleneck"], codes[0])
    if known is not None and (known[:2] != told or not set(known[2:]) <= set(codes)):
        problems.append(f"bound by {told} with {codes[1:]}, not {known}")
    if abs(sum(causes.values()) - 1) > 1e-9:
        problems.append(f"causes sum to {sum(causes.values())}")
    terminal = subprocess.run([assay, "report", str(path), "--width", "100"], capture_output=True, text=True, env=env, check=False)
    bar = shown(terminal.stdout)
    finding = summary["findings"][0]
    for key, value in finding["values"].items():
        code = (finding["code"], key)
        named = BY_CODE.get(code) or EXACT.get(key) or AT_MOST.get(code)
        if key == "host_share" and not named:
            named = HOST
        if key == "idle_share" and finding["code"] == "sync_bound.after_wait":
            named = tuple(subject["name"] for subject in finding["subjects"] if subject["kind"] == "cause")
        if not named or not isinstance(value, float):
            continue
        total = sum(causes.get(cause, 0) for cause in named)
        part = code in AT_MOST or key == "host_share"
        if value > total + 1e-9 or (not part and abs(value - total) > 1e-9):
            problems.append(f"{finding['code']}: {key} {value:.4f}, {' + '.join(named)} {total:.4f}")
        if len(named) == 1 and not part and value >= 0.005:
            least, most = bar.get(legends[named[0]], (200, 200))
            if not least <= 100 * value <= most:
                problems.append(f"{finding['code']}: {key} {value:.4f}, the bar shows {bar}")
    iterations = counts(summary["findings"])
    if len(set(iterations.values())) > 1:
        problems.append(f"one part has several counts of iterations: {iterations}")
    return problems


def counts(findings):
    """The iteration count of the analyzed part, by finding."""
    found = {}
    for finding in findings:
        if finding["code"].startswith("confidence.") and "iterations" in finding["values"]:
            found[finding["code"]] = int(finding["values"]["iterations"])
        part = re.fullmatch(r"(\d+) iterations?", str(finding["values"].get("part", "")))
        if finding["code"] == "judged_part" and part:
            found[finding["code"]] = int(part[1])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    parser.add_argument("--all", action="store_true", help="traces of every size")
    args = parser.parse_args()
    legends = {}
    for line in (datasets.ROOT / "src/findings/causes.cc").read_text().splitlines():
        if found := re.match(r'    \{"(\w+)", "[^"]+", "([^"]+)",$', line):
            legends[found[1]] = found[2]
    paths = [path for _, path in datasets.golden_traces()] + sorted((datasets.CORPUS / "nsys").glob("*.sqlite"))
    paths = [path for path in paths if args.all or path.stat().st_size <= SMALL_BYTES]
    failed, judged = [], 0
    with tempfile.TemporaryDirectory() as folder:
        made = managed_memory.exports(pathlib.Path(folder))
        for path in [*paths, *made]:
            problems = check(args.assay, path, legends, made.get(path))
            judged += problems is not None
            failed += [f"{path.name}: {problem}" for problem in problems or []]
            if path in made and problems is None:
                failed.append(f"{path.name}: no answer")
        for path in made:
            info = subprocess.run([args.assay, "info", str(path), "--format", "json"], capture_output=True, text=True, check=False)
            rows = json.loads(info.stdout)["tables"]["other_events"]
            if rows != managed_memory.faults(path):
                failed.append(f"{path.name}: {rows} page faults of {managed_memory.faults(path)}")
    print("\n".join(failed + [f"{judged} answers, {len(failed)} faults"]))
    return 1 if failed or judged < len(made) else 0


if __name__ == "__main__":
    sys.exit(main())
