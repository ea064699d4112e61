#!/usr/bin/env python3
"""Checks that docs/metrics.md names, in backticks, every key that the verbs print as JSON.

Runs report, launch (with its tree and kernel list), fusion, sweep, overhead and info on the traces in the
repository, bound and overhead on a small sweep of two platforms, levels with counter runs, and overhead on a replay of its own database. Collects the keys of all objects, and the
words that come from a closed list: verdicts, levers, trust notes, sources, remedies, node kinds,
import codes (those in some page of docs/formats). The values of a finding are those that docs/findings.md lists for its code. Over the pages of the same documents: no key has two titles or two
units, and each has the declared title.
"""

import argparse
import base64
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import gen_findings_docs
import gen_metrics_docs

ROOT = pathlib.Path(__file__).resolve().parent.parent
METRICS = ROOT / "docs/metrics.md"
FORMATS = sorted((ROOT / "docs/formats").glob("*.md"))
IMPORT_CODES = ROOT / "src/trace/import_log.h"
TIMEOUT_S = 120

# Objects whose keys are names of the user's, not of Assay's.
PLATFORMS = {"platform A", "platform B"}
# Values that docs/metrics.md defines one by one, by the key they stand under.
WORDS = {
    "along", "base_weighting", "bound", "interval_source", "kind", "match", "metric", "mode", "noise", "origin", "outcome", "phase",
    "phase_source", "relation", "remedy", "resource", "rule", "same_as", "segment", "severity", "source", "tier", "tighter", "what",
    "window_source",
}
# Where a key of that name carries free text instead.
FREE_TEXT = {("actions", "what"), ("unused", "what"), ("derived", "source"), ("peaks", "source")}
BATCH_BOUND = {"CPU", "GPU"}

CPU_BOUND_FIRST = """batch,tklqt_us,launches,latency_us,gpu_idle_share,cpu_idle_share
1,500,100,1000,0.8,0.1
1,520,100,1010,0.8,0.1
2,500,100,1000,0.6,0.1
2,510,100,1000,0.6,0.1
4,520,100,1100,0.2,0.2
4,530,100,1100,0.2,0.2
8,2000,100,1500,0.1,0.5
8,2100,100,1500,0.1,0.5
16,9000,100,3000,0.0,0.7
16,9100,100,3000,0.0,0.7
"""
ALWAYS_FLAT = """batch,tklqt_us,launches,latency_us
1,600,100,900
2,600,100,950
4,610,100,1200
8,620,100,2500
"""


# key -> {(title, unit): the verb that showed it first}, from the pages of all documents.
SHOWN = {}
# Facts of `info` whose keys are names of tables and kinds, and the column that draws a power profile under its range.
NAMES_AS_KEYS = {"tables", "activity_kinds", "sums", "plot"}


def output(assay, arguments, form):
    command = [assay, *map(str, arguments), "--format", form]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}: {done.stderr.strip()[:300]}")
    return done.stdout


def run(assay, *arguments):
    page = output(assay, arguments, "html")
    for packed in re.findall(r'id="assay-(?:head|view|part-\d+)">([^<]*)<', page):
        collect_titles(json.loads(gzip.decompress(base64.b64decode(packed))), f"assay {arguments[0]}")
    return json.loads(output(assay, arguments, "json"))


def collect_titles(node, origin):
    """Columns and facts of a page, hidden ones too."""
    if isinstance(node, dict) and node.get("key") in NAMES_AS_KEYS:
        return
    for child in node if isinstance(node, list) else node.values() if isinstance(node, dict) else ():
        collect_titles(child, origin)
    if isinstance(node, dict) and "unit" in node and node.get("key"):
        title = node.get("label", node.get("title"))
        SHOWN.setdefault(node["key"].split(".")[-1], {}).setdefault((title, node["unit"]), origin)


def differing_titles():
    """Keys with two titles or two units, in what was shown or between that and the declarations."""
    _, declared = gen_metrics_docs.read_lists()
    for key, ways in sorted(SHOWN.items()):
        titles = {title for title, _ in ways} | ({declared[key][0]} if key in declared else set())
        units = {unit for _, unit in ways}
        if len(titles) > 1 or len(units) > 1:
            told = "; ".join(f"{title!r} in {unit or 'no unit'} ({origin})" for (title, unit), origin in ways.items())
            yield f"`{key}` has several titles or units: {told}"


def traces():
    found = sorted([*(ROOT / "examples").glob("*.json*"), *(ROOT / "tests/data/kineto").rglob("*.json*")])
    if not found:
        sys.exit("no traces in examples/ and tests/data/kineto/")
    return found


def stats(mean):
    return {"n": 10, "mean_ns": mean, "std_ns": 0, **{f"{q}_ns": mean for q in ("min", "p5", "p50", "p95", "max")}}


def replay_of(database):
    """A replay of every entry of a kernel database, half of them under another name and far too slow."""
    entries = [{"key": entry["key"], "status": "ok", "ranges": 10, "candidates": [
        {"name": entry["raw_name"] if number % 2 else "other", "count": 10, "dispatch": stats(9000),
         "launch": stats(5000 if number % 2 else 900000), "duration": stats(2000)}]}
        for number, entry in enumerate(database["entries"])]
    return {"kind": "assay-replay", "schema_version": 1, "tracer": "nsys", "warmups": 5, "runs": 10,
            "gpu": {"name": database["gpu"]["name"] or "unknown"}, "entries": entries}


def overhead_documents(assay, files):
    for path in files:
        for flags in ([], ["--mode", "code", "--base-weighting", "invocation", "--include-copies", "--top", "0"]):
            yield f"assay overhead {' '.join(flags)} {path.name}", run(assay, "overhead", *flags, path)
    with tempfile.TemporaryDirectory() as folder:
        for path in files:
            database, replay = pathlib.Path(folder, "db.json"), pathlib.Path(folder, "replay.json")
            run(assay, "overhead", path, "--export-kernel-db", database)
            exported = json.loads(database.read_text())
            if not exported["entries"]:
                continue
            replay.write_text(json.dumps(replay_of(exported)))
            yield f"assay overhead --replay, {path.name}", run(assay, "overhead", path, "--replay", replay)
    sweep = [flag for size, path in zip(("1", "4x512", "8x512"), files * 3) for flag in ("--batch", f"{size}={path}")]
    yield "assay overhead, a sweep of two platforms", run(assay, "overhead", *sweep, "--vs", f"1={files[0]}")


def counter_documents(assay):
    """Forty matrix products under rocprofv3, and two counter runs of them, one of which cannot be drawn."""
    kernels = ["Kind,Agent_Id,Dispatch_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp"]
    calls = ["Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp"]
    counters = ["Dispatch_Id,Agent_Id,Kernel_Name,Counter_Name,Counter_Value"]
    for i in range(40):
        name, at = f"gemm_{i % 2}", 1_000_000 + i * 20_000
        kernels.append(f"KERNEL_DISPATCH,2,{i + 1},{name},{i + 1},{at},{at + 10_000}")
        calls.append(f"HIP_RUNTIME_API,hipLaunchKernel,7,7,{i + 1},{at - 5_000},{at - 3_000}")
        for counter, value in (("GRBM_GUI_ACTIVE", 8 * 15_000), ("SQ_VALU_MFMA_BUSY_CYCLES", 0.4 * 15_000 * 1216),
                               ("SQ_INSTS_VALU_MFMA_MOPS_BF16", (0.4 + i % 2) * 15_000 * 1216)):
            counters.append(f"{i + 1},2,{name},{counter},{value}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, lines in (("9_kernel_trace.csv", kernels), ("9_hip_api_trace.csv", calls),
                            ("a_counter_collection.csv", counters), ("b_counter_collection.csv", counters)):
            (folder / file).write_text("\n".join(lines) + "\n")
        yield "assay breakdown --counters", run(assay, "breakdown", folder / "9_kernel_trace.csv", "--counters",
                                             folder, "--peaks", "MI300X")


def documents(assay):
    """(what was run, document) for every verb."""
    files = traces()
    for path in files:
        for verb in (["report"], ["launch", "--tree", "--graph", "--top", "0"], ["fusion"], ["sweep"], ["info"],
                     ["fusion", "--segment", "iteration", "--threshold", "0.5"],
                     ["breakdown", "--group-by", "gpu,iter,phase,layer,op,op_type"]):
            yield f"assay {' '.join(verb)} {path.name}", run(assay, *verb, path)
    yield "assay report, several traces", run(assay, "report", *files)
    yield "assay overhead, several traces", run(assay, "overhead", *files)
    yield "assay breakdown, several traces", run(assay, "breakdown", *files)
    with tempfile.TemporaryDirectory() as folder:
        samples = write_samples(pathlib.Path(folder))
        yield "assay breakdown --telemetry", run(assay, "breakdown", "--telemetry", samples, "--telemetry-offset", "start",
                                              files[0])
    yield "assay breakdown, several configurations", run(assay, "breakdown", "--config", f"a={files[0]}", "--config",
                                                      f"b={files[-1]}", "--tokens", "a=4096")
    yield "assay diff", run(assay, "diff", files[0], files[-1], "--fail-on", "kernels>+1000000%")
    yield "assay diff, with itself", run(assay, "diff", files[0], files[0])
    yield from overhead_documents(assay, files)
    yield from counter_documents(assay)
    with tempfile.TemporaryDirectory() as folder:
        a, b = pathlib.Path(folder, "a.csv"), pathlib.Path(folder, "b.csv")
        a.write_text(CPU_BOUND_FIRST)
        b.write_text(ALWAYS_FLAT)
        name_a, name_b = sorted(PLATFORMS)
        yield "assay sweep, two tables", run(assay, "sweep", "--table", a, "--name", name_a,
                                             "--vs-table", b, "--vs-name", name_b)
    yield from throughput_documents(assay)
    yield from throughput_model_documents(assay)
    yield from power_documents(assay)
    yield "assay job", run(assay, "job", *files, "--min-ranks", "0")
    batches = [flag for batch in (1, 2, 4) for flag in ("--batch", f"{batch}={files[0]}")]
    yield "assay sweep, traces by batch", run(assay, "sweep", *batches, "--name", min(PLATFORMS))


def write_samples(folder):
    """A file of `assay sample`: two cores of one, and a GPU."""
    rows = ["# assay samples 1", "# cpus: 0 1", "# cores: 0:0 0:0",
            "t_ns,monotonic_ns,device,power_w,sm_clock_mhz,cpu_util_percent"]
    for i in range(20):
        at = f"{1_700_000_000_000_000_000 + i * 10_000_000},{i * 10_000_000}"
        rows += [f"{at},cpu,,,{'50.0 0.0' if i else ''}", f"{at},gpu0,{400 + i},1980,"]
    path = folder / "samples.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def write_recording(folder, watts, **meta):
    """40 runs of 5 executions of 1 ms at 100 W above idle, a sensor of 100 us every 100 us."""
    folder.mkdir()
    samples, executions, probes = ["t_ns,power_w,xcd_w"], ["run,exec,start_ns,end_ns,kernel"], ["c0_ns,gpu_ticks,c1_ns"]
    for run_number in range(40):
        start = 10_000_000 * run_number
        probes += [f"{start + i * 20_000},{start + i * 20_000 + 3000},{start + i * 20_000 + 6000}" for i in range(3)]
        executions += [f"{run_number},{i},{start + 2_000_000 + i * 1_000_000},{start + 3_000_000 + i * 1_000_000},gemm:8192"
                       for i in range(5)]
        for t in range(start + 1_000_000 + run_number * 2_500, start + 8_000_000, 100_000):
            busy = start + 2_000_000 <= t <= start + 7_000_000
            power = (watts if busy else 80) + (t // 100_000 * 7 + run_number) % 11 / 10
            samples.append(f"{t},{power},{power / 2}")
    for name, lines in (("samples.csv", samples), ("execs.csv", executions), ("sync.csv", probes)):
        (folder / name).write_text("\n".join(lines) + "\n")
    kernels = [{"name": "gemm:8192", "flop": 2 * 8192**3, "bytes": 6 * 8192**2}]
    (folder / "meta.json").write_text(json.dumps({"device": "NVIDIA H200", "tick_hz": 1e9, "kernels": kernels, **meta}))


def write_energy_job(folder):
    """A trace of kernels with pauses, and a log of nvidia-smi over it."""
    events, log = [], ["timestamp, power.draw [W]"]
    for i in range(400):
        at, name = i * 50_000, "gemm" if i % 3 else "copy"
        common = {"ph": "X", "ts": at, "args": {"correlation": i + 1, "External id": i + 1, "device": 0, "stream": 7}}
        events.append({**common, "cat": "cpu_op", "name": f"aten::{name}", "pid": 1, "tid": 1, "dur": 10})
        events.append({**common, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "dur": 5})
        events.append({**common, "cat": "kernel", "name": name, "pid": 0, "tid": 7, "dur": 10_000 + i * 997 % 30_000})
        log.append(f"00:{i // 20 // 60:02d}:{i // 20 % 60:02d}.{i % 20 * 50:03d}, {100 + i * 31 % 97} W")
    (folder / "job.json").write_text(json.dumps({"traceEvents": events}))
    (folder / "smi.csv").write_text("\n".join(log) + "\n")


def power_documents(assay):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        sensor = {"w_us": 100, "P_us": 100}
        write_recording(folder / "alone", 400, **sensor)
        write_recording(folder / "mixed", 380, **sensor)
        write_recording(folder / "averaged", 400, w_us=1000, P_us=100)
        write_recording(folder / "unknown", 400)
        yield "assay power profile", run(assay, "power", "profile", folder / "alone", "--runs", "20")
        yield "assay power profile, several", run(assay, "power", "profile", folder / "alone", folder / "mixed")
        for each in ("averaged", "unknown"):
            yield f"assay power profile {each}", run(assay, "power", "profile", folder / each)
        write_energy_job(folder)
        simulated = ("--device", "simulated")
        yield "assay power run", run(assay, "power", "run", *simulated, "--workload", "gemm:2048")
        yield "assay power run, several", run(assay, "power", "run", *simulated, "--seed", "3", "--workload",
                                              "gemm:4096", "--workload", "9*gemm:2048,1*gemm:8192")
        yield "assay power calibrate", run(assay, "power", "calibrate", *simulated, "--calibration",
                                           folder / "sensor.json")
        yield "assay power attribute", run(assay, "power", "attribute", folder / "job.json", "--samples",
                                           folder / "smi.csv", "--offset", "start", "--tokens", "10")


def throughput_table():
    """Saturating curves of two models, with a repeat and a run that produced nothing."""
    lines = ["hardware,framework,model,len,bb,throughput"]
    for model in ("m1", "m2"):
        for length in (128, 256, 512, 1024, 2048):
            for batch in (1, 16, 32, 64):
                lines.append(f"H,vLLM,{model},{length},{batch},{9000 * batch / (batch + 30) - length}")
    return "\n".join([*lines, lines[-1], "H,vLLM,m1,128,128,0"]) + "\n"


def throughput_model_documents(assay):
    with tempfile.TemporaryDirectory() as folder:
        table, model = pathlib.Path(folder, "table.csv"), pathlib.Path(folder, "model.json")
        table.write_text("hardware,n,framework,model,ii,oo,bb,throughput\n" + "".join(
            f"{hardware},1,vLLM,Qwen/Qwen2-7B,{length},{length},{batch},{speed * batch / (1 + batch / 50):.1f}\n"
            for hardware, speed in (("Nvidia H100 GPU", 250), ("Nvidia A100 GPU", 130))
            for length in (128, 512) for batch in (1, 8, 16, 64)))
        yield "assay throughput fit", run(assay, "throughput", "fit", table, "-o", model)
        yield "assay report of a table", run(assay, "report", table)
        grid = "bb=1..64*4,len=128:8192,hw=H100|H200"
        yield "assay throughput predict", run(assay, "throughput", "predict", model, "--grid", grid, "--curves")
        yield "assay throughput suggest", run(assay, "throughput", "suggest", model, "--grid", grid)
        yield "assay throughput suggest, goal", run(
            assay, "throughput", "suggest", model, "--grid", grid, "--latency-ms", "20000")


def throughput_documents(assay):
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder, "table.csv")
        table.write_text(throughput_table())
        yield "assay throughput evaluate", run(assay, "throughput", "evaluate", table, "--method", "ala,linear",
                                               "--split", "S2,S3,figure6", "--time")
        yield "assay throughput anneal", run(assay, "throughput", "anneal", table, "--source", "model=m1",
                                             "--target", "model=m2", "--steps", "5", "--rounds", "20", "--seed", "1",
                                             "--baselines")


def undefined_values(finding, origin):
    """Values of a finding that its entry of the catalogue does not have."""
    defined = gen_findings_docs.catalogue().get(finding["code"], {"values": ()})["values"]
    for key in finding["values"]:
        if key not in defined:
            yield f"docs/findings.md does not list `{key}` of `{finding['code']}` ({origin})"


def collect(node, under, origin, keys):
    """Adds to keys: name -> where it was first seen."""
    if isinstance(node, list):
        for element in node:
            collect(element, under, origin, keys)
    if not isinstance(node, dict):
        return
    for key, value in node.items():
        if key not in PLATFORMS:
            keys.setdefault(key, f"{origin}, under {under}" if under else origin)
        is_word = key in WORDS or (key == "key" and under in ("actions", "diagnosis")) or \
            (key == "verdict" and isinstance(value, str))
        if is_word and isinstance(value, str) and (under, key) not in FREE_TEXT and value not in BATCH_BOUND:
            keys.setdefault(value, f"{origin}, value of {key}")
        if under != "findings" or key != "values":
            collect(value, key, origin, keys)


def named_in(path):
    return set(re.findall(r"`([^`]+)`", path.read_text()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=ROOT / "build/release/assay", type=pathlib.Path,
                        help="the built binary")
    assay = parser.parse_args().assay.resolve()
    if not assay.exists():
        sys.exit(f"{assay} is not built")

    keys, problems = {}, []
    for origin, document in documents(assay):
        collect(document, "", origin, keys)
        for finding in (document.get("summary") or {}).get("findings", []):
            problems += undefined_values(finding, origin)
    defined = named_in(METRICS)
    problems += [f"docs/metrics.md does not name `{key}` ({keys[key]})"
                 for key in sorted(keys) if key and key not in defined]
    if "" in keys:
        problems.append(f"an object has a key without a name: something meant for readers only got into "
                        f"the data ({keys['']})")

    problems += differing_titles()

    codes = re.findall(r'CODE\(k\w+,\s*"(\w+)"', IMPORT_CODES.read_text())
    problems += [f"no page of docs/formats names the import code `{code}`"
                 for code in codes if not any(code in named_in(page) for page in FORMATS)]
    if not codes:
        problems.append(f"no import codes found in {IMPORT_CODES.relative_to(ROOT)}")

    for problem in problems:
        print(problem)
    if not problems:
        print(f"{len(keys)} keys and words and {len(codes)} import codes are defined")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
