#!/usr/bin/env python3
"""`assay record` on simulated AMD GPUs. Every number follows from the head comment of tests/fakes/fake_rocprofiler.cc,
in its two versions; the parser of check_record.py reads the file."""

import argparse
import collections
import json
import os
import pathlib
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import check_record
import sanitizers
from check_record import (CALL, CLOCK, COPY, DEVICE, FOOTER, KERNEL, LOST, NOTE, PROCESS, RANGE, STRING, TIMEOUT_S,
                          WINDOW, check, of_kind, records)

MARK, OVERHEAD, INSIDE, THREAD = 9, 11, 22, 19
NO_STREAM = 0xFFFFFFFF
FILL = "__amd_rocclr_fillBufferAligned"
NAMES = ["_Z9saxpy_oneIfEvPKT_PS0_i", "_Z9saxpy_twoIfEvPKT_PS0_i", "_Z11saxpy_threeIfEvPKT_PS0_i"]
Kernel = collections.namedtuple("Kernel", "correlation start end device context stream name grid block registers static "
                                          "dynamic graph node")
Call = collections.namedtuple("Call", "correlation start end thread name domain function result")
Copy = collections.namedtuple("Copy", "correlation start end bytes device context stream direction source target "
                                      "asynchronous graph peer node")


class Recording:
    """A file and its records by kind."""

    def __init__(self, path, whole=True):
        self.found = records(path, whole)
        self.texts = {}
        for record in of_kind(self.found, STRING):
            key, length = struct.unpack_from("<II", record, 4)
            self.texts[key] = record[16:16 + length].decode()
        self.kernels = [self.kernel(record) for record in of_kind(self.found, KERNEL)]
        self.calls = [self.call(record) for record in of_kind(self.found, CALL)]
        self.copies = [Copy(*struct.unpack_from("<IQQQIII4BIIQ", record, 4)) for record in of_kind(self.found, COPY)]
        self.ranges = [struct.unpack_from("<IQQIII", record, 4) for record in of_kind(self.found, RANGE)]

    def kernel(self, record):
        c = struct.unpack_from("<IQQIIII6I4IQ", record, 4)
        return Kernel(*c[:6], self.texts.get(c[6], ""), c[7:10], c[10:13], *c[13:])

    def call(self, record):
        c = struct.unpack_from("<IQQIIHHi", record, 4)
        return Call(*c[:4], self.texts.get(c[4], ""), *c[5:])

    def lost(self):
        return {reason: count for reason, count in (struct.unpack_from("<IQ", r, 4) for r in of_kind(self.found, LOST))}

    def notes(self):
        return [(code, self.texts.get(text, "")) for code, _, _, text in
                (struct.unpack_from("<IQqI", record, 4) for record in of_kind(self.found, NOTE))]

    def starts_after_call(self):
        calls = {call.correlation: call.start for call in self.calls}
        return [kernel.start - calls[kernel.correlation] for kernel in self.kernels]


class Bench(check_record.Analyses):
    def __init__(self, assay, build, folder, sdk):
        self.assay, self.build, self.folder, self.sdk = assay, build, folder, sdk
        self.old = sdk.endswith("_0")
        self.program = build / "fake_hip" / "assay_traced_hip_program"
        self.env = dict(os.environ, TMPDIR=str(folder), LD_LIBRARY_PATH=self.libraries(sdk),
                        ASAN_OPTIONS="detect_leaks=0:" + os.environ.get("ASAN_OPTIONS", ""))
        for name in ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "ROCP_TOOL_LIBRARIES", "FAKE_ROCPROFILER",
                     "ROCPROFILER_REGISTER_FORCE_LOAD", "ROCPROFILER_REGISTER_LIBRARY", "ROCM_PATH"):
            self.env.pop(name, None)

        # The recorder and its libraries built with ThreadSanitizer, assay without: assay then cannot load them to
        # detect them.
        self.foreign = sanitizers.built_with(build / "libassay_record_amd.so") != sanitizers.built_with(assay)
        self.flags = ("--gpu", "amd") if self.foreign else ()
        if self.foreign:
            self.env["ROCPROFILER_REGISTER_LIBRARY"] = "librocprofiler-sdk.so.1"
            self.env["TSAN_OPTIONS"] = f"die_after_fork=0:log_path={folder}/races"

    def libraries(self, sdk):
        return ":".join(str(self.build / name) for name in ("fake_hip", sdk, "fake_gpu") if name)

    def command(self, name, *words, flags=()):
        return [self.assay, "record", "-o", str(self.folder / name), "--cupti",
                str(self.build / "fake_gpu" / "libcuda.so.1"), *self.flags, *flags, "--", str(self.program), *map(str, words)]

    def record(self, name, *words, flags=(), faults="", more=None, **options):
        env = dict(self.env, **(more or {}), **({"FAKE_ROCPROFILER": faults} if faults else {}))
        return subprocess.run(self.command(name, *words, flags=flags), capture_output=True, text=True, check=False,
                              timeout=TIMEOUT_S, env=env, **options)

    def read(self, name):
        return Recording(self.folder / name)


def check_round_trip(bench):
    done = bench.record("trip.assaytrace", "launch", 5, "graph", 2, "copy", "h-0-1024", "sync", "exit", 3)
    check(done.returncode == 3, f"the program's exit code 3 became {done.returncode}")
    check("11 kernels, 1 copy, 9 calls; 0 lost" in done.stderr, f"said: {done.stderr}")
    file = bench.read("trip.assaytrace")
    check(file.starts_after_call() == [7000] * 5 + [7000, 12000, 17000] * 2, f"t_l: {file.starts_after_call()}")
    check([call.start - file.calls[0].start for call in file.calls] == [20000 * i for i in range(9)], "starts of calls")
    check({call.end - call.start for call in file.calls} == {3000}, "lengths of calls")
    check([call.correlation for call in file.calls] == list(range(1, 10)), "correlation ids")
    check([call.name for call in file.calls] == ["hipLaunchKernel"] * 5 + ["hipGraphLaunch"] * 2 +
          ["hipMemcpyAsync", "hipDeviceSynchronize"], "names of calls")
    check({call.domain for call in file.calls} == {0} and len({call.thread for call in file.calls}) == 1, "calls")
    check([kernel.name for kernel in file.kernels] == [NAMES[0]] * 5 + NAMES * 2, "names of kernels")
    for kernel in file.kernels:
        check(kernel.end - kernel.start == 4000 and kernel.grid == (2, 1, 1) and kernel.block == (64, 1, 1) and
              (kernel.registers, kernel.static, kernel.dynamic) == (24, 384, 128) and
              (kernel.device, kernel.stream) == (0, 0), f"a kernel: {kernel}")
    check(len(file.copies) == 1 and file.copies[0].bytes == 1024 and file.copies[0].direction == 1 and
          file.copies[0].start - file.calls[7].start == 7000 and file.copies[0].correlation == 8, f"{file.copies}")
    processes = of_kind(file.found, PROCESS)
    version, tracer = struct.unpack_from("<I", processes[-1], 24)[0], struct.unpack_from("<I", processes[-1], 36)[0]
    check((version, tracer) == (600 if bench.old else 10100, 1), f"told: version {version}, tracer {tracer}")
    check(len(of_kind(file.found, FOOTER)) == 1 and not file.notes() and not file.lost(), f"{file.notes()}")
    launch = bench.analyse("launch", "trip.assaytrace").get("launch", {}).get("whole", {})
    for key, value in (("kernels", 11), ("linked", 11), ("launches", 7), ("tklqt_ns", 49000), ("akd_ns", 4000),
                       ("kernel_sum_ns", 44000), ("graph_kernels", 6), ("launch_queue_p95_ns", 7000)):
        check(launch.get(key) == value, f"launch: {key} is {launch.get(key)}, not {value}")
    overhead = bench.analyse("overhead", "trip.assaytrace", "--mode", "paper", "--floor", "7000").get("host_overhead", {})
    for key, value in (("n", 11), ("n_launch", 7), ("kt_ns", 49000), ("t_device_ns", 44000)):
        check(overhead.get(key) == value, f"overhead: {key} is {overhead.get(key)}, not {value}")
    report = bench.analyse("report", "trip.assaytrace").get("launch", {}).get("whole", {})
    check(report.get("tklqt_ns") == 49000, f"report: {report.get('tklqt_ns')}")
    check(bench.codes("trip.assaytrace") == {}, f"import log: {bench.codes('trip.assaytrace')}")
    told = bench.analyse("info", "trip.assaytrace").get("inputs", [{}])[0]
    check(told.get("device") == "Fake MI300X", f"device: {told}")


def check_lanes(bench):
    """Streams if the library reports them, else queues; GPUs are numbered without the CPUs."""
    words = ("stream", 3, "launch", 2, "device", 1, "stream", 6, "launch", 1, "stream", 7, "launch", 1, "copy", "1-h-64",
             "copy", "0-1-128", "copy", "h-h-5", "copy", "1-1-7")
    bench.record("lanes.assaytrace", *words, flags=("--all-api-calls",))
    file = bench.read("lanes.assaytrace")
    lanes = [(kernel.device, kernel.stream) for kernel in file.kernels]
    check(lanes == ([(0, 0), (0, 0), (1, 0), (1, 1)] if bench.old else [(0, 3), (0, 3), (1, 6), (1, 7)]), f"lanes {lanes}")
    copies = [(c.bytes, c.direction, c.device, c.peer, c.source, c.target) for c in file.copies]
    check(copies == [(64, 2, 1, NO_STREAM, 3, 0), (128, 10, 0, 1, 3, 3), (5, 9, 0, NO_STREAM, 0, 0),
                     (7, 8, 1, NO_STREAM, 3, 3)], f"copies {copies}")
    check({c.stream for c in file.copies} == {NO_STREAM if bench.old else 7}, f"copies' lanes {file.copies}")
    devices = [(struct.unpack_from("<I", r, 4)[0], struct.unpack_from("<QIIIIII", r, 8)) for r in
               of_kind(file.found, DEVICE)]
    names = [file.texts[rest[1]] for _, rest in devices]
    check([number for number, _ in devices] == [0, 1] and names == ["Fake MI300X", "Fake MI300X second"], f"{devices}")
    check(all(rest[0] == 192 << 30 and rest[2:] == (304, 64, 9, 4, 2100000) for _, rest in devices), f"{devices}")
    # An inner HSA call makes the copies; the reader skips it if the library reports the nesting.
    hsa = [call for call in file.calls if call.domain == 2]
    check([call.name for call in hsa] == ["hsa_amd_memory_async_copy_on_engine"] * 4, f"HSA: {hsa}")
    check(len(of_kind(file.found, INSIDE)) == (0 if bench.old else 4), "calls inside calls")
    links = bench.analyse("info", "lanes.assaytrace").get("links", {})
    check(links.get("copies_linked") == (0 if bench.old else 4) and links.get("kernels_linked") == 4, f"links: {links}")


def check_quiet_calls(bench):
    for name, flags, expected in (("quiet", (), {"hipLaunchKernel": 6, "hipEventRecord": 6}),
                                  ("loud", ("--all-api-calls",), {"hipLaunchKernel": 6, "hipEventRecord": 6,
                                                              "hipGetDevice": 6})):
        bench.record(f"{name}.assaytrace", "asked", 6, flags=flags)
        file = bench.read(f"{name}.assaytrace")
        names = collections.Counter(call.name for call in file.calls)
        check(names == expected, f"{name}: {names}")
        check(set(file.starts_after_call()) == {7000}, f"{name}: links")


def check_fill_and_scratch(bench):
    bench.record("fill.assaytrace", "fill", 3, "scratch", "launch", 1)
    file = bench.read("fill.assaytrace")
    check([kernel.name for kernel in file.kernels] == [FILL] * 3 + [NAMES[0]] * 2, "HIP's own kernels")
    scratch = [struct.unpack_from("<IQQI", record, 4) for record in of_kind(file.found, OVERHEAD)]
    start = file.calls[3].start
    check([row[:3] for row in scratch] == [(0x80000001, start + 1000, start + 3000)], f"scratch: {scratch}")
    info = bench.analyse("info", "fill.assaytrace")
    kinds = info.get("activity_kinds", {})
    check((kinds.get("memset"), kinds.get("kernel"), info["tables"]["overheads"]) == (3, 2, 1), f"{info}")


def check_ranges(bench):
    """roctx: on CLOCK_MONOTONIC, while the library's clock is off by 5,000 s."""
    before = time.monotonic_ns()
    bench.record("ranges.assaytrace", "name", "worker", "push", "outer", "push", "inner", "launch", 2, "pop", "mark", "m",
                 "pop", "start", "free", "launch", 1, "end", "push", "open")
    after = time.monotonic_ns()
    file = bench.read("ranges.assaytrace")
    names = [(file.texts[row[3]], row[5]) for row in file.ranges]
    check(names == [("inner", 1), ("outer", 1), ("free", 0), ("open", 3)], f"ranges: {names}")
    check(all(before < row[1] <= row[2] < after for row in file.ranges), f"times of ranges: {file.ranges}")
    check(len(of_kind(file.found, MARK)) == 1 and len(of_kind(file.found, THREAD)) == 1, "mark and name")
    clocks = [struct.unpack_from("<IQQQ", record, 4) for record in of_kind(file.found, CLOCK)]
    check(len(clocks) >= 2 and all(abs(c[1] - c[2] - 5 * 10**12) < 10**8 for c in clocks), f"clocks: {clocks}")
    inner = next(row for row in file.ranges if file.texts[row[3]] == "inner")
    calls = [call.start - 5 * 10**12 for call in file.calls[:1]]
    check(all(inner[1] < start < inner[2] for start in calls), "the first launch lies in its range")
    launch = bench.analyse("launch", "ranges.assaytrace")
    check(launch.get("launch", {}).get("whole", {}).get("kernels") == 3, "launch over ranges")
    check(bench.codes("ranges.assaytrace") == {"open_range": 1}, f"{bench.codes('ranges.assaytrace')}")


def check_windows(bench):
    bench.record("window.assaytrace", "launch", 2, "push", "step", "launch", 5, "pop", "launch", 3, "push", "step",
                 "launch", 4, "pop", flags=("--capture-range", "step"))
    file = bench.read("window.assaytrace")
    check(len(file.kernels) == 9 and len(file.calls) == 9, f"inside of two windows: {len(file.kernels)}")
    opened = [struct.unpack_from("<IQI", record, 4)[2] for record in of_kind(file.found, WINDOW)]
    check(opened == [1, 0, 1, 0], f"windows: {opened}")
    gates = [bench.folder / f"signal{i}" for i in range(4)]
    env = dict(bench.env)
    words = ("launch", 2, "ready", gates[0], "await", gates[1], "launch", 5, "ready", gates[2], "await", gates[3],
             "launch", 3)
    process = subprocess.Popen(bench.command("signal.assaytrace", *words, flags=("--start-signal", "USR1")), env=env,
                               stderr=subprocess.PIPE, text=True)

    def windows():
        paths = list(bench.folder.glob("signal.*.assaytrace"))
        return sum(len(of_kind(Recording(path, whole=False).found, WINDOW)) for path in paths)

    def until(condition):
        end = time.monotonic() + 60
        while not condition() and time.monotonic() < end and process.poll() is None:
            time.sleep(0.01)

    until(gates[0].exists)
    process.send_signal(signal.SIGUSR1)
    until(lambda: windows() == 1)
    gates[1].touch()
    until(gates[2].exists)
    process.send_signal(signal.SIGUSR1)
    until(lambda: windows() == 2)
    gates[3].touch()
    process.communicate(timeout=TIMEOUT_S)
    check(len(bench.read("signal.assaytrace").kernels) == 5, "between two signals")


def check_kineto(bench):
    bench.record("json.json", "launch", 5, "graph", 2, "fill", 1, "copy", "h-0-1024", flags=("--format", "kineto"))
    events = json.loads((bench.folder / "json.json").read_text())["traceEvents"]
    counts = collections.Counter(event.get("cat") for event in events)
    check((counts["kernel"], counts["gpu_memset"], counts["gpu_memcpy"]) == (11, 1, 1), f"the Chrome JSON: {counts}")
    launch = bench.analyse("launch", "json.json").get("launch", {}).get("whole", {})
    check((launch.get("tklqt_ns"), launch.get("launches"), launch.get("kernel_sum_ns")) == (49000, 7, 44000),
          f"launch over the Chrome JSON: {launch}")


def check_threads(bench):
    """Four threads with a stream each and late buffers: every launch once, with its own call."""
    bench.record("threads.assaytrace", "init", "threads", 4, "threads", 4, faults="late", flags=("--flush-ms", "50"))
    file = bench.read("threads.assaytrace")
    check(len(file.kernels) == 400 and set(file.starts_after_call()) == {7000}, f"{len(file.kernels)} kernels")
    check(sorted(kernel.correlation for kernel in file.kernels) == list(range(1, 401)), "each correlation once")
    threads = {call.thread for call in file.calls}
    check(len(threads) == 8 and all(sum(c.thread == t for c in file.calls) == 50 for t in threads), f"{threads}")
    lanes = collections.Counter(kernel.stream for kernel in file.kernels)
    check(lanes == ({0: 200, 1: 200} if bench.old else {1: 100, 2: 100, 3: 100, 4: 100}), f"lanes: {lanes}")
    check(not file.lost() and not file.notes(), f"{file.lost()}")
    # Wraps the buffer several times.
    done = bench.record("many.assaytrace", "launch", 20000)
    file = bench.read("many.assaytrace")
    check(len(file.kernels) == 20000 and set(file.starts_after_call()) == {7000}, f"many: {done.stderr}")


def check_drops(bench):
    done = bench.record("drops.assaytrace", "launch", 30, faults="drops")
    file = bench.read("drops.assaytrace")
    check(len(file.kernels) == 20 and file.lost() == {1: 10} and "10 lost" in done.stderr, f"dropped: {done.stderr}")
    check(bench.codes("drops.assaytrace").get("lost_records") == 10, "the loss in the import log")
    # The recorder's memory is full: it drops and counts records itself.
    done = bench.record("memory.assaytrace", "launch", 4000, more={"ASSAY_RECORD_MAX_MEMORY": "65536"})
    file = bench.read("memory.assaytrace")
    kept, lost = len(file.kernels) + len(file.calls), file.lost().get(1, 0)
    check(lost > 0 and kept + lost == 8000, f"memory: kept {kept}, lost {lost} of 8000")


def check_kill(bench):
    gate = bench.folder / "kill.gate"
    process = subprocess.Popen(bench.command("kill.assaytrace", "push", "r", "launch", 5, "pop", "await", gate, "launch", 3,
                                             "kill", flags=("--flush-ms", "50")),
                               env=bench.env, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        paths = list(bench.folder.glob("kill.*.assaytrace"))
        if paths and len(Recording(paths[0], whole=False).kernels) == 5:
            break
        time.sleep(0.01)
    gate.touch()
    said = process.communicate(timeout=TIMEOUT_S)[1]
    check(process.returncode == 128 + signal.SIGKILL and "not closed" in said, f"killed: {process.returncode} {said}")
    file = bench.read("kill.assaytrace")
    check(5 <= len(file.kernels) <= 8 and len(file.ranges) == 1, f"kept: {len(file.kernels)}")
    check(bench.codes("kill.assaytrace") == {"not_closed": 1}, f"{bench.codes('kill.assaytrace')}")


def check_full(bench):
    done = bench.record("full.assaytrace", "launch", 4000, "exit", 4, flags=("--flush-ms", "20"),
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)))
    check(done.returncode == 4 and "cannot write" in done.stderr, f"disk full: {done.returncode} {done.stderr}")
    # All records are in the library's buffer before the first write: each is kept or counted.
    bench.record("limit.assaytrace", "launch", 1500, flags=("--max-bytes", "100000", "--flush-ms", "600000"))
    file = bench.read("limit.assaytrace")
    kept, lost = len(file.kernels) + len(file.calls), file.lost().get(3, 0)
    check((bench.folder / "limit.assaytrace").stat().st_size <= 100_000, "the limit was not kept")
    check(kept > 0 and kept + lost == 3000, f"kept {kept}, lost {lost} of 3000")
    check(bench.codes("limit.assaytrace").get("cut_short") == 1, f"{bench.codes('limit.assaytrace')}")


def check_processes(bench):
    done = bench.record("fork.assaytrace", "launch", 5, "fork", "push", "child", "pop", "exit", 0, "join", "launch", 2)
    check(done.returncode == 0 and "7 kernels" in done.stderr, f"fork while recording: {done.stderr}")
    children = list(bench.folder.glob("fork.*.assaytrace"))
    check(len(bench.read("fork.assaytrace").kernels) == 7, "the parent's file after a fork")
    check(len(children) == 1 and len(Recording(children[0]).ranges) == 1, f"the child's own file: {children}")
    bench.record("early.assaytrace", "fork", "launch", 4, "join", "launch", 2)
    both = sorted(len(Recording(path).kernels) for path in bench.folder.glob("early.*.assaytrace"))
    check(both == [2, 4], f"two processes, two files: {both}")
    bench.record("exec.assaytrace", "launch", 3, "exec", "launch", 2)
    # The end of the first program is unobserved: unflushed data is lost, and its file is reported as not closed.
    first = [Recording(path) for path in bench.folder.glob("exec.*.assaytrace")]
    check(len(bench.read("exec.assaytrace").kernels) == 2 and len(first) == 1 and
          not of_kind(first[0].found, FOOTER), "a program that becomes another")
    done = bench.record("left.assaytrace", "launch", 3, "_exit", 5)
    check(done.returncode == 5 and "not closed" in done.stderr, f"_exit: {done.stderr}")


def check_both_vendors(bench):
    """One process with both vendors: a file of each recorder, with its half of the events."""
    if bench.foreign:
        return
    done = bench.record("both.assaytrace", "launch", 4, "cuda", 6)
    files = [Recording(path) for path in bench.folder.glob("both.*.assaytrace")]
    halves = sorted((struct.unpack_from("<I", of_kind(file.found, PROCESS)[-1], 36)[0], len(file.kernels))
                    for file in files)
    check(done.returncode == 0 and halves == [(0, 6), (1, 4)], f"both vendors: {halves} {done.stderr}")
    bench.record("amd.assaytrace", "launch", 4, "cuda", 6, flags=("--gpu", "amd"))
    check(len(bench.read("amd.assaytrace").kernels) == 4, "--gpu amd")
    done = bench.record("nvidia.assaytrace", "launch", 4, "cuda", 6, flags=("--gpu", "nvidia"))
    file = bench.read("nvidia.assaytrace")
    check(len(file.kernels) == 6 and file.calls[0].name.startswith("cu"), "--gpu nvidia")


def check_missing(bench):
    if bench.foreign:
        return
    done = bench.record("sdk.assaytrace", "launch", 4, "exit", 6, more={"LD_LIBRARY_PATH": bench.libraries("")},
                        flags=("--gpu", "amd"))
    check(done.returncode == 6 and "rocprofiler-sdk is not installed" in done.stderr and "ROCm 6.3" in done.stderr,
          f"no SDK: {done.returncode} {done.stderr}")
    done = bench.record("sdk.assaytrace", "launch", 4, more={"LD_LIBRARY_PATH": bench.libraries("")},
                        flags=("--gpu", "amd"))
    check(done.returncode == 2, f"no SDK, the program ends well: {done.returncode}")
    # Not found by the loader, but in ROCm's folder.
    rocm = bench.folder / "rocm"
    (rocm / "lib").mkdir(parents=True)
    (rocm / "lib" / "librocprofiler-sdk.so.1").symlink_to(bench.build / bench.sdk / "librocprofiler-sdk.so.1")
    done = bench.record("rocm.assaytrace", "launch", 4,
                        more={"LD_LIBRARY_PATH": bench.libraries(""), "ROCM_PATH": str(rocm)})
    check("4 kernels" in done.stderr, f"in ROCm's folder: {done.stderr}")
    done = bench.record("older.assaytrace", "launch", 4, "exit", 6, more={"FAKE_ROCPROFILER_VERSION": "400"})
    check(done.returncode == 6 and "rocprofiler-sdk 0.4.0 is older than 0.5.0" in done.stderr and
          "ROCm 6.3 or later" in done.stderr, f"old SDK: {done.stderr}")
    check([code for code, _ in bench.read("older.assaytrace").notes()] == [15], "the old SDK in the file")
    done = bench.record("refused.assaytrace", "launch", 4, "exit", 6, faults="refused")
    check(done.returncode == 6 and "refuses records of kind KERNEL_DISPATCH" in done.stderr, f"refused: {done.stderr}")
    bench.record("unnamed.assaytrace", "launch", 2, faults="unnamed")
    check({kernel.name for kernel in bench.read("unnamed.assaytrace").kernels} == {"unknown kernel 41"}, "no names")
    done = bench.record("cpu.assaytrace", "exit", 7, flags=("--gpu", "amd"))
    check(done.returncode == 7 and "never loaded HIP" in done.stderr, f"no GPU used: {done.stderr}")
    done = bench.record("lib.assaytrace", "exit", 0, flags=("--gpu", "amd"),
                        more={"ASSAY_RECORD_AMD_LIBRARY": "/nonexistent.so"})
    check(done.returncode == 2 and "cannot read the recorder" in done.stderr, f"no recorder: {done.stderr}")


def check_other_tools(bench):
    """A tool in the environment is loaded after the recorder, and this is reported."""
    if bench.foreign:
        return
    done = bench.record("tools.assaytrace", "launch", 4, more={"ROCP_TOOL_LIBRARIES": "/no/such/tool.so"})
    check("ROCP_TOOL_LIBRARIES names /no/such/tool.so already" in done.stderr and "4 kernels" in done.stderr,
          f"other tools: {done.stderr}")
    words = [bench.assay, "record", "-o", str(bench.folder / "env.assaytrace"), "--", "sh", "-c",
             'echo "$ROCP_TOOL_LIBRARIES $ROCPROFILER_REGISTER_FORCE_LOAD $ROCPROFILER_REGISTER_LIBRARY"']
    for others, expected in (({}, ["", "1", "librocprofiler-sdk.so.1"]),
                             ({"ROCP_TOOL_LIBRARIES": "/a.so:/b.so", "ROCPROFILER_REGISTER_FORCE_LOAD": "0",
                               "ROCPROFILER_REGISTER_LIBRARY": "/sdk.so"}, [":/a.so:/b.so", "0", "/sdk.so"])):
        told = subprocess.run(words, capture_output=True, text=True, check=False, env=dict(bench.env, **others)).stdout
        ours, *rest = told.replace("libassay_record_amd.so", "libassay_record_amd.so\n").split("\n")
        check(ours.endswith("libassay_record_amd.so") and rest[0].split(" ") == expected, f"environment: {told}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assay", required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    for sdk in ("fake_rocprofiler", "fake_rocprofiler_0"):
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(str(pathlib.Path(arguments.assay).resolve()), arguments.build.resolve(), pathlib.Path(folder), sdk)
            for name, one in sorted(globals().items()):
                if name.startswith("check_") and callable(one) and name != "check_record":
                    before = len(check_record.problems)
                    one(bench)
                    for number in range(before, len(check_record.problems)):
                        check_record.problems[number] = f"{sdk}, {name[6:]}: {check_record.problems[number]}"
            races = [path.read_text() for path in sorted(bench.folder.glob("races*"))]
            check(not races, f"ThreadSanitizer, {len(races)} processes: " + "".join(races)[:4000])
    for problem in check_record.problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if check_record.problems else 0)


if __name__ == "__main__":
    main()
