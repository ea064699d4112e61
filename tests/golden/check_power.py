#!/usr/bin/env python3
"""Power logs with traces, against an independent computation.

Public logs: every sample is read, and the measured energy equals Python's sum over the file. A synthetic job: kernels
of known power under an nvidia-smi log with a window. The energies are the true ones, and the parts sum exactly.
"""

import argparse
import csv
import datetime
import gzip
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

import datasets

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Log, column, scale of the file's values.
LOGS = [
    ("power/nvidia-smi_falcon7b_a100.csv", "power.draw"),
    ("power/nvidia-smi_falcon7b_TRUNCATED.csv", "power.draw"),
    ("power/smi_5050_A100_gpudata.csv", "power.draw.instant"),
    ("power/smi_Transient_Response_4090_TR_gpudata.csv", "power.draw"),
    ("power/smi_mlperf_unknown_error.csv", "power.draw"),
    ("power/smi_pwr_update_freq_A100_gpudata.csv", "power.draw.instant"),
]
TIMELESS = "cpu/m1pro_llama2-7b_power.csv"
UPROF = "cpu/uprof_falcon7b_timechart.csv.gz"
TOLERANCE = 1e-6


def kineto(path, kernels):
    """kernels: (name, start us, duration us)."""
    events = []
    for i, (name, start, duration) in enumerate(kernels, 1):
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                       "ts": start, "dur": 1, "args": {"correlation": i}})
        events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": start,
                       "dur": duration, "args": {"correlation": i, "device": 0, "stream": 7}})
    path.write_text(json.dumps({"traceEvents": events}))


def attribute(assay, trace, log, *more):
    command = [assay, "power", "attribute", trace, "--samples", log, "--format", "json", *more]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, done.stderr.strip()
    return json.loads(done.stdout), ""


def readings(path, column):
    """(seconds, watts) of an nvidia-smi log, as Python reads it."""
    text = path.read_text()
    lines = text.splitlines()
    if not text.endswith("\n"):
        lines.pop()  # a line still being written
    rows = list(csv.reader(lines, skipinitialspace=True))
    at = [i for i, name in enumerate(rows[0]) if name.split(" ")[0] == column][0]
    found = []
    for row in rows[1:]:
        if len(row) < len(rows[0]):
            continue
        when = datetime.datetime.strptime(row[0], "%Y/%m/%d %H:%M:%S.%f")
        seconds = when.replace(tzinfo=datetime.timezone.utc).timestamp()
        found.append((round(seconds * 1000), float(row[at].split(" ")[0])))
    return found


def longest_stand(log):
    """ms that one sample may cover: four periods, of the log or of the sensor's updates."""
    steps = [t - before for (before, _), (t, _) in zip(log, log[1:])]
    news = [t for (_, before), (t, w) in zip(log, log[1:]) if w != before]
    updates = [b - a for a, b in zip(news, news[1:])]
    return 4 * max(statistics.median(steps), statistics.median(updates if len(updates) >= 5 else steps))


def check_public(assay, data, folder, problems):
    trace = folder / "job.json"
    for name, column in LOGS:
        expected = readings(data / name, column)
        origin = expected[0][0]
        length_ms = expected[-1][0] - origin
        # Half a second on, a quarter off, from the first reading past the last.
        kineto(trace, [("work", 750_000 * i, 500_000) for i in range(length_ms // 750 + 2)])
        document, error = attribute(assay, trace, data / name, "--offset", "start", "--window-ms", "100",
                                    "--fixed-sensor")
        if document is None:
            problems.append(f"{name}: {error}")
            continue
        energy = document["energy"]
        most = longest_stand(expected)
        total = sum(w * (t - before) / 1000
                    for (before, _), (t, w) in zip(expected, expected[1:]) if t - before <= most)
        if abs(energy["total_j"] / total - 1) > TOLERANCE:
            problems.append(f"{name}: {energy['total_j']} J where Python sums {total} J")
        if energy["log"]["rows"] != len(expected):
            problems.append(f"{name}: {energy['log']['rows']} rows of {len(expected)}")
        check_sum(name, energy, problems)
    _, error = attribute(assay, trace, data / TIMELESS, "--offset", "start")
    if "column of time" not in error:
        problems.append(f"{TIMELESS}: a log without times was not refused: {error}")
    kineto(trace, [("work", 750_000 * i, 500_000) for i in range(400)])
    document, error = attribute(assay, trace, data / UPROF, "--offset", "start", "--window-ms", "100")
    if document is None:
        problems.append(f"{UPROF}: {error}")
    elif document["energy"]["log"]["rows"] != 2471:
        problems.append(f"{UPROF}: {document['energy']['log']['rows']} rows of 2471")


def check_sum(name, energy, problems):
    if not energy["follows"]:  # synthetic kernels over a public log: only an interval
        valued = [key for key in ("base_uj", "kernels_uj", "unattributed_uj") if energy[key] is not None]
        if valued or energy["kernels_low_j"] != 0 or energy["kernels_high_j"] > energy["total_high_j"] * (1 + 1e-9):
            problems.append(f"{name}: does not follow, and yet: {valued}, {energy['kernels_low_j']} to {energy['kernels_high_j']} J")
        return
    parts = energy["base_uj"] + energy["kernels_uj"] + energy["unattributed_uj"]
    if parts != energy["total_uj"]:
        problems.append(f"{name}: parts sum to {parts} of {energy['total_uj']} uJ")
    for table in ("kernels", "operators"):
        if sum(row["energy_uj"] for row in energy[table]) != energy["kernels_uj"]:
            problems.append(f"{name}: {table} do not sum to kernels_uj")


def check_lost(assay, trace, log, problems):
    """Losses of a log are reported: a truncated line, a truncated gzip stream, a gap of 8 s."""
    def exit_code(path, *more):
        return subprocess.run([assay, "power", "attribute", trace, "--samples", path, "--window-ms", "25", *more],
                              capture_output=True, check=False).returncode

    text = log.read_text()
    cut = log.with_name("cut.csv")
    cut.write_text(text[:-3])
    packed = log.with_name("cut.csv.gz")
    stored = gzip.compress(text.encode())
    packed.write_bytes(stored[:len(stored) - len(stored) // 4])
    for path, more, wanted in ((log, ("--strict",), 0), (cut, (), 0), (cut, ("--strict",), 3), (packed, (), 2),
                               (packed, ("--allow-truncated",), 0), (packed, ("--allow-truncated", "--strict"), 3),
                               (log, ("--tokens", "-3"), None), (log, ("--tokens", "0"), None)):
        code = exit_code(path, *more)
        if code != wanted and (wanted is not None or code == 0):
            problems.append(f"{path.name} {more}: exit code {code} instead of {wanted}")
    lines = text.splitlines(keepends=True)
    holed = log.with_name("holed.csv")
    holed.write_text("".join(lines[:201] + lines[280:]))  # readings 0.1 s apart: from 20 s to 28 s
    document, error = attribute(assay, trace, holed, "--window-ms", "25")
    notes = {note["code"]: note for note in document["caveats"]} if document else {}
    if notes.get("log_gaps", {}).get("time_ns") != 8_000_000_000:
        problems.append(f"a hole of 8 s was not told: {error} {notes}")


def check_synthetic(assay, folder, problems):
    """60 s, a 25 ms window every 100 ms, idle at 70 W."""
    draw = random.Random(3)
    powers = {"attention": 330.0, "gemm": 480.0, "norm": 90.0}
    kernels, now = [], 0
    while now < 60_000_000:
        duration = draw.randrange(4_000, 40_000)
        name = draw.choice([*powers, None])
        if name:
            kernels.append((name, now, duration))
        now += duration
    trace, log = folder / "synthetic.json", folder / "synthetic.csv"
    base_us = 1_700_000_000_000_000
    kineto(trace, [(n, base_us + s, d) for n, s, d in kernels])
    start = datetime.datetime(2023, 11, 14, 22, 13, 20)  # 1,700,000,000 s of the epoch
    lines = ["timestamp, power.draw [W]"]
    for t in range(100_000, now, 100_000):
        joules = 70.0 * 25_000
        for name, begin, duration in kernels:
            if begin > t:
                break
            joules += powers[name] * max(0, min(begin + duration, t) - max(begin, t - 25_000))
        stamp = start + datetime.timedelta(microseconds=t)
        lines.append(f"{stamp.strftime('%Y/%m/%d %H:%M:%S.%f')[:-3]}, {joules / 25_000 + draw.gauss(0, 2):.2f} W")
    log.write_text("\n".join(lines) + "\n")
    document, error = attribute(assay, trace, log, "--window-ms", "25")
    if document is None:
        problems.append(f"synthetic: {error}")
        return
    check_lost(assay, trace, log, problems)
    energy = document["energy"]
    check_sum("synthetic", energy, problems)
    for row in energy["kernels"]:
        true_j = powers[row["name"]] * row["busy_ns"] * 1e-9
        if abs(row["energy_j"] / true_j - 1) > 0.03:
            problems.append(f"synthetic: {row['name']} {row['energy_j']} J of {true_j} J")
    if abs(energy["base_w"] - 70) > 4:
        problems.append(f"synthetic: base {energy['base_w']} W of 70 W")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=ROOT / "build/release/assay", type=pathlib.Path)
    arguments = parser.parse_args()
    problems = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_synthetic(arguments.assay, folder, problems)
        has_corpus = (datasets.CORPUS / "power").is_dir()
        if has_corpus:
            check_public(arguments.assay, datasets.CORPUS, folder, problems)
    for problem in problems:
        print(problem)
    if problems:
        return 1
    if not has_corpus:
        print("the synthetic job is fine; the public logs are not here")
        return 77
    print(f"the synthetic job and {len(LOGS) + 2} public logs are fine")
    return 0


if __name__ == "__main__":
    sys.exit(main())
