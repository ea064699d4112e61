#!/usr/bin/env python3
"""Compares `breakdown --telemetry` with an independent computation over real logs.

The traces are synthetic, with kernels at known times inside the real logs. Clocks, power, load and cores are computed
again from the text of the log."""

import argparse
import csv
import datetime
import gzip
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

import datasets

SECOND = 1_000_000_000
REACH = 0.75  # of a period, to either side of a sample


def close(what, got, wanted, tolerance=1e-9):
    if wanted is None or got is None:
        assert got == wanted, f"{what}: {got} instead of {wanted}"
        return
    assert math.isclose(got, wanted, rel_tol=tolerance, abs_tol=1e-9), f"{what}: {got}, not {wanted}"


# ---- a trace with kernels at given times ----


def write_trace(path, base_ns, kernels):
    """kernels: (operator, start, end) in ns since base, in order."""
    events = []
    for i, (name, start, end) in enumerate(kernels):
        call = start - 20_000
        events += [
            dict(ph="X", cat="cpu_op", name=name, pid=1, tid=1, ts=call / 1e3 - 5, dur=15.0,
                 args={"External id": i + 1}),
            dict(ph="X", cat="cuda_runtime", name="cudaLaunchKernel", pid=1, tid=1, ts=call / 1e3,
                 dur=5.0, args={"correlation": i + 1, "External id": i + 1}),
            dict(ph="X", cat="kernel", name="kernel_of_" + name, pid=0, tid=7, ts=start / 1e3,
                 dur=(end - start) / 1e3,
                 args={"correlation": i + 1, "External id": i + 1, "device": 0, "stream": 7}),
        ]
    trace = {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0, "name": "NVIDIA A100", "totalGlobalMem": 1}],
        "baseTimeNanoseconds": base_ns,
        "traceEvents": events,
    }
    path.write_text(json.dumps(trace))


def levels(assay, trace, *flags):
    done = subprocess.run([assay, "breakdown", str(trace), "--format", "json", *flags],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)["breakdown"]


def refused(assay, trace, *flags):
    done = subprocess.run([assay, "breakdown", str(trace), *flags], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 2, f"{flags}: code {done.returncode} instead of a refusal"
    return done.stderr


# ---- the same from the text of the log ----


def smi_readings(path, column):
    """(ns since 1970, value) of one column of nvidia-smi's CSV, the times taken as UTC."""
    readings = []
    with open(path, newline="") as file:
        rows = csv.reader(file, skipinitialspace=True)
        header = next(rows)
        at = header.index(column)
        for row in rows:
            if len(row) < len(header):
                continue
            when = datetime.datetime.strptime(row[0].strip(), "%Y/%m/%d %H:%M:%S.%f")
            when = when.replace(tzinfo=datetime.timezone.utc)
            ns = int(when.timestamp()) * SECOND + when.microsecond * 1000
            try:
                readings.append((ns, float(row[at].split()[0])))
            except ValueError:
                pass
    return sorted(readings, key=lambda one: one[0])


def weighted(readings, intervals):
    """Mean over the intervals, where a sample covers the time around it, and the coverage."""
    times = [t for t, _ in readings]
    period = round(statistics.median(b - a for a, b in zip(times, times[1:])))
    reach = round(REACH * period)
    total = value = 0
    for i, (t, v) in enumerate(readings):
        begin, end = t - reach, t + reach
        if i > 0:
            begin = max(begin, times[i - 1] + (t - times[i - 1]) // 2)
        if i + 1 < len(times):
            end = min(end, t + (times[i + 1] - t) // 2)
        common = sum(max(0, min(end, b) - max(begin, a)) for a, b in intervals)
        total += common
        value += common * v
    whole = sum(b - a for a, b in intervals)
    return value / total if total else None, total / whole, period


def value_of(rows, op, signal):
    found = [row for row in rows
             if row["level"] == "operation" and row["op"] == op and row["signal"] == signal]
    assert len(found) == 1, f"{op} {signal}: {len(found)} rows"
    return found[0]


def check_smi(assay, folder, log, columns, zone_hours):
    start = smi_readings(log, columns[0][1])[0][0]
    base = start + 4 * SECOND
    kernels = []
    for i in range(6):  # 1.3 s of a product, 1 ms of an addition, 0.2 s idle
        at = i * 1_501_000_000 + 1_000_000
        kernels.append(("aten::mm", at, at + 1_300_000_000))
        kernels.append(("aten::add", at + 1_300_100_000, at + 1_301_100_000))
    trace = folder / "trace.json"
    write_trace(trace, base - zone_hours * 3600 * SECOND, kernels)
    zone = f"{zone_hours:+03d}:00"
    # Consecutive kernels of one operation form one run; these alternate.
    flags = ["--telemetry", str(log), "--telemetry-zone", zone]
    result = levels(assay, trace, *flags)
    for signal, column in columns:
        readings = smi_readings(log, column)
        for op in ("aten::mm", "aten::add"):
            intervals = [(base + a, base + b) for name, a, b in kernels if name == op]
            row = value_of(result["telemetry"], op, signal)
            mean, coverage, period = weighted(readings, intervals)
            close(f"{log.name} {op} {signal} coverage", row["coverage_share"], coverage)
            if max(b - a for a, b in intervals) >= period:
                assert row["how"] == "weighted", row
                close(f"{log.name} {op} {signal}", row["value"], mean)
                assert row["low"] <= row["value"] <= row["high"], row
            else:
                # Too short to resolve: no value without enough readings inside.
                inside = [v for t, v in readings if any(a <= t < b for a, b in intervals)]
                assert row["samples"] == len(inside), row
                assert (row["value"] is None) == (row["how"] == "bracket"), row
    # A common shift changes nothing; different shifts are refused, with the time zone.
    write_trace(trace, base + 3600 * SECOND, kernels)
    moved = levels(assay, trace, "--telemetry", str(log), "--telemetry-offset", "3600")
    assert moved["telemetry"] == result["telemetry"]
    assert "--telemetry-zone -01:00" in refused(assay, trace, "--telemetry", str(log))


def check_chopper(assay, folder, log):
    rows = {}
    with open(log, newline="") as file:
        for row in csv.DictReader(file):
            rows.setdefault(int(row["ts"]), {})[int(row["cpu"])] = float(row["percent"])
    times = sorted(rows)
    trace = folder / "cores.json"
    base = 1_700_000_000 * SECOND
    write_trace(trace, base, [("aten::mm", 1_000_000, times[-1] - times[0] - 1_000_000)])
    flags = ["--telemetry", str(log)]
    assert "--telemetry-offset" in refused(assay, trace, *flags)
    offset = base - times[0]
    told = f"{offset // SECOND}.{offset % SECOND:09d}"
    cpu = levels(assay, trace, *flags, "--telemetry-offset", told)["cpu"]
    inside = [rows[t] for t in times[1:]]
    active = [sum(p > 0 for p in one.values()) for one in inside]
    least = [sum(one.values()) / 100 for one in inside]
    close("samples", cpu["samples"], len(inside))
    close("logical cores", cpu["logical_cores"], len({c for one in inside for c in one}))
    close("C_active", cpu["active_cores_median"], statistics.median(active))
    close("C_active, least", cpu["active_cores_min"], min(active))
    close("C_active, most", cpu["active_cores_max"], max(active))
    close("C_min", cpu["min_cores_median"], statistics.median(least), 1e-6)
    close("C_min, most", cpu["min_cores_max"], max(least), 1e-6)
    lengths = [b - a for a, b in zip(times, times[1:])]
    share = sum(l * m for l, m in zip(lengths, least)) / sum(lengths) / cpu["logical_cores"]
    close("utilisation", cpu["utilization_share"], share, 1e-6)
    assert cpu["physical_cores"] is None


def check_uprof(assay, folder, log):
    """Sockets added up, the mean over a stretch worked out from the lines."""
    readings = []
    day = datetime.datetime(2024, 4, 2, tzinfo=datetime.timezone.utc).timestamp()
    seen = False
    with gzip.open(log, "rt") as file:
        for line in file:
            if line.startswith("RecordId"):
                seen = True
                continue
            cells = line.split(",")
            if not seen or len(cells) < 4:
                continue
            h, m, s, ms = (int(part) for part in cells[1].split(":"))
            t = int(day) * SECOND + ((h * 60 + m) * 60 + s) * SECOND + ms * 1_000_000
            readings.append((t, float(cells[2]) + float(cells[3])))
    base = readings[0][0] + 10 * SECOND
    trace = folder / "uprof.json"
    write_trace(trace, base, [("aten::mm", 1_000_000, 5 * SECOND)])
    rows = levels(assay, trace, "--telemetry", str(log))["telemetry"]
    mean, coverage, _ = weighted(readings, [(base + 1_000_000, base + 5 * SECOND)])
    row = value_of(rows, "aten::mm", "cpu_power_w")
    close("uprof power", row["value"], mean)
    close("uprof coverage", row["coverage_share"], coverage)


def check_clocks_of_the_roof(assay, folder):
    """Products of 312 GFLOP that take 2 ms each on an A100 with its peak at 1,410 MHz, and a log of 1,128 MHz: half of
    the roofline at boost clock, 1.25 ms of 2 at the logged clock."""
    start, events = 1_700_000_000 * 10**6, []
    for i in range(100):
        at, args = start + 2100 * i, {"correlation": i + 1, "External id": i + 1}
        shapes = {"Input Dims": [[4000, 3900], [3900, 10000]], "Input type": ["c10::Half"] * 2}
        for cat, name, begin, dur, more in (("cpu_op", "aten::mm", 0, 8, shapes), ("cuda_runtime", "cudaLaunchKernel", 2, 4, {}),
                                            ("kernel", "ampere_fp16_gemm", 10, 2000, {"device": 0, "stream": 7})):
            events.append({"ph": "X", "cat": cat, "name": name, "pid": int(cat != "kernel"), "tid": 7, "ts": at + begin, "dur": dur,
                           "args": args | more})
    trace, log = folder / "roof.json", folder / "roof.csv"
    trace.write_text(json.dumps({"deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB"}], "traceEvents": events}))
    rows = ["timestamp, index, name, power.draw [W], clocks.current.sm [MHz]"]
    for i in range(-10, 15):
        when = datetime.datetime.fromtimestamp(start // 10**6 + i / 10, datetime.timezone.utc)
        rows.append(f"{when:%Y/%m/%d %H:%M:%S.%f}"[:-3] + ", 0, NVIDIA A100-SXM4-80GB, 300.00 W, 1128 MHz")
    log.write_text("\n".join(rows) + "\n")
    done = subprocess.run([assay, "breakdown", trace, "--telemetry", log, "--roofline", "--format", "json"], capture_output=True, text=True,
                          check=True)
    roof = json.loads(done.stdout)["roofline"]
    for rows_of in ([roof], roof["ops"], roof["phases"], roof["places"]):
        for row in rows_of:
            close("share of the roof", row["roofline_share"], 0.5)
            close("share at the clock", row["actual_clock_roofline_share"], 0.625)
            close("time with a clock", row["actual_clock_ns"], 200_000_000)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assay", required=True)
    assay = parser.parse_args().assay
    data = datasets.CORPUS
    with tempfile.TemporaryDirectory() as name:
        check_clocks_of_the_roof(assay, pathlib.Path(name))
    if not (data / "power").is_dir():
        print(datasets.NO_CORPUS)
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        power = data / "power"
        check_smi(assay, folder, power / "smi_pwr_update_freq_A100_gpudata.csv",
                  [("power_w", "power.draw.instant [W]"),
                   ("sm_clock_mhz", "clocks.current.sm [MHz]"),
                   ("gpu_util_percent", "utilization.gpu [%]"),
                   ("temperature_c", "temperature.gpu")], 0)
        check_smi(assay, folder, power / "nvidia-smi_falcon7b_a100.csv",
                  [("power_w", "power.draw [W]"), ("gpu_util_percent", "utilization.gpu [%]"),
                   ("memory_util_percent", "utilization.memory [%]")], -5)
        check_smi(assay, folder, power / "smi_Transient_Response_4090_TR_gpudata.csv",
                  [("power_w", "power.draw [W]"), ("sm_clock_mhz", "clocks.current.sm [MHz]")], 2)
        check_chopper(assay, folder, data / "cpu" / "local_percpu_util.csv")
        check_uprof(assay, folder, data / "cpu" / "uprof_falcon7b_timechart.csv.gz")
    print("telemetry: real logs agree with the second computation")
    return 0


if __name__ == "__main__":
    sys.exit(main())
