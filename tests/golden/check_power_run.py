#!/usr/bin/env python3
"""`assay power run` and `calibrate` from the command line on simulated devices: answers close to the
truth printed beside them, interrupts that lose nothing, and errors with names."""

import argparse
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time

TIMEOUT_S = 120
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


def check_resume(assay, folder):
    """A campaign that is killed in the middle and gone on with."""
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
    # A kill between two appends may cost that one run.
    check(abs(a["runs"] - b["runs"]) <= 1, f"resumed: {b['runs']} runs instead of {a['runs']}")
    check(abs(a["ssp_w"] / b["ssp_w"] - 1) < 0.002, "resumed: another SSP power")
    other = run(assay, "power", "run", "--device", "simulated:t=100us", "--workload", "gemm:4096", "--record",
                folder / "whole")
    check(other.returncode == 2 and "another campaign" in other.stderr, "another workload went into the folder")


def check_full_disk(assay, folder):
    """No file may grow beyond 30 kB, which the campaign needs: it stops by name, and what was written
    can be gone on with."""
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
    # An undocumented sensor is refused, and answered once it is calibrated.
    device = ("--device", "simulated:kind=unknown,t=200us,boost=0", "--seed", "9")
    workload = ("--workload", "gemm:2048")
    refused = run_json(assay, "power", "run", *device, *workload)
    check(refused and refused["power"]["kernels"][0]["verdict"] == "refused", "an unknown sensor was believed")
    kept = folder / "unknown.json"
    run_json(assay, "power", "calibrate", *device, "--calibration", kept)
    power = run_json(assay, "power", "run", *device, *workload, "--calibration", kept).get("power", {})
    if power:
        error = power["kernels"][0]["ssp_w"] / power["truth"]["ssp_w"] - 1
        check(abs(error) < 0.01, f"calibrated: SSP is off by {100 * error:.2f} %")


def check_errors(assay):
    cases = {
        ("--device", "simulated", "--workload", "gemm:zero"): "sizes are gemm:N",
        ("--device", "simulated:windw=3", "--workload", "gemm:64"): "no such setting",
        ("--device", "gpu", "--workload", "gemm:64"): "no device 'gpu'",
        ("--device", "nvidia:99", "--workload", "gemm:64"): "assay: ",
    }
    for arguments, says in cases.items():
        done = run(assay, "power", "run", *arguments)
        check(done.returncode == 2 and says in done.stderr, f"{arguments}: {done.returncode} {done.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True, type=pathlib.Path)
    assay = parser.parse_args().assay.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_truth(assay)
        check_resume(assay, folder)
        check_full_disk(assay, folder)
        check_calibration(assay, folder)
        check_errors(assay)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
