#!/usr/bin/env python3
"""Runs Assay's measurements on a machine with one GPU, one step after the other, each with its own
time limit; a step that fails, runs out of time or lacks what an earlier one should have made does
not stop the others. Nothing here changes a GPU's clocks, power limits or modes.

    tests/gpu/campaign.sh --out DIR --part trace|replay|counters|power [--assay PATH] [--budget SECONDS]

Each part stands alone: it needs nothing that another call left, and its steps' limits sum to less
than the budget. OUT gets at most 8 files of at most 16 MB: campaign.json (every figure beside the
paper's, and what became of each step), steps.tar.gz (what each step said, the floor) and the traces,
replays and databases that fit. They are complete after every step, whenever the campaign is killed.
Everything else stays in WORK. --only runs single steps; steps already in OUT's campaign.json stay.

Exit code: 0 when every step that ran succeeded, 1 when one did not, 2 for wrong use.
"""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
import counted_energy  # noqa: E402
import operators as counting  # noqa: E402
# One place of the eight is for the file that is just being written.
MAX_FILES, MAX_BYTES = 7, 16_000_000
SWEEP = (1, 2, 4, 8, 16, 32, 64)
PAIR_MODES = ("eager", "compile", "compile-reduce-overhead")
KILL_AFTER_S = 10

TAXBREAK = "TaxBreak (arXiv 2603.12465)"
SKIP = "SKIP (Vellaisamy et al.)"


class Failed(Exception):
    """A command of a step ended badly."""

    def __init__(self, message, code=2):
        super().__init__(message)
        self.code = code


class OutOfTime(Exception):
    pass


class Missing(Exception):
    """What an earlier step should have left is not there."""


class Termination:
    """SIGTERM ends the campaign, with all it started. While a program is being started the signal waits: who is told
    to end before he knows his child leaves it behind."""

    def __init__(self):
        self.asked, self.waits = False, False
        signal.signal(signal.SIGTERM, self.ask)

    def ask(self, *_):
        self.asked = True
        if not self.waits:
            self.heed()

    def heed(self):
        if self.asked:
            sys.exit(143)

    @contextlib.contextmanager
    def later(self):
        self.waits = True
        try:
            yield
        finally:
            self.waits = False


class Campaign:
    def __init__(self, args):
        self.assay, self.python, self.device = args.assay, args.python, args.device
        self.out, self.work = pathlib.Path(args.out).resolve(), pathlib.Path(args.work).resolve()
        self.traces = self.work / "traces"
        self.deadline = time.monotonic() + args.budget
        self.step_deadline = self.deadline
        self.log = None
        self.termination = Termination()
        self.env = self.with_libraries_of_python()

    # ---- running commands

    def with_libraries_of_python(self):
        """The environment with the folders in which a PyTorch from pip keeps CUPTI, cuBLAS and NVRTC, for programs
        that are no Python: behind what is set already, so that a toolkit of the machine goes first."""
        code = ("import glob,importlib.util,json,os;found=importlib.util.find_spec('torch');"
                "root=os.path.dirname(os.path.dirname(found.origin)) if found and found.origin else '';"
                "print(json.dumps({'libraries':sorted(glob.glob(root+'/nvidia/*/lib')) if root else []}))")
        try:
            told = subprocess.run([self.python, "-c", code], capture_output=True, text=True, timeout=60, check=True)
            folders = json.loads(told.stdout).get("libraries", [])
        except (OSError, ValueError, subprocess.SubprocessError):
            folders = []
        before = os.environ.get("LD_LIBRARY_PATH", "")
        path = os.pathsep.join(([before] if before else []) + folders)
        return {**os.environ, **({"LD_LIBRARY_PATH": path} if path else {})}

    def left(self):
        return min(self.step_deadline, self.deadline) - time.monotonic()

    def run(self, command, stdout=None, env=None):
        """One command within the time of the step; its words go to the step's log."""
        if self.left() <= 0:
            raise OutOfTime()
        self.log.write(f"$ {' '.join(map(str, command))}\n".encode())
        self.log.flush()
        with self.termination.later():
            process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL,
                                       stdout=stdout or self.log, stderr=self.log, env=env or self.env, cwd=ROOT,
                                       start_new_session=True)
        try:
            self.termination.heed()
            code = process.wait(timeout=max(0.1, self.left()))
        except subprocess.TimeoutExpired:
            self.end(process)
            raise OutOfTime() from None
        except BaseException:
            # Stopped from outside: what was started goes with it.
            self.end(process)
            raise
        if code != 0:
            # Paths are this machine's business; the log has them.
            words = [str(word) for word in command[1:] if not str(word).startswith(("-", "/"))][:4]
            raise Failed(f"{pathlib.Path(str(command[0])).name} {' '.join(words)}: exit code {code}", code)

    @staticmethod
    def end(process):
        """The whole group of a command that we started: a traced program has children."""
        for how, grace_s in ((signal.SIGTERM, KILL_AFTER_S), (signal.SIGKILL, KILL_AFTER_S)):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, how)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=grace_s)
                break
        # What is left of it has had its time.
        until = time.monotonic() + KILL_AFTER_S
        with contextlib.suppress(ProcessLookupError):
            while time.monotonic() < until:
                os.killpg(process.pid, signal.SIGKILL)
                time.sleep(0.01)

    def ask(self, *arguments):
        """What a verb says as JSON."""
        answer = self.work / "answer.json"
        with open(answer, "wb") as file:
            self.run([self.assay, *arguments, "--format", "json"], stdout=file)
        return json.loads(answer.read_text())

    def model(self, name, *arguments, out=None):
        self.run([self.python, ROOT / "collect/pytorch/assay_torch.py", "--model", name, "--out", out or self.traces,
                  *arguments])

    # ---- what earlier steps left

    def trace(self, name):
        path = self.traces / f"{name}.json.gz"
        if not path.exists():
            raise Missing(f"no trace {name}")
        return path

    def made(self, name):
        path = self.work / name
        if not path.exists():
            raise Missing(f"no {name}")
        return path

    def floor(self):
        path = self.work / "floor.json"
        return ["--floor", path] if path.exists() else []

    def latencies(self):
        """p50 in ms by name of run, the last of each."""
        index = self.traces / "runs.jsonl"
        rows = [json.loads(line) for line in index.read_text().splitlines()] if index.exists() else []
        return {row["name"]: row["latency"]["p50_ms"] for row in rows if row["latency"]}


# ---------------------------------------------------------------------------------- steps


def machine(c):
    answer = c.work / "torch.json"
    code = ("import json,platform,torch;d=torch.cuda.is_available();"
            "print(json.dumps({'torch':torch.__version__,'cuda':torch.version.cuda,"
            "'gpu':torch.cuda.get_device_name() if d else None,'python':platform.python_version(),"
            "'memory_gib':torch.cuda.get_device_properties(0).total_memory/2**30 if d else None}))")
    with open(answer, "wb") as file:
        c.run([c.python, "-c", code], stdout=file)
    facts = json.loads(answer.read_text())
    with contextlib.suppress(OSError):
        facts["cpu"] = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())[1]
    with contextlib.suppress(OSError, TypeError):
        facts["driver"] = re.search(r"(\d+\.\d+(\.\d+)?)", pathlib.Path("/proc/driver/nvidia/version").read_text())[1]
    return {**facts, "cores": os.cpu_count(), "kernel": platform.release()}


def compile_for_torch(c, what, file):
    """What was compiled in this folder before, by a call that ran out of time, say, stays."""
    if not (c.work / what / file).exists():
        c.run([ROOT / "collect/build_for_torch.sh", "--python", c.python, "--out", c.work / what, what])


def build_replay(c):
    compile_for_torch(c, "replay", "assay-replay")
    return {"program": str(c.made("replay/assay-replay").name)}


def floor(c):
    c.run([c.assay, "null-kernel", "-o", c.work / "floor.json"])
    launch = json.loads(c.made("floor.json").read_text())["gpus"][0]
    return {"launch": launch["launch"], "duration": launch["duration"], "paths": launch.get("paths", [])}


def batches(sizes):
    return ",".join(map(str, sizes))


def gpt2(c):
    c.model("gpt2", "--batch", batches(SWEEP), "--timed", "20")
    c.model("gpt2", "--batch", "1", "--phase", "decode")


def pairs(c):
    """One program before and after two changes, a file each: what-if is judged on them, the prediction
    from the first made before the others are opened."""
    for mode in PAIR_MODES:
        c.model("gpt2", "--mode", mode, "--seq", "128", "--timed", "10")


def programs(c):
    """Small programs before and after one change, by their own script."""
    out = c.work / "programs"
    try:
        c.run([c.python, ROOT / "tests/gpu/pairs.py", "--out", out])
    finally:
        # What the others recorded stays when one fails or the time is up.
        if out.exists():
            with tarfile.open(c.work / "programs.tar.gz", "w:gz") as archive:
                archive.add(out, "programs")
    return {"traces": len(list(out.glob("*.json.gz")))}


def replay_traces(c):
    """What a replay needs, for a call that begins with nothing."""
    c.model("gpt2", "--batch", "1", "--timed", "20")
    c.model("llama-3.2-1b", "--timed", "20")


def bert(c):
    c.model("bert-base", "--batch", batches(SWEEP), "--timed", "20")


def llama(c):
    c.model("llama-3.2-1b", "--timed", "20")
    c.model("llama-3.2-1b", "--phase", "decode", "--timed", "5", "--repeats", "2")
    c.model("llama-3.2-1b", "--batch", "4", "--seq", "2048")


def xlmr(c):
    c.model("xlm-r-base", "--batch", "1,16")


def modes(c):
    for mode in ("sdpa", "flash"):
        c.model("gpt2", "--mode", mode, "--timed", "20")
        c.model("llama-3.2-1b", "--mode", mode, "--timed", "20")


def compiled(c):
    c.model("gpt2", "--mode", "compile-reduce-overhead", "--timed", "20")
    c.model("gpt2", "--mode", "compile", "--timed", "20")


def moe(c):
    c.model("olmoe", "--warmup", "2", "--timed", "3", "--repeats", "1")
    c.model("qwen-moe", "--warmup", "2", "--timed", "3", "--repeats", "1")


def huggingface(c):
    c.model("gpt2", "--hf", "--batch", "1,16", "--timed", "20")
    c.model("llama-3.2-1b", "--hf", "--timed", "20")
    c.model("llama-3.2-1b", "--hf", "--phase", "decode", "--timed", "5", "--repeats", "2")


# What PyTorch's profiler traces of the program of "tracers".
PROFILED = "gpt2_sdpa_prefill_b1_s512"


def per_iteration(c, path):
    """Kernels, launches and device time of an iteration: the median over those of the trace."""
    whole = c.ask("launch", path, "--top", "0")["launch"]
    rows = whole["iterations"] or [whole["whole"]]
    rows = sorted(rows, key=lambda row: row["kernels"])
    middle = rows[len(rows) // 2]
    names = {row["name"]: row["count"] / len(rows) for row in whole["top_kernels"]}
    return {"iterations": len(rows), "kernels": middle["kernels"], "launches": middle["launches"],
            "kernel_sum_ns": middle["kernel_sum_ns"], "tklqt_ns": middle["tklqt_ns"]}, names


def tracers(c):
    """The same model under no tracer, under PyTorch's profiler, and under assay record."""
    common = ["--mode", "sdpa", "--timed", "30", "--seq", "512"]
    alone, traced = c.work / "alone", c.work / "traced"
    for folder in (alone, traced):
        shutil.rmtree(folder, ignore_errors=True)
    c.model("gpt2", *common, "--tracer", "none", out=alone)
    c.model("gpt2", *common, "--tracer", "kineto", out=alone)
    c.run([c.assay, "record", "-o", c.work / "gpt2.assaytrace", "--", c.python,
           ROOT / "collect/pytorch/assay_torch.py", "--model", "gpt2", *common, "--tracer", "nvtx", "--out", traced])
    kineto, kineto_names = per_iteration(c, alone / f"{PROFILED}.json.gz")
    recorded, record_names = per_iteration(c, c.made("gpt2.assaytrace"))
    times = [json.loads(line)["latency"]["p50_ms"] for line in (alone / "runs.jsonl").read_text().splitlines()]
    under = json.loads((traced / "runs.jsonl").read_text().splitlines()[0])["latency"]["p50_ms"]
    return {"kineto": kineto, "record": recorded,
            "kernel_names_only_in_one": sorted(set(kineto_names) ^ set(record_names))[:20],
            "untraced_p50_ms": times[0], "recorded_p50_ms": under,
            "record_overhead_share": under / times[0] - 1,
            "kernels_agree": kineto["kernels"] == recorded["kernels"],
            "device_time_ratio": recorded["kernel_sum_ns"] / kineto["kernel_sum_ns"]}


def operators(c):
    """PyTorch's operators by `assay record --torch`, against those that its profiler saw of the same program in the step
    before, where that one ran."""
    try:
        c.run([c.python, "-c", "import torch"])
    except Failed:
        raise Missing("this Python has no PyTorch") from None
    if shutil.which(os.environ.get("CXX", "c++")) is None:
        raise Missing("there is no C++ compiler, and what fits this PyTorch is compiled here") from None
    compile_for_torch(c, "operators", "libassay_torch.so")
    out, recording = c.work / "with_operators", c.work / "operators.assaytrace"
    shutil.rmtree(out, ignore_errors=True)
    c.run([c.assay, "record", "--torch", "--max-bytes", str(MAX_BYTES), "-o", recording, "--", c.python,
           ROOT / "collect/pytorch/assay_torch.py", "--model", "gpt2", "--mode", "sdpa", "--timed", "30", "--seq", "512",
           "--repeats", "3", "--tracer", "nvtx", "--out", out],
          env={**c.env, "ASSAY_TORCH_OPERATORS": str(c.work / "operators/libassay_torch.so")})
    ours = counting.recorded(c.made(recording.name))
    if not ours:
        raise Failed("no operator was recorded in an iteration")
    under = json.loads((out / "runs.jsonl").read_text().splitlines()[0])["latency"]["p50_ms"]
    told = {"recorded_p50_ms": under}
    alone = c.work / "alone"
    if (alone / "runs.jsonl").exists():
        untraced = json.loads((alone / "runs.jsonl").read_text().splitlines()[0])["latency"]["p50_ms"]
        told |= {"untraced_p50_ms": untraced, "overhead_share": under / untraced - 1}
    trace = alone / f"{PROFILED}.json.gz"
    if not trace.exists():
        return {**told, "kinds": len(ours), "operators": sum(ours.values()), "agree": None}
    return {**told, **counting.compared(ours, counting.profiled(trace))}


# FLOP of tensor cores and bytes of memory; the number of passes over each kernel grows with them.
COUNTERS = ("dram__bytes_read.sum,dram__bytes_write.sum,gpu__time_duration.sum",
            "sm__ops_path_tensor_src_bf16_dst_fp32.sum")


def work(c):
    """Operations one by one, traced and counted (tests/gpu/work.py), for tests/golden/check_work.py."""
    program, trace = ROOT / "tests/gpu/work.py", c.work / "work.json"
    c.run([c.python, program, "--trace", trace])
    roof = c.ask("breakdown", trace, "--roofline")["roofline"]
    told = {"roof": {key: roof[key] for key in ("kernel_ns", "known_ns", "calls_below_roofline", "calls_cache_explained")}}
    if shutil.which("ncu") is None:
        return {**told, "counters": "no Nsight Compute"}
    # Clocks stay as they are.
    ncu = ["ncu", "--target-processes", "all", "--profile-from-start", "off", "--clock-control", "none", "--csv", "--page", "raw"]
    for metrics, name in zip(COUNTERS, ("counters.csv", "tensor_ops.csv")):
        with open(c.work / name, "wb") as file:
            c.run([*ncu, "--metrics", metrics, c.python, program], stdout=file)
    with tarfile.open(c.work / "work.tar.gz", "w:gz") as archive:
        for name in ("work.json", "counters.csv", "tensor_ops.csv"):
            archive.add(c.work / name, name)
    joined = c.ask("breakdown", trace, "--counters", c.work / "counters.csv")["breakdown"]["counter_passes"][0]
    return {**told, "match_rate": joined["match_rate"]}


def jobs(c):
    """Energy told from readings of a random job against the GPU's counter (tests/gpu/jobs.py)."""
    log, out = c.work / "jobs.csv", c.work / "jobs"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    c.run([c.assay, "sample", "--hz", "20", "-o", log, "--", c.assay, "record", "-o", out / "job.assaytrace", "--", c.python,
           ROOT / "tests/gpu/jobs.py"])
    emptied = counted_energy.without_counter(log, c.work / "jobs_emptied.csv")
    rows = [counted_energy.compared(c.assay, trace, log, emptied, c.env) for trace in sorted(out.glob("*.assaytrace"))]
    held = [row for row in rows if row and row["low_j"] <= row["counted_j"] <= row["high_j"]]
    return {"jobs": rows, "held": len(held)}


REPLAYED = ("gpt2_eager_prefill_b1_s512", "llama-3.2-1b_eager_prefill_b1_s512")
# Who calls the operators: the key of the results and the end of the file's name, and the words of a figure.
THROUGH = {"cpp": ("measured", ".replay.json", "launches and dispatch replayed, called from C++"),
           "python": ("measured_python", ".replay_python.json", "launches and dispatch replayed, called from Python")}


def replay(c):
    """Both ways, one after the other: what the first measured stays when there is no time for the second, and the
    second is tried where the first fails: it needs no compiler."""
    made, failures = {}, []
    for through, (key, ending, _) in THROUGH.items():
        who = ["--program", c.work / "replay/assay-replay"]
        if through == "python":
            who = ["--program", ROOT / "collect/replay/replay.py", "--python", c.python]
        for name in REPLAYED:
            database, result = c.work / f"{name}.db.json", c.work / f"{name}{ending}"
            if not database.exists():
                c.run([c.assay, "overhead", c.trace(name), "--export-kernel-db", database, "--format", "json"])
            try:
                c.run([c.assay, "replay", database, "-o", result, "--dispatch-through", through, *who])
            except Failed as failure:
                failures.append(failure)
                continue
            rows = json.loads(result.read_text())["entries"]
            made.setdefault(name, {})[key] = {status: sum(row["status"] == status for row in rows) for status in
                                              ("ok", "skipped_dynamic", "op_missing", "failed")}
    if not made:
        raise failures[0]
    return {**made, **({"failures": [str(failure) for failure in failures]} if failures else {})}


OVERHEAD_KEYS = ("n", "n_launch", "t_orch_ns", "t_py_ns", "ft_ns", "ct_ns", "kt_ns", "kt_fw_ns", "t_device_ns", "hdbi",
            "t_e2e_ns", "idle_fraction", "t_orch_exclusive_ns")


def last_window(overhead):
    """The paper measures the last iteration (spec, section 3)."""
    windows = overhead.get("windows") or []
    row = windows[-1] if windows else overhead
    return {key: row.get(key) for key in OVERHEAD_KEYS}


def per_window(overhead):
    """What a replay measured, which is told of the whole trace, for one iteration."""
    count = max(1, len(overhead.get("windows") or []))
    sums = overhead["measured"]
    row = {key: sums[key] / count for key in OVERHEAD_KEYS if key.endswith("_ns") and sums.get(key) is not None}
    return {**row, "hdbi": sums.get("hdbi"), "floor_ns": sums.get("floor_ns"), "entries": sums.get("entries"),
            "entries_found": sums.get("entries_found")}


def overhead(c):
    """The decomposition of every trace; with a replay where there is one."""
    rows = {}
    for path in sorted(c.traces.glob("*.json.gz")):
        name = path.name[:-len(".json.gz")]
        try:
            rows[name] = last_window(c.ask("overhead", path, "--mode", "paper", *c.floor())["host_overhead"])
        except Failed as failure:
            rows[name] = {"failed": str(failure)}
            continue
        for key, ending, _ in THROUGH.values():
            result = c.work / f"{name}{ending}"
            if not result.exists():
                continue
            try:
                rows[name][key] = per_window(c.ask("overhead", path, "--replay", result, *c.floor())["host_overhead"])
            except Failed as failure:
                # The trace's own figures stand without it.
                rows[name][key] = {"failed": str(failure)}
    if not rows:
        raise Missing("no trace")
    failed = [row["failed"] for row in rows.values() if "failed" in row]
    if len(failed) == len(rows):
        raise Failed(f"of every trace: {failed[0]}")
    return rows


def sweep(c):
    made = {}
    for model in ("gpt2", "bert-base"):
        flags = []
        for size in SWEEP:
            path = c.traces / f"{model}_eager_prefill_b{size}_s512.json.gz"
            if path.exists():
                flags += ["--batch", f"{size}={path}"]
        if not flags:
            continue
        made[model] = c.ask("sweep", *flags, "--name", "gpu")["gpu"]
    if not made:
        raise Missing("no sweep")
    return made


def fuse(c):
    report = c.ask("fusion", c.trace("gpt2_eager_prefill_b1_s512"))
    return {"headline": report["headline"]}


# Seconds of a step that a power run leaves to the run that is going on and to its answer; a slow sensor takes as long as
# it likes.
POWER_RESERVE_S = 20
# Of a run on NVML's documented average over 1 s, which takes seconds a run: so many fit a step.
RUNS_UNCALIBRATED = 16
# Seconds before the end of its step at which calibrating gives up by itself, and says so.
CALIBRATION_RESERVE_S = 15


def power(c, words, name):
    """One run; without a calibration, on the sensor as the vendor documents it."""
    sensor = c.work / "sensor.json"
    calibrated = sensor.exists()
    flags = ["--calibration", sensor] if calibrated else ["--runs", RUNS_UNCALIBRATED]
    flags += ["--budget", max(5, int(c.left()) - POWER_RESERVE_S)]
    report = c.ask("power", *words, *flags, "--record", c.work / "records" / name, "--device", c.device)
    return {"sensor": "calibrated" if calibrated else "documented", "headline": report.get("headline", []),
            "power": report.get("power", {})}


def power_step(name, *words):
    return lambda c: power(c, words, name)


def calibrate(c):
    """Within its step, whose end would leave no word of why; the steps that follow do without."""
    budget_s = max(1, int(c.left()) - CALIBRATION_RESERVE_S)
    report = c.ask("power", "calibrate", "--calibration", c.work / "sensor.json", "--budget", budget_s, "--device",
                   c.device)
    return {"headline": report.get("headline", []), "calibration": report.get("calibration", {})}


# name, seconds, group, what it does. In the order of worth: what comes last is what a short budget
# costs. The groups "power_all" and "parts" and the step
# "hf" wait until they are asked for.
STEPS = [
    ("machine", 25, "base", machine),
    ("build_replay", 120, "base", build_replay),
    ("floor", 25, "base", floor),
    ("gpt2", 60, "models", gpt2),
    ("llama", 60, "models", llama),
    ("pairs", 80, "models", pairs),
    ("bert", 40, "models", bert),
    ("tracers", 60, "base", tracers),
    ("operators", 85, "base", operators),
    ("replay_traces", 50, "parts", replay_traces),
    ("programs", 70, "parts", programs),
    ("replay", 140, "base", replay),
    ("work", 140, "parts", work),
    ("jobs", 150, "parts", jobs),
    ("modes", 60, "models", modes),
    ("compiled", 100, "models", compiled),
    ("moe", 90, "models", moe),
    ("xlmr", 40, "models", xlmr),
    ("hf", 90, "hf", huggingface),
    ("overhead", 45, "analysis", overhead),
    ("sweep", 20, "analysis", sweep),
    ("fusion", 20, "analysis", fuse),
    ("power_calibrate", 120, "power", calibrate),
    ("power_cb_8k", 90, "power", power_step("power_cb_8k", "run", "--workload", "gemm:8192")),
    ("power_cb_2k", 90, "power", power_step("power_cb_2k", "run", "--workload", "gemm:2048")),
    ("power_cb_4k", 90, "power", power_step("power_cb_4k", "run", "--workload", "gemm:4096")),
    ("power_mb_2k", 90, "power_all", power_step("power_mb_2k", "run", "--force", "--workload", "gemv:2048")),
    ("power_mb_4k", 90, "power_all", power_step("power_mb_4k", "run", "--force", "--workload", "gemv:4096")),
    ("power_mb_8k", 90, "power_all", power_step("power_mb_8k", "run", "--force", "--workload", "gemv:8192")),
    ("power_sse_ssp", 150, "power_all", power_step("power_sse_ssp", "run", "--paper-counts", "--workload",
                                                    "gemm:4096")),
    ("power_interleaved", 150, "power_all", power_step("power_interleaved", "run", "--workload",
                                                        "60*gemm:2048,1*gemm:8192")),
]
# What one call of a borrowed machine measures, most worth first. The limits of a part's steps, with
# the seconds for packing, sum to at most the default budget.
PARTS = {
    "trace": ("machine", "floor", "gpt2", "llama", "pairs", "tracers", "operators", "bert", "overhead", "sweep", "fusion"),
    "replay": ("machine", "floor", "build_replay", "replay_traces", "replay", "programs", "overhead"),
    "counters": ("machine", "work", "jobs"),
    "power": ("machine", "power_calibrate", "power_cb_8k", "power_cb_2k", "power_cb_4k", "power_mb_2k"),
}
# Seconds that measuring leaves to analysing what it measured, and to packing.
ANALYSIS_RESERVE_S, PACK_RESERVE_S = 45, 10


# ---------------------------------------------------------------------------------- figures


def figure(name, value, unit, paper, source, note=None):
    """paper: a number or (low, high); its ratio to the value is told for a number."""
    low, high = paper if isinstance(paper, tuple) else (paper, paper)
    row = {"figure": name, "value": value, "unit": unit, "paper_low": low, "paper_high": high, "source": source}
    if value is not None and low == high and low:
        row["ratio"] = value / low
    if note:
        row["note"] = note
    return row


def dig(tree, *keys):
    for key in keys:
        if not isinstance(tree, dict) or tree.get(key) is None:
            return None
        tree = tree[key]
    return tree


def scaled(value, factor):
    return None if value is None else round(value * factor, 9)


def floor_figures(results):
    launch = dig(results, "floor", "launch") or {}
    rows = [figure(f"launch floor, {word}", scaled(launch.get(key), 1e-3), "us", paper, TAXBREAK + " Table III, H200")
            for word, key, paper in (("mean", "mean_ns", 4.503), ("median", "p50_ns", 4.452), ("5 %", "p5_ns", 4.177),
                                     ("95 %", "p95_ns", 4.909))]
    rows.append(figure("empty kernel, duration", dig(results, "floor", "duration", "mean_ns"), "ns", 1235.2,
                       SKIP + " Table V, Intel+H100"))
    rows.append(figure("launch floor, mean", launch.get("mean_ns"), "ns", 2374.6, SKIP + " Table V, Intel+H100",
                       "another tracer: the paper reads 2.4 us with PyTorch's profiler"))
    return rows


# trace, (figure, key, factor, unit, paper, where in the paper)
OVERHEAD_FIGURES = [
    ("gpt2{}_eager_prefill_b1_s512", "GPT-2 prefill, batch 1",
     [("kernels", "n", 1, "", (376, 394), "Fig. 7"), ("T_Orch", "t_orch_ns", 1e-6, "ms", 5.04, "Fig. 7"),
      ("T_DeviceActive", "t_device_ns", 1e-6, "ms", 1.66, "Fig. 7"), ("HDBI", "hdbi", 1, "", 0.25, "Fig. 7")]),
    ("gpt2{}_eager_prefill_b16_s512", "GPT-2 prefill, batch 16",
     [("kernels", "n", 1, "", (376, 394), "Fig. 7"), ("T_Orch", "t_orch_ns", 1e-6, "ms", 5.52, "Fig. 7"),
      ("T_DeviceActive", "t_device_ns", 1e-6, "ms", 15.43, "Fig. 7"), ("HDBI", "hdbi", 1, "", 0.74, "Fig. 7")]),
    ("llama-3.2-1b{}_eager_prefill_b1_s512", "Llama-3.2-1B prefill",
     [("kernels", "n", 1, "", 850, "V-A"), ("T_Orch", "t_orch_ns", 1e-6, "ms", 10.5, "V-C"),
      ("HDBI", "hdbi", 1, "", 0.37, "V-C"), ("latency", "t_e2e_ns", 1e-6, "ms", 19.5, "Fig. 9")]),
    ("llama-3.2-1b{}_eager_decode_b1_s512", "Llama-3.2-1B decode of 10 tokens",
     [("kernels", "n", 1, "", 8437, "V-C"), ("T_Orch", "t_orch_ns", 1e-6, "ms", 102.13, "V-C"),
      ("HDBI", "hdbi", 1, "", 0.23, "V-C")]),
    ("llama-3.2-1b{}_flash_prefill_b1_s512", "Llama-3.2-1B prefill, FlashAttention",
     [("kernels", "n", 1, "", 791, "Fig. 9"), ("T_Orch", "t_orch_ns", 1e-6, "ms", 9.1, "Fig. 9"),
      ("latency", "t_e2e_ns", 1e-6, "ms", 18.1, "Fig. 9")]),
    ("olmoe{}_eager_prefill_b1_s512", "OLMoE-1B/7B prefill",
     [("kernels", "n", 1, "", 13741, "V-A, H100"), ("T_Orch", "t_orch_ns", 1e-6, "ms", 273, "V-C"),
      ("T_DeviceActive", "t_device_ns", 1e-6, "ms", 46.1, "V-C"), ("HDBI", "hdbi", 1, "", 0.145, "V-C")]),
    ("qwen-moe{}_eager_prefill_b1_s512", "Qwen1.5-MoE-A2.7B prefill",
     [("kernels", "n", 1, "", 22558, "V-A, H100"), ("T_Orch", "t_orch_ns", 1e-6, "ms", 448.8, "V-C"),
      ("T_DeviceActive", "t_device_ns", 1e-6, "ms", 75.9, "V-C"), ("HDBI", "hdbi", 1, "", 0.145, "V-C")]),
]


def overhead_figures(results):
    rows = []
    for pattern, title, wanted in OVERHEAD_FIGURES:
        for kind, words in (("", "plain PyTorch"), ("-hf", "transformers")):
            row = dig(results, "overhead", pattern.format(kind))
            if row is None and kind:
                continue
            for name, key, factor, unit, paper, where in wanted:
                source = f"{TAXBREAK} {where}"
                rows.append(figure(f"{title}: {name}", scaled((row or {}).get(key), factor), unit, paper, source, words))
                for measured, _, how in THROUGH.values():
                    if (dig(row, measured) or {}).get(key) is not None:
                        rows.append(figure(f"{title}: {name}", scaled(row[measured][key], factor), unit, paper, source,
                                           f"{words}, {how}"))
    return rows


def sweep_figures(results):
    rows = []
    crossing = [size for size in SWEEP
                if (dig(results, "overhead", f"gpt2_eager_prefill_b{size}_s512", "hdbi") or 0) >= 0.5]
    rows.append(figure("GPT-2: smallest batch of the sweep with HDBI >= 0.5", crossing[0] if crossing else None,
                       "", 8, TAXBREAK + " Fig. 7: the crossover lies between 4 and 8"))
    rows.append(figure("BERT: first GPU-bound batch", dig(results, "sweep", "bert-base", "first_gpu_batch"), "",
                       (8, 16), SKIP + " Fig. 6, encoders on Intel+H100"))
    return rows


def tracer_figures(results):
    told = results.get("tracers") or {}
    return [figure("kernels per iteration, assay record over PyTorch's profiler",
                   (dig(told, "record", "kernels") or 0) / dig(told, "kineto", "kernels")
                   if dig(told, "kineto", "kernels") else None, "", 1, "same program, same machine"),
            figure("device time per iteration, assay record over PyTorch's profiler", told.get("device_time_ratio"),
                   "", 1, "same program, same machine"),
            figure("latency under assay record over untraced",
                   None if told.get("record_overhead_share") is None else 1 + told["record_overhead_share"], "", 1,
                   "what the tracer costs")]


def operator_figures(results):
    told = results.get("operators")
    if told is None:
        return []
    theirs = told.get("profiler_operators")
    return [figure("operators per iteration, assay record --torch over PyTorch's profiler",
                   told["operators"] / theirs if theirs else None, "", 1, "same program, same machine"),
            figure("latency under assay record --torch over untraced",
                   None if told.get("overhead_share") is None else 1 + told["overhead_share"], "", 1,
                   "what the tracer costs")]


def all_figures(results):
    return [*floor_figures(results), *overhead_figures(results), *sweep_figures(results), *tracer_figures(results),
            *operator_figures(results)]


# ---------------------------------------------------------------------------------- driving


def do_step(campaign, name, limit_s, action):
    print(f"{name} (at most {limit_s:.0f} s)", file=sys.stderr, flush=True)
    began = time.monotonic()
    campaign.step_deadline = began + limit_s
    row = {"step": name, "status": "ok", "limit_s": round(limit_s), "exit_code": 0}
    result = None
    with open(campaign.work / f"{name}.log", "wb") as campaign.log:
        try:
            result = action(campaign)
        except OutOfTime:
            row.update(status="out_of_time", exit_code=124)
        except Missing as missing:
            row.update(status="skipped", why=str(missing))
        except Failed as failure:
            row.update(status="failed", why=str(failure), exit_code=failure.code)
        except Exception as error:  # pylint: disable=broad-except
            # An answer of another shape than expected is this step's failure, not the campaign's.
            row.update(status="failed", why=f"{type(error).__name__}: {error}", exit_code=2)
    row["seconds"] = round(time.monotonic() - began, 1)
    if row["status"] != "ok":
        tail = (campaign.work / f"{name}.log").read_text(errors="replace").splitlines()[-4:]
        print("\n".join([f"  {row['status']} {row.get('why', '')}", *("  " + line for line in tail)]), file=sys.stderr)
    return row, result


def save(path, document):
    with put(path) as file:
        file.write_text(json.dumps(document, indent=1) + "\n")


def earlier(path):
    """Steps and results of a campaign that is gone on with."""
    try:
        kept = json.loads(path.read_text())
        return {row["step"]: row for row in kept["steps"]}, kept["results"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}, {}


# What comes back, in the order of worth.
KEEP = ("programs.tar.gz", "work.tar.gz", *(f"{name}{ending}" for _, ending, _ in THROUGH.values() for name in REPLAYED),
        *(f"traces/gpt2_{mode}_prefill_b1_s128.json.gz" for mode in PAIR_MODES),
        "traces/gpt2_eager_prefill_b1_s512.json.gz", "traces/llama-3.2-1b_eager_prefill_b1_s512.json.gz",
        "gpt2.assaytrace", "operators.assaytrace")
SMALL = ("traces/runs.jsonl", "sensor.json", "floor.json")


@contextlib.contextmanager
def put(path):
    """A file that appears whole or not at all; at most one is unfinished."""
    unfinished = path.parent / "unfinished"
    yield unfinished
    unfinished.replace(path)


def archive_steps(campaign):
    """What each step said; False where that is too much to come back."""
    whole = campaign.work / "steps.tar.gz"
    with tarfile.open(whole, "w:gz") as archive:
        for path in sorted(campaign.work.glob("*.log")):
            archive.add(path, path.name)
        for extra in SMALL:
            if (campaign.work / extra).exists():
                archive.add(campaign.work / extra, extra)
    if whole.stat().st_size > MAX_BYTES:
        return False
    with put(campaign.out / whole.name) as file:
        shutil.copy(whole, file)
    return True


def pack(campaign):
    """Copies what fits; returns names kept and left out."""
    fits = archive_steps(campaign)
    kept, left_out = ["campaign.json"], []
    (kept if fits else left_out).append("steps.tar.gz")
    for name in KEEP:
        path = campaign.work / name
        if not path.exists():
            continue
        if len(kept) < MAX_FILES and path.stat().st_size <= MAX_BYTES:
            there = campaign.out / path.name
            if not there.exists() or there.stat().st_mtime_ns != path.stat().st_mtime_ns:
                with put(there) as file:
                    shutil.copy2(path, file)
            kept.append(path.name)
        else:
            left_out.append(path.name)
    for path in campaign.out.iterdir():
        # An earlier copy of what no longer has a place among those that fit.
        if path.name in left_out:
            path.unlink()
    return {"kept": kept, "left_out": left_out}


def chosen(args):
    """Steps to run: those named, or all but what is run only on request."""
    if args.part:
        steps = {step[0]: step for step in STEPS}
        return [steps[name] for name in PARTS[args.part]]
    if not args.only:
        return [step for step in STEPS if step[2] not in ("power_all", "parts", "hf")]
    return [step for step in STEPS if step[0] in args.only or step[2] in args.only]


def limit_of(campaign, step):
    """A step's seconds, less what must stay for the analysis of what it measures."""
    name, limit_s, group, _ = step
    reserve = PACK_RESERVE_S + (0 if group == "analysis" or name.startswith("power") else ANALYSIS_RESERVE_S)
    return min(limit_s, campaign.deadline - time.monotonic() - reserve)


def drive(args):
    pathlib.Path(args.out).mkdir(parents=True, exist_ok=True)
    campaign = Campaign(args)
    for folder in (campaign.out, campaign.traces, campaign.work / "records"):
        folder.mkdir(parents=True, exist_ok=True)
    file = campaign.out / "campaign.json"
    rows, results = earlier(file)
    failed = False
    document = {"schema_version": 1, "device": args.device, "part": args.part, "budget_s": args.budget,
                "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat()}

    def write(files=None):
        ordered = [rows[name] for name, *_ in STEPS if name in rows]
        save(file, {**document, "files": files, "steps": ordered, "figures": all_figures(results),
                    "results": results})

    write()
    for step in chosen(args):
        name, action = step[0], step[3]
        limit_s = limit_of(campaign, step)
        results.pop(name, None)
        if limit_s < 1:
            rows[name] = {"step": name, "status": "no_time", "limit_s": 0, "exit_code": 124, "seconds": 0}
            failed = True
            continue
        rows[name], result = do_step(campaign, name, limit_s, action)
        failed |= rows[name]["status"] != "ok"
        if result is not None:
            results[name] = result
        results["latency_p50_ms"] = campaign.latencies()
        # After every step: whoever stops the campaign keeps what was measured.
        write(pack(campaign))
    write(pack(campaign))
    return 1 if failed else 0


# What the steps call, in this tree and beside the binary: nothing can be fetched where they run.
SOURCES = ("tests/gpu/pairs.py", "tests/gpu/operators.py", "tests/gpu/counted_energy.py", "tests/gpu/work.py", "tests/gpu/jobs.py", "collect/operators/torch_operators.cc",
           "collect/operators/sink.h", "collect/pytorch/assay_torch.py", "collect/build_for_torch.sh", "collect/replay/main.cc",
           "collect/replay/arguments.cc", "collect/replay/device.cc", "collect/replay/job.cc",
           "collect/replay/labels.cc", "collect/replay/replay.py")
COLLECTORS = {"assay_null_kernel": "ASSAY_NULL_KERNEL", "libassay_record.so": "ASSAY_RECORD_LIBRARY"}


SYSTEM = re.compile(r"^(lib(c|m|dl|pthread|rt|gcc_s|stdc\+\+)\.so\.\d|ld-linux-.*)$")


def foreign_libraries(program):
    """The shared libraries that a program asks for and a bare machine lacks; none of what is no ELF file."""
    with open(program, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return []
    told = subprocess.run(["readelf", "-dW", program], capture_output=True, text=True, check=True).stdout
    return [name for name in re.findall(r"\(NEEDED\).*\[(.*)\]", told) if not SYSTEM.match(name)]


def collector_places(assay):
    """Where each collector may lie, as the binary looks for it."""
    beside = pathlib.Path(assay).parent
    return {name: [pathlib.Path(os.environ[variable])] if os.environ.get(variable) else [
        beside / name, *beside.parent.glob(f"lib*/assay/{name}")] for name, variable in COLLECTORS.items()}


def missing_parts(assay):
    """What the campaign calls and what is not there."""
    absent = [name for name in SOURCES if not (ROOT / name).is_file()]
    return absent + [name for name, places in collector_places(assay).items()
                     if not any(path.is_file() for path in places)]


def all_foreign_libraries(assay):
    """Those of the binary and of all collectors that are there."""
    places = [path for paths in collector_places(assay).values() for path in paths if path.is_file()]
    return sorted({name for path in [assay, *places] for name in foreign_libraries(path)})


def parse(argv):
    names = [name for name, *_ in STEPS] + sorted({group for _, _, group, _ in STEPS})
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", help="folder for what comes back")
    parser.add_argument("--work", help="folder for everything else; default: OUT.work beside OUT")
    parser.add_argument("--part", choices=sorted(PARTS), help="one call that stands alone")
    parser.add_argument("--only", action="append", metavar="STEP", help="a step or a group of steps; may be repeated")
    parser.add_argument("--budget", type=float, default=530, help="seconds for everything (default %(default)s)")
    parser.add_argument("--assay", default="assay", help="the binary; default: on PATH")
    parser.add_argument("--python", default=sys.executable, help="the Python that has PyTorch")
    parser.add_argument("--device", default="auto", help="for the power steps")
    parser.add_argument("--check", action="store_true",
                        help="only say what the campaign calls and what is missing; exit code 1 if anything is")
    parser.add_argument("--any-libraries", action="store_true",
                        help="with --check: also programs that ask for more than a bare machine's libraries")
    parser.add_argument("--list", action="store_true", help="steps, seconds and groups")
    args = parser.parse_args(argv)
    if args.list:
        for name, limit_s, group, _ in STEPS:
            print(name, limit_s, group)
        sys.exit(0)
    if args.part and args.only:
        parser.error("--part and --only exclude each other")
    if not args.out and not args.check:
        parser.error("--out is needed")
    for name in args.only or []:
        if name not in names:
            parser.error(f"no step or group '{name}'; --list names them")
    found = shutil.which(args.assay)
    if found is None:
        parser.error(f"{args.assay} is no program: give --assay")
    args.assay = str(pathlib.Path(found).resolve())
    absent = missing_parts(args.assay)
    if args.check and not args.any_libraries:
        absent += all_foreign_libraries(args.assay)
    for name in absent:
        print(f"missing: {name}", file=sys.stderr)
    if args.check:
        sys.exit(1 if absent else 0)
    args.work = args.work or args.out.rstrip("/") + ".work"
    return args


if __name__ == "__main__":
    sys.exit(drive(parse(sys.argv[1:])))
