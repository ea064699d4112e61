#!/usr/bin/env python3
"""`assay power run` and `calibrate` from the command line on simulated devices: answers close to the printed truth,
interrupts without loss, and errors by name."""

import argparse
import ctypes
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

from page import shown_on

TIMEOUT_S = 600
problems = []


def check(holds, message):
    if not holds:
        problems.append(message)


def run(assay, *arguments, env=None):
    return subprocess.run([assay, *map(str, arguments)], capture_output=True, text=True, check=False,
                          timeout=TIMEOUT_S, env=env)


def run_json(assay, *arguments, env=None):
    done = run(assay, *arguments, "--format", "json", env=env)
    if done.returncode != 0:
        problems.append(f"{arguments}: exit code {done.returncode}: {done.stderr.strip()}")
        return {}
    return json.loads(done.stdout)


def check_truth(assay):
    for seed, workload in ((26, "gemm:2048"), (3, "gemm:4096"), (1, "gemm:8192")):
        power = run_json(assay, "power", "run", "--device", "simulated", "--workload", workload, "--seed",
                         seed).get("power", {})
        if not power:
            continue
        kernel, truth = power["kernels"][0], power["truth"]
        name = f"{workload}, seed {seed}"
        check(abs(kernel["ssp_w"] / truth["ssp_w"] - 1) < 0.01, f"{name}: SSP is off by more than 1 %")
        check(abs(kernel["drift_ppm"] - truth["drift_ppm"]) < 1, f"{name}: drift is off by more than 1 ppm")
        check(truth["golden_low_ns"] <= kernel["golden_low_ns"] and
              kernel["golden_high_ns"] <= truth["golden_high_ns"], f"{name}: the golden bin is not the common mode")
        check(len(kernel["profile"]) > 10, f"{name}: no profile")


def check_strategies(assay, folder):
    """FinGraV's Figures 5a and 5b: unaligned clocks change the curve, and runs of any length scatter the samples. The
    device's clock drifts by 42 ppm and its runs differ in length."""
    made = ["power", "run", "--device", "simulated:drift=42", "--workload", "gemm:8192"]
    run_json(assay, *made, "--record", folder / "strategies")
    profile = ["power", "profile", folder / "strategies"]
    power = run_json(assay, *profile, "--unsynced", "--unbinned").get("power", {})
    rows = {row["other"]: row for row in power.get("comparisons", [])}
    if rows.keys() != {"clocks tied by one read", "all runs"}:
        return problems.append(f"--unsynced --unbinned compares {sorted(rows)}")
    plain = run_json(assay, *profile)["power"]
    check(plain["comparisons"] == [], "a comparison nobody asked for")
    check(plain["kernels"] == power["kernels"], "the profile itself depends on what it is compared with")
    sync, bins = rows["clocks tied by one read"], rows["all runs"]
    # 42 ppm of the 18 s of the measurement run are 0.8 ms of an execution of 2 ms.
    check(sync["curve_rms_share"] > 0.05, f"unsynced curves are only {sync['curve_rms_share']} apart")
    check(sync["other_residual_w"] > 1.5 * sync["base_residual_w"], "unsynced samples do not scatter more")
    check(bins["other_residual_w"] > 1.5 * bins["base_residual_w"], "unbinned samples do not scatter more")
    # Fewer runs (Figure 5c): compared, drawn, and refused by name if there are no more.
    runs = power["kernels"][0]["runs"]
    fewer = run_json(assay, *profile, "--runs", runs // 4).get("power", {})
    check([row["other"] for row in fewer.get("comparisons", [])] == [f"first {runs // 4} runs"], "fewer runs are not compared")
    page = run(assay, *profile, "--runs", runs // 4, "-o", folder / "fewer.html")
    check(page.returncode == 0 and "FinGraV, Figure 5c" in shown_on(folder / "fewer.html"), "fewer runs are not drawn")
    same = run_json(assay, *profile, "--runs", runs).get("power", {})
    check(same.get("comparisons") == [], "all runs compared with themselves")
    check(any("no more than" in note for kernel in same.get("kernels", []) for note in kernel["notes"]),
          "not said that there are no more runs")
    # A shared clock is reported by name, not shown as a difference of 0.
    probe = (folder / "strategies" / "sync.csv").read_text().split()[1].split(",")
    ahead_ns = 10 * int(probe[1]) - int(probe[2])
    samples = folder / "strategies" / "samples.csv"
    head, *lines = samples.read_text().split()
    moved = (f"{int(t) - ahead_ns},{rest}" for t, rest in (line.split(",", 1) for line in lines))
    samples.write_text("\n".join([head, *moved]) + "\n")
    meta = folder / "strategies" / "meta.json"
    meta.write_text(meta.read_text().replace('"samples_clock": "gpu"', '"samples_clock": "cpu"'))
    same = run_json(assay, *profile, "--unsynced").get("power", {})
    check(same.get("comparisons") == [], "a comparison of one clock with itself")
    check(any("on one clock" in note for kernel in same.get("kernels", []) for note in kernel["notes"]),
          "not said that samples and executions are on one clock")


def check_resume(assay, folder):
    """A measurement run that is killed midway and resumed."""
    arguments = ["power", "run", "--device", "simulated:t=100us", "--workload", "gemm:2048", "--runs", "3000"]
    whole = run_json(assay, *arguments, "--record", folder / "whole")
    command = [assay, *arguments, "--record", folder / "cut"]
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        rows = folder / "cut" / "execs.csv"
        until = time.monotonic() + 30
        while time.monotonic() < until and not (rows.exists() and rows.stat().st_size > 20000):
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
    resumed = run_json(assay, *arguments, "--record", folder / "cut")
    for document in (whole, resumed):
        if not document:
            return
    a, b = whole["power"]["kernels"][0], resumed["power"]["kernels"][0]
    # A kill between two appends may cost one run.
    check(abs(a["runs"] - b["runs"]) <= 1, f"resumed: {b['runs']} runs instead of {a['runs']}")
    check(abs(a["ssp_w"] / b["ssp_w"] - 1) < 0.002, "resumed: another SSP power")
    other = run(assay, "power", "run", "--device", "simulated:t=100us", "--workload", "gemm:4096", "--record",
                folder / "whole")
    check(other.returncode == 2 and "another measurement run" in other.stderr, "another workload went into the folder")


def check_foreign_folder(assay, folder):
    """No file is written among the user's files, and no folder is created there."""
    theirs = folder / "theirs"
    theirs.mkdir()
    (theirs / "notes.txt").write_text("mine")
    arguments = ("power", "run", "--device", "simulated", "--workload", "gemm:2048")
    done = run(assay, *arguments, "--record", theirs)
    check(done.returncode == 2 and "is not empty" in done.stderr, f"wrote into a folder of others: {done.stderr}")
    check([path.name for path in theirs.iterdir()] == ["notes.txt"], "files appeared in a folder of others")
    done = run(assay, "power", "calibrate", "--device", "simulated", "--calibration", folder / "no" / "c.json")
    check(done.returncode == 2 and "does not exist" in done.stderr, f"no folder, no error: {done.stderr}")
    check(not (folder / "no").exists(), "a folder was made for --calibration")
    done = run(assay, *arguments[:-1], "gemm:1048576")
    check(done.returncode == 2 and "million samples" in done.stderr, f"an endless campaign: {done.stderr}")


def check_full_disk(assay, folder):
    """No file may exceed 30 kB, which the measurement run needs: it stops by name and can be resumed."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, resource.RLIM_INFINITY))

    arguments = ["power", "run", "--device", "simulated", "--workload", "gemm:2048", "--record", folder / "full"]
    done = subprocess.run(list(map(str, [assay, *arguments])), capture_output=True, text=True, check=False,
                          timeout=TIMEOUT_S, preexec_fn=limit)
    check(done.returncode == 2 and ".csv" in done.stderr, f"full disk: {done.returncode} {done.stderr}")
    power = run_json(assay, *arguments).get("power", {})
    check(power and power["kernels"][0]["runs"] >= 399, "full disk: not gone on with")


def check_calibration(assay, folder):
    env = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    device = ("--device", "simulated:kind=nvml", "--seed", "5")
    found = run_json(assay, "power", "calibrate", *device, env=env).get("calibration", {})
    check(found and pathlib.Path(found["file"]).exists() and str(folder) in found["file"], "no calibration kept")
    done = run(assay, "power", "run", *device[:2], "--seed", "6", "--workload", "gemm:4096", "--calibration",
               found.get("file", ""))
    check(done.returncode == 2 and "calibrate" in done.stderr, "a calibration of another GPU was used")
    # An undocumented sensor is refused, and accepted after calibration.
    device = ("--device", "simulated:kind=unknown,t=200us,boost=0", "--seed", "9")
    workload = ("--workload", "gemm:2048")
    refused = run_json(assay, "power", "run", *device, *workload, env=env)
    check(refused and refused["power"]["kernels"][0]["verdict"] == "refused", "an unknown sensor was believed")
    kept = folder / "unknown.json"
    run_json(assay, "power", "calibrate", *device, "--calibration", kept)
    power = run_json(assay, "power", "run", *device, *workload, "--calibration", kept).get("power", {})
    if power:
        error = power["kernels"][0]["ssp_w"] / power["truth"]["ssp_w"] - 1
        check(abs(error) < 0.01, f"calibrated: SSP is off by {100 * error:.2f} %")


def check_kept_calibration(assay, folder):
    """A recording without calibration uses the stored one, and says so; a calibrated one keeps its own."""
    env = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache2")}
    device = ("--device", "simulated:kind=unknown,t=200us,boost=0", "--seed", "9")
    kept = run_json(assay, "power", "calibrate", *device, env=env).get("calibration", {}).get("file", "")
    recorded = folder / "recorded"
    run_json(assay, "power", "run", *device, "--workload", "gemm:2048", "--calibration", kept, "--record", recorded)
    if not kept or not recorded.exists():
        problems.append("no calibration or no recording to profile")
        return

    def sensor_of(*arguments):
        return run_json(assay, "power", "profile", recorded, *arguments, env=env).get("power", {})

    def source(power):
        return power.get("sensor", {}).get("sensor_source", "")

    meta = json.loads((recorded / "meta.json").read_text())
    check(meta.get("sensor_calibrated") is True and meta.get("uuid") == "SIM-9", f"meta.json: {meta}")
    before = sensor_of()
    other = json.loads(pathlib.Path(kept).read_text())
    other["window_ns"] *= 2
    pathlib.Path(kept).write_text(json.dumps(other))
    check(sensor_of() == before, "a calibrated recording took another calibration")
    check("not " + kept in source(sensor_of("--calibration", kept)), "an unused calibration is not told")
    other["window_ns"] //= 2
    pathlib.Path(kept).write_text(json.dumps(other))
    meta.update(sensor_calibrated=False, mode="unknown", w_us=0, P_us=0, delay_us=0, sensor_source="unknown")
    (recorded / "meta.json").write_text(json.dumps(meta))
    after = sensor_of()
    check(after and kept in source(after), f"the kept calibration is not named: {source(after)}")
    check(after and after["kernels"][0]["ssp_w"] == before["kernels"][0]["ssp_w"], "another power than when recorded")
    pathlib.Path(kept).rename(folder / "moved.json")
    refused = sensor_of()
    check(refused and refused["kernels"][0]["verdict"] == "refused", "an unknown sensor was believed by profile")
    meta["uuid"] = "SIM-10"
    (recorded / "meta.json").write_text(json.dumps(meta))
    done = run(assay, "power", "profile", recorded, "--calibration", folder / "moved.json")
    check(done.returncode == 2 and "is of GPU SIM-9" in done.stderr, f"calibration of another GPU: {done.stderr}")


def check_sensors_side_by_side(assay, folder):
    """A recording that declares twice its window: both are listed, and the measured one is used."""
    recorded = folder / "twice"
    power = run_json(assay, "power", "run", "--device", "simulated:kind=logger,t=200us,boost=0", "--workload", "gemm:2048",
                     "--seed", 26, "--record", recorded).get("power", {})
    meta = json.loads((recorded / "meta.json").read_text())
    true_ns = meta["w_us"] * 1000
    right = {row["known"]: row for row in power.get("sensors", [])}
    check(right.get("declared", {}).get("used") is True and right.get("found", {}).get("used") is False,
          f"a sensor that is as declared: {right}")
    meta["w_us"] *= 2
    (recorded / "meta.json").write_text(json.dumps(meta))
    rows = {row["known"]: row for row in run_json(assay, "power", "profile", recorded).get("power", {}).get("sensors", [])}
    check(rows.get("declared", {}).get("used") is False and rows.get("found", {}).get("used") is True,
          f"twice the window: {rows}")
    if rows:
        check(abs(rows["declared"]["window_ns"] / 2 / true_ns - 1) < 0.01, f"declared: {rows['declared']}")
        check(abs(rows["found"]["window_ns"] / true_ns - 1) < 0.05, f"found: {rows['found']}, true {true_ns}")


def has_library(name):
    try:
        ctypes.CDLL(name)
        return True
    except OSError:
        return False


def check_no_gpu(assay):
    """Exact messages without a driver; skipped if one is installed."""
    if has_library("libcuda.so.1") or has_library("libamdhip64.so.7") or has_library("libamdhip64.so"):
        return
    cuda = ("no NVIDIA driver is installed here (libcuda.so.1: cannot open shared object file: "
            "No such file or directory)")
    rocm = ("no AMD ROCm runtime is installed here (libamdhip64.so.7: cannot open shared object file: "
            "No such file or directory)")
    simulated = "--device simulated runs everything without"
    cases = {
        "nvidia:0": f"assay: --device nvidia:0: {cuda}. {simulated} a GPU\n",
        "amd:0": f"assay: --device amd:0: {rocm}. {simulated} a GPU\n",
        "auto": f"assay: there is no GPU to measure here: nvidia: {cuda}; amd: {rocm}. {simulated} one\n",
    }
    for device, says in cases.items():
        for verb in (("run", "--workload", "gemm:64"), ("calibrate",)):
            done = run(assay, "power", verb[0], "--device", device, *verb[1:])
            check(done.returncode == 2 and done.stdout == "" and done.stderr == says,
                  f"{verb[0]} on {device}: {done.returncode} {done.stderr}")


def check_errors(assay):
    cases = {
        ("--device", "simulated", "--workload", "gemm:zero"): "sizes are gemm:N",
        ("--device", "simulated:windw=3", "--workload", "gemm:64"): "no such setting",
        ("--device", "gpu", "--workload", "gemm:64"): "no device 'gpu'",
        ("--device", "nvidia:99", "--workload", "gemm:64"): "assay: ",
        ("--device", "simulated", "--sensor", "instant", "--workload", "gemm:64"): "has one only",
        ("--device", "nvidia:0", "--sensor", "best", "--workload", "gemm:64"): "--sensor",
    }
    for arguments, says in cases.items():
        done = run(assay, "power", "run", *arguments)
        check(done.returncode == 2 and says in done.stderr, f"{arguments}: {done.returncode} {done.stderr}")


def check_parts(assay, folder):
    """Power of GPU components in a recording: each is profiled; a line says so if those of an AMD GPU are missing."""
    parts = folder / "parts"
    run(assay, "power", "run", "--device", "simulated", "--workload", "gemm:8192", "--record", parts)
    power = run_json(assay, "power", "profile", parts)["power"]
    kernel = power["kernels"][0]
    check([row["part"] for row in power["components"]] == ["XCD", "IOD", "HBM", "in none of them"], f"parts: {power['components']}")
    check(abs(sum(row["ssp_w"] for row in power["components"]) - kernel["ssp_w"]) < 1e-6, "parts and rest are not the whole")
    for part in ("xcd", "iod", "hbm"):
        points = [point["power_w"] for point in kernel[f"{part}_profile"]]
        check(len(points) == len(kernel["profile"]), f"{part}: a curve of {len(points)} points")
        mean = (sum(points) - (points[0] + points[-1]) / 2) / (len(points) - 1) if points else 0
        check(abs(mean / kernel[f"{part}_w"] - 1) < .02, f"{part}: the curve's mean is {mean:.1f} W, {kernel[f'{part}_w']:.1f} is said")
    line = "No power of the GPU's parts (XCD, IOD, HBM) was recorded"
    rows = (parts / "samples.csv").read_text().splitlines()
    meta = json.loads((parts / "meta.json").read_text())
    for device, kept, said in (("AMD Instinct MI300A", 5, False), ("AMD Instinct MI300A", 2, True), ("NVIDIA H100", 2, False)):
        (parts / "samples.csv").write_text("\n".join(",".join(row.split(",")[:kept]) for row in rows) + "\n")
        (parts / "meta.json").write_text(json.dumps({**meta, "device": device}))
        text = run(assay, "power", "profile", parts, "--width", "200").stdout
        check((line in text) == said, f"{device} with {kept} columns: the missing parts are {'not ' if said else ''}told")
    for kept, says in ((5, "Powers of parts: by a table."), (2, f'{line}: of where it may be from, the recording says "by a table".')):
        (parts / "samples.csv").write_text("\n".join(",".join(row.split(",")[:kept]) for row in rows) + "\n")
        (parts / "meta.json").write_text(json.dumps({**meta, "parts": "by a table"}))
        text = run(assay, "power", "profile", parts, "--width", "200").stdout
        check(says in text, f"what the recording says of its parts is not told: {says}")


def check_across(assay, folder):
    """Several workloads, or their recordings, in one table: complementary pairs, and which takeaways of the paper hold.
    """
    works = ("gemm:8192", "gemv:8192")
    workloads = [word for work in works for word in ("--workload", work)]
    ran = run_json(assay, "power", "run", "--device", "simulated", *workloads, "--record", folder / "across")
    recordings = [folder / "across" / work.replace(":", "-") for work in works]
    pairs = []
    for document in (ran, run_json(assay, "power", "profile", *recordings)):
        power = document.get("power")
        if power is None:
            check(False, f"across: no table of all kernels, only {sorted(document)}")
            continue
        check([row["name"] for row in power["across"]] == list(works), f"across: {power['across']}")
        gemm, gemv = power["across"]
        check((gemm["kernel_bound"], gemv["kernel_bound"]) == ("compute", "memory"), "bounds without known peaks")
        check(gemm["leads"] == "XCD", f"{gemm['leads']} leads a GEMM")
        pairs = power["complementary"]
        check([(pair["compute"], pair["memory"]) for pair in pairs] == [works], f"complementary: {pairs}")
        rules = {row["source"]: row["holds"] for row in power["takeaway_rules"]}
        check(len(rules) == 6 and rules["FinGraV, takeaway 1"] is True and rules["FinGraV, takeaway 3"] is True,
              f"takeaways: {rules}")
        check(rules["FinGraV, takeaway 5"] is None, "a takeaway about kernels among others, of kernels alone")
    limit = pairs[0]["limit_w"] if pairs else 0
    check(limit is None, f"a recording has no power limit, {limit} is said")
    text = run(assay, "power", "profile", *recordings, "--width", "80").stdout
    check("(FinGraV, takeaway 3)." in " ".join(text.split()), "the takeaways are not told")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True, type=pathlib.Path)
    assay = parser.parse_args().assay.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            check_truth(assay)
            check_strategies(assay, folder)
            check_resume(assay, folder)
            check_full_disk(assay, folder)
            check_foreign_folder(assay, folder)
            check_calibration(assay, folder)
            check_kept_calibration(assay, folder)
            check_sensors_side_by_side(assay, folder)
            check_parts(assay, folder)
            check_across(assay, folder)
            check_no_gpu(assay)
            check_errors(assay)
        finally:
            # The first failure explains a later exception.
            for problem in problems:
                print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
