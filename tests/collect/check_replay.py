#!/usr/bin/env python3
"""`assay replay` end to end on the CPU: operators recorded from a running PyTorch, a trace around them
as its profiler writes it, `assay overhead --export-kernel-db`, and a replay whose every rebuilt call is
compared with the one that was made. Then what goes wrong: operators that this libtorch lacks, kills,
full disks, hostile databases, programs that die, and, with a pretended GPU and tracer, kernel times.

Exit code 77 without assay-replay or a Python that has PyTorch."""

import argparse
import json
import os
import pathlib
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

from torch_python import python_with_torch

HERE = pathlib.Path(__file__).resolve().parent
ASSAY = PROGRAM = PYTHON = OPERATORS = None
SKIP = 77
TENSOR = re.compile(r"[A-Z][A-Za-z0-9]*\[[\d,]*\|[\d,]*\]")


def trace_of(calls):
    """A profiler's trace in which every call launched one kernel of its own."""
    events = []
    for number, call in enumerate(calls):
        begin = 1000 + 100 * number
        args = {"External id": number + 1, "Input Dims": call["dims"], "Input type": call["types"],
                "Input Strides": call["strides"], "Concrete Inputs": call["concrete"]}
        events.append({"ph": "X", "cat": "cpu_op", "name": call["op"], "pid": 1, "tid": 1, "ts": begin, "dur": 50,
                       "args": args})
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                       "ts": begin + 10, "dur": 5, "args": {"correlation": number + 1, "External id": number + 1}})
        events.append({"ph": "X", "cat": "kernel", "name": f"kernel_{number}", "pid": 0, "tid": 7, "ts": begin + 20,
                       "dur": 10, "args": {"correlation": number + 1, "External id": number + 1, "device": 0,
                                           "stream": 7, "grid": [number + 1, 1, 1], "block": [32, 1, 1]}})
    return {"schemaVersion": 1, "record_shapes": 1, "deviceProperties": [{"id": 0, "name": "Test GPU"}],
            "traceEvents": events}


def with_kernels(trace):
    """A trace of a CPU in which every operator that called no other launched one kernel of its own."""
    ops = sorted((event for event in trace["traceEvents"] if event.get("cat") == "cpu_op"),
                 key=lambda event: (event["ts"], -event["dur"]))
    leaves = [op for op, after in zip(ops, [*ops[1:], None]) if after is None or after["ts"] >= op["ts"] + op["dur"]]
    for number, op in enumerate(leaves):
        ids = {"correlation": 1_000_000 + number, "External id": op["args"]["External id"]}
        trace["traceEvents"].append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": op["pid"],
                                     "tid": op["tid"], "ts": op["ts"], "dur": min(op["dur"], 0.001), "args": ids})
        trace["traceEvents"].append({"ph": "X", "cat": "kernel", "name": f"kernel_{number}", "pid": 0, "tid": 7,
                                     "ts": op["ts"] + op["dur"] / 2, "dur": 0.001,
                                     "args": {**ids, "device": 0, "stream": 7, "grid": [number + 1, 1, 1],
                                              "block": [32, 1, 1]}})
    return {**trace, "deviceProperties": [{"id": 0, "name": "Test GPU"}]}


def database(entries, gpu=""):
    return {"kind": "assay-kernel-db", "schema_version": 1, "gpu": {"name": gpu}, "entries": entries}


def entry(key, op, inputs=None, **more):
    """inputs: (type, dims, strides, concrete) each."""
    row = {"key": key, "name": key, "operator": op, "grid": [4, 1, 1], "block": [32, 1, 1], "frequency": 1, **more}
    if inputs is not None:
        for place, name in enumerate(("input_types", "input_dims", "input_strides", "concrete_inputs")):
            row[name] = [one[place] for one in inputs]
    return row


F32 = ("float", [4, 6], [6, 1], "")
ONE = ("Scalar", [], [], "1")


def add(key):
    return entry(key, "aten::add", [F32, F32, ONE])


# A tracer and a replay program of a machine with a GPU, of which there is none here.
STUB_PROGRAM = '''#!{python} -SE
import json, os, signal, sys
if sys.argv[1] == "--about":
    print(json.dumps({{"torch": "2.11.0", "device": "{device}", "gpu": "{gpu}", "uuid": "GPU-1", "driver": "13.0",
                       "labels": True}}))
    sys.exit()
for line in open(sys.argv[1]):
    words = line.rstrip("\\n").split("\\t")
    if words[0] != "entry": continue
    number, op = int(words[1]), words[2]
    with open(sys.argv[2], "a") as out:
        out.write(json.dumps({{"begin": number}}) + "\\n"); out.flush()
        if op == "aten::crash": os.kill(os.getpid(), signal.SIGSEGV)
        out.write(json.dumps({{"entry": number, "status": "ok", "reason": "", "call": op, "assumed": [],
                              "host_ns": [100, 200, 300]}}) + "\\n")
        if op == "aten::cut":
            out.write('{{"entry": 9, "sta'); sys.exit(1)
'''
STUB_NSYS = '''#!{python} -SE
import sqlite3, subprocess, sys
words = sys.argv[1:]
target = words[words.index("-o") + 1] + ".sqlite"
db = sqlite3.connect(target)
db.executescript("""
create table StringIds (id integer primary key, value text);
insert into StringIds values (1, 'cudaLaunchKernel_v7000'), (2, 'void add<float>(float*)'), (3, 'void cast()');
create table META_DATA_EXPORT (name text, value text);
insert into META_DATA_EXPORT values ('EXPORT_SCHEMA_VERSION', '3.13.2');
create table TARGET_INFO_GPU (id integer, name text, cuDevice integer);
insert into TARGET_INFO_GPU values (0, 'NVIDIA H200', 0);
create table NVTX_EVENTS (start integer, end integer, eventType integer, rangeId integer, text text, textId integer, globalTid integer);
create table CUPTI_ACTIVITY_KIND_RUNTIME (start integer, end integer, eventClass integer, globalTid integer, correlationId integer, nameId integer);
create table CUPTI_ACTIVITY_KIND_KERNEL (start integer, end integer, deviceId integer, contextId integer, streamId integer,
  correlationId integer, globalPid integer, demangledName integer, shortName integer, gridX integer, gridY integer, gridZ integer,
  blockX integer, blockY integer, blockZ integer, staticSharedMemory integer, dynamicSharedMemory integer, registersPerThread integer);
""")
tid, pid = (77 << 24) + 77, 77 << 24
correlation = 0
for run in range(3):
    begin = 1_000_000 * (run + 1)
    db.execute("insert into NVTX_EVENTS values (?, ?, 59, 0, ?, null, ?)", (begin, begin + 90_000, f"aten_dispatch|0|{{run}}", tid))
    # Two kernels in each range, the second launched twice; a warm-up launch outside of any.
    for name, call, wait, took in ((3, 4_000, 5_000, 1_000), (2, 20_000 + 1_000 * run, 4_500, 2_000), (2, 60_000, 4_500, 2_000)):
        correlation += 1
        db.execute("insert into CUPTI_ACTIVITY_KIND_RUNTIME values (?, ?, 0, ?, ?, 1)", (begin + call, begin + call + 3_000, tid, correlation))
        db.execute("insert into CUPTI_ACTIVITY_KIND_KERNEL values (?, ?, 0, 1, 7, ?, ?, ?, ?, 4, 1, 1, 32, 1, 1, 0, 16, 24)",
                   (begin + call + wait, begin + call + wait + took, correlation, pid, name, name))
db.commit()
sys.exit(subprocess.run(words[words.index("-o") + 2:]).returncode)
'''


class ReplayCase(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.top = pathlib.Path(self.folder.name)
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.top / "cache"), "TMPDIR": str(self.top)}
        self.out = self.top / "replay.json"

    def tearDown(self):
        self.folder.cleanup()

    def executable(self, name, text, **values):
        path = self.top / name
        path.write_text(text.format(python=sys.executable, **values))
        path.chmod(0o755)
        return path

    def assay(self, *words, **more):
        return subprocess.run([ASSAY, *map(str, words)], capture_output=True, text=True, env=self.environment,
                              timeout=600, check=False, **more)

    def who(self):
        """The flags that say which program makes the calls."""
        return ["--program", PROGRAM]

    def replay(self, rows, *flags, program=None, **more):
        path = self.top / "db.json"
        path.write_text(rows if isinstance(rows, str) else json.dumps(rows))
        who = ["--program", program] if program else self.who()
        return self.assay("replay", path, "-o", self.out, "--warmups", 1, "--runs", 3, *who, *flags, **more)

    def database_of(self, rows):
        path = self.top / "db.json"
        path.write_text(json.dumps(database(rows)))
        return path

    def entries(self):
        return {row["key"]: row for row in json.loads(self.out.read_text())["entries"]}

    def replayed(self, rows, *flags, **more):
        done = self.replay(database(rows), *flags, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.entries()


def through_python():
    return ["--dispatch-through", "python", "--python", PYTHON]


class Calls(ReplayCase):
    """What is made of a database, by assay-replay."""

    def check_call(self, call, row):
        """A rebuilt call against the one that was made."""
        name = call["op"] + ("." + call["overload"] if call["overload"] else "")
        self.assertEqual(row["call"].split("(")[0], name)
        inside = row["call"][len(name) + 1:-1]
        wanted = [text for value in call["truth"] if isinstance(value, str) for text in TENSOR.findall(value)]
        self.assertEqual(TENSOR.findall(inside), wanted, name)
        rest = re.split(r", (?![^\[]*\])", TENSOR.sub("tensor", inside))
        plain = [value for value in call["truth"]]
        if any("tensor;" in part for part in rest) or len(rest) != len(plain):
            return
        for text, value in zip(rest, plain):
            if isinstance(value, bool) or value is None:
                self.assertEqual(text, str(value), row["call"])
            elif isinstance(value, (int, float)):
                self.assertAlmostEqual(float(text), value, msg=row["call"])
            elif isinstance(value, list):
                self.assertEqual([float(part) for part in text.strip("[]").split(",") if part.strip()],
                                 [float(part) for part in value], row["call"])

    def test_calls_of_a_running_pytorch_are_rebuilt_as_they_were_made(self):
        if PYTHON is None:
            self.skipTest("no Python with PyTorch")
        recorded = subprocess.run([PYTHON, str(HERE / "record_ops.py")], capture_output=True, text=True, check=False)
        self.assertEqual(recorded.returncode, 0, recorded.stderr)
        calls = json.loads(recorded.stdout)
        trace = self.top / "trace.json"
        trace.write_text(json.dumps(trace_of(calls)))
        done = self.assay("overhead", trace, "--export-kernel-db", self.top / "ops.json", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads((self.top / "ops.json").read_text())
        self.assertEqual(len(rows["entries"]), len(calls))
        done = self.replay(json.dumps({**rows, "gpu": {"name": ""}}))
        self.assertEqual(done.returncode, 0, done.stderr)
        by_name = {row["key"].split("|")[0]: row for row in self.entries().values()}
        proven, failed = set(), {}
        for number, call in enumerate(calls):
            row = by_name[f"kernel_{number}"]
            if row["status"] != "ok":
                failed[call["op"]] = row["status"] + ": " + row.get("reason", "")
                continue
            self.check_call(call, row)
            self.assertEqual(row["ranges"], 3)
            self.assertGreater(row["host"]["min_ns"], 0)
            proven.add(call["op"])
        self.assertGreaterEqual(len(proven), 100, failed)
        for op in ("aten::addmm", "aten::cat", "aten::native_layer_norm", "aten::embedding", "aten::_softmax",
                   "aten::_to_copy", "aten::convolution", "aten::arange", "aten::sum", "aten::masked_fill_"):
            self.assertTrue(op in proven or any(other.startswith(op) for other in proven), (op, failed.get(op)))
        self.assertEqual(failed.pop("aten::nonzero", "")[:15], "skipped_dynamic")
        self.assertLessEqual(len(failed), 8, failed)

    def test_what_the_profiler_itself_writes_is_rebuilt(self):
        if PYTHON is None:
            self.skipTest("no Python with PyTorch")
        trace = self.top / "profiled.json"
        recorded = subprocess.run([PYTHON, str(HERE / "record_ops.py"), "--profile", trace], capture_output=True, text=True,
                                  check=False)
        if recorded.returncode == SKIP:
            self.skipTest("this PyTorch was built without its profiler")
        self.assertEqual(recorded.returncode, 0, recorded.stderr)
        trace.write_text(json.dumps(with_kernels(json.loads(trace.read_text()))))
        done = self.assay("overhead", trace, "--export-kernel-db", self.top / "ops.json", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["import_log"], [])
        rows = json.loads((self.top / "ops.json").read_text())
        done = self.replay(json.dumps({**rows, "gpu": {"name": ""}}))
        self.assertEqual(done.returncode, 0, done.stderr)
        entries = self.entries().values()
        self.assertEqual([row["reason"] for row in entries if row["status"] not in ("ok", "skipped_dynamic")], [])
        self.assertGreaterEqual(len({row["call"].split("(")[0] for row in entries if row["status"] == "ok"}), 70)

    def test_hostile_entries_fail_alone(self):
        huge = 1 << 62
        rows = self.replayed([
            entry("huge", "aten::relu", [("float", [huge], [1], "")]),
            entry("product", "aten::relu", [("float", [1 << 40, 1 << 40], [1 << 40, 1], "")]),
            entry("stride", "aten::relu", [("float", [2, 2], [huge, huge], "")]),
            entry("negative", "aten::relu", [("float", [-1], [1], "")]),
            entry("backwards", "aten::relu", [("float", [4], [-1], "")]),
            entry("deep", "aten::relu", [("float", [1] * 1000, [1] * 1000, "")]),
            entry("lines\nentry\t0\taten::add", "aten::relu\nentry\t1\taten::add\t1\tfloat\t-1", [F32]),
            entry("value", "aten::add", [F32, F32, ("Scalar", [], [], "1\t\n%0A")]),
            entry("type", "aten::relu", [("float\tx", [4], [1], "")]),
            entry("empty", "aten::relu", [("float", [0, 5], [5, 1], "")]),
            entry("shared", "aten::relu", [("float", [1000, 1000], [0, 0], "")]),
            add("good")])
        status = {key: row["status"] for key, row in rows.items()}
        for key in ("huge", "product", "stride", "negative", "backwards", "deep", "value", "type"):
            self.assertEqual(status[key], "failed", key)
        self.assertIn("memory", rows["huge"]["reason"])
        self.assertEqual(status["lines\nentry\t0\taten::add"], "op_missing")
        for key in ("empty", "shared", "good"):
            self.assertEqual(status[key], "ok", rows[key])

    def test_without_a_gpu_only_calls_are_timed_and_that_is_said(self):
        done = self.replay(database([add("a")]))
        self.assertEqual(done.returncode, 0, done.stderr)
        file = json.loads(self.out.read_text())
        self.assertEqual((file["tracer"], file["gpu"]["name"], file["warmups"], file["runs"]), ("host", "cpu", 1, 3))
        self.assertEqual(file["entries"][0]["candidates"], [])
        self.assertEqual(file["entries"][0]["host"]["n"], 3)
        self.assertIn("On a CPU only the calls are timed", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_what_was_not_recorded_is_assumed_and_told_or_fails(self):
        rows = self.replayed([
            entry("tensors", "aten::relu"),
            entry("gelu", "aten::gelu", [F32, ("", [], [], "")]),
            entry("number", "aten::add", [F32, ("double", [], [], ""), ONE]),
            entry("values", "aten::sum", [F32, ("ScalarList", [], [], ""), ("Scalar", [], [], ""), ("", [], [], "")]),
            entry("list", "aten::cat", [("TensorList", [[4, 6], [2, 6]], [[6, 1], [6, 1]], ""), ("Scalar", [], [], "0")]),
            entry("permute", "aten::permute", [F32, ("ScalarList", [], [], "")]),
            entry("index", "aten::index", [F32, ("", [], [], "")])])
        self.assertIn("Float[128|1]", rows["tensors"]["call"], "one element per thread of the launch")
        self.assertIn("strings are not recorded", rows["gelu"]["assumed"][0])
        self.assertIn("a number of Python's", rows["number"]["assumed"][0])
        self.assertEqual(rows["values"]["status"], "failed")
        self.assertIn("element type of tensor lists", rows["list"]["assumed"][0])
        self.assertEqual((rows["permute"]["status"], rows["index"]["status"]), ("failed", "ok"))
        self.assertIn("input 2", rows["permute"]["reason"])

    def test_a_tensor_of_a_type_that_this_pytorch_lacks_is_refused_by_name(self):
        types = {"c10::complex<c10::Half>": "ComplexHalf", "short unsigned int": "UInt16", "unsigned int": "UInt32",
                 "c10::Float8_e5m2": "Float8_e5m2", "c10::Float8_e4m3fnuz": "Float8_e4m3fnuz",
                 "c10::Float8_e8m0fnu": "Float8_e8m0fnu", "c10::Float4_e2m1fn_x2": "Float4_e2m1fn_x2", "c10::FloatNew": "-"}
        rows = self.replayed([entry(name, "aten::clone", [(name, [3, 2], [2, 1], ""), ("", [], [], "")]) for name in types])
        made = [name for name, row in rows.items() if row["status"] == "ok"]
        for name in made:
            self.assertIn(f"({types[name]}[3,2|2,1], ", rows[name]["call"])
        self.assertIn("c10::complex<c10::Half>", made)
        for name in set(types) - set(made):
            self.assertEqual(rows[name]["status"], "failed")
            self.assertIn(f"input 1: a tensor of '{name}' cannot be made here", rows[name]["reason"])
        self.assertNotIn("c10::FloatNew", made)
        # An optional tensor would be None without a word.
        rows = self.replayed([entry("clamp", "aten::clamp", [F32, ("c10::FloatNew", [], [], ""), F32])])
        self.assertEqual(rows["clamp"]["status"], "failed")
        self.assertIn("input 2: a tensor of 'c10::FloatNew'", rows["clamp"]["reason"])

    def test_lists_of_places_are_made_from_the_values_or_the_launch(self):
        none = ("", [], [], "")
        table = ("float", [10, 8], [8, 1], "")
        half = ("c10::BFloat16", [15360, 4096], [4096, 1], "")
        put = [("float", [6, 20], [20, 1], ""), none, ("float", [68], [1], ""), ("Scalar", [], [], "False")]
        rows = self.replayed([
            # 4 blocks of 32 threads with four elements each: 512 = 64 rows of 8.
            entry("rows", "aten::index", [table, none]),
            # 512 are no rows of 6: single elements, found by two places each.
            entry("elements", "aten::index", [F32, none]),
            # 15 x 2 blocks of 256 threads with 16 bytes each, as sglang's trace on an MI300 has it.
            entry("gather", "aten::index", [half, none], grid=[30, 1, 1], block=[256, 1, 1]),
            entry("put elements", "aten::index_put_", put),
            entry("put rows", "aten::_index_put_impl_", [table, none, ("float", [5, 3, 8], [24, 8, 1], "")]),
            entry("nothing", "aten::index", [table, none], grid=[0, 1, 1])])
        self.assertIn("(Float[10,8|8,1], [Long[64|1];])", rows["rows"]["call"])
        self.assertIn("1 tensor(s) of places, of shape [64]", rows["rows"]["assumed"][0])
        self.assertIn("(Float[4,6|6,1], [Long[512|1];Long[512|1];])", rows["elements"]["call"])
        self.assertIn("[Long[15|1];]", rows["gather"]["call"])
        self.assertIn("[Long[68|1];Long[68|1];]", rows["put elements"]["call"])
        self.assertIn("[Long[5,3|3,1];]", rows["put rows"]["call"])
        for key in ("rows", "elements", "gather", "put elements", "put rows"):
            self.assertEqual(rows[key]["status"], "ok", rows[key])
        self.assertEqual(rows["nothing"]["status"], "failed")

    def test_what_older_profilers_leave_out_is_taken_from_what_they_have(self):
        none, number = ("", [], [], ""), ("Scalar", [], [], "")
        vector = ("float", [6], [1], "")
        no_types = entry("no types", "aten::mm", [("", [4, 6], [], ""), ("", [6, 2], [], "")])
        no_types["input_types"] = []
        rows = self.replayed([
            no_types, entry("mask", "aten::native_layer_norm_backward", [F32, F32, none, ("float", [4, 1], [1, 1], ""),
                                                                        ("float", [4, 1], [1, 1], ""), vector, vector, none]),
            entry("launch", "aten::clamp_min"), entry("norm", "aten::native_layer_norm", [F32, none, vector, vector, number]),
            entry("norm without weight", "aten::native_layer_norm", [F32, none, none, none, number]),
            entry("stack", "aten::eq", [number, number, ("int", [4], [1], ""), number]),
            entry("untyped", "aten::mm", [("", [4, 6], [], ""), ("", [6, 2], [], "")]),
            entry("fill", "aten::fill_", [F32, number]), entry("clamp", "aten::clamp_min", [F32, number]),
            entry("power", "aten::pow", [F32, number]), entry("dim", "aten::cumsum", [F32, number, none]),
            entry("no names", "aten::sum", [F32, ("ScalarList", [], [], "[]"), ("Scalar", [], [], "False"), none])])
        self.assertIn("native_layer_norm(Float[4,6|6,1], [6], Float[6|1]", rows["norm"]["call"])
        self.assertIn("eq.Scalar(Int[4|1], 1)", rows["stack"]["call"])
        self.assertIn("the first 2 recorded inputs belong to another call", rows["stack"]["assumed"])
        for key in ("untyped", "no types"):
            self.assertIn("mm(Float[4,6|6,1], Float[6,2|2,1])", rows[key]["call"])
        self.assertIn("clamp_min.Tensor(Float[128|1], Float[128|1])", rows["launch"]["call"])
        self.assertIn("input 2 (value): the value was not recorded: 1", rows["fill"]["assumed"])
        self.assertIn("sum.dim_IntList", rows["no names"]["call"])
        # What changes the work is not guessed.
        self.assertEqual({key for key, row in rows.items() if row["status"] != "ok"},
                         {"norm without weight", "power", "dim"}, rows)

    def test_operators_that_are_not_here_or_depend_on_values_are_told_apart(self):
        rows = self.replayed([entry("a", "aten::of_next_year", [F32]), entry("b", "triton_poi_fused_add_0"),
                              entry("c", "aten::nonzero", [F32]), entry("d", "aten::index_add_", [F32]),
                              entry("e", "aten::_unique2", [F32]), entry("f", ""), add("g")])
        self.assertEqual([rows[key]["status"] for key in "abcdefg"],
                         ["op_missing", "op_missing", "skipped_dynamic", "skipped_dynamic", "skipped_dynamic",
                          "failed", "ok"])
        self.assertIn("aten::of_next_year", rows["a"]["reason"])

    def test_operators_of_other_libraries_run_where_the_library_is_named(self):
        if OPERATORS is None:
            self.skipTest("no library with operators")
        rows = [add("a"), entry("b", "assay_test::twice", [F32])]
        found = self.replayed(rows)
        self.assertEqual((found["a"]["status"], found["b"]["status"]), ("ok", "op_missing"))
        # The same output is gone on with: what was missing is tried again.
        after = self.replayed(rows, "--library", OPERATORS)
        self.assertEqual(after["a"], found["a"])
        self.assertEqual((after["b"]["status"], after["b"]["call"]), ("ok", "assay_test::twice(Float[4,6|6,1])"))
        none = self.top / "none.so"
        none.write_text("no library")
        done = self.replay(database(rows), "--library", none, "--no-resume", "--no-cache")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--library", done.stderr)

    def test_an_operator_that_refuses_its_inputs_fails_alone(self):
        rows = self.replayed([entry("a", "aten::mm", [F32, F32]), add("b")])
        self.assertEqual(rows["a"]["status"], "failed")
        self.assertIn("raised an error", rows["a"]["reason"])
        self.assertEqual(rows["b"]["status"], "ok")


class CallsThroughPython(Calls):
    """The same by replay.py, which has the rules once more, in Python: call by call the two are one."""

    def setUp(self):
        super().setUp()
        if PYTHON is None:
            self.skipTest("no Python with PyTorch")

    def who(self):
        return through_python()

    def replayed(self, rows, *flags, **more):
        """Both ways; what Python said."""
        more.pop("program", None)
        made = {}
        for name, who in (("C++", ["--program", PROGRAM]), ("Python", through_python())):
            self.out = self.top / f"{name}.json"
            done = self.assay("replay", self.database_of(rows), "-o", self.out, "--warmups", 1, "--runs", 3, "--no-cache",
                              *who, *flags)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"replayed through {name}", done.stderr)
            made[name] = self.entries()
        for key, row in made["Python"].items():
            for field in ("status", "call", "assumed"):
                self.assertEqual(row.get(field), made["C++"][key].get(field), (key, field))
            refused = row["status"] == "failed" and "raised an error" not in row["reason"]
            if refused:
                self.assertEqual(row["reason"], made["C++"][key]["reason"])
        return made["Python"]

    def test_python_takes_no_less_time_than_cpp_and_the_two_are_never_mixed(self):
        rows = [entry(f"k{n}", "aten::add", [("float", [4, n], [n, 1], "")] * 2 + [ONE]) for n in range(1, 13)]
        files = {}
        for name, who in (("cpp", ["--program", PROGRAM]), ("python", through_python())):
            self.out = self.top / f"{name}.json"
            # With the cache: what the one measured is not taken for the other's.
            done = self.assay("replay", self.database_of(rows), "-o", self.out, *who)
            self.assertEqual(done.returncode, 0, done.stderr)
            files[name] = json.loads(self.out.read_text())
            self.assertEqual(files[name]["through"], name)
        ratios = sorted(slow["host"]["p50_ns"] / quick["host"]["p50_ns"] for quick, slow in
                        zip(files["cpp"]["entries"], files["python"]["entries"]))
        # A tensor's addition takes about 1 us through the dispatcher and 2 us through torch.ops.
        self.assertGreater(ratios[len(ratios) // 2], 1.1, ratios)
        done = self.assay("replay", self.database_of(rows), "-o", self.out, "--program", PROGRAM)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--dispatch-through", done.stderr)

    def test_a_python_without_pytorch_is_told_and_nothing_is_to_be_built(self):
        bare = self.executable("bare", "#!/bin/sh\nexec {python} -SE \"$@\"\n")
        done = self.assay("replay", self.database_of([add("a")]), "-o", self.out, "--dispatch-through", "python", "--python", bare)
        self.assertEqual(done.returncode, 2)
        self.assertIn("name a Python that has PyTorch with --python", done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        done = self.assay("replay", "--build", "--dispatch-through", "python")
        self.assertEqual(done.returncode, 2)
        self.assertIn("needs no build", done.stderr)


class ReplayTest(ReplayCase):
    # ---- going on

    def test_a_killed_replay_goes_on_where_it_was(self):
        rows = database([entry(f"k{i}", "aten::add", [("float", [64, 64 + i], [64 + i, 1], "")] * 2 + [ONE])
                         for i in range(12)])
        (self.top / "db.json").write_text(json.dumps(rows))
        command = [ASSAY, "replay", str(self.top / "db.json"), "-o", str(self.out), "--warmups", "1", "--runs", "3",
                   "--program", str(PROGRAM), "--batch", "2", "--no-cache"]
        process = subprocess.Popen(command, env=self.environment, stderr=subprocess.DEVNULL)
        while process.poll() is None and not (self.out.exists() and len(self.entries()) >= 4):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        before = self.entries()
        self.assertGreaterEqual(len(before), 4)
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        after = self.entries()
        self.assertEqual(len(after), 12)
        self.assertEqual({key: after[key] for key in before}, before, "what was measured stays")
        again = subprocess.run(["4" if word == "3" else word for word in command], env=self.environment, capture_output=True, text=True,
                               check=False)
        self.assertEqual(again.returncode, 2)
        self.assertIn("--no-resume", again.stderr)

    def test_what_was_measured_before_comes_from_the_cache(self):
        first = self.replayed([add("a")])["a"]["host"]
        self.out.unlink()
        # The same kernel in another database, under another key.
        other = add("other")
        other["name"] = "a"
        self.assertEqual(self.replayed([other])["other"]["host"], first)
        self.out.unlink()
        self.assertNotEqual(self.replayed([add("a")], "--no-cache")["a"]["host"], first)
        for file in (self.top / "cache").rglob("*.json"):
            file.write_text("damaged")
        self.out.unlink()
        self.assertEqual(self.replayed([add("a")])["a"]["status"], "ok")

    def test_a_full_disk_is_told_and_leaves_the_old_file(self):
        self.replayed([add("a")])
        before = self.out.read_text()

        def small_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1200, 1200))

        rows = [add("a")] + [entry(f"{i:0200d}", "aten::of_next_year", [F32]) for i in range(20)]
        (self.top / "db.json").write_text(json.dumps(database(rows)))
        done = self.assay("replay", self.top / "db.json", "-o", self.out, "--warmups", 1, "--runs", 3, "--program",
                          PROGRAM, preexec_fn=small_files)
        self.assertEqual(done.returncode, 2)
        self.assertIn("cannot write", done.stderr)
        self.assertEqual(self.out.read_text(), before)
        self.assertEqual([path.name for path in self.top.iterdir() if ".tmp" in path.name], [])

    # ---- hostile and broken

    def test_databases_that_are_none_are_refused_with_the_place_named(self):
        for text, words in (("", "not JSON"), ("[]", "not a JSON object"), ("{", "not JSON"),
                            (json.dumps({"kind": "assay-replay"}), "this is a replay file, no kernel database"),
                            (json.dumps({**database([]), "schema_version": 2}), "schema_version 2"),
                            (json.dumps(database([{}])), "entries[0].key"),
                            (json.dumps(database([add("a"), add("a")])), "entries[1].key occurs twice"),
                            (json.dumps(database([entry("a", 7)])), "entries[0].operator"),
                            (json.dumps(database([entry("a", "x", grid=[1, -1, 1])])), "entries[0].grid"),
                            (json.dumps(database([entry("a", "x", [("float", [[[1]]], [], "")])])), "input_dims[0]"),
                            (json.dumps(database([entry("a", "x", [("float", ["1"], [], "")])])), "input_dims[0]"),
                            (json.dumps(database([entry("a", "x", [F32] * 300)])), "too many"),
                            ("[" * 100000, "not JSON")):
            done = self.replay(text)
            self.assertEqual(done.returncode, 2, text[:60])
            self.assertIn(words, done.stderr)
            self.assertFalse(self.out.exists())

    def test_a_program_that_dies_costs_one_entry(self):
        stub = self.executable("stub", STUB_PROGRAM, device="cpu", gpu="")
        rows = self.replayed([entry("a", "aten::x"), entry("b", "aten::crash"), entry("c", "aten::y"),
                              entry("d", "aten::cut"), entry("e", "aten::z")], program=stub)
        self.assertEqual([rows[key]["status"] for key in "abcde"], ["ok", "failed", "ok", "ok", "ok"])
        self.assertIn("ended in it with code 139", rows["b"]["reason"])

    def test_without_the_program_it_is_said_how_to_get_it(self):
        self.environment["PATH"] = "/nonexistent"
        alone = self.top / "alone"
        alone.mkdir()
        (alone / "assay").symlink_to(ASSAY)
        (self.top / "db.json").write_text(json.dumps(database([add("a")])))
        done = self.assay("replay", self.top / "db.json", "-o", self.out, "--program", self.top / "none")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no such program", done.stderr)

    # ---- a pretended GPU

    def test_kernel_times_come_from_the_ranges_of_the_tracer(self):
        stub = self.executable("stub", STUB_PROGRAM, device="cuda", gpu="NVIDIA H200")
        self.executable("nsys", STUB_NSYS)
        self.environment["PATH"] = f"{self.top}:{self.environment['PATH']}"
        rows = [entry("a", "aten::add"), entry("b", "aten::mul")]
        (self.top / "db.json").write_text(json.dumps(database(rows, "NVIDIA H200")))
        done = self.assay("replay", self.top / "db.json", "-o", self.out, "--warmups", 1, "--runs", 3, "--program", stub,
                          "--tracer", "nsys", "--no-cache")
        self.assertEqual(done.returncode, 0, done.stderr)
        file = json.loads(self.out.read_text())
        self.assertEqual((file["tracer"], file["gpu"], file["driver"]),
                         ("nsys", {"name": "NVIDIA H200", "uuid": "GPU-1"}, "13.0"))
        rows = self.entries()
        cast, kernel = rows["a"]["candidates"]
        self.assertEqual((kernel["name"], kernel["grid"], kernel["registers"], kernel["shared_memory_bytes"]),
                         ("void add<float>(float*)", [4, 1, 1], 24, 16))
        # Launched twice in each of three ranges; the first launch is the sample: 20, 21, 22 us.
        self.assertEqual((kernel["count"], kernel["dispatch"]["n"], kernel["dispatch"]["mean_ns"]), (6, 3, 21000))
        self.assertEqual(kernel["dispatch"]["std_ns"], 1000)
        self.assertEqual((kernel["launch"]["mean_ns"], kernel["duration"]["mean_ns"]), (4500, 2000))
        self.assertEqual((cast["dispatch"]["mean_ns"], cast["count"]), (4000, 3))
        self.assertEqual((rows["b"]["status"], rows["b"]["reason"]), ("failed", "the tracer saw none of its ranges"))

    def test_another_gpu_than_the_databases_is_refused(self):
        stub = self.executable("stub", STUB_PROGRAM, device="cuda", gpu="NVIDIA L4")
        (self.top / "db.json").write_text(json.dumps(database([add("a")], "NVIDIA H200")))
        done = self.assay("replay", self.top / "db.json", "-o", self.out, "--program", stub)
        self.assertEqual(done.returncode, 2)
        self.assertIn("NVIDIA H200", done.stderr)
        self.assertIn("NVIDIA L4", done.stderr)


def main():
    global ASSAY, PROGRAM, PYTHON, OPERATORS
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--operators", help="a library with the operator assay_test::twice")
    args, rest = parser.parse_known_args()
    ASSAY, PROGRAM = os.path.abspath(args.assay), os.path.abspath(args.program)
    if not os.access(PROGRAM, os.X_OK):
        print("assay-replay was not built: no libtorch", file=sys.stderr)
        sys.exit(SKIP)
    PYTHON, OPERATORS = python_with_torch(), args.operators and os.path.abspath(args.operators)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
