#!/usr/bin/env python3
"""Writes docs/measured/whatif.md: how far replays are the run on every public trace, and how far gains are from a
simulator's truth.

  measure_whatif.py --assay BINARY [--programs 10000] [--results FILE] [--jobs 10000] [--job-results FILE] [--keep programs] [--keep jobs]

--results, --job-results: what tests/whatif/check_programs.py and check_jobs.py --json wrote, in place of running them. --keep: the page's
section of random programs, or jobs, stays as it is.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/golden"))
import datasets  # noqa: E402

PAGE = ROOT / "docs/measured/whatif.md"
HEAD = """# What if

How far replays can be trusted. Made by `tools/measure_whatif.py`; definitions in [metrics.md](../metrics.md#what-if).

## The replay without edits

Identity: points of the replay without edits off their recorded time; anything but 0 is a bug and proves only the
bookkeeping. Model: the time to the end of the last device work, which gains are told of, without unexplained time and with usual lags,
against the recorded one; a small error is easy where the host is the bound, whose times are the recorded ones. Beyond 10 %, or with more
than 20 % of that critical path unexplained, no gain is told. What a host does behind the last device work is no part of it: a profiler's
last `cudaDeviceSynchronize` returned up to 18 ms after it, which counted as an error of 3 % before.

"""
PROGRAMS = """
## Random programs

{programs:,} random programs ran in a discrete-event simulator (`tests/whatif/simulator.py`: one or two host threads, one to
three streams, events, waits, blocking copies, allocation, launch queues that fill; it shares no code with Assay). Each was
written as a trace, and each edit was made to the program, which ran again. *Right*: the told gain is within 2 % of the simulator's, or
within 0.1 % of the run. *Nothing*, *refused*: rightly, by the simulator's own look at the program. *Run refused*: the whole
run, by the model's error or unexplained time.

| evidence | edit | right | bracketed | nothing | refused | run refused | wrong | not refused | wrong reason |
|---|---|---|---|---|---|---|---|---|---|
"""
WITHHELD = """
Complete evidence: {complete}. Withheld (half of the launch calls, all rows of a stream, or the rows that tell who waits for
whom): {withheld}. *Bracketed*: off by more, and inside `run_low_ns` and `run_high_ns`, between which a gain lies where the recording
does not tell a usual time ({open:.1f} % of {told:,} gains; {median:.2f} % of the run apart in the middle, {p95:.2f} % in 95 %); of withheld evidence also
what was told as more than there is, "at most".

What goes wrong is a few µs each, in short programs: how much of a call that copies and waits was over when it handed its work over,
and what a return takes behind work that the recorded call did not wait for.

Not simulated: kernels that slow each other when they run together, and what an edit leaves out. A blocking copy of less than
20 µs counts as a call that does not wait. The simulator was brought nearer to the model while the figures were made: gaps between
works of a stream are at least 1 µs, blocking copies take more than 20 µs, and a program begins with a launch. Of few times the
shortest is taken for the usual one since 200 programs of other seeds were looked at; before, 96.4 % and 97.8 % of these were right. What a gain
lies between was found on programs 20,001 to 20,400. The test holds 99 % of both. The aim, within 2 % wherever evidence is complete, is not met: a
gain that lies between two is told as such.
"""
JOBS = """
## Random jobs

{jobs:,} random jobs of 2 to 16 ranks (`tests/whatif/random_jobs.py`: data parallel, groups inside it, pipelines by sends and receives; kernels
that vary by up to 2 %, hosts that set the pace or do not, clocks 5 ms apart), in each of which one to three ranks are late by 15 to 60 % of
their work: all their kernels, one of two, a Python frame, or a slow host. The truth is the same job without that, run again by a simulator
that shares no code with Assay. *Right*: `assay why` of the folder names these ranks and no other, and what they cost within 5 %. *Small*: the
job takes less than 2 % less without it; not judged. Each fourth job ran with nobody late, too.

| layout | late by | right | other ranks or none | gain further off | small |
|---|---|---|---|---|---|
"""
JOBS_RIGHT = """
{right:,} of {judged:,} right ({share:.2f} %). A gain that is further off is too small, in the worst case a fifth of the truth: in the three that were
looked at a late host's frames behind the launch of a collective are not all found to be beyond its peers', which is not mended. Not simulated: slow links, other work on some ranks, missing ranks, networks that vary; the made-up jobs of
`tests/verdicts` have some of these. That a slow GPU hides behind its own rank's slower host was found on jobs 0 to 1,600; these are jobs from {first:,} on.
"""
PAIRS = """
## Pairs of recordings

Sixteen programs before and after one change on an H200: what ails each was written down before it was recorded, and the gain told before
the second recording was read; truth is the step without a profiler ([what a replay told, and what
came](2026-11-26-nvidia-h200.md#what-a-replay-told-and-what-came)). Of a public recording the other side is not public:
[`v100_resnet50_input.ini`](../../tests/measured/v100_resnet50_input.ini), `input` of `old/v100_resnet50_2021-06`; the definition of an
iteration's end was made by people who knew results of that pair, so it is a number to reproduce and no blind prediction.

How verdicts move when each threshold is halved and doubled: [thresholds.md](thresholds.md).
"""


def answer_of(assay, path):
    done = subprocess.run([assay, "whatif", str(path), "--format", "json"], capture_output=True, text=True, timeout=900, check=False)
    return json.loads(done.stdout)["whatif"] if done.returncode == 0 else None


def percent(value):
    return "-" if value is None else f"{100 * value:.1f} %"


def unexplained_of(assay, path):
    """The work that began late for no reason that was recorded: what the model misses."""
    done = subprocess.run([assay, "why", str(path), "--format", "json"], capture_output=True, text=True, timeout=900, check=True)
    parts = [part for part in json.loads(done.stdout)["path"]["parts"] if part["kind"] == "unseen"]
    most = max(parts, key=lambda part: part["ns"], default=None)
    if most is None:
        return "usual times"
    name = most["name"] if len(most["name"]) <= 48 else most["name"][:47] + "…"
    often = "once" if most["slices"] == 1 else f"{most['slices']} times"
    return f"`{name}` late {often}, {100 * most['path_share']:.1f} % of the path"


def replay_tables(assay):
    rows, good, told, judged, points, linked, good_linked = [], 0, 0, 0, 0, 0, 0
    for name, path in datasets.golden_traces():
        found = answer_of(assay, path)
        if found is None or found["joint"]["refused"] == "nothing":
            continue
        identity = found["identity"]
        judged += 1
        points += identity["replay_mismatches"]
        near = abs(identity["model_error"]) <= 0.02
        good += near
        if found["joint"]["refused"] != "unlinked":
            linked += 1
            good_linked += near
        told += found["joint"]["refused"] is None
        first = max((x for x in found["actions"] if x["cumulative_gain_ns"]), key=lambda x: x["cumulative_gain_ns"], default=None)
        lever = f"`{first['name']}` {100 * first['run_gain_ns'] / identity['recorded_ns']:.1f} %" if first else "-"
        rows.append(f"| {name} | {percent(identity['model_error'])} | {percent(identity['unexplained_path_share'])} | "
                    f"{found['joint']['refused'] or 'told'} | {lever} | {'' if near else unexplained_of(assay, path)} |")
    share = good_linked / max(linked, 1)
    head = (f"{judged} traces with device work: {points} points off; the model is within 2 % of the record on {good}; gains are told of {told}. Of "
            f"the {linked} whose launches are recorded it is on {good_linked}, {100 * share:.0f} % (the aim is 85 %: {'met' if share >= 0.85 else 'not met'}); of "
            "the others the last column names what began late for no reason that was recorded, and takes most of the path.\n\n"
            "| trace | model error | unexplained | gains | first lever, of the run | what the model misses |\n|---|---|---|---|---|---|\n")
    return head + "\n".join(rows) + "\n"


def program_table(results):
    columns = ("right", "bracketed", "nothing", "refused", "run refused", "wrong", "not refused", "wrong reason")
    lines, sums = [], {}
    for row in results["rows"]:
        lines.append(f"| {row['evidence']} | {row['edit']} | " + " | ".join(f"{row.get(c, 0):,}" for c in columns) + " |")
        bad = sum(row.get(c, 0) for c in columns[-3:])
        all_of = sum(row.get(c, 0) for c in columns)
        one = sums.setdefault(row["evidence"], [0, 0])
        one[0] += all_of - bad
        one[1] += all_of
    words = {kind: f"{good:,} of {n:,} right ({100 * good / n:.2f} %)" for kind, (good, n) in sums.items()}
    widths = {key: value if key == "told" else 100 * value for key, value in results["widths"].items()}
    return PROGRAMS.format(programs=results["programs"]) + "\n".join(lines) + "\n" + WITHHELD.format(**words, **widths)


def job_table(results):
    lines, judged, right = [], 0, 0
    for row in results["rows"]:
        told = [row.get(what, 0) for what in ("right", "wrong set", "wrong gain", "small")]
        told[1] += row.get("off the record", 0)
        lines.append(f"| {row['layout']} | {row['reason']} | " + " | ".join(f"{n:,}" for n in told) + " |")
        judged += sum(told[:3])
        right += told[0]
    return (JOBS.format(jobs=results["jobs"]) + "\n".join(lines) + "\n" +
            JOBS_RIGHT.format(right=right, judged=judged, share=100 * right / judged, first=results["first"]))


def section(page, title):
    """A section as it is, from its title to the next one's."""
    begin = page.index(f"\n## {title}")
    return page[begin:page.index("\n## ", begin + 1)]


def measured(script, assay, *words):
    with tempfile.TemporaryDirectory() as scratch:
        results = pathlib.Path(scratch) / "results.json"
        subprocess.run([sys.executable, ROOT / "tests/whatif" / script, "--assay", assay, *words, "--json", results], check=False)
        return json.loads(results.read_text())


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--assay", required=True)
    options.add_argument("--programs", type=int, default=10000)
    options.add_argument("--results")
    options.add_argument("--jobs", type=int, default=10000)
    options.add_argument("--job-results")
    options.add_argument("--keep", choices=["programs", "jobs"], action="append", default=[], help="what the page says of them stays")
    options = options.parse_args()
    before = PAGE.read_text(encoding="utf-8")
    if "programs" in options.keep:
        programs = section(before, "Random programs")
    elif options.results:
        programs = program_table(json.loads(pathlib.Path(options.results).read_text()))
    else:
        programs = program_table(measured("check_programs.py", options.assay, "--programs", str(options.programs)))
    if options.job_results:
        jobs = job_table(json.loads(pathlib.Path(options.job_results).read_text()))
    elif "jobs" in options.keep:
        jobs = section(before, "Random jobs")
    else:
        jobs = job_table(measured("check_jobs.py", options.assay, "--first", "100000", "--jobs", str(options.jobs)))
    PAGE.write_text(HEAD + replay_tables(options.assay) + programs + jobs + PAIRS, encoding="utf-8")


if __name__ == "__main__":
    main()
