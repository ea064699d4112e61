#!/usr/bin/env python3
"""`assay record --torch` on a real PyTorch and a GPU that does not exist: the operators that the observer sees, with
shapes, types and sequence numbers, against those that PyTorch's own profiler sees of the same steps; kernels belong
to the operators that launched them. Exit code 77 without a Python that has PyTorch."""

import argparse
import collections
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROGRAM = HERE / "operators_program.py"
STEPS = 3
OPERATOR = 21
sys.path[:0] = [str(ROOT / "tests/golden"), str(ROOT / "tests/support")]
import sanitizers  # noqa: E402
from check_record import STRING, records  # noqa: E402
from torch_python import python_with_torch  # noqa: E402

problems = []


def check(holds, message):
    if not holds:
        problems.append(message)


class Bench:
    def __init__(self, assay, fakes, folder, python):
        self.assay, self.fakes, self.folder, self.python = assay, fakes, folder, python
        self.sanitizer = sanitizers.loaded_first(assay)
        self.env = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "FAKE_LAUNCH_NOW": "1"}
        for name in ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "ASSAY_TORCH_OPERATORS"):
            self.env.pop(name, None)

    def run(self, *words, **more):
        return subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, timeout=600,
                              env={**self.env, **more})

    def record(self, name, *flags, command=None, **more):
        return self.run(self.assay, "record", "-o", self.folder / name, "--cupti", self.fakes / "libcuda.so.1", *flags,
                        "--", *(command or [self.python, PROGRAM]), **{"LD_LIBRARY_PATH": self.fakes, **self.sanitizer, **more})

    def answer(self, *words):
        done = self.run(self.assay, *words, "--format", "json")
        check(done.returncode == 0, f"{words}: {done.stderr}")
        return json.loads(done.stdout) if done.returncode == 0 else {}


def operators_in(path):
    """The operators and ranges of a recording, by thread and start, as its format says (docs/formats/assaytrace.md)."""
    texts, found = {0: ""}, []
    for kind, record in records(path):
        if kind == STRING:
            key, length = struct.unpack_from("<II", record, 4)
            texts[key] = record[16:16 + length].decode()
        elif kind == OPERATOR:
            thread, start, end, sequence, forward, *words, flags = struct.unpack_from("<IQQqQ6I", record, 4)
            found.append((thread, start, end, sequence, forward, *words, flags))
    found.sort(key=lambda row: (row[1], -row[2]))
    keys = ("thread", "start", "end", "sequence", "forward", "name", "dims", "types", "strides", "concrete")
    return [dict(zip(keys, [*row[:5], *(texts[word] for word in row[5:10])]), range=row[10] == 1) for row in found]


def shapes_of(dims):
    """As PyTorch's profiler keeps them: an empty list for what is no tensor."""
    return [[] if shape and isinstance(shape[0], list) else shape for shape in json.loads(dims or "[]")]


def by_thread(rows):
    """The rows of each thread, in the order in which the threads begin."""
    threads = {}
    for row in rows:
        threads.setdefault(row["thread"], []).append(row)
    return list(threads.values())


def compared(rows):
    """(name, shapes, sequence number from the first one on, of the backward pass) of each row."""
    first = min((row["sequence"] for row in rows if row["sequence"] >= 0), default=0)
    told = []
    for row in rows:
        shapes = shapes_of(row["dims"]) if "dims" in row else row["shapes"]
        # That of the node inside, which the profiler gives to what is around it, too.
        sequence = -1 if row["name"].startswith("autograd::engine::evaluate_function") else row["sequence"]
        backward = row["backward"] if "backward" in row else row["forward"] != 0
        told.append((row["name"], [] if row.get("range") else shapes or [],
                     sequence - first if sequence >= 0 else None, backward and sequence >= 0))
    return told


def check_against_the_profiler(bench):
    done = bench.record("ops.assaytrace", "--torch")
    check(done.returncode == 0, f"record --torch: {done.stderr}")
    own = bench.run(bench.python, PROGRAM, bench.folder / "profiler.json")
    check(own.returncode == 0, f"PyTorch's profiler: {own.stderr}")
    seen, truth = operators_in(bench.folder / "ops.assaytrace"), json.loads((bench.folder / "profiler.json").read_text())
    truth.sort(key=lambda row: (row["start"], -row["end"]))
    # What its own setting up does comes before the first step.
    truth = truth[next(i for i, row in enumerate(truth) if row["name"] == "my step"):]
    check(len(truth) > 40 * STEPS, f"the profiler sees {len(truth)} operators")
    seen = seen[next(i for i, row in enumerate(seen) if row["name"] == "my step"):]
    check(any(row["backward"] for row in truth), "the profiler has no backward pass to compare")
    check(len(by_thread(seen)) == len(by_thread(truth)), "threads that have operators")
    for which, (one, other) in enumerate(zip(by_thread(seen), by_thread(truth))):
        told, known = compared(one), compared(other)
        check(any(row[2] is not None for row in known), f"thread {which} has no sequence numbers to compare")
        check(len(told) == len(known), f"thread {which}: {len(told)} operators seen, the profiler sees {len(known)}")
        # Not row by row: the profiler's times are whole microseconds, and rows that begin in one have no order.
        more, fewer = (collections.Counter(map(repr, a)) - collections.Counter(map(repr, b)) for a, b in ((told, known), (known, told)))
        check(not more and not fewer, f"thread {which}: seen alone {dict(more)}, by the profiler alone {dict(fewer)}")


def check_kernels_of_operators(bench):
    done = bench.record("run.assaytrace", "--torch")
    check(" operators; 0 lost" in done.stderr, f"said: {done.stderr}")
    tables = bench.answer("overhead", bench.folder / "run.assaytrace")["host_overhead"]
    check(tables["n"] == 4 * STEPS, f"{tables['n']} kernels")
    of = {(row["op"], row["db_key"].rpartition("|")[2]) for row in tables["kernels"]}
    check(of == {("fake::launch", "[[4,16],[],[]]")}, f"kernels are of {of}")


def check_amd(bench):
    """The same steps beside HIP: what is seen of them, and whose the kernels are."""
    build = bench.fakes.parent
    rocm = {"LD_LIBRARY_PATH": f"{build / 'fake_hip'}:{build / 'fake_rocprofiler'}"}
    done = bench.run(bench.assay, "record", "-o", bench.folder / "hip.assaytrace", "--torch", "--gpu", "amd", "--",
                     bench.python, PROGRAM, "hip", **rocm, **bench.sanitizer)
    check(" operators; 0 lost" in done.stderr, f"beside HIP: {done.stderr}")
    bench.record("cuda.assaytrace", "--torch")
    seen = {name: collections.Counter((row["name"], row["dims"]) for row in operators_in(bench.folder / name)
                                      if row["thread"] == operators_in(bench.folder / name)[-1]["thread"])
            for name in ("hip.assaytrace", "cuda.assaytrace")}
    check(seen["hip.assaytrace"] == seen["cuda.assaytrace"], f"operators beside HIP: {seen}")
    tables = bench.answer("overhead", bench.folder / "hip.assaytrace")["host_overhead"]
    of = {(row["op"], row["db_key"].rpartition("|")[2]) for row in tables["kernels"]}
    check(tables["n"] == 4 * STEPS and of == {("fake::launch", "[[4,16],[],[]]")}, f"kernels beside HIP: {of}")
    done = bench.run(bench.assay, "record", "-o", bench.folder / "no.assaytrace", "--torch", "--gpu", "amd", "--",
                     build / "fake_hip" / "assay_traced_hip_program", "launch", 3, **rocm)
    check("PyTorch was not loaded in this process" in done.stderr, f"no PyTorch beside HIP: {done.stderr}")


def check_captured_graph(bench):
    """Kernels of a graph belong to the operators that were captured: two of three are of another one."""
    bench.record("graph.assaytrace", "--torch", command=[bench.python, PROGRAM, "graph"])
    rows = bench.answer("breakdown", bench.folder / "graph.assaytrace")["breakdown"]["rows"]
    kernels = collections.Counter()
    for row in rows:
        kernels[row["op"]] += row["kernels"]
    check(kernels == {"fake::launch": 4 * STEPS + 5, "fake::other": 2 * 5}, f"kernels by operator: {dict(kernels)}")


def check_modules(bench):
    bench.record("plain.assaytrace", "--torch")
    bench.record("modules.assaytrace", "--torch-modules")
    names = {name: [row["name"] for row in operators_in(bench.folder / name) if row["range"]]
             for name in ("plain.assaytrace", "modules.assaytrace")}
    check(names["plain.assaytrace"] == ["my step"] * STEPS, f"ranges without hooks: {names['plain.assaytrace'][:5]}")
    # Two Sequentials are called twice a step; the one whose module raises is closed by the next that ends.
    twice = {"Sequential_1", "Launch_0", "Launch_1"}
    once = {"Sequential_0", "Conv1d_0", "ReLU_0", "Flatten_0", "Linear_0", "LayerNorm_0"}
    for name in twice | once:
        count = names["modules.assaytrace"].count(f"nn.Module: {name}")
        check(count == STEPS * (2 if name in twice else 1), f"{name} was called {count} times")
    rows = bench.answer("info", bench.folder / "modules.assaytrace")["tables"]
    check(rows["frames"] >= STEPS * (len(once) + 2 * len(twice)) and rows["annotations"] == STEPS, f"rows: {rows}")


def check_what_is_missing(bench):
    empty = {"XDG_CACHE_HOME": str(bench.folder / "empty")}
    done = bench.record("none.assaytrace", "--torch", **empty)
    check(done.returncode == 2 and "--build-torch" in done.stderr, f"without an observer: {done.returncode} {done.stderr}")
    broken = bench.folder / "broken.so"
    broken.write_bytes(b"no library")
    done = bench.record("broken.assaytrace", "--torch", ASSAY_TORCH_OPERATORS=str(broken))
    check(done.returncode == 0 and "PyTorch's operators are not recorded: " in done.stderr and "12 kernels" in done.stderr,
          f"with a broken observer: {done.stderr}")
    done = bench.record("other.assaytrace", "--torch", command=[bench.fakes / "assay_traced_program", "launch", 3])
    check("PyTorch was not loaded in this process" in done.stderr and "3 kernels" in done.stderr, f"no PyTorch: {done.stderr}")
    done = bench.run(bench.assay, "record", "--torch")
    check(done.returncode == 2 and "command is required" in done.stderr, f"no command: {done.returncode} {done.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    parser.add_argument("--fakes", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    python = python_with_torch()
    if python is None:
        print("skipped: no Python here has PyTorch (tools/install_deps.sh test)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments.assay, arguments.fakes.resolve(), pathlib.Path(folder), python)
        built = bench.run(bench.assay, "record", "--build-torch", "--python", python)
        check(built.returncode == 0, f"--build-torch: {built.stdout}{built.stderr}")
        if built.returncode == 0:
            for part in (check_against_the_profiler, check_kernels_of_operators, check_amd, check_captured_graph, check_modules, check_what_is_missing):
                part(bench)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
