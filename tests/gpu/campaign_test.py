#!/usr/bin/env python3
"""The control flow of tests/gpu/campaign.sh with stubs instead of assay, PyTorch and the compiler:
steps that succeed, fail, hang and lack their inputs are told apart, none stops the others, the time
and the size of what comes back are bounded, and no step touches a GPU's settings."""

import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TIMEOUT_S = 800  # nothing waits for it where all is well

ASSAY = '''#!/usr/bin/env python3
import json, os, pathlib, sys, time
words = sys.argv[1:]
line = " ".join(words)
open(os.environ["STUB_LOG"], "a").write(line + "\\n")
if os.environ.get("STUB_SLOW"): time.sleep(float(os.environ["STUB_SLOW"]))
if os.environ.get("STUB_CLOCK"): open(os.environ["STUB_CLOCK"], "a").write("." * int(os.environ["STUB_MS"]))
if os.environ.get("STUB_HANG", "no such command") in line:
    open(os.environ["STUB_LOG"] + ".pid", "w").write(str(os.getpid()))
    time.sleep(1800)
if os.environ.get("STUB_FAIL", "no such command") in line:
    print("no such GPU", file=sys.stderr); sys.exit(2)
def out():
    return pathlib.Path(words[words.index("-o") + 1])
def recording():
    # Two iterations of three operators, one more outside of them, and a range that is none.
    import struct
    body = b""
    for key, text in ((1, b"ProfilerStep#0"), (2, b"aten::mm"), (3, b"aten::add")):
        body += struct.pack("<2H3I", 2, 32, key, len(text), 0) + text.ljust(16, bytes(1))
    for begin in (100, 200):
        body += struct.pack("<2HI2Q4I", 8, 40, 1, begin, begin + 50, 1, 0, 1, 0)
    for begin, name, flags in ((10, 2, 0), (110, 2, 0), (120, 2, 0), (130, 3, 0), (140, 3, 1), (210, 2, 0), (220, 2, 0), (230, 3, 0)):
        body += struct.pack("<2HI2Qq", 21, 64, 1, begin, begin + 5, -1) + struct.pack("<Q6I", 0, name, 0, 0, 0, 0, flags)
    return bytes(12) + struct.pack("<I", 64) + bytes(48) + struct.pack("<4I2Q", 0, len(body), 0, 0, 0, 0) + body
sample = {"n": 150, "mean_ns": 4600, "std_ns": 9, "min_ns": 4000, "p5_ns": 4200, "p50_ns": 4500, "p95_ns": 5000, "max_ns": 6000}
window = {"n": 380, "n_launch": 380, "t_orch_ns": 5000000, "t_device_ns": 1700000, "hdbi": 0.6 if "_b16_" in line else 0.25,
          "t_e2e_ns": 6000000}
row = {"kernels": 380, "launches": 380, "kernel_sum_ns": 1700000, "tklqt_ns": 900000}
if words[0] == "null-kernel":
    open(os.environ["STUB_LOG"], "a").write("libraries " + os.environ.get("LD_LIBRARY_PATH", "") + "\\n")
    out().write_text(json.dumps({"gpus": [{"launch": sample, "duration": sample}]}))
elif words[0] == "record":
    out().write_text("trace")
    if "--torch" in words and not os.environ.get("STUB_NO_OPERATORS"):
        assert os.environ["ASSAY_TORCH_OPERATORS"].endswith("operators/libassay_torch.so")
        out().write_bytes(recording())
    os.execvp(words[words.index("--") + 1], words[words.index("--") + 1:])
elif words[0] == "replay":
    program = words[words.index("--program") + 1]
    assert program.endswith({"cpp": "replay/assay-replay", "python": "collect/replay/replay.py"}[words[words.index("--dispatch-through") + 1]])
    assert ("--python" in words) == (words[words.index("--dispatch-through") + 1] == "python")
    out().write_text(json.dumps({"entries": [{"status": "ok"}, {"status": "op_missing"}]}))
elif words[0] == "launch":
    print(json.dumps({"launch": {"whole": row, "iterations": [row], "top_kernels": [{"name": "k", "count": 380}]}}))
elif words[0] == "overhead":
    if "--export-kernel-db" in words: pathlib.Path(words[words.index("--export-kernel-db") + 1]).write_text("{}")
    python = any(word.endswith(".replay_python.json") for word in words)
    measured = {"t_orch_ns": 9800000 if python else 9000000, "hdbi": 0.3, "floor_ns": 4600, "entries": 20, "entries_found": 19}
    extra = {"measured": measured} if "--replay" in words else {}
    print(json.dumps({"host_overhead": {"windows": [window, window], **extra, **window}}))
elif words[0] == "sweep":
    print(json.dumps({"gpu": {"verdict": "X", "first_gpu_batch": 8}}))
elif words[0] == "sample":
    # A device that draws 200 W by its counter and shows 100 W.
    rows = [f"{tenth}00000000,1,gpu0,100.0,{20.0 * tenth},1980" for tenth in range(5, 31)]
    out().write_text("\\n".join(["t_ns,monotonic_ns,device,power_w,energy_j,sm_clock_mhz", *rows, ""]))
    os.execvp(words[words.index("--") + 1], words[words.index("--") + 1:])
elif words[0] == "info":
    print(json.dumps({"times": {"first_ns": 1000000000, "last_ns": 2000000000}}))
elif words[0] == "breakdown":
    print(json.dumps({"roofline": {"kernel_ns": 9, "known_ns": 8, "calls_below_roofline": 1, "calls_cache_explained": 1},
                      "breakdown": {"counter_passes": [{"match_rate": 1.0}]}}))
elif words[:2] == ["power", "attribute"]:
    # The column of joules has values, or is empty.
    lines = pathlib.Path(words[words.index("--samples") + 1]).read_text().splitlines()
    seen = any(line.split(",")[4] for line in lines[1:])
    print(json.dumps({"energy": {"counter_j": 99.0 if seen else None, "covered_ns": 1000000000,
                                 "model_total_j": 220.0, "model_low_j": 190.0, "model_high_j": 250.0}}))
elif words[0] == "fusion":
    print(json.dumps({"headline": ["fusion"]}))
else:
    if "--calibration" in words:
        kept = pathlib.Path(words[words.index("--calibration") + 1])
        if words[1] == "calibrate": kept.write_text("{}")
        elif not kept.exists(): print("No such file", file=sys.stderr); sys.exit(2)
    print(json.dumps({"headline": ["watts"], "power": {}}))
'''

# Stands for a Python with PyTorch: writes what assay_torch.py would.
PYTHON = '''#!/usr/bin/env python3
import json, os, pathlib, sys
words = sys.argv[1:]
if "find_spec" not in (words + [""])[1]:
    open(os.environ["STUB_LOG"], "a").write("python " + " ".join(words[1:]) + "\\n")
if words[:2] == ["-c", "import torch"]:
    sys.exit(1 if os.environ.get("STUB_NO_TORCH") else 0)
if words[0].endswith(("work.py", "jobs.py")):
    if "--trace" in words: pathlib.Path(words[words.index("--trace") + 1]).write_text("{}")
    sys.exit()
def profiled():
    import gzip
    events = [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "ts": 1.0, "dur": 9.0}]
    names = ["aten::mm", "aten::mm", "aten::add"] + ["aten::mul"] * bool(os.environ.get("STUB_OTHER"))
    events += [{"ph": "X", "cat": "cpu_op", "name": name, "ts": 2.0, "dur": 1.0} for name in names]
    return gzip.compress(json.dumps({"traceEvents": events}).encode())
if words[0] == "-c":
    print(json.dumps({"torch": "2.11.0", "cuda": "13.0", "gpu": "NVIDIA H200", "python": "3.12.3",
                      "libraries": ["/site-packages/nvidia/cu13/lib"]})); sys.exit()
def flag(name, default):
    return words[words.index(name) + 1] if name in words else default
out = pathlib.Path(flag("--out", "traces")); out.mkdir(parents=True, exist_ok=True)
model = flag("--model", "") + ("-hf" if "--hf" in words else "")
for batch in flag("--batch", "1").split(","):
    name = f"{model}_{flag('--mode', 'eager')}_{flag('--phase', 'prefill')}_b{batch}_s{flag('--seq', '512')}"
    if flag("--tracer", "kineto") == "kineto":
        (out / (name + ".json.gz")).write_bytes(b"x" * int(os.environ.get("STUB_BYTES", "10")))
        if "_sdpa_" in name and str(out).endswith("alone"): (out / (name + ".json.gz")).write_bytes(profiled())
    with open(out / "runs.jsonl", "a") as index:
        index.write(json.dumps({"name": name, "latency": {"p50_ms": 5.5}}) + "\\n")
'''
NCU = '''#!/bin/sh
echo "ncu $*" >> "$STUB_LOG"; echo '"ID","Kernel Name"'
'''
BUILD = '''#!/bin/sh
while [ $# -gt 0 ]; do [ "$1" = --out ] && mkdir -p "$2" && touch "$2/assay-replay"; shift; done
'''


def executable(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace("/usr/bin/env python3", f"{sys.executable} -SE"))
    path.chmod(0o755)
    return path


PR_SET_CHILD_SUBREAPER = 36


def kill_and_wait_for_its_children(process):
    """Ends a campaign as nothing it could catch. What it had started lives on and writes; it is ours by now."""
    process.kill()
    process.wait()
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


class CampaignTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        adopted = ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        if adopted != 0:
            raise OSError(ctypes.get_errno(), "prctl")

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.top = pathlib.Path(self.folder.name)
        self.out, self.log = self.top / "out", self.top / "log"
        # The scripts in a tree of their own, where the compiler's script is a stub as well.
        self.gpu = self.top / "tree/tests/gpu"
        self.gpu.mkdir(parents=True)
        for name in ("campaign.sh", "campaign.py", "counted_energy.py", "operators.py", "write_measured.py"):
            shutil.copy(HERE / name, self.gpu)
        executable(self.top / "tree/collect/build_for_torch.sh", BUILD)
        executable(self.top / "bin/assay", ASSAY)
        executable(self.top / "bin/ncu", NCU)
        self.python = executable(self.top / "bin/torch_python", PYTHON)
        self.environment = {**os.environ, "STUB_LOG": str(self.log), "PYTHON": sys.executable,
                            "PATH": f"{self.top / 'bin'}:{os.environ['PATH']}"}

    def tearDown(self):
        self.folder.cleanup()

    def run_campaign(self, *arguments, out=True, **stub):
        command = [str(self.gpu / "campaign.sh"), "--python", str(self.python), *arguments]
        if out:
            command += ["--out", str(self.out)]
        return subprocess.run(command, env={**self.environment, **stub}, capture_output=True, text=True,
                              timeout=TIMEOUT_S, check=False)

    def test_programs_that_are_no_python_find_the_libraries_of_pip_behind_the_machines(self):
        self.run_campaign("--only", "floor", LD_LIBRARY_PATH="/opt/cuda/lib64")
        self.assertIn("libraries /opt/cuda/lib64:/site-packages/nvidia/cu13/lib\n", self.log.read_text())

    def limit(self, step, seconds):
        """The same script with another limit for one step."""
        path = self.gpu / "campaign.py"
        text, found = re.subn(rf'\("{step}", \d+', f'("{step}", {seconds}', path.read_text())
        self.assertEqual(found, 1)
        path.write_text(text)

    def clock_of_the_stubs(self):
        """The same script on a clock that only the stubs move on, each by the time it says it takes: the file's bytes
        are its milliseconds."""
        path, clock = self.gpu / "campaign.py", self.top / "clock"
        clock.write_text("")
        text, found = re.subn(r"process\.wait\(timeout=max\(0\.1, self\.left\(\)\)\)", "process.wait()", path.read_text())
        self.assertEqual(found, 1)
        text, found = re.subn(r"time\.monotonic\(\)", "(os.path.getsize(os.environ['STUB_CLOCK']) / 1000)", text)
        self.assertGreater(found, 3)
        path.write_text(text)
        return clock

    def document(self):
        return json.loads((self.out / "campaign.json").read_text())

    def steps(self):
        return {row["step"]: row for row in self.document()["steps"]}

    def figures(self):
        return {(row["figure"], row.get("note")): row for row in self.document()["figures"]}

    def test_every_step_runs_and_each_figure_stands_beside_the_papers(self):
        done = self.run_campaign()
        self.assertEqual(done.returncode, 0, done.stderr)
        steps = self.steps()
        self.assertEqual({row["status"] for row in steps.values()}, {"ok"}, steps)
        self.assertIn("power_cb_8k", steps)
        self.assertNotIn("power_mb_2k", steps, "only on request")
        figures = self.figures()
        floor = figures["launch floor, mean", None]
        self.assertEqual((floor["value"], floor["paper_low"]), (4.6, 4.503))
        self.assertAlmostEqual(floor["ratio"], 4.6 / 4.503)
        kernels = figures["GPT-2 prefill, batch 1: kernels", "plain PyTorch"]
        self.assertEqual((kernels["value"], kernels["paper_low"], kernels["paper_high"]), (380, 376, 394))
        replayed = figures["GPT-2 prefill, batch 1: T_Orch", "plain PyTorch, launches and dispatch replayed, called from C++"]
        self.assertEqual((replayed["value"], replayed["paper_low"]), (4.5, 5.04), "of two iterations, one")
        replayed = figures["GPT-2 prefill, batch 1: T_Orch", "plain PyTorch, launches and dispatch replayed, called from Python"]
        self.assertEqual(replayed["value"], 4.9)
        self.assertEqual(figures["GPT-2: smallest batch of the sweep with HDBI >= 0.5", None]["value"], 16)
        self.assertEqual(figures["BERT: first GPU-bound batch", None]["value"], 8)
        self.assertEqual(self.document()["results"]["machine"]["gpu"], "NVIDIA H200")
        self.assertEqual(self.document()["results"]["replay"]["gpt2_eager_prefill_b1_s512"],
                         {key: {"ok": 1, "skipped_dynamic": 0, "op_missing": 1, "failed": 0}
                          for key in ("measured", "measured_python")})
        self.assertTrue(self.document()["results"]["tracers"]["kernels_agree"])

    def test_operators_are_compared_with_the_profilers(self):
        """Of the steps before it only what is there is used; what cannot be had is told."""
        done = self.run_campaign("--only", "tracers", "--only", "operators")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = self.document()["results"]["operators"]
        self.assertEqual({key: told[key] for key in ("kinds", "operators", "profiler_kinds", "profiler_operators", "agree",
                                                     "different", "overhead_share")},
                         {"kinds": 2, "operators": 3, "profiler_kinds": 2, "profiler_operators": 3, "agree": True,
                          "different": {}, "overhead_share": 0})
        figures = self.figures()
        self.assertEqual(figures["operators per iteration, assay record --torch over PyTorch's profiler", None]["value"], 1)
        self.assertEqual(figures["latency under assay record --torch over untraced", None]["value"], 1)
        self.assertIn("record --torch --max-bytes 16000000", self.log.read_text())
        self.assertIn("Each kind is seen as often by both.", self.page())
        done = self.run_campaign("--only", "tracers", "--only", "operators", STUB_OTHER="1")
        told = self.document()["results"]["operators"]
        self.assertEqual((told["agree"], told["different"]), (False, {"aten::mul": [0, 1]}))
        self.assertIn("| aten::mul | 0 | 1.00 |", self.page())

    def test_operators_without_what_they_need(self):
        done = self.run_campaign("--only", "operators")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = self.document()["results"]["operators"]
        self.assertEqual((told["kinds"], told["operators"], told["agree"]), (2, 3, None))
        self.assertNotIn("untraced_p50_ms", told)
        self.assertIn("PyTorch's profiler was not asked.", self.page())
        for words, stub in (("no PyTorch", {"STUB_NO_TORCH": "1"}), ("no C++ compiler", {"CXX": "no-such-compiler"})):
            self.run_campaign("--only", "operators", **stub)
            step = self.steps()["operators"]
            self.assertEqual(step["status"], "skipped")
            self.assertIn(words, step["why"])
            self.assertNotIn("operators", self.document()["results"])
        self.run_campaign("--only", "operators", STUB_NO_OPERATORS="1")
        self.assertEqual(self.steps()["operators"]["status"], "failed")

    def page(self):
        subprocess.run([sys.executable, str(self.gpu / "write_measured.py"), str(self.out), "--to", str(self.top)], check=True,
                       capture_output=True, text=True)
        return next(self.top.glob("*-unknown-gpu.md")).read_text()

    def test_a_failing_and_a_hanging_step_do_not_stop_the_others(self):
        self.limit("floor", 3)
        done = self.run_campaign(STUB_HANG="null-kernel", STUB_FAIL="gpt2.assaytrace")
        self.assertEqual(done.returncode, 1)
        steps = self.steps()
        self.assertEqual(steps["floor"]["status"], "out_of_time")
        self.assertEqual((steps["tracers"]["status"], steps["tracers"]["exit_code"]), ("failed", 2))
        self.assertIn("no such GPU", done.stderr)
        for name in ("gpt2", "overhead", "sweep", "power_cb_8k"):
            self.assertEqual(steps[name]["status"], "ok", name)
        self.assertNotIn("--floor", self.log.read_text(), "no floor was measured")
        told = pathlib.Path(str(self.log) + ".pid")
        if told.exists():  # unless it was ended before it could hang
            self.assertFalse(pathlib.Path(f"/proc/{told.read_text()}").exists())

    def test_power_is_measured_also_where_the_sensor_could_not_be_calibrated(self):
        done = self.run_campaign("--part", "power", STUB_FAIL="power calibrate")
        self.assertEqual(done.returncode, 1)
        steps = self.steps()
        self.assertEqual(steps["power_calibrate"]["status"], "failed")
        for name in ("power_cb_8k", "power_cb_2k", "power_cb_4k", "power_mb_2k"):
            self.assertEqual(steps[name]["status"], "ok", name)
            self.assertEqual(self.document()["results"][name]["sensor"], "documented")
        self.assertNotIn("power run", "".join(line for line in self.log.read_text().splitlines(True)
                                              if "--calibration" in line))
        self.log.write_text("")
        self.run_campaign("--part", "power")
        self.assertEqual(self.document()["results"]["power_cb_8k"]["sensor"], "calibrated")
        budget = int(re.search(r"power calibrate .*--budget (\d+)", self.log.read_text())[1])
        self.assertLess(budget, 120, "it gives up by itself before its step is ended")
        self.assertGreater(budget, 60)

    def test_an_overhead_that_fails_for_every_trace_is_a_failed_step(self):
        self.assertEqual(self.run_campaign("--only", "gpt2", "--only", "overhead", STUB_FAIL="overhead").returncode, 1)
        self.assertEqual(self.steps()["overhead"]["status"], "failed")

    def test_steps_without_their_inputs_are_skipped(self):
        done = self.run_campaign("--only", "replay", "--only", "sweep")
        self.assertEqual(done.returncode, 1)
        self.assertEqual({row["status"] for row in self.steps().values()}, {"skipped"})
        self.assertIn("no trace gpt2_eager_prefill_b1_s512", self.steps()["replay"]["why"])

    def test_only_runs_what_is_named_and_keeps_what_was_there(self):
        self.assertEqual(self.run_campaign("--only", "machine", "--only", "floor").returncode, 0)
        self.log.write_text("")
        done = self.run_campaign("--only", "power_interleaved", "--device", "simulated")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(list(self.steps()), ["machine", "floor", "power_interleaved"])
        work = pathlib.Path(str(self.out) + ".work").resolve()
        self.assertRegex(self.log.read_text().strip(),
                         rf"^power run --workload 60\*gemm:2048,1\*gemm:8192 --runs 16 --budget \d+ "
                         rf"--record {work}/records/power_interleaved --device simulated --format json$")
        self.assertLess(int(re.search(r"--budget (\d+)", self.log.read_text())[1]), 150, "its step's own limit")
        self.assertEqual(self.figures()["launch floor, mean", None]["value"], 4.6)
        self.run_campaign("--only", "power_all")
        self.assertEqual(len(self.steps()), 7)

    def test_a_short_budget_ends_in_time_and_says_what_it_cost(self):
        script = self.gpu / "campaign.py"
        script.write_text(re.sub(r"ANALYSIS_RESERVE_S, PACK_RESERVE_S = \d+, \d+",
                                 "ANALYSIS_RESERVE_S, PACK_RESERVE_S = 3, 1", script.read_text()))
        clock = self.clock_of_the_stubs()
        done = self.run_campaign("--budget", "9", STUB_CLOCK=str(clock), STUB_MS="400")
        self.assertEqual(done.returncode, 1)
        # Not one command is begun after the end.
        self.assertLess(clock.stat().st_size, 9_000 + 400)
        steps = self.steps()
        self.assertEqual(steps["machine"]["status"], "ok")
        self.assertEqual(steps["power_cb_4k"]["status"], "no_time")
        self.assertIn(steps["overhead"]["status"], ("ok", "out_of_time"), "analysis has seconds kept for it")

    def test_what_comes_back_is_bounded(self):
        self.run_campaign("--only", "machine", "--only", "models", "--only", "analysis", STUB_BYTES="17000000")
        files = self.document()["files"]
        self.assertIn("gpt2_eager_prefill_b1_s512.json.gz", files["left_out"])
        self.assertEqual(sorted(files["kept"]), sorted(path.name for path in self.out.iterdir()))
        self.assertLessEqual(len(files["kept"]), 8)

    def test_each_part_stands_alone_and_fits_its_call(self):
        measured = {"trace": "gpt2_compile-reduce-overhead_prefill_b1_s128.json.gz",
                    "replay": "llama-3.2-1b_eager_prefill_b1_s512.replay_python.json", "power": "steps.tar.gz",
                    "counters": "work.tar.gz"}
        for part, name in measured.items():
            for folder in (self.out, pathlib.Path(str(self.out) + ".work")):
                shutil.rmtree(folder, ignore_errors=True)
            done = self.run_campaign("--part", part)
            self.assertEqual(done.returncode, 0, done.stderr)
            steps = self.steps()
            self.assertEqual({row["status"] for row in steps.values()}, {"ok"}, steps)
            limits = subprocess.run([str(self.gpu / "campaign.sh"), "--list"], env=self.environment,
                                    capture_output=True, text=True, check=True).stdout
            seconds = {line.split()[0]: int(line.split()[1]) for line in limits.splitlines()}
            self.assertLessEqual(sum(seconds[step] for step in steps) + 10, 530, part)
            self.assertIn(name, [path.name for path in self.out.iterdir()])
            self.assertLessEqual(len(list(self.out.iterdir())), 8)

    def test_counters_and_energies_are_compared(self):
        self.run_campaign("--part", "counters")
        results = json.loads((self.out / "campaign.json").read_text())["results"]
        self.assertEqual(results["work"]["match_rate"], 1.0)
        # 280 J from 0.05 s before the job to 0.35 s behind it, less the 0.4 s of it at 100 W.
        self.assertEqual(results["jobs"]["held"], 1)
        row = results["jobs"]["jobs"][0]
        self.assertAlmostEqual(row.pop("counted_j"), 240.0, places=3)
        self.assertEqual(row, {"told_j": 220.0, "low_j": 190.0, "high_j": 250.0})
        calls = [line for line in self.log.read_text().splitlines() if line.startswith("ncu ")]
        self.assertEqual(len(calls), 2)
        self.assertTrue(all("--clock-control none" in line for line in calls))

    def test_what_the_campaign_calls_is_checked_before_it_is_carried(self):
        self.run_campaign("--check", out=False)
        parts = [self.top / "tree/collect/replay" / name for name in
                 ("main.cc", "arguments.cc", "device.cc", "job.cc", "labels.cc", "replay.py")]
        parts += [self.top / "tree/collect/operators" / name for name in ("torch_operators.cc", "sink.h")]
        parts += [self.top / "tree/collect/pytorch/assay_torch.py", self.gpu / "pairs.py", self.gpu / "work.py",
                  self.gpu / "jobs.py", self.top / "bin/assay_null_kernel",
                  self.top / "bin/libassay_record.so"]
        for path in parts:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
        done = self.run_campaign("--check", out=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        for path in parts:
            path.unlink()
            done = self.run_campaign("--check", out=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(path.name, done.stderr)
            path.write_text("")
        # A program that asks for libraries of this machine cannot run on a bare one.
        if shutil.which("cc") and shutil.which("readelf"):
            subprocess.run(["cc", "-shared", "-xc", "/dev/null", "-Wl,-soname,libelsewhere.so.9", "-o",
                            str(self.top / "libelsewhere.so")], check=True)
            subprocess.run(["cc", "-shared", "-xc", "/dev/null", "-Wl,--no-as-needed", "-xnone",
                            str(self.top / "libelsewhere.so"), "-o", str(self.top / "bin/assay")], check=True)
            done = self.run_campaign("--check", out=False)
            self.assertEqual((done.returncode, done.stderr), (1, "missing: libelsewhere.so.9\n"))

    def test_a_kill_at_any_second_leaves_a_whole_result(self):
        for seconds in (1.3, 2.1, 3.4, 4.6):
            shutil.rmtree(self.out, ignore_errors=True)
            process = subprocess.Popen([str(self.gpu / "campaign.sh"), "--python", str(self.python), "--part", "trace",
                                        "--out", str(self.out)], env={**self.environment, "STUB_SLOW": "0.1"},
                                       stderr=subprocess.DEVNULL)
            until = time.monotonic() + TIMEOUT_S
            while not (self.out / "campaign.json").exists():
                self.assertLess(time.monotonic(), until)
                time.sleep(0.01)
            time.sleep(seconds - 1)
            kill_and_wait_for_its_children(process)
            if self.steps():
                self.assertIsNotNone(self.document()["files"], "packed after every step")
                with tarfile.open(self.out / "steps.tar.gz") as archive:
                    self.assertIn("machine.log", archive.getnames())
            files = self.document()["files"] or {"kept": ["campaign.json"]}
            there = {path.name for path in self.out.iterdir()}
            self.assertLessEqual(set(files["kept"]), there)
            self.assertLessEqual(len(there), 8)

    def test_a_campaign_that_is_stopped_keeps_what_it_measured(self):
        process = subprocess.Popen([str(self.gpu / "campaign.sh"), "--python", str(self.python), "--out", str(self.out)],
                                   env={**self.environment, "STUB_SLOW": "0.5"}, stderr=subprocess.DEVNULL)
        until = time.monotonic() + TIMEOUT_S
        while process.poll() is None and not ((self.out / "campaign.json").exists() and "floor" in self.steps()):
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)
        process.terminate()
        self.assertEqual(process.wait(), 143)
        self.assertEqual(self.steps()["floor"]["status"], "ok")

    def test_a_campaign_that_is_stopped_while_it_starts_a_program_leaves_none_behind(self):
        path = self.gpu / "campaign.py"
        told = "preexec_fn=lambda: os.kill(os.getppid(), signal.SIGTERM)"
        text, found = re.subn(r"start_new_session=True\)", f"start_new_session=True, {told})", path.read_text())
        self.assertEqual(found, 1)
        path.write_text(text)
        done = self.run_campaign("--only", "floor", STUB_HANG="null-kernel")
        self.assertEqual(done.returncode, 143, done.stderr)
        with self.assertRaises(ChildProcessError, msg="a program lives on"):
            os.waitpid(-1, os.WNOHANG)

    def test_an_answer_of_another_shape_fails_its_step_alone(self):
        broken = ASSAY.replace('{"gpu": {"verdict": "X", "first_gpu_batch": 8}}', '{"other": 1}')
        executable(self.top / "bin/assay", broken)
        self.assertEqual(self.run_campaign("--only", "gpt2", "--only", "analysis").returncode, 1)
        self.assertEqual(self.steps()["sweep"]["status"], "failed")
        self.assertEqual(self.steps()["fusion"]["status"], "ok")

    def test_the_page_of_a_campaign_has_its_machine_figures_and_failures(self):
        self.run_campaign(STUB_FAIL="gpt2.assaytrace")
        page = self.top / "pages"
        page.mkdir()
        done = subprocess.run([sys.executable, str(self.gpu / "write_measured.py"), str(self.out), "--to", str(page)],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        written = list(page.iterdir())
        self.assertEqual(len(written), 1)
        self.assertRegex(written[0].name, r"^\d{4}-\d\d-\d\d-nvidia-h200\.md$")
        text = written[0].read_text()
        self.assertIn("| launch floor, mean | 4.60 us | 4.503 | 1.02 |", text)
        self.assertIn("| GPT-2 prefill, batch 1: kernels (plain PyTorch) | 380 | 376 to 394 |", text)
        self.assertIn("| tracers | failed |", text)
        self.assertIn("NVIDIA H200", text)
        self.assertNotIn(str(self.top), text, "no path of the machine")

    def test_wrong_use_is_named(self):
        self.assertEqual(self.run_campaign(out=False).returncode, 2)
        done = self.run_campaign("--only", "power_nothing")
        self.assertEqual(done.returncode, 2)
        self.assertIn("power_nothing", done.stderr)
        self.environment["PATH"] = "/usr/bin:/bin"
        self.assertEqual(self.run_campaign().returncode, 2)

    def test_the_campaign_takes_under_nine_minutes_and_changes_no_setting(self):
        text = (HERE / "campaign.py").read_text()
        budget = float(re.search(r'"--budget", type=float, default=(\d+)', text)[1])
        self.assertLess(budget, 540)
        for word in ("nvidia-smi", "rocm-smi", "amd-smi", "--lock", "persistence"):
            self.assertNotIn(word, text)


if __name__ == "__main__":
    unittest.main()
