#!/usr/bin/env python3
"""The whole campaign out of its packed folder, on a GPU that does not exist: three of its parts, each with the output
folder of the one before gone, their figures against what the fakes do, and results that stay whole when the campaign is
killed at random seconds. Where it is allowed, every collector runs in a root that holds the libraries it asks for alone,
of a release the C library.

    rehearsal.py --packed FOLDER [--fakes FOLDER]

--packed: made by tools/pack_campaign.py. --fakes: with libcuda.so.1 and assay_traced_program (build/…/fake_gpu); without
it they are compiled here.
"""

import argparse
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACE = ROOT / "examples/h100_vit_inference.json.gz"
PACKED = FAKES = PREFIX = None
TIMEOUT_S = 800  # nothing waits for it where all is well
KILLS, SEED = 4, 22
# What the fakes do (tests/fakes/fake_tracing.cc).
RUNTIME_NS, DRIVER_NS, KERNEL_NS, RECORDED_LAUNCHES = 9000, 7000, 4000, 12
OPERATORS = 90  # of an iteration (tests/fakes/fake_observer.cc), a third of them ranges
# The three names of the one library, which is driver, runtime and CUPTI.
NAMES = ("libcuda.so.1", "libcudart.so.13", "libcupti.so.13")

# A Python with PyTorch, as far as the campaign asks: its traces are a recorded one under other names, and under
# `assay record` it launches kernels on the fake.
PYTHON = '''#!{python} -SE
import json, os, pathlib, shutil, sys
words = sys.argv[1:]
if words[0].endswith("collect/replay/replay.py"):
    os.execv("{replayer}", ["{replayer}", *words[1:]])
if words[0] == "-":
    print("2.11.0", 1, "", "", 0, "", sep="\\n"); sys.exit()
if words[0] == "-c":
    print(json.dumps({{"torch": "2.11.0", "cuda": "13.0", "gpu": "Fake H200", "python": "3.12.3", "libraries": []}}))
    sys.exit()
def flag(name, default):
    return words[words.index(name) + 1] if name in words else default
out = pathlib.Path(flag("--out", "traces")); out.mkdir(parents=True, exist_ok=True)
for batch in flag("--batch", "1").split(","):
    name = "_".join((flag("--model", ""), flag("--mode", "eager"), flag("--phase", "prefill"), "b" + batch,
                     "s" + flag("--seq", "512")))
    if flag("--tracer", "kineto") == "kineto": shutil.copy("{trace}", out / (name + ".json.gz"))
    with open(out / "runs.jsonl", "a") as index:
        index.write(json.dumps({{"name": name, "latency": {{"p50_ms": 5.5}}}}) + "\\n")
if flag("--tracer", "") == "nvtx" and "ASSAY_RECORD_TORCH" in os.environ:
    os.environ["LD_PRELOAD"] = "{torch}"
    step = ["push", "ProfilerStep#0", "operators", "{operators}", "pop"]
    os.execv("{program}", ["{program}", "init", *step, *step, "operators", "5", "launch", "{launches}"])
if flag("--tracer", "") == "nvtx":
    os.execv("{program}", ["{program}", "launch", "{launches}"])
'''
# A compiler of programs that are REPLAYER, and of an observer of operators that do not exist.
COMPILER = '''#!{python} -SE
import pathlib, sys
words = sys.argv[1:]
out = pathlib.Path(words[words.index("-o") + 1])
out.write_bytes(open("{observer}" if out.suffix == ".so" else "{replayer}", "rb").read() if "-c" not in words else b"")
out.chmod(0o755)
'''
# What replays nothing and says that all went well, on the host: as the compiled program and as the script.
REPLAYER = '''#!{python} -SE
import json, sys
if sys.argv[1] == "--about":
    print(json.dumps({{"torch": "2.11.0", "device": "cpu", "gpu": "", "uuid": "", "driver": "", "labels": True}}))
    sys.exit()
for line in open(sys.argv[1]):
    words = line.rstrip("\\n").split("\\t")
    if words[0] != "entry": continue
    with open(sys.argv[2], "a") as out:
        out.write(json.dumps({{"begin": int(words[1])}}) + "\\n")
        out.write(json.dumps({{"entry": int(words[1]), "status": "ok", "reason": "", "call": words[2], "assumed": [],
                              "host_ns": [100, 200, 300]}}) + "\\n")
'''


def executable(path, text, **values):
    path.write_text(text.format(python=sys.executable, **values))
    path.chmod(0o755)
    return path


def compiled_fakes(folder):
    """The same fakes as the test suite's, standing on the C library alone."""
    flags = ["-std=c++20", "-O1", f"-I{ROOT}", "-static-libstdc++", "-static-libgcc", "-pthread"]
    sources = ROOT / "tests/fakes"
    for words in (["-shared", "-fPIC", sources / "fake_tracing.cc", "-o", folder / "libcuda.so.1"],
                  ["-shared", "-fPIC", sources / "fake_observer.cc", "-o", folder / "libassay_fake_observer.so"],
                  ["-shared", "-fPIC", sources / "fake_kineto.cc", "-o", folder / "libtorch_cpu.so"],
                  [sources / "traced_program.cc", "-o", folder / "assay_traced_program"]):
        subprocess.run(["c++", *map(str, flags), *map(str, words), "-ldl"], check=True)
    return folder


def needed_by(programs):
    """The shared libraries that programs ask for, and the loader: of a release the C library's."""
    told = subprocess.run(["ldd", *map(str, programs)], capture_output=True, text=True, check=True).stdout
    return sorted(set(re.findall(r"(?:=> )?(/\S+) \(0x", told)))


def whole(folder):
    """The result as its reader finds it; fails where something is half there."""
    document = json.loads((folder / "campaign.json").read_text())
    for path in folder.iterdir():
        if path.suffix == ".gz" and path.name != "unfinished":
            gzip.decompress(path.read_bytes())
        if path.suffix == ".json":
            json.loads(path.read_text())
    return document


class Rehearsal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.top = pathlib.Path(cls.folder.name)
        fakes = FAKES or compiled_fakes(cls.top)
        cls.program = fakes / "assay_traced_program"
        cls.torch = next(path for path in (fakes / "libtorch_cpu.so", fakes.parent / "fake_cupti/libtorch_cpu.so") if path.exists())
        cls.libraries = cls.top / "libraries"
        cls.libraries.mkdir()
        for name in NAMES:
            (cls.libraries / name).symlink_to((fakes / "libcuda.so.1").resolve())
        # A real trace, of the GPU that the fakes say they are.
        trace = cls.top / "trace.json.gz"
        text, found = re.subn(r'"name": *"NVIDIA H100[^"]*"', '"name": "Fake H200"', gzip.decompress(TRACE.read_bytes()).decode())
        assert found > 0
        trace.write_bytes(gzip.compress(text.encode()))
        replayer = executable(cls.top / "replayer", REPLAYER)
        cls.python = executable(cls.top / "python_with_torch", PYTHON, trace=trace, program=cls.program,
                                launches=RECORDED_LAUNCHES, replayer=replayer, torch=cls.torch, operators=OPERATORS)
        cls.compiler = executable(cls.top / "compiler", COMPILER, replayer=replayer,
                                  observer=fakes / "libassay_fake_observer.so")
        cls.out = cls.top / "out"
        bare = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "FAKE_"))}
        cls.env = {**bare, "LD_LIBRARY_PATH": str(cls.libraries), "CXX": str(cls.compiler), "PYTHON": sys.executable,
                   "XDG_CACHE_HOME": str(cls.top / "cache"), "FAKE_RUNTIME_LAUNCH_NS": str(RUNTIME_NS)}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def command(self, part):
        return [str(PACKED / "tests/gpu/campaign.sh"), "--assay", str(PACKED / "bin/assay"), "--python", str(self.python),
                "--part", part, "--out", str(self.out), *(["--device", "simulated"] if part == "power" else [])]

    def clear(self):
        for folder in (self.out, pathlib.Path(f"{self.out}.work")):
            shutil.rmtree(folder, ignore_errors=True)

    def part(self, part):
        self.clear()
        done = subprocess.run(self.command(part), env=self.env, capture_output=True, text=True, check=False,
                              timeout=TIMEOUT_S, cwd=self.top)
        document = whole(self.out)
        statuses = {row["step"]: row["status"] for row in document["steps"]}
        self.assertEqual(set(statuses.values()), {"ok"}, f"{statuses}\n{done.stderr}")
        self.assertEqual(done.returncode, 0)
        self.assertLessEqual(len(list(self.out.iterdir())), 8)
        self.assertFalse([path for path in self.out.iterdir() if path.is_dir()])
        return document

    def check_floor(self, results):
        self.assertEqual(results["floor"]["launch"]["mean_ns"], RUNTIME_NS)
        self.assertEqual(results["floor"]["duration"]["mean_ns"], KERNEL_NS)
        paths = {path["path"]: path["launch"]["mean_ns"] for path in results["floor"]["paths"]}
        self.assertEqual(paths, {"cudaLaunchKernel": RUNTIME_NS, "cuLaunchKernel": DRIVER_NS})

    def test_the_trace_part(self):
        results = self.part("trace")["results"]
        self.check_floor(results)
        recorded = results["tracers"]["record"]
        self.assertEqual((recorded["kernels"], recorded["kernel_sum_ns"], recorded["tklqt_ns"]),
                         (RECORDED_LAUNCHES, RECORDED_LAUNCHES * KERNEL_NS, RECORDED_LAUNCHES * DRIVER_NS))
        seen = results["operators"]
        self.assertEqual((seen["kinds"], seen["operators"]), (2, OPERATORS * 2 / 3))
        # Those of the recorded trace, whose profiler saw others.
        self.assertGreater(seen["profiler_operators"], 100)
        self.assertFalse(seen["agree"])
        self.assertEqual(seen["different"]["aten::mm"][0], OPERATORS / 3)
        rows = results["overhead"]
        self.assertIn("gpt2_compile-reduce-overhead_prefill_b1_s128", rows)
        self.assertFalse([name for name, row in rows.items() if "failed" in row], rows)
        # One trace under many names.
        self.assertEqual(len({json.dumps(row, sort_keys=True) for row in rows.values()}), 1)
        self.assertGreater(next(iter(rows.values()))["n"], 100)

    def test_the_replay_part(self):
        results = self.part("replay")["results"]
        self.check_floor(results)
        for key in ("measured", "measured_python"):
            self.assertGreater(results["replay"]["gpt2_eager_prefill_b1_s512"][key]["ok"], 5)
        # Replayed on the host, since no fake runs operators: told, and the trace's own figures stand.
        row = results["overhead"]["gpt2_eager_prefill_b1_s512"]
        self.assertIn("failed", row["measured"])
        self.assertIn("failed", row["measured_python"])
        self.assertGreater(row["n"], 100)
        for name in ("gpt2_eager_prefill_b1_s512.replay.json", "gpt2_eager_prefill_b1_s512.replay_python.json"):
            self.assertEqual(json.loads((self.out / name).read_text())["through"], "python" if "python" in name else "cpp")

    def test_the_power_part(self):
        results = self.part("power")["results"]
        for step in ("power_cb_8k", "power_cb_2k", "power_cb_4k"):
            power = results[step]["power"]
            self.assertEqual(results[step]["sensor"], "calibrated")
            self.assertAlmostEqual(power["kernels"][0]["ssp_w"] / power["truth"]["ssp_w"], 1, delta=0.02, msg=step)

    def test_a_kill_at_any_second_leaves_a_whole_result(self):
        chance = random.Random(SEED)
        for part in ("trace", "power"):
            for _ in range(KILLS // 2):
                self.clear()
                seconds = chance.uniform(0.1, 4)
                with subprocess.Popen(self.command(part), env=self.env, stderr=subprocess.DEVNULL, cwd=self.top,
                                      start_new_session=True) as process:
                    until = time.monotonic() + TIMEOUT_S
                    while not (self.out / "campaign.json").exists():
                        self.assertLess(time.monotonic(), until)
                        time.sleep(0.01)
                    time.sleep(seconds)
                    process.kill()
                document = whole(self.out)
                kept = (document["files"] or {"kept": []})["kept"]
                there = {path.name for path in self.out.iterdir()}
                self.assertLessEqual(set(kept), there, f"{part} after {seconds:.1f} s")
                self.assertLessEqual(len(there), 8)

    def test_every_collector_in_an_empty_root(self):
        if shutil.which("chroot") is None:
            self.skipTest("there is no chroot here")
        bare = self.top / "bare"
        fakes = bare / "fakes"
        fakes.mkdir(parents=True)
        compiled_fakes(fakes)
        programs = [PACKED / "bin/assay", *(PACKED / "lib/assay").iterdir(), *fakes.iterdir()]
        for library in needed_by(programs):
            # Where the loader looks without a cache of its own.
            target = bare / (library[1:] if "ld-linux" in library else f"lib/{pathlib.Path(library).name}")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, target)
        shutil.copytree(PACKED, bare / "packed")
        for name in NAMES[1:]:
            (fakes / name).symlink_to("libcuda.so.1")
        (bare / "tmp").mkdir()

        def run(*words):
            return subprocess.run([shutil.which("chroot"), str(bare), "/packed/bin/assay", *words], capture_output=True, text=True,
                                  check=False, timeout=TIMEOUT_S,
                                  # Without /proc a program does not know where it lies.
                                  env={"LD_LIBRARY_PATH": "/fakes", "HOME": "/tmp",
                                       "ASSAY_NULL_KERNEL": "/packed/lib/assay/assay_null_kernel",
                                       "ASSAY_RECORD_LIBRARY": "/packed/lib/assay/libassay_record.so"})

        first = run("null-kernel", "-o", "/tmp/floor.json")
        if "Operation not permitted" in first.stderr:
            self.skipTest("chroot is not allowed here")
        self.assertEqual(first.returncode, 0, first.stderr)
        floor = json.loads((bare / "tmp/floor.json").read_text())["gpus"][0]
        self.assertEqual({path["path"] for path in floor["paths"]}, {"cudaLaunchKernel", "cuLaunchKernel"})
        self.assertEqual(floor["launch"]["mean_ns"], DRIVER_NS, "both take as long without FAKE_RUNTIME_LAUNCH_NS")
        done = run("record", "-o", "/tmp/r.assaytrace", "--", "/fakes/assay_traced_program", "launch", "5", "graph", "2")
        self.assertIn("11 kernels", done.stderr)
        done = run("power", "run", "--device", "simulated", "--workload", "gemm:2048", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)


class Packing(unittest.TestCase):
    def test_it_fails_when_anything_is_missing(self):
        if PREFIX is None:
            self.skipTest("it was packed elsewhere")
        with tempfile.TemporaryDirectory() as name:
            prefix, to = pathlib.Path(name, "prefix"), pathlib.Path(name, "to")
            shutil.copytree(PREFIX, prefix)
            for part in ("lib/assay/assay_null_kernel", "lib/assay/libassay_record.so", "share/assay/collect/replay/job.cc",
                         "share/assay/collect/replay/replay.py", "share/assay/collect/pytorch/assay_torch.py", "bin/assay"):
                (prefix / part).rename(prefix / "away")
                done = subprocess.run([sys.executable, str(ROOT / "tools/pack_campaign.py"), "--prefix", str(prefix), "--to",
                                       str(to), "--any-libraries"], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 1, part)
                self.assertIn(pathlib.Path(part).name, done.stderr)
                (prefix / "away").rename(prefix / part)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--packed", type=pathlib.Path)
    parser.add_argument("--fakes", type=pathlib.Path)
    parser.add_argument("--pack", nargs=2, metavar=("CMAKE", "BUILD"), help="install that build and pack it first")
    known, rest = parser.parse_known_args()
    FAKES = known.fakes and known.fakes.resolve()
    with tempfile.TemporaryDirectory() as made:
        if known.pack:
            PREFIX, PACKED = pathlib.Path(made, "prefix"), pathlib.Path(made, "packed")
            subprocess.run([known.pack[0], "--install", known.pack[1], "--prefix", str(PREFIX)], check=True,
                           stdout=subprocess.DEVNULL)
            subprocess.run([sys.executable, str(ROOT / "tools/pack_campaign.py"), "--prefix", str(PREFIX), "--to",
                            str(PACKED), "--any-libraries"], check=True)
        else:
            PACKED = known.packed.resolve()
        unittest.main(argv=[sys.argv[0], *rest])
