#!/usr/bin/env python3
"""Power logs of many programs for one job with known energies.

Every log shows the same job (power_logs.py). The intervals of the kernels' energy must contain the truth, and totals
must be near it. Logs with too little information give only the total. Logs without times are refused until the times
are given.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import power_logs

START = ["--log-start", "2026-05-04T12:00:00.1Z"]
TOTAL_WITHIN = 0.02
MOST_MISSES = 2  # of some 40 intervals of 95 %


class Check:
    def __init__(self, assay, folder):
        self.assay = assay
        self.folder = folder
        self.job = power_logs.Job()
        self.trace = folder / "job.json"
        self.job.write_trace(self.trace)
        self.problems = []
        self.misses = []
        self.intervals = 0
        self.logs = 0

    def attribute(self, text, arguments, name="log.any"):
        log = self.folder / name
        log.write_text(text)
        command = [self.assay, "power", "attribute", self.trace, "--samples", log, "--format", "json", *arguments]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
        return (json.loads(done.stdout), "") if done.returncode == 0 else (None, done.stderr.strip())

    def problem(self, name, words):
        self.problems.append(f"{name}: {words}")

    def total_is_right(self, name, energy, known_share=1.0):
        true = self.job.mean_of(*self.job.work())
        if abs(energy["mean_w"] - true) > TOTAL_WITHIN * true:
            self.problem(name, f"mean power {energy['mean_w']:.2f} W, true {true:.2f}")
        begin, end = self.job.work()
        covered = energy["covered_ns"] * 1e-9 / (end - begin)
        if covered < 0.9 * known_share:
            self.problem(name, f"covers {covered:.1%} of the work")

    def fitted(self, name, text, *arguments, log_format=None, scope=None):
        """Kernels are distinguished, and their intervals contain the truth."""
        self.logs += 1
        answer, error = self.attribute(text, arguments)
        if answer is None:
            return self.problem(name, error)
        energy = answer["energy"]
        if energy["total_only"] is not None:
            return self.problem(name, f"the total alone: {energy['total_only']}")
        if not energy["follows"]:
            return self.problem(name, "readings do not follow the trace")
        self.total_is_right(name, energy)
        for part in energy["kernels"]:
            true = power_logs.POWER_W[part["name"]] * part["busy_ns"] * 1e-9
            self.intervals += 1
            if not part["low_j"] <= true <= part["high_j"]:
                self.misses.append(f"{name}: {part['name']} {part['energy_j']:.0f} ({part['low_j']:.0f} to "
                                   f"{part['high_j']:.0f}) J, true {true:.0f}")
            if part["high_j"] - part["low_j"] > 0.5 * true:
                self.problem(name, f"{part['name']}: interval of {part['low_j']:.0f} to {part['high_j']:.0f} J")
        if log_format and energy["log"]["log_format"] != log_format:
            self.problem(name, f"told as {energy['log']['log_format']}")
        if scope is not None and energy["log"]["log_scope"] != scope:
            self.problem(name, f"is of {energy['log']['log_scope']!r}")
        return energy

    def total_alone(self, name, text, why, *arguments, known_share=1.0):
        self.logs += 1
        answer, error = self.attribute(text, arguments)
        if answer is None:
            return self.problem(name, error)
        energy = answer["energy"]
        if why not in (energy["total_only"] or ""):
            self.problem(name, f"does not say {why!r}: {energy['total_only']!r}")
        self.total_is_right(name, energy, known_share)
        return energy

    def refused(self, name, text, says, *arguments):
        self.logs += 1
        answer, error = self.attribute(text, arguments)
        if answer is not None:
            self.problem(name, f"accepted, should say {says!r}")
        elif says not in error:
            self.problem(name, f"does not say {says!r}: {error}")


def check_nvidia(check):
    job = check.job
    first = ["--gpu", "0"]
    check.fitted("dmon -o DT", power_logs.smi_dmon(job), *first, log_format="smi_dmon")
    check.fitted("dmon --format csv", power_logs.smi_dmon_csv(job), log_format="smi_dmon")
    check.refused("dmon without times", power_logs.smi_dmon(job, dated=False), "--log-start", *first)
    check.refused("dmon, a start alone", power_logs.smi_dmon(job, dated=False), "--log-interval", *first, *START)
    check.fitted("dmon, told when", power_logs.smi_dmon(job, dated=False), *first, "--log-start",
                 "2026-05-04T12:00:01Z", "--log-interval", "1")
    check.refused("dmon, which GPU", power_logs.smi_dmon(job), "choose one with --gpu")
    energy = check.fitted("dcgmi dmon", power_logs.dcgmi_dmon(job, times=True), *first, log_format="dcgmi_dmon")
    if energy and not energy["counter_used"]:
        check.problem("dcgmi dmon", "its counter of energy was not used")
    check.fitted("dcgmi dmon, told when", power_logs.dcgmi_dmon(job), *first, *START, "--log-interval", "0.1")
    check.fitted("dcgm-exporter", power_logs.metrics_text(job), *first, log_format="metrics_text")
    check.fitted("dcgm-exporter, told when", power_logs.metrics_text(job, times=False), *first, "--log-start",
                 "2026-05-04T12:00:00.2Z", "--log-interval", "0.2")
    other = power_logs.metrics_text(job, power="site_gpu_power_watts")
    check.refused("metric of a site", other, "name one with --column", *first)
    check.fitted("metric of a site, named", other, *first, "--column", "site_gpu_power_watts")
    check.refused("metric that is not there", other, "no metric my_watts", *first, "--column", "my_watts")


def check_turns(check):
    """Several GPUs without an index column, with rows at equal distances."""
    for gpus, at in ((2, 0), (3, 1), (8, 2)):
        text = power_logs.smi_in_turn(check.job, gpus, at)
        check.refused(f"{gpus} in turn", text, f"as if {gpus} GPUs had written them in turn")
        check.fitted(f"{gpus} in turn, told", text, "--interleaved-gpus", str(gpus), "--gpu", str(at))
        log = check.folder / "turns.csv"
        log.write_text(text)
        done = subprocess.run([str(check.assay), "breakdown", str(check.trace), "--telemetry", str(log)],
                              capture_output=True, text=True, check=False)
        if done.returncode != 2 or f"as if {gpus} GPUs had written them in turn" not in done.stderr:
            check.problem(f"{gpus} in turn", f"levels says {done.stderr.strip()!r}")
    check.fitted("one GPU without an index", power_logs.smi_in_turn(check.job, 1))


def check_smoothing(check):
    """Sensors with smoothed samples, with and without gaps between windows: the smoothing is detected, and the
    intervals contain the energies."""
    for name, kept, window_s in (("a window without gaps", 0.3, 0.1), ("a window with gaps", 0, 0.025),
                                 ("a window with gaps", 0.1, 0.025), ("a window with gaps", 0.6, 0.025)):
        energy = check.fitted(f"{name}, {kept} kept", power_logs.smoothed_csv(check.job, kept, window_s))
        if energy and abs(energy["kept_share"] - kept) > 0.02:
            check.problem(name, f"{energy['kept_share']} of each update is said to be kept, not {kept}")
    check.total_alone("more is kept than the model has", power_logs.smoothed_csv(check.job, 0.92, 0.025), "keeps a part of the one before it")


def check_usual_sensors(check):
    """The trace names its card: the typical sensor of the card is assumed unless the samples contradict it."""
    text = power_logs.smi_in_turn(check.job, 1).replace("power.draw [W]", "power.draw.instant [W]")
    for device, known, unlike in (("NVIDIA GeForce RTX 3090", True, False), ("Tesla V100-SXM2-32GB", True, True),
                                  ("NVIDIA Nobody", False, False)):
        check.job.write_trace(check.trace, device)
        energy = check.fitted(device, text)
        if energy and (energy["sensor_unlike"] != unlike or (energy["usual_sensor"] is not None) != (known and not unlike)):
            check.problem(device, f"usual sensor {energy['usual_sensor']}, unlike it: {energy['sensor_unlike']}")
    check.job.write_trace(check.trace)


def check_telemetry(check):
    """Clocks and powers of the same logs, for assay breakdown."""
    job = check.job
    for name, text, mhz in (("dmon", power_logs.smi_dmon(job), 1980), ("dcgm-exporter", power_logs.metrics_text(job), 1980),
                            ("amd-smi", power_logs.amd_smi_csv(job), 2100)):
        check.logs += 1
        log = check.folder / "telemetry.any"
        log.write_text(text)
        done = subprocess.run([str(check.assay), "breakdown", str(check.trace), "--telemetry", str(log), "--format", "json"],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            check.problem(name, done.stderr.strip())
            continue
        rows = [row["value"] for row in json.loads(done.stdout)["breakdown"]["telemetry"] if row["signal"] == "sm_clock_mhz"]
        if not rows or any(value != mhz for value in rows):
            check.problem(name, f"clocks beside the trace: {rows[:2]}")
    log.write_text(power_logs.smi_dmon(job, dated=False))
    done = subprocess.run([str(check.assay), "breakdown", str(check.trace), "--telemetry", str(log)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 2 or "its rows have no time" not in done.stderr:
        check.problem("dmon without times", f"levels says {done.stderr.strip()!r}")


def check_services(check):
    job = check.job
    first = ["--gpu", "0"]
    check.fitted("Prometheus", power_logs.prometheus_json(job), *first, log_format="prometheus_json")
    check.fitted("Prometheus, a function", power_logs.prometheus_json(job, name=""), *first,
                 scope="what its query computed")
    energy = check.fitted("Prometheus, milliwatts", power_logs.prometheus_json(job, name="", factor=1000), *first)
    if energy and not energy["log"]["unit_assumed"]:
        check.problem("Prometheus, milliwatts", "does not say that its unit was taken by size")
    check.refused("Prometheus, neither", power_logs.prometheus_json(job, name="", factor=1e9), "no unit is given", *first)
    scrapes = [(t, job.mean_of(t - 15, t)) for t, _ in job.every(15.0)]
    check.total_alone("Prometheus, means of 15 s", power_logs.prometheus_series(scrapes), "the log has a sample every 15 s",
                      known_share=0.8)
    check.fitted("Grafana", power_logs.grafana(job), "--gpu", "GPU 0", log_format="grafana")
    check.total_alone("W&B", power_logs.wandb(job), "the log has a sample every 15 s", *first, known_share=0.8)
    check.total_alone("codecarbon", power_logs.codecarbon(job), "the log has a sample every 15 s", known_share=0.9)
    check.refused("codecarbon's power", power_logs.codecarbon(job), "means over the whole run", "--column", "gpu_power")
    check.total_alone("Zeus", power_logs.zeus(job), "energies of windows", *first)
    check.fitted("nvitop", power_logs.nvitop(job), log_format="nvitop")


def check_others(check):
    job = check.job
    first = ["--gpu", "0"]
    check.fitted("amd-smi monitor", power_logs.amd_smi_csv(job), "--gpu", "0", log_format="amd_smi_csv")
    energy = check.fitted("amd-smi metric", power_logs.amd_smi_json(job), *first, log_format="amd_smi_json")
    if energy and not energy["counter_used"]:
        check.problem("amd-smi metric", "its counter of energy was not used")
    half = ["--log-start", "2026-05-04T12:00:00.5Z", "--log-interval", "0.5"]
    energy = check.fitted("rocm-smi csv", power_logs.rocm_smi_csv(job), *half, log_format="rocm_smi_csv")
    if energy and energy["log"]["devices_silent"] != 1:
        check.problem("rocm-smi csv", "does not say that a device showed nothing")
    check.refused("rocm-smi csv without times", power_logs.rocm_smi_csv(job), "--log-start")
    check.fitted("rocm-smi json", power_logs.rocm_smi_json(job), *half, log_format="rocm_smi_json")
    check.fitted("tegrastats", power_logs.tegrastats(job), log_format="tegrastats", scope="the rail of GPU and chip")
    check.fitted("tegrastats, older", power_logs.tegrastats(job, unit=""))
    check.fitted("tegrastats, ten rows a second", power_logs.tegrastats(job, step=0.1))
    check.refused("tegrastats, another rail", power_logs.tegrastats(job), "no row has", "--column", "VDD_NONE")
    check.fitted("RAPL", power_logs.rapl(job), "--gpu", "package-0", log_format="rapl",
                 scope="the processors' packages")
    start = ["--log-start", "2026-05-04T12:00:00Z"]
    check.fitted("perf stat -I", power_logs.perf_stat(job), *start, log_format="perf_stat")
    check.fitted("perf stat -I -x,", power_logs.perf_stat(job, form="csv"), *start)
    check.refused("perf stat, no start", power_logs.perf_stat(job), "--log-start TIME")
    check.fitted("turbostat", power_logs.turbostat(job), log_format="turbostat")
    check.fitted("powermetrics", power_logs.powermetrics(job), log_format="powermetrics")
    check.fitted("a script's milliwatts", power_logs.script_csv(job), *first)
    energy = check.fitted("a script's numbers", power_logs.script_csv(job, column="power"), *first)
    if energy and not energy["log"]["unit_assumed"]:
        check.problem("a script's numbers", "does not say that its unit was taken by size")
    check.refused("a script's microwatts", power_logs.script_csv(job, column="power", factor=1e9), "no unit is given", *first)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assay", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        check = Check(arguments.assay, pathlib.Path(folder))
        check_nvidia(check)
        check_services(check)
        check_others(check)
        check_turns(check)
        check_smoothing(check)
        check_usual_sensors(check)
        check_telemetry(check)
    for problem in check.problems:
        print(problem)
    for miss in check.misses:
        print(f"outside of its interval: {miss}")
    print(f"{check.logs} logs, {len(check.problems)} problems; {len(check.misses)} of {check.intervals} intervals of "
          "95 % miss the truth")
    return 1 if check.problems or len(check.misses) > MOST_MISSES else 0


if __name__ == "__main__":
    sys.exit(main())
