#!/usr/bin/env python3
"""`assay record` and `assay null-kernel` on a simulated GPU (tests/fakes/fake_tracing.cc). Every number follows from
the head comment of that file; an independent parser reads the trace file (written from docs/formats/assaytrace.md).
Covers the failures of real machines."""

import argparse
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import sanitizers

TIMEOUT_S = 600  # never reached in a passing test
PROCESS, STRING, KERNEL, CALL, COPY, FILL, RANGE, NOTE, LOST, FOOTER, DEVICE, CLOCK, WINDOW = 1, 2, 4, 3, 5, 6, 8, 17, 16, 20, 13, 15, 18
problems = []


def check(holds, message):
    if not holds:
        problems.append(message)


class Analyses:
    """Answers of assay for the files in a folder."""

    def analyse(self, verb, name, *flags):
        done = subprocess.run([self.assay, verb, str(self.folder / name), *flags, "--format", "json"],
                              capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
        check(done.returncode == 0, f"{verb} {name}: {done.stderr.strip()}")
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def codes(self, name):
        return {row["code"]: row["count"] for row in self.analyse("launch", name).get("import_log", [])}


class Bench(Analyses):
    def __init__(self, assay, fakes, folder):
        self.assay, self.fakes, self.folder = assay, fakes, folder
        self.program = fakes / "assay_traced_program"
        # For a recorder with ThreadSanitizer: a forked child continues, reports are kept.
        self.env = dict(os.environ, LD_LIBRARY_PATH=str(fakes), TMPDIR=str(folder),
                        TSAN_OPTIONS=f"die_after_fork=0:log_path={folder}/races",
                        # LeakSanitizer of GCC 12 sometimes crashes when a thread ends concurrently.
                        ASAN_OPTIONS="detect_leaks=0:" + os.environ.get("ASAN_OPTIONS", ""))
        for name in ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "FAKE_TRACING"):
            self.env.pop(name, None)

    def sanitized(self):
        return sanitizers.built_with(self.fakes.parent / "libassay_record.so")

    def command(self, name, *words, flags=(), cupti=True):
        chosen = ["--cupti", str(self.fakes / "libcuda.so.1")] if cupti else []
        return [self.assay, "record", "-o", str(self.folder / name), *chosen, *flags, "--", str(self.program),
                *map(str, words)]

    def record(self, name, *words, flags=(), faults="", cupti=True, env=None, **options):
        env = dict(env or self.env)
        if faults:
            env["FAKE_TRACING"] = faults
        return subprocess.run(self.command(name, *words, flags=flags, cupti=cupti), capture_output=True, text=True,
                              check=False, timeout=TIMEOUT_S, env=env, **options)

    def staged(self, name, *stages, flags=(), faults="", env=None):
        """The commands of the first stage, then a condition, the commands of the next stage, and so on. The condition
        is polled with the process and its recording so far, so that no stage depends on the speed of the machine.
        Returns the finished process with its output."""
        words, gates = list(stages[0]), []
        for place in range(2, len(stages), 2):
            gates.append(self.folder / f"{name}.gate{place}")
            words += ["await", gates[-1], *stages[place]]
        env = dict(env or self.env, FAKE_TRACING_BEGIN=str(gates[0]), FAKE_CLOCK_STEP=str(gates[0]),
                   **({"FAKE_TRACING": faults} if faults else {}))
        with subprocess.Popen(self.command(name, *words, flags=flags), env=env, stderr=subprocess.PIPE,
                              text=True) as process:
            for gate, condition in zip(gates, stages[1::2]):
                until = time.monotonic() + TIMEOUT_S
                while process.poll() is None and not condition(process, self.growing(name)):
                    if time.monotonic() > until:
                        check(False, f"{name}: {condition.__doc__ or gate.name} never came")
                        break
                    time.sleep(0.005)
                gate.touch()
            process.stderr_text = process.communicate(timeout=TIMEOUT_S)[1]
        return process

    def growing(self, name):
        """The current records of the one process of a run."""
        stem, dot, end = name.partition(".")
        paths = list(self.folder.glob(f"{stem}.*{dot}{end}"))
        try:
            return records(paths[0], whole=False) if len(paths) == 1 else []
        except FileNotFoundError:  # renamed in the meantime
            return []


def checksum(data, seed=0xCBF29CE484222325):
    value = seed
    for (word,) in struct.iter_unpack("<Q", data):
        value = ((value ^ word) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
        value ^= value >> 32
    return value


def records(path, whole=True):
    """(kind, bytes) of every record. An incomplete block is a problem, or the end of a file that is being written."""
    data = path.read_bytes()
    if not whole and len(data) < 64:
        return []
    check(data[:8] == b"ASSAYTRC" and checksum(data[:56]) == struct.unpack_from("<Q", data, 56)[0],
          f"{path.name}: head")
    at, sequence, found = struct.unpack_from("<I", data, 12)[0], 0, []
    while at < len(data):
        if not whole and (len(data) < at + 32 or len(data) < at + 32 + struct.unpack_from("<I", data, at + 4)[0]):
            break
        magic, payload, count, number = struct.unpack_from("<4I", data, at)
        session, sum_ = struct.unpack_from("<2Q", data, at + 16)
        body = data[at + 32:at + 32 + payload]
        good = (magic == 0x4B4C4241 and payload % 8 == 0 and number == sequence and session == struct.unpack_from("<Q", data, 24)[0] and
                len(body) == payload and checksum(body, checksum(data[at:at + 24])) == sum_)
        check(good, f"{path.name}: block {sequence} at {at}")
        if not good:
            break
        inner, seen = 0, 0
        while inner < payload:
            kind, size = struct.unpack_from("<2H", body, inner)
            found.append((kind, body[inner:inner + size]))
            inner, seen = inner + size, seen + 1
        check(seen == count, f"{path.name}: block {sequence} says {count} records, has {seen}")
        at, sequence = at + 32 + payload, sequence + 1
    return found


def of_kind(found, kind):
    return [record for have, record in found if have == kind]


def check_round_trip(bench):
    done = bench.record("trip.assaytrace", "launch", 5, "graph", 2, "copy", 1024, "fill", 64, "sync", "exit", 3)
    check(done.returncode == 3, f"the program's exit code 3 became {done.returncode}")
    check("11 kernels, 1 copy, 1 fill, 10 calls; 0 lost" in done.stderr, f"said: {done.stderr}")
    found = records(bench.folder / "trip.assaytrace")
    check(len(of_kind(found, KERNEL)) == 11 and len(of_kind(found, FOOTER)) == 1, "kernels and footer of the file")
    kernels = [struct.unpack_from("<IQQ", record, 4) for record in of_kind(found, KERNEL)]
    calls = {c: start for c, start, end in (struct.unpack_from("<IQQ", r, 4) for r in of_kind(found, CALL))}
    check([start - calls[c] for c, start, _ in kernels] == [7000] * 6 + [12000, 17000, 7000, 12000, 17000],
          "call to kernel in the file")
    check(struct.unpack_from("<6I", of_kind(found, KERNEL)[0], 40) == (4, 1, 1, 128, 1, 1), "launch shape in the file")
    check(struct.unpack_from("<Q", of_kind(found, COPY)[0], 24)[0] == 1024, "bytes of the copy")
    launch = bench.analyse("launch", "trip.assaytrace").get("launch", {}).get("whole", {})
    # Launches 0..6 start every 20 us; 5 of one kernel, 2 graphs of three: 7 us from call to start.
    for key, value in (("kernels", 11), ("linked", 11), ("launches", 7), ("tklqt_ns", 49000), ("akd_ns", 4000),
                       ("kernel_sum_ns", 44000), ("graph_kernels", 6), ("launch_queue_p95_ns", 7000)):
        check(launch.get(key) == value, f"launch: {key} is {launch.get(key)}, not {value}")
    overhead = bench.analyse("overhead", "trip.assaytrace", "--mode", "paper", "--floor", "7000").get("host_overhead", {})
    for key, value in (("n", 11), ("n_launch", 7), ("kt_ns", 49000), ("t_device_ns", 44000)):
        check(overhead.get(key) == value, f"overhead: {key} is {overhead.get(key)}, not {value}")
    check(bench.codes("trip.assaytrace") == {}, f"import log: {bench.codes('trip.assaytrace')}")
    name = bench.analyse("info", "trip.assaytrace").get("inputs", [{}])[0]
    check(name.get("device") == "Fake H200", f"device: {name}")


def check_runtime_and_driver_rows(bench):
    bench.record("both.assaytrace", "runtime", 3)
    launch = bench.analyse("launch", "both.assaytrace").get("launch", {}).get("whole", {})
    check(launch.get("launches") == 3 and launch.get("tklqt_ns") == 21000, f"runtime and driver rows: {launch}")


def call_names(found):
    """How often each call was recorded, by its name."""
    texts = {}
    for record in of_kind(found, STRING):
        key, length = struct.unpack_from("<II", record, 4)
        texts[key] = record[16:16 + length].decode()
    names = [texts[struct.unpack_from("<I", record, 28)[0]] for record in of_kind(found, CALL)]
    return {name: names.count(name) for name in set(names)}


def check_quiet_calls(bench):
    """Queries before every launch are omitted, as in PyTorch's profiler, and events stay. Also in the second window,
    because CUPTI resets this when it is enabled again."""
    launches = {"cuLaunchKernel": 6, "cudaLaunchKernel_v7000": 6, "cudaEventRecord_v3020": 6}
    questions = {"cudaGetDevice_v3020": 6, "cuCtxGetCurrent": 6}
    words = ("push", "step", "asked", 2, "pop", "asked", 5, "push", "step", "asked", 4, "pop")
    for name, flags, version, expected in (("quiet", (), 130001, launches),
                                           ("loud", ("--all-api-calls",), 130001, {**launches, **questions}),
                                           ("old", (), 22, {**launches, **questions})):
        bench.record(f"{name}.assaytrace", *words, flags=("--capture-range", "step", *flags),
                     env=dict(bench.env, FAKE_CUPTI_VERSION=str(version)))
        names = call_names(records(bench.folder / f"{name}.assaytrace"))
        check(names == expected, f"{name}: calls {names}")


def check_kineto(bench):
    flags = ("--format", "kineto")
    bench.record("json.json", "launch", 5, "graph", 2, "copy", 1024, flags=flags)
    path = bench.folder / "json.json"
    check(path.exists(), "--format kineto left no JSON")
    events = json.loads(path.read_text())["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    check(len(kernels) == 11 and kernels[0]["dur"] == 4.0, "kernels of the Chrome JSON")
    check(kernels[0]["name"] == "void saxpy_one<float>(float const*, float*, int)" or "saxpy_one" in kernels[0]["name"],
          kernels[0]["name"])
    launch = bench.analyse("launch", "json.json").get("launch", {}).get("whole", {})
    check((launch.get("tklqt_ns"), launch.get("launches"), launch.get("kernel_sum_ns")) == (49000, 7, 44000),
          f"launch over the Chrome JSON: {launch}")


def check_processes(bench):
    done = bench.record("fork.assaytrace", "launch", 5, "fork", "push", "child", "pop", "exit", 0, "join", "launch", 2)
    check(done.returncode == 0 and "7 kernels" in done.stderr, f"fork while recording: {done.stderr}")
    check(len(of_kind(records(bench.folder / "fork.assaytrace"), KERNEL)) == 7, "the parent's file after a fork")
    children = [path for path in bench.folder.glob("fork.*.assaytrace")]
    check(len(children) == 1 and len(of_kind(records(children[0]), RANGE)) == 1, f"the child's own file: {children}")
    bench.record("early.assaytrace", "fork", "launch", 4, "join", "launch", 2)
    both = sorted(len(of_kind(records(path), KERNEL)) for path in bench.folder.glob("early.*.assaytrace"))
    check(both == [2, 4], f"two processes, two files: {both}")


def check_survivor(bench):
    """A process that outlives the command: its file has no end yet, which is reported as a failure."""
    command = bench.command("survivor.assaytrace", flags=("--flush-ms", "20"))
    program = command.pop()
    started = bench.folder / "survivor.started"
    script = (f"{program} launch 3 pause 300000 ready {started} pause 1500000 launch 2 & "
              f"while ! [ -e {started} ]; do sleep 0.01; done; {program} launch 5")
    done = subprocess.run([*command, "sh", "-c", script], env=bench.env, capture_output=True, text=True, check=False,
                          timeout=TIMEOUT_S)
    check(done.returncode == 3, f"a survivor: exit code {done.returncode}: {done.stderr}")
    check("still runs" in done.stderr and "the rest lost, uncounted" in done.stderr, f"a survivor: {done.stderr}")
    check("5 kernels" in done.stderr and done.stderr.count("; 0 lost") == 1, f"the one that ended: {done.stderr}")


def kernels_written(count):
    return lambda _, found: len(of_kind(found, KERNEL)) == count


def flushed_again(_, found):
    """Kernels, the clocks of their flush, and those of another that made a call of the recorder's own."""
    kinds = [kind for kind, _ in found]
    return KERNEL in kinds and kinds[len(kinds) - kinds[::-1].index(KERNEL):].count(CLOCK) >= 2


def check_full(bench):
    # The file may end within the writes of one flush or of a later one.
    limited = bench.record("full.assaytrace", "launch", 4000, "exit", 4, flags=("--flush-ms", "20"),
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)))
    check(limited.returncode == 4 and "cannot write" in limited.stderr, f"disk full: {limited.stderr}")
    check((bench.folder / "full.assaytrace").exists(), "the file of a full disk")
    records(bench.folder / "full.assaytrace")
    fine = bench.record("full0.assaytrace", "launch", 4000, flags=("--flush-ms", "20"),
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)))
    check(fine.returncode == 3 and "cannot write" in fine.stderr, f"disk full, the program ends well: {fine.returncode}")
    # All records are in CUPTI's buffers before the first write: each is kept or counted.
    done = bench.record("limit.assaytrace", "launch", 4000, flags=("--max-bytes", "100000", "--flush-ms", "600000"))
    found = records(bench.folder / "limit.assaytrace")
    kept = len(of_kind(found, KERNEL)) + len(of_kind(found, CALL))
    lost = struct.unpack_from("<IQ", of_kind(found, LOST)[0], 4)[1]
    check((bench.folder / "limit.assaytrace").stat().st_size <= 100_000, "the limit was not kept")
    check(kept > 0 and kept + lost == 8000, f"kept {kept}, lost {lost} of 8000")
    # Later events of the program are neither recorded nor counted.
    check(f"at least {lost} lost" in done.stderr, f"limit: {done.stderr}")
    codes = bench.codes("limit.assaytrace")
    check(codes.get("cut_short") == 1 and codes.get("lost_records") == lost, f"import log: {codes}")


def check_full_disk(bench):
    """A small file system that is really full, if permitted."""
    if os.geteuid() != 0:
        print("a full disk: left out, since in a user's own namespace all folders above belong to nobody that is known")
        return
    small = bench.folder / "small"
    small.mkdir()
    script = (f"mount -t tmpfs -o size=1m none '{small}' && "
              f"""{' '.join(map(repr, bench.command('small/full.assaytrace', 'launch', 20000, 'exit', 4,
                                                     flags=('--flush-ms', '20'))))}; code=$?; """
              f"cp '{small}'/* '{bench.folder}'/; exit $code")
    possible = subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", str(small)], capture_output=True,
                              check=False).returncode == 0
    if not possible:
        return
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True, text=True, check=False,
                          timeout=TIMEOUT_S, env=bench.env)
    check(done.returncode == 4 and "No space left" in done.stderr, f"a full disk: {done.returncode} {done.stderr}")
    kept = of_kind(records(bench.folder / "full.assaytrace"), KERNEL)
    check(0 < len(kept) < 20000, f"a full disk: {len(kept)} kernels")


def check_older_output(bench):
    """Files at the output path: an earlier recording is neither mistaken for this one nor lost."""
    older = bench.folder / "older.assaytrace"
    bench.record("older.assaytrace", "launch", 3)
    before = older.read_bytes()
    done = bench.record("older.assaytrace", "exit", 0)
    check(older.read_bytes() == before and "is of an earlier run" in done.stderr, f"nothing recorded: {done.stderr}")
    done = bench.record("older.assaytrace", "fork", "launch", 4, "join", "launch", 2)
    check(older.read_bytes() == before and "is of an earlier run" in done.stderr, f"two files: {done.stderr}")
    done = bench.record("older.json", "launch", 2, flags=("--format", "kineto"))
    check(older.read_bytes() == before and (bench.folder / "older.json").exists(), f"kineto beside it: {done.stderr}")
    check(list(bench.folder.glob("older.*.json")) == [], "the one JSON file has the name that was asked for")
    done = bench.record("older.assaytrace", "launch", 5)
    check(older.read_bytes() != before and "earlier run" not in done.stderr, f"recorded anew: {done.stderr}")
    for flags in ((), ("--format", "kineto")):
        done = subprocess.run([bench.assay, "record", "-o", "/dev/full", *flags, "--", "true"], capture_output=True,
                              text=True, check=False, env=bench.env)
        check(done.returncode == 2 and "is not a file" in done.stderr, f"/dev/full: {done.returncode} {done.stderr}")


def check_wall_clock_step(bench):
    """CLOCK_REALTIME is set back by an hour during the run, between two clock records."""
    env = dict(bench.env, LD_PRELOAD=str(bench.fakes / "libassay_fake_clock.so"),
               ASAN_OPTIONS="verify_asan_link_order=0:" + bench.env["ASAN_OPTIONS"])
    stages = (("launch", 5), kernels_written(5), ("launch", 2))
    bench.staged("wall.assaytrace", *stages, flags=("--flush-ms", "100"), env=env)
    clocks = [struct.unpack_from("<3Q", record, 8)[2] for record in of_kind(records(bench.folder / "wall.assaytrace"), CLOCK)]
    steps = [later - earlier for earlier, later in zip(clocks, clocks[1:])]
    check(sum(step < -3_590_000_000_000 for step in steps) == 1, f"pairs of clocks: {steps}")
    check(bench.codes("wall.assaytrace") == {"clock_step": 1}, f"import log: {bench.codes('wall.assaytrace')}")
    launch = bench.analyse("launch", "wall.assaytrace").get("launch", {}).get("whole", {})
    check(launch.get("tklqt_ns") == 49000 and launch.get("kernels") == 7, f"CLOCK_MONOTONIC does not step: {launch}")
    # With CUPTI's own clock, the recorded clock steps.
    bench.staged("own.assaytrace", *stages, flags=("--flush-ms", "100", "--tracer-clock"), env=env)
    check(bench.codes("own.assaytrace").get("tracer_clock_step") == 1, f"own clock: {bench.codes('own.assaytrace')}")


def check_python(bench):
    """The recorder inside Python: records at the interpreter's exit, children of multiprocessing, the exit code."""
    program = pathlib.Path(__file__).resolve().parent.parent / "collect" / "recorded_program.py"
    if bench.sanitized():  # Python without sanitizers cannot load such a recorder.
        return

    def run(name, *words):
        return subprocess.run([bench.assay, "record", "-o", str(bench.folder / name), "--cupti",
                               str(bench.fakes / "libcuda.so.1"), "--", sys.executable, str(program), *map(str, words)],
                              capture_output=True, text=True, check=False, timeout=TIMEOUT_S, env=bench.env)

    done = run("python.assaytrace", 5, 3)
    check(done.returncode == 3 and "5 kernels" in done.stderr, f"python: {done.returncode} {done.stderr}")
    check(bench.codes("python.assaytrace") == {}, f"python: {bench.codes('python.assaytrace')}")
    done = run("spawn.assaytrace", 2, "spawn", 4, 5)
    both = sorted(len(of_kind(records(path), KERNEL)) for path in bench.folder.glob("spawn.*.assaytrace"))
    check(done.returncode == 5 and both == [2, 4], f"multiprocessing, spawn: {both} {done.returncode} {done.stderr}")
    check("not closed" not in done.stderr, f"multiprocessing, spawn: {done.stderr}")
    # A forked child of multiprocessing ends by _exit, which it cannot observe: its data is complete, and the rescue is
    # reported.
    done = run("forked.assaytrace", 2, "fork", 4, 6)
    files = list(bench.folder.glob("forked.*assaytrace"))
    check(done.returncode == 6 and len(files) == 2, f"multiprocessing, fork: {files} {done.returncode} {done.stderr}")
    check("2 kernels" in done.stderr and "4 kernels" in done.stderr and "called _exit" in done.stderr and
          "never started" not in done.stderr,
          f"multiprocessing, fork: {done.stderr}")


def check_missing(bench):
    """Obstacles are reported, and the program runs in each case."""
    cases = (("no_permission", "NVreg_RestrictProfilingToAdminUsers=0"), ("old_driver", "update the driver"),
             ("subscribed", "another profiler holds CUPTI"), ("old_cupti", "CUDA 11.6 or later"))
    for fault, words in cases:
        done = bench.record(f"{fault}.assaytrace", "launch", 4, "exit", 6, faults=fault)
        check(done.returncode == 6 and words in done.stderr, f"{fault}: {done.returncode}, {done.stderr}")
    lone = dict(bench.env, ASSAY_CUPTI="/nonexistent/libcupti.so")
    done = bench.record("absent.assaytrace", "launch", 4, "exit", 6, cupti=False, env=lone)
    check(done.returncode == 6 and "install one" in done.stderr, f"no CUPTI: {done.stderr}")
    done = bench.record("cpu.assaytrace", "exit", 7)
    check(done.returncode == 7 and "nothing was recorded" in done.stderr, f"no GPU used: {done.stderr}")
    done = bench.record("two.assaytrace", "launch", 4, env=dict(bench.env, CUDA_INJECTION64_PATH="/other.so"))
    check(done.returncode == 2 and "another profiler" in done.stderr, f"two injectors: {done.stderr}")
    done = subprocess.run([bench.assay, "record", "-o", str(bench.folder / "x.assaytrace"), "--", "/no/such/program"],
                          capture_output=True, text=True, check=False, env=bench.env)
    check(done.returncode == 127, f"a command that is not there: {done.returncode}")


def check_which_cupti(bench):
    """Of several CUPTIs the one that fits the driver is first; one that rejects the driver is skipped."""
    folder = bench.fakes.parent / "fake_cupti"
    env = dict(bench.env, LD_LIBRARY_PATH=f"{bench.fakes}:{folder}")
    for driver, refuses, version in (("13000", "", 130000), ("12040", "", 26), ("13000", "libcupti.so.13", 26),
                                     ("12080", "libcupti.so.12", 18), ("13000", "libcupti.so.13,libcupti.so.12", 18)):
        name = f"which{driver}-{version}-{len(refuses)}.assaytrace"
        done = bench.record(name, "launch", 4, cupti=False,
                            env=dict(env, FAKE_DRIVER_VERSION=driver, FAKE_NOT_COMPATIBLE=refuses))
        found = records(bench.folder / name)
        processes = of_kind(found, PROCESS)
        told = struct.unpack_from("<I", processes[-1], 24)[0]
        check(told == version and len(of_kind(found, KERNEL)) == 4 and not of_kind(found, NOTE),
              f"driver {driver} without {refuses or 'none'}: CUPTI {told}, {done.stderr}")
    every = "libcupti.so.13,libcupti.so.12,libcupti.so.11.8"
    done = bench.record("none.assaytrace", "launch", 4, "exit", 6, cupti=False,
                        env=dict(env, FAKE_NOT_COMPATIBLE=every))
    check(done.returncode == 6 and done.stderr.count("update the driver") == 1, f"all refuse: {done.stderr}")


def check_kineto_inside(bench):
    """Another profiler takes CUPTI: it is named if PyTorch's is in the process."""
    library = bench.fakes.parent / "fake_cupti" / "libtorch_cpu.so"
    words = "PyTorch's profiler (libkineto) is loaded"
    env = dict(bench.env, LD_PRELOAD=str(library), ASAN_OPTIONS="verify_asan_link_order=0:" + bench.env["ASAN_OPTIONS"])
    for name, with_it in (("with", env), ("without", bench.env)):
        process = bench.staged(f"{name}.assaytrace", ("launch", 5), flushed_again, (), faults="stolen",
                               flags=("--flush-ms", "100"), env=with_it)
        check((words in process.stderr_text) == (name == "with"), f"taken over, {name}: {process.stderr_text}")
        done = bench.record(f"{name}2.assaytrace", "launch", 5, faults="subscribed", env=with_it)
        check((words in done.stderr) == (name == "with"), f"held, {name}: {done.stderr}")
        done = bench.record(f"{name}3.assaytrace", "launch", 5, env=with_it)
        check(words not in done.stderr, f"nothing happens, {name}: {done.stderr}")
    done = subprocess.run([bench.assay, "record", "--help"], capture_output=True, text=True, check=False)
    check("torch.profiler" in done.stdout, "the help does not say what torch.profiler does")


def check_loss_and_clocks(bench):
    bench.record("drop.assaytrace", "launch", 10, faults="drop")
    codes = bench.codes("drop.assaytrace")
    check(codes.get("lost_records", 0) >= 10, f"dropped by the tracer: {codes}")
    bench.record("own.assaytrace", "launch", 5, faults="no_callback")
    launch = bench.analyse("launch", "own.assaytrace").get("launch", {}).get("whole", {})
    check(launch.get("tklqt_ns") == 35000, f"the tracer's own clock: {launch}")
    bench.staged("step.assaytrace", ("launch", 5), kernels_written(5), (), faults="step", flags=("--flush-ms", "100"))
    check(bench.codes("step.assaytrace").get("tracer_clock_step") == 1, f"{bench.codes('step.assaytrace')}")
    bench.staged("stolen.assaytrace", ("launch", 5), flushed_again, (), faults="stolen", flags=("--flush-ms", "100"))
    check(bench.codes("stolen.assaytrace").get("cut_short") == 1, f"taken over: {bench.codes('stolen.assaytrace')}")


def check_no_memory_for_buffers(bench):
    """A CUPTI before 12.9 crashes on a NULL buffer: it gets one for records to be counted and dropped. A newer one
    drops records itself."""
    lost = {}
    for version in ("18", "26", "27", "130001"):
        name = f"drops{version}.assaytrace"
        env = dict(bench.env, ASSAY_RECORD_MAX_MEMORY="1000", FAKE_CUPTI_VERSION=version)
        done = bench.record(name, "launch", 4000, "exit", 5, env=env, flags=("--flush-ms", "600000"))
        check(done.returncode == 5, f"no memory, CUPTI {version}: {done.returncode} {done.stderr}")
        found = records(bench.folder / name)
        lost[version] = sum(struct.unpack_from("<IQ", record, 4)[1] for record in of_kind(found, LOST))
        check(not of_kind(found, KERNEL) and not of_kind(found, CALL), f"no memory, CUPTI {version}: records")
    # 4000 launches with a call and a kernel each, and the recorder's own calls.
    check(all(8000 <= count <= 8010 for count in lost.values()), f"no memory: lost {lost}")
    # More buffers in use by threads than there are drop buffers.
    env = dict(bench.env, ASSAY_RECORD_MAX_MEMORY="1000", FAKE_CUPTI_VERSION="26", FAKE_TRACING="keep_buffers")
    done = bench.record("kept.assaytrace", "launch", 40000, "exit", 5, env=env, flags=("--flush-ms", "600000"))
    check(done.returncode == 5 and "0 kernels" in done.stderr, f"many drop buffers: {done.returncode} {done.stderr}")
    least = sum(struct.unpack_from("<IQ", record, 4)[1] for record in of_kind(records(bench.folder / "kept.assaytrace"), LOST))
    check(20000 < least <= 80010, f"many drop buffers: lost {least}")


def windows(found):
    return [struct.unpack_from("<I", record, 16)[0] for record in of_kind(found, WINDOW)]


def check_capture(bench):
    bench.record("range.assaytrace", "launch", 4, "push", "step", "launch", 3, "pop", "launch", 6,
                 flags=("--capture-range", "step"))
    launch = bench.analyse("launch", "range.assaytrace").get("launch", {}).get("whole", {})
    check(launch.get("linked") == 3 and launch.get("launches") == 3, f"inside the capture range: {launch}")
    ready, after = bench.folder / "ready", bench.folder / "after"

    def opened(process, found):
        """The window after the first signal, which is sent when the program is ready."""
        if not ready.exists():
            return False
        if not opened.sent:
            process.send_signal(signal.SIGUSR1)
            opened.sent = True
        return windows(found) == [1]

    def closed(process, found):
        """The end of the window after the second signal, which follows the launches inside it."""
        if not after.exists():
            return False
        if not closed.sent:
            process.send_signal(signal.SIGUSR1)
            closed.sent = True
        return windows(found) == [1, 0]

    opened.sent = closed.sent = False
    process = bench.staged("signal.assaytrace", ("launch", 4, "ready", ready), opened, ("launch", 3, "ready", after),
                           closed, ("launch", 2), flags=("--start-signal", "USR1", "--flush-ms", "50"))
    check(process.returncode == 0, f"signals: {process.stderr_text}")
    kernels = bench.analyse("launch", "signal.assaytrace").get("launch", {}).get("whole", {}).get("linked")
    check(kernels == 3, f"between two signals: {kernels} kernels; {process.stderr_text}")

    def terminated(process, _):
        """The end after SIGTERM."""
        if (bench.folder / "up").exists() and not terminated.sent:
            process.send_signal(signal.SIGTERM)
            terminated.sent = True
        return False

    terminated.sent = False
    process = bench.staged("term.assaytrace", ("launch", 1, "ready", bench.folder / "up"), terminated, ("launch", 1))
    check(process.returncode == 128 + signal.SIGTERM, f"SIGTERM passed on: {process.returncode}")


def check_ranges(bench):
    bench.record("nvtx.assaytrace", "push", "outer", "push", "inner", "launch", 2, "pop", "mark", "m", "start", "s",
                 "end", "domain", "d", "push", "in domain", "pop", "push", "left open", "exit", 0)
    found = records(bench.folder / "nvtx.assaytrace")
    flags = [struct.unpack_from("<I", record, 32)[0] for record in of_kind(found, RANGE)]
    check(sorted(flags) == [0, 1, 1, 3, 3], f"flags of ranges: {flags}")
    info = bench.analyse("info", "nvtx.assaytrace")
    check("open_range" in json.dumps(info.get("import_log")), "ranges that nobody ended")


def check_many_names(bench):
    """Many range names, with capture off and on: memory stays bounded, each kept range has its name, and evicted names
    are counted."""
    if bench.sanitized():  # The sanitizer's own memory dominates.
        return
    for name, count, flags in (("off.assaytrace", 1_000_000, ("--capture-range", "never")), ("on.assaytrace", 200_000, ())):
        memory = bench.folder / f"{name}.memory"
        done = bench.record(name, "ranges", 1, "memory", f"{memory}.1", "ranges", count, "memory", memory, "start",
                            "range number 7", "end", "exit", 0, flags=flags)
        grown = int(memory.read_text()) - int(pathlib.Path(f"{memory}.1").read_text())
        # 16 MiB of names; in addition the records to be written, as many names again and ranges of 48 bytes.
        check(grown < (24 << 10 if name == "off.assaytrace" else 56 << 10), f"{name}: {grown} KiB for {count} names")
        found = records(bench.folder / name)
        notes = [struct.unpack_from("<IQq", record, 4) for record in of_kind(found, NOTE)]
        check([code for code, *_ in notes] == [13] and notes[0][2] > count - 90_000, f"{name}: notes {notes}")
        ranges = [struct.unpack_from("<I", record, 24)[0] for record in of_kind(found, RANGE)]
        texts = {}
        for record in of_kind(found, STRING):
            key, length = struct.unpack_from("<II", record, 4)
            texts.setdefault(key, set()).add(record[16:16 + length])
        lost = sum(struct.unpack_from("<IQ", record, 4)[1] for record in of_kind(found, LOST))
        if name == "off.assaytrace":
            check(not ranges and len(texts) < 20, f"{name}: {len(ranges)} ranges, {len(texts)} texts")
            continue
        check(len(ranges) + lost == count + 2, f"{name}: {len(ranges)} ranges and {lost} lost")
        check(all(len(texts.get(key, ())) == 1 for key in ranges), f"{name}: a name that is none, or two")
        check(len({texts[key].copy().pop() for key in ranges}) >= len(ranges) - 2, f"{name}: names")
        check(done.returncode == 0 and bench.codes(name).keys() <= {"lost_records"}, f"{name}: {bench.codes(name)}")


def check_both_floors(bench, command, floor):
    """A runtime launch takes 9 us to its kernel here, a driver launch 7: each is subtracted from its own path."""
    names = {"ASSAY_CUDA_RUNTIME": "libcuda.so.1", "FAKE_RUNTIME_LAUNCH_NS": "9000",
             "ASSAY_NVML": str(bench.fakes.parent / "tests" / "libassay_fake_nvidia.so")}
    env = dict(bench.env, **names)
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    check(done.returncode == 0, f"null-kernel by both calls: {done.stderr}")
    check(time.monotonic() - began > 0.6, "each way of launching warms up for 0.3 s")
    gpu = json.loads(floor.read_text())["gpus"][0]
    paths = {path["path"]: path for path in gpu["paths"]}
    check(gpu["path"] == "cudaLaunchKernel" and gpu["launch"]["mean_ns"] == 9000, f"the runtime's floor: {gpu}")
    check({name: path["launch"]["mean_ns"] for name, path in paths.items()} ==
          {"cudaLaunchKernel": 9000, "cuLaunchKernel": 7000}, f"both floors: {paths}")
    check(all(path["launch"]["n"] == 150 and (path["sm_mhz_before"], path["sm_mhz_after"]) == (1980, 1980)
              for path in paths.values()), f"runs and clocks: {paths}")
    for name, words, expected, kt_fw in (("by_runtime", ("runtime", 6, "launch", 2), 9000, 0),
                                         ("by_driver", ("launch", 6, "runtime", 2), 7000, 4000)):
        bench.record(f"{name}.assaytrace", *words, env=env)
        told = bench.analyse("overhead", f"{name}.assaytrace", "--floor", str(floor))
        used = told.get("host_overhead", {}).get("floor", {})
        check(used.get("floor_ns") == expected and "6 of 8 kernels" in used.get("text", json.dumps(used)),
              f"{name}: {used}")
        check(told["host_overhead"].get("kt_fw_ns") == kt_fw, f"{name}: kt_fw {told['host_overhead'].get('kt_fw_ns')}")
        check("floor_path" in json.dumps(told.get("caveats", told)), f"{name}: the other call's launches are not told")


def check_null_kernel(bench):
    if "tsan" in bench.sanitized():  # The driver is built like the recorder, and `assay` is not.
        return
    floor = bench.folder / "floor.json"
    command = [bench.assay, "null-kernel", "-o", str(floor), "--cupti", str(bench.fakes / "libcuda.so.1")]
    none = dict(bench.env, ASSAY_CUDA_RUNTIME="libcudart-that-is-not-there.so")
    done = subprocess.run(command + ["--device", "all"], capture_output=True, text=True, check=False,
                          env=dict(none, FAKE_GPUS="2"))
    check("cudaLaunchKernel is not measured" in done.stderr, f"no runtime: {done.stderr}")
    check(done.returncode == 0, f"null-kernel: {done.stderr}")
    if done.returncode == 0:
        data = json.loads(floor.read_text())
        check(len(data["gpus"]) == 2 and data["tracer"] == "cupti" and data["runs"] == 150, f"floor: {data}")
        for gpu in data["gpus"]:
            check(gpu["launch"]["n"] == 150 and gpu["launch"]["mean_ns"] == 7000 and gpu["launch"]["p95_ns"] == 7000 and
                  gpu["duration"]["p50_ns"] == 4000 and gpu["launch"]["std_ns"] == 0, f"floor: {gpu}")
        check(data["gpus"][0]["uuid"] == "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f", "uuid")
        gpu = data["gpus"][0]
        check(gpu["path"] == "cuLaunchKernel" and [path["path"] for path in gpu["paths"]] == ["cuLaunchKernel"] and
              "sm_mhz_before" not in gpu["paths"][0], f"floor of one call: {gpu}")
        bench.record("floored.assaytrace", "launch", 5)
        used = bench.analyse("overhead", "floored.assaytrace", "--floor", str(floor)).get("host_overhead", {}).get("floor", {})
        check(used.get("floor_ns") == 7000 and used.get("source") == "measured", f"--floor: {used}")
    check_both_floors(bench, command, floor)
    without = {name: value for name, value in bench.env.items() if name != "LD_LIBRARY_PATH"}
    without["ASSAY_CUDA_DRIVER"] = "libcuda-that-is-not-there.so"
    without["ASSAY_HIP_RUNTIME"] = "libamdhip64-that-is-not-there.so"
    done = subprocess.run([bench.assay, "null-kernel", "-o", str(bench.folder / "no.json")], capture_output=True,
                          text=True, check=False, env=without)
    check(done.returncode == 2 and "no NVIDIA driver is installed here" in done.stderr, f"no driver: {done.stderr}")


def check_damage(bench):
    """A file truncated at any byte, and with any bit flipped: complete blocks are read, and the loss is reported."""
    bench.staged("whole.assaytrace", ("launch", 2), kernels_written(2), ("launch", 2), flags=("--flush-ms", "100"))
    data = (bench.folder / "whole.assaytrace").read_bytes()
    for cut in range(0, len(data), 97):
        (bench.folder / "cut.assaytrace").write_bytes(data[:cut])
        done = subprocess.run([bench.assay, "launch", str(bench.folder / "cut.assaytrace"), "--format", "json"],
                              capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
        told = done.returncode == 2 or "not_closed" in done.stdout
        check(done.returncode in (0, 2) and told, f"cut at {cut}: {done.returncode} {done.stderr}")
    for place in range(0, len(data), 61):
        broken = bytearray(data)
        broken[place] ^= 1 << (place % 8)
        (bench.folder / "flip.assaytrace").write_bytes(broken)
        done = subprocess.run([bench.assay, "launch", str(bench.folder / "flip.assaytrace"), "--format", "json"],
                              capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
        told = done.returncode == 2 or any(code in done.stdout for code in ("damaged_block", "not_closed", "truncated"))
        check(done.returncode in (0, 2) and told, f"byte {place} flipped: {done.returncode} {done.stderr}")


def run_parts(bench, parts):
    for part in parts:
        before = len(problems)
        part(bench)
        for index in range(before, len(problems)):
            problems[index] = f"{part.__name__}: {problems[index]}"
    races = [path.read_text() for path in sorted(bench.folder.glob("races*"))]
    check(not races, f"ThreadSanitizer, {len(races)} processes: " + "".join(races)[:4000])


def tell(name):
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{name}: fine" if not problems else f"{name}: {len(problems)} problems")
    return 1 if problems else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    parser.add_argument("--fakes", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(str(pathlib.Path(arguments.assay).resolve()), arguments.fakes.resolve(), pathlib.Path(folder))
        run_parts(bench, (check_round_trip, check_runtime_and_driver_rows, check_quiet_calls, check_kineto, check_processes,
                          check_survivor,
                          check_full, check_full_disk, check_older_output, check_wall_clock_step, check_python,
                          check_missing, check_which_cupti, check_kineto_inside, check_loss_and_clocks, check_no_memory_for_buffers, check_capture, check_ranges, check_many_names,
                          check_null_kernel, check_damage))
    return tell("record")


if __name__ == "__main__":
    sys.exit(main())
