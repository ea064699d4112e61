#!/usr/bin/env python3
"""Compares Assay's import of rocprofv3's files with Python's csv, json and sqlite3, and its alignment of counter runs
with an independent one (textbook, quadratic).

    check_rocprof.py --assay build/release/assay
"""

import argparse
import csv
import gzip
import json
import math
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

import check_golden
import datasets

ROCM = datasets.CORPUS / "rocm"
COPIES = ("copybuffer", "fillbuffer")


def run(assay, *arguments):
    return subprocess.run([assay, *map(str, arguments)], capture_output=True, text=True)


def document(assay, *arguments):
    done = run(assay, *arguments, "--format", "json")
    if done.returncode != 0:
        raise SystemExit(f"{arguments}: {done.stderr}")
    return json.loads(done.stdout)


def is_compute(name):
    return not any(part in name.lower() for part in COPIES) and "nccl" not in name.lower()


# ---- the files as traces ------------------------------------------------------------------------


def tables_of(connection):
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")]
    return lambda kind: next(name for name in names
                             if name.startswith(f"rocpd_{kind}_") and
                             len(name) == len(f"rocpd_{kind}_") + 36)


def no_blit(name):
    """HIP implements copies and fills with kernels: they count as copies and fills, not kernels."""
    return not name.startswith(("__amd_rocclr_copy", "__amd_rocclr_fill"))


def rocpd(path):
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    table = tables_of(connection)
    kernels = connection.execute(
        f"""SELECT s.display_name, k.start, k.end, e.stack_id, k.grid_size_x, k.grid_size_y,
                   k.grid_size_z, k.workgroup_size_x, k.workgroup_size_y, k.workgroup_size_z,
                   k.dispatch_id
            FROM "{table('kernel_dispatch')}" k LEFT JOIN "{table('event')}" e ON e.id = k.event_id
            LEFT JOIN "{table('info_kernel_symbol')}" s ON s.id = k.kernel_id
            ORDER BY k.dispatch_id""").fetchall()
    calls = connection.execute(
        f"""SELECT n.string, e.stack_id, c.string FROM "{table('region')}" r
            JOIN "{table('event')}" e ON e.id = r.event_id
            JOIN "{table('string')}" n ON n.id = r.name_id
            JOIN "{table('string')}" c ON c.id = e.category_id""").fetchall()
    hip = {stack for name, stack, category in calls if category.startswith("HIP")}
    real = [kernel for kernel in kernels if no_blit(kernel[0])]
    return {
        "kernels": len(real),
        "kernels_linked": sum(1 for kernel in real if kernel[3] in hip),
        "sum_ns": sum(kernel[2] - kernel[1] for kernel in real),
        "launch_calls": sum(1 for name, stack, category in calls if name.endswith("LaunchKernel")),
    }, kernels


def csv_trace(path):
    with open(path, newline="") as file:
        kernels = [row for row in csv.DictReader(file) if no_blit(row["Kernel_Name"])]
    calls_path = pathlib.Path(str(path).replace("kernel_trace", "hip_api_trace"))
    with open(calls_path, newline="") as file:
        calls = list(csv.DictReader(file))
    ids = {call["Correlation_Id"] for call in calls}
    launches = ("hipLaunchKernel", "hipModuleLaunchKernel", "hipExtModuleLaunchKernel",
                "hipGraphLaunch", "hipExtLaunchKernel", "hipLaunchCooperativeKernel")
    return {
        "kernels": len(kernels),
        "kernels_linked": sum(1 for kernel in kernels if kernel["Correlation_Id"] in ids),
        "sum_ns": sum(int(k["End_Timestamp"]) - int(k["Start_Timestamp"]) for k in kernels),
        "launch_calls": sum(1 for call in calls if call["Function"] in launches),
    }


def json_trace(path):
    with gzip.open(path) as file:
        tool = json.load(file)["rocprofiler-sdk-tool"][0]
    names = {symbol["kernel_id"]: symbol["formatted_kernel_name"] for symbol in tool["kernel_symbols"]}
    kernels = [row for row in tool["buffer_records"]["kernel_dispatch"]
               if no_blit(names[row["dispatch_info"]["kernel_id"]])]
    return {
        "kernels": len(kernels),
        "kernels_linked": 0,  # the file has no host calls
        "sum_ns": sum(k["end_timestamp"] - k["start_timestamp"] for k in kernels),
        "launch_calls": 0,
    }


def check_trace(assay, path, want):
    info = document(assay, "info", path)
    got = {key: info["links"][key] for key in ("kernels", "kernels_linked", "launch_calls")}
    got["sum_ns"] = info["launch"]["kernel_sum_ns"]
    for key, value in want.items():
        if got[key] != value:
            yield f"{path.name}: {key} is {got[key]}, by hand {value}"


# ---- generated counter runs ---------------------------------------------------------------------


def write_pass(path, kernels, counters):
    """kernels: (name, grid items, group items); counters: name -> value by index."""
    path.parent.mkdir(parents=True, exist_ok=True)
    header = ("Correlation_Id,Dispatch_Id,Agent_Id,Queue_Id,Process_Id,Thread_Id,Grid_Size,"
              "Kernel_Id,Kernel_Name,Workgroup_Size,LDS_Block_Size,Scratch_Size,VGPR_Count,"
              "SGPR_Count,Counter_Name,Counter_Value").split(",")
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(header)
        for i, (name, grid, group, index) in enumerate(kernels):
            for counter, value in counters.items():
                writer.writerow([i + 1, i + 1, "Agent 2", 1, 28, 28, grid, 1, name, group, 0, 0, 8, 8,
                                 counter, f"{value(index):f}"])


def common_length(a, b):
    row = [0] * (len(b) + 1)
    for x in a:
        before = 0
        for j, y in enumerate(b):
            kept = row[j + 1]
            row[j + 1] = before + 1 if x == y else max(row[j + 1], row[j])
            before = kept
    return row[-1]


def shapes(kernels):
    out = []
    for i, kernel in enumerate(kernels):
        grid = math.prod(kernel[4:7])
        out.append((kernel[0], grid, math.prod(kernel[7:10]), i))
    return out


BUSY, ACTIVE, MOPS = "SQ_VALU_MFMA_BUSY_CYCLES", "GRBM_GUI_ACTIVE", "SQ_INSTS_VALU_MFMA_MOPS_F16"


def counters_of(kernels, second):
    """Values for a waterfall: 40 % busy, full rate while busy, at 1.5 GHz."""
    def cycles(i):
        return (kernels[i][2] - kernels[i][1]) * 1.5
    if second:
        return {MOPS: lambda i: round(0.4 * cycles(i) * 304 * 4), ACTIVE: lambda i: round(8 * cycles(i))}
    return {BUSY: lambda i: round(0.4 * cycles(i) * 304 * 4), ACTIVE: lambda i: round(8 * cycles(i))}



def check_counters(assay, path, kernels, folder):
    items = shapes(kernels)
    whole = [item for item in items if is_compute(item[0])]
    for number in (0, 1):
        write_pass(folder / f"good/pass_{number + 1}/c_counter_collection.csv", items,
                   counters_of(kernels, number == 1))
    levels = document(assay, "breakdown", path, "--counters", folder / "good")["breakdown"]
    for one in levels["counter_passes"]:
        if one["match_rate"] != 1 or one["matched"] != levels["counter_passes"][0]["kernels"]:
            yield f"{path.name}: {one['matched']} of {one['kernels']} matched"
    fits = levels["waterfall"]
    for row in fits:
        bars = sum(row[key] for key in ("theoretical_ns", "instruction_ns", "utilisation_ns",
                                        "overlap_ns", "frequency_ns", "residual_ns"))
        if bars != row["dur_ns"]:
            yield f"{path.name}: bars of {row['op']} sum to {bars}, not {row['dur_ns']}"
        for key, want in (("ovr_util", 1 / 0.4), ("rho", 1.0), ("ovr_freq", 2.1 / 1.5)):
            if abs(row[key] / want - 1) > 1e-3:
                yield f"{path.name}: {key} of {row['op']} is {row[key]}, made as {want}"
    if not fits:
        yield f"{path.name}: no waterfall although counters were made for one"

    # Dropped, duplicated and swapped kernels: the independent alignment gives the rate.
    window = levels["counter_passes"][0]["kernels"]
    first = len(whole) - window
    trace_tokens = [item[:3] for item in whole[first:]]
    for label, mangled in (("dropped", [x for i, x in enumerate(items) if i % 25 != 7]),
                           ("duplicated", [y for i, x in enumerate(items)
                                           for y in ([x, x] if i % 30 == 3 else [x])]),
                           ("cut", items[:len(items) // 2])):
        target = folder / label / "c_counter_collection.csv"
        write_pass(target, mangled, counters_of(kernels, False))
        done = run(assay, "breakdown", path, "--counters", target, "--format", "json")
        tokens = [item[:3] for item in mangled if is_compute(item[0])]
        rate = common_length(trace_tokens, tokens) / max(len(trace_tokens), len(tokens))
        if (rate >= 0.9) != (done.returncode == 0):
            yield f"{path.name} {label}: rate {rate:.3f} and exit {done.returncode}: {done.stderr}"
        elif done.returncode == 0:
            got = json.loads(done.stdout)["breakdown"]["counter_passes"][0]["match_rate"]
            if abs(got - rate) > 1e-9:
                yield f"{path.name} {label}: rate {got}, by hand {rate}"
        elif f"{math.floor(rate * 1000) / 10} %" not in done.stderr:
            yield f"{path.name} {label}: by hand {rate}, said: {done.stderr}"


def check_refusals(assay):
    trace = ROCM / "rocprofv3/decode_kernel_trace.csv"
    counters = ROCM / "rocprofv3/decode_stall_counter_collection.csv"
    as_trace = run(assay, "breakdown", counters)
    if as_trace.returncode != 2 or "--counters" not in as_trace.stderr:
        yield f"{counters.name} as a trace: {as_trace.returncode} {as_trace.stderr}"
    other = run(assay, "breakdown", trace, "--counters", counters)
    if other.returncode != 2 or "refused below 90.0 %" not in other.stderr:
        yield f"{counters.name} of another run: {other.returncode} {other.stderr}"
    for path in (trace, ROCM / "rocprofv3/decode_hip_api_trace.csv",
                 ROCM / "rocpd/ck_bmm_mi300x_28_results.db"):
        done = run(assay, "breakdown", trace, "--counters", path)
        if done.returncode != 2 or "counters" not in done.stderr:
            yield f"{path.name} as counters: {done.returncode} {done.stderr}"


def check_counter_runs(assay):
    """Runs of rocprof-compute as traces: each table and the folder are refused with a remedy."""
    for path in sorted((ROCM / "omniperf").glob("*/*")) + sorted((ROCM / "omniperf").iterdir()):
        done = run(assay, "report", path)
        if done.returncode != 2:
            yield f"{path} as a trace: exit {done.returncode}"
        timed = path.name in ("timestamps.csv", "SQ_LEVEL_WAVES.csv")
        if timed and "kernels ran one at a time" not in done.stderr:
            yield f"{path} as a trace: {done.stderr}"
        if (timed or path.is_dir()) and "--counters" not in done.stderr:
            yield f"{path} as a trace, without what to do: {done.stderr}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    assay = pathlib.Path(parser.parse_args().assay).resolve()
    if not ROCM.is_dir():
        print(datasets.NO_CORPUS)
        return check_golden.SKIP
    problems = []
    path = ROCM / "rocprofv3/decode_kernel_trace.csv"
    problems += check_trace(assay, path, csv_trace(path))
    path = ROCM / "rocprofv3/DERIVED_mi350x_first300_results.json.gz"
    problems += check_trace(assay, path, json_trace(path))
    databases = sorted(ROCM.glob("rocpd/*.db"))
    with tempfile.TemporaryDirectory() as name:
        for path in databases:
            want, kernels = rocpd(path)
            problems += check_trace(assay, path, want)
            problems += check_counters(assay, path, kernels, pathlib.Path(name) / path.stem)
    problems += check_refusals(assay)
    problems += check_counter_runs(assay)
    for problem in problems:
        print(problem)
    print(f"{2 + len(databases)} files of rocprofv3 checked, {len(problems)} problems")
    return 1 if problems or len(databases) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
