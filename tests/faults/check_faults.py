#!/usr/bin/env python3
"""Every verb where the machine fails: calls of the system that fail one after the other, limits on memory, threads,
files, stacks, a full disk, closed outputs, a user who is not root. What is held: the exit code is one of Assay's; where
it is an error, a sentence says so, and names the file and the reason where a file is at fault; an answer that is given
is the whole right answer; inputs keep their bytes; nothing is left behind; nothing hangs.

The verbs run on traces of a few kernels, so that thousands of cases take a minute. `--only WORD` runs the cases whose
name has the word, `--list` prints them."""

import argparse
import concurrent.futures
import errno
import gzip
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import sanitizers

HANGS_S = 10
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NOBODY = 65534
MB = 1 << 20
FINE = {0, 1, 3}
ERROR = 2


# ---- inputs ----------------------------------------------------------------------------------------------------------

def small_trace(rank):
    """Three iterations of four operators, each with a launch and a kernel."""
    events = [{"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "args": {"name": "python"}}]
    correlation = 0
    for step in range(3):
        begin = 1_000_000 + 1000 * step
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1,
                       "ts": begin, "dur": 900})
        for op in range(4):
            correlation += 1
            at = begin + 10 + 200 * op
            events.append({"ph": "X", "cat": "cpu_op", "name": ["aten::mm", "aten::add", "aten::relu", "aten::sum"][op],
                           "pid": 1, "tid": 1, "ts": at, "dur": 100, "args": {"External id": correlation}})
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": at + 20,
                           "dur": 10, "args": {"correlation": correlation, "External id": correlation}})
            name = "ampere_sgemm_128x64_tn" if op == 0 else "void at::native::vectorized_elementwise_kernel<4>()"
            events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": at + 60, "dur": 80,
                           "args": {"device": 0, "stream": 7, "correlation": correlation, "External id": correlation,
                                    "grid": [64, 1, 1], "block": [128, 1, 1]}})
    return {"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": 2},
            "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "numSms": 108}], "traceEvents": events}


def bench_table():
    rows = ["Hardware,Framework,Model,Batch Size,Input Length,Output Length,Throughput (tokens/sec)"]
    for batch in (1, 2, 4, 8, 16, 32):
        for length in (128, 512):
            rows.append(f"A100,vLLM,llama,{batch},{length},{length},{100 * batch / (1 + batch / 40) * (1 - length / 4000):.3f}")
    return "\n".join(rows) + "\n"


def make_inputs(folder):
    folder.mkdir()
    for rank in range(2):
        text = json.dumps(small_trace(rank))
        (folder / f"rank{rank}.json").write_text(text)
    (folder / "packed.json.gz").write_bytes(gzip.compress(json.dumps(small_trace(0)).encode(), mtime=0))
    (folder / "bench.csv").write_text(bench_table())
    ranks = folder / "ranks"
    ranks.mkdir()
    for rank in range(2):
        shutil.copy(folder / f"rank{rank}.json", ranks)
    formats = folder / "formats"
    shutil.copytree(ROOT / "tests/data/formats", formats)
    # Other users must be able to read them.
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)


def state_of(folder):
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.rglob("*")) if path.is_file()}


# ---- verbs -----------------------------------------------------------------------------------------------------------

class Verb:
    """A command line. IN is the folder of inputs, OUT a folder of its own for each case. own_codes: other exit codes
    that are right, as of the command that it runs."""

    def __init__(self, name, *words, own_codes=(), steady=True, needs=None):
        self.name = name
        self.words = words
        self.own_codes = set(own_codes)
        self.steady = steady  # the same output at each run
        self.needs = needs

    def command(self, assay, inputs, out):
        return [str(assay)] + [word.replace("IN", str(inputs), 1) if word.startswith("IN") else
                               word.replace("OUT", str(out), 1) if word.startswith("OUT") or "=OUT" in word else word
                               for word in self.words]


def verbs():
    trace = "IN/rank0.json"
    found = [
        Verb("version", "--version"),
        Verb("options", "options"),
        Verb("info", "info", trace),
        Verb("info gz", "info", "IN/packed.json.gz", "--threads", "2"),
        Verb("report", "report", trace),
        Verb("report json", "report", trace, "-o", "OUT/r.json"),
        Verb("report html", "report", trace, "-o", "OUT/r.html"),
        Verb("report xlsx", "report", trace, "-o", "OUT/r.xlsx", steady=False),
        Verb("report folder", "report", "IN/ranks", "-o", "OUT/r.md"),
        Verb("report perfetto", "report", trace, "--perfetto", "OUT/t.json.gz", "-o", "OUT/r.txt"),
        Verb("report cache", "report", trace, "--cache=OUT/cache", "-o", "OUT/r.csv"),
        Verb("launch", "launch", trace, "-o", "OUT/l.json"),
        Verb("sweep", "sweep", trace, "--format", "json"),
        Verb("fusion", "fusion", trace, "--format", "json"),
        Verb("overhead", "overhead", trace, "--export-kernel-db", "OUT/db.json", "-o", "OUT/x.json"),
        Verb("breakdown", "breakdown", trace, "-o", "OUT/l.md"),
        Verb("diff", "diff", trace, "IN/rank1.json", "--junit", "OUT/j.xml", "-o", "OUT/d.json"),
        Verb("cache", "cache", trace, "-o", "OUT/t.assay", steady=False),
        Verb("export csv", "export", trace, "--format", "csv", "-o", "OUT/tables"),
        Verb("export columns", "export", trace, "--format", "columns", "-o", "OUT/tables"),
        Verb("export xlsx", "export", trace, "-o", "OUT/t.xlsx", steady=False),
        Verb("throughput fit", "throughput", "fit", "IN/bench.csv", "-o", "OUT/model.json", "--method", "ala"),
        Verb("throughput predict", "throughput", "predict", "IN/bench.csv", "--at", "bb=4,ii=256,oo=256", "--format",
             "json"),
        Verb("throughput suggest", "throughput", "suggest", "IN/bench.csv", "--grid", "bb=1..64*2,len=128|512", "--format",
             "json"),
        Verb("power run", "power", "run", "--device", "simulated:t=100us", "--workload", "gemm:2048", "--runs", "5",
             "--record", "OUT/rec", "--format", "json", steady=False),
        Verb("record", "record", "-o", "OUT/o.assaytrace", "--", "true", own_codes=(126, 127), steady=False),
        Verb("null-kernel", "null-kernel", "-o", "OUT/floor.json", steady=False),
        Verb("replay", "replay", "IN/formats/kernel_db.json", "-o", "OUT/replay.json", steady=False),
        Verb("sql", "sql", trace, "select count(*) from ops", "-o", "OUT/s.csv", steady=False),
        Verb("whatif", "whatif", trace, "--edit", "op:aten::mm=0.5", "--save-prediction", "OUT/f.json", "-o", "OUT/w.json"),
        Verb("why", "why", trace, "-o", "OUT/w.txt"),
        Verb("explain", "explain", "tklqt"),
        Verb("doctor", "doctor", steady=False),
        Verb("example", "example", "-o", "OUT/example.json.gz"),
        Verb("mcp", "mcp", "IN/ranks"),
        # Files of records are named after the process, so that those that are kept are not compared.
        Verb("job", "job", "IN/ranks", "-o", "OUT/f.json"),
        Verb("power calibrate", "power", "calibrate", "--device", "simulated:t=100us", "-o", "OUT/c.json", steady=False),
        Verb("sample", "sample", "-o", "OUT/s.csv", "--hz", "1000", "--", "true", own_codes=(126, 127), steady=False),
    ]
    return found


def readers():
    """Every kind of file that is recognised, given to the verb that looks at files."""
    return [Verb(f"info {path.name}", "info", f"IN/formats/{path.name}")
            for path in sorted((ROOT / "tests/data/formats").iterdir())]


# ---- faults ----------------------------------------------------------------------------------------------------------

def sanitised(assay):
    """Built with AddressSanitizer: it maps terabytes, starts a thread at the end and must be loaded before all else, so that
    limits on memory and threads and the shim say nothing of Assay."""
    return "asan" in sanitizers.built_with(assay)


def limit(kind, value):
    def apply():
        resource.setrlimit(kind, (value, value))
    return apply


def closed(number):
    return lambda: os.close(number)


def as_nobody():
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


class Case:
    def __init__(self, verb, fault, before=None, environment=None, stdout=None, read_only_out=False, reason=None):
        self.verb = verb
        self.fault = fault
        self.before = before
        self.environment = environment or {}
        self.stdout = stdout
        self.read_only_out = read_only_out
        self.reason = reason  # words of the system that the error must have

    def __str__(self):
        return f"{self.verb.name} / {self.fault}"


def limit_cases(verb, is_root):
    for megabytes in (40, 60, 80, 100, 140, 200, 300):
        yield Case(verb, f"memory {megabytes} MB", limit(resource.RLIMIT_AS, megabytes * MB))
    for files in (3, 4, 5, 6, 8, 12):
        yield Case(verb, f"{files} descriptors", limit(resource.RLIMIT_NOFILE, files))
    for size in (0, 1, 512, 4096, 65536):
        yield Case(verb, f"files of {size} bytes", limit(resource.RLIMIT_FSIZE, size))
    for kilobytes in (256, 1024):
        yield Case(verb, f"stack {kilobytes} KB", limit(resource.RLIMIT_STACK, kilobytes << 10))
    yield Case(verb, "stdout closed", closed(1))
    yield Case(verb, "stderr closed", closed(2))
    yield Case(verb, "stdin closed", closed(0))
    yield Case(verb, "stdout full", stdout="/dev/full")
    if is_root:
        yield Case(verb, "not root", as_nobody, read_only_out=True)
        yield Case(verb, "no processes", lambda: (resource.setrlimit(resource.RLIMIT_NPROC, (1, 1)), as_nobody()))
    else:
        yield Case(verb, "folder closed", read_only_out=True)
        yield Case(verb, "no processes", limit(resource.RLIMIT_NPROC, 1))


CALLS = {
    "open": errno.EACCES, "create": errno.ENOSPC, "fopen": errno.EMFILE, "fdopen": errno.ENOMEM,
    "opendir": errno.EACCES, "read": errno.EIO, "pread": errno.EIO, "write": errno.ENOSPC, "fwrite": errno.ENOSPC,
    "fflush": errno.ENOSPC, "fclose": errno.EDQUOT, "rename": errno.EXDEV, "fsync": errno.EIO, "mkdir": errno.EROFS,
    "stat": errno.EACCES, "fstat": errno.EIO, "mmap": errno.ENOMEM, "pthread_create": errno.EAGAIN,
}
MOST_CALLS = 8  # of one kind, failed one by one
# DuckDB's allocator asks for its first pages while the library is opened, and ends the process without them.
NOT_TRIED = {("sql", "mmap")}


# ---- running ---------------------------------------------------------------------------------------------------------

class Bench:
    def __init__(self, assay, shim, folder):
        self.assay = assay
        self.shim = shim
        self.folder = folder
        self.inputs = folder / "in"
        self.lock = threading.Lock()
        self.numbers = iter(range(1, 1 << 30))
        self.problems = []
        self.cases = 0
        self.answers = {}

    def fresh_folder(self, read_only):
        with self.lock:
            out = self.folder / f"out{next(self.numbers)}"
        out.mkdir()
        out.chmod(0o555 if read_only else 0o777)
        return out

    @staticmethod
    def begun(command, **options):
        """Two cases of the same other user at a time have more processes than the one that is limited may have: the
        system then starts it a little later."""
        for _ in range(100):
            try:
                return subprocess.Popen(command, **options)
            except BlockingIOError:
                time.sleep(0.05)
        return subprocess.Popen(command, **options)

    def run(self, case):
        """(exit code, stdout, stderr, files in OUT, whether the fault happened)"""
        out = self.fresh_folder(case.read_only_out)
        mark = out.with_suffix(".mark")
        environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(out), "TMPDIR": str(out), "LC_ALL": "C.UTF-8",
                       "COLUMNS": "100"}
        environment.update(case.environment)
        if "ASSAY_FAULT" in case.environment:
            environment.update(LD_PRELOAD=str(self.shim), ASSAY_FAULT_MARK=str(mark))
        target = open(case.stdout, "wb") if case.stdout else subprocess.PIPE
        try:
            with self.begun(case.verb.command(self.assay, self.inputs, out), stdin=subprocess.DEVNULL, stdout=target,
                            stderr=subprocess.PIPE, env=environment, preexec_fn=case.before,
                            start_new_session=True) as process:
                try:
                    stdout, stderr = process.communicate(timeout=HANGS_S)
                    code = process.returncode
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    stdout, stderr = process.communicate()
                    code = "hang"
        finally:
            if case.stdout:
                target.close()
        files = {str(path.relative_to(out)): path for path in out.rglob("*") if path.is_file()}
        happened = mark.exists()
        contents = {name: path.read_bytes() for name, path in files.items()}
        out.chmod(0o755)
        shutil.rmtree(out)
        mark.unlink(missing_ok=True)
        # What a case says of its own folder is the same in every case.
        hide = str(out).encode()
        return (code, (stdout or b"").replace(hide, b"OUT"), stderr.replace(hide, b"OUT").decode("utf-8", "replace"),
                {name: text.replace(hide, b"OUT") for name, text in contents.items()}, happened)

    @staticmethod
    def same(verb, one, other):
        """Byte for byte; where matrices are multiplied without OpenBLAS, for which there is no room, the last digits of
        numbers may be others."""
        if one == other or not verb.name.startswith("throughput"):
            return one == other
        numbers = re.compile(rb"-?\d+\.\d+(?:e[-+]?\d+)?")
        rounded = [numbers.sub(lambda found: b"%.6g" % float(found.group()), text) for text in (one, other)]
        return rounded[0] == rounded[1]

    def answer_of(self, verb):
        with self.lock:
            known = self.answers.get(verb.name)
        if known is None:
            known = self.run(Case(verb, "none"))
            with self.lock:
                self.answers[verb.name] = known
        return known

    def problem(self, case, words):
        with self.lock:
            self.problems.append(f"{case}: {words}")

    def judge(self, case, result):
        code, stdout, stderr, files, _ = result
        right = self.answer_of(case.verb)
        with self.lock:
            self.cases += 1
        tail = stderr.strip()[-300:]
        if code == "hang":
            return self.problem(case, f"hangs: {tail}")
        loader = "error while loading shared libraries" in stderr or (code == 127 and "assay" not in stderr)
        if code not in FINE | {ERROR} | case.verb.own_codes and not loader:
            # Before the program itself runs, the kernel and the loader say what they like.
            started = "memory" not in case.fault and "stack" not in case.fault
            if started or code > 0 or code != -signal.SIGKILL and code != -signal.SIGSEGV:
                return self.problem(case, f"ends with {code}: {tail}")
        left = [name for name in files if ".tmp-" in name or "XXXX" in name or "assay-null-" in name]
        if left:
            self.problem(case, f"leaves {left}")
        if code == ERROR and case.fault != "stderr closed" and not loader:
            if not any(line.startswith("assay") for line in stderr.splitlines()):
                self.problem(case, f"no sentence: {tail!r}")
            if case.reason and case.reason not in stderr and "emory" not in stderr:
                self.problem(case, f"does not say '{case.reason}': {tail!r}")
        if code in FINE and case.verb.steady and right[0] == code and case.stdout is None and case.fault != "stdout closed":
            if not self.same(case.verb, stdout, right[1]) and not stderr.strip():
                self.problem(case, "another answer, and not a word why")
            for name, text in right[3].items():
                if files.get(name) != text and not name.endswith(".assay") and not stderr.strip():
                    self.problem(case, f"{name} is not what it is without the fault, and not a word why")
        if code in FINE and right[0] in FINE:
            missing = [name for name in right[3] if name not in files and "cache" not in name]
            if missing and not stderr.strip():
                self.problem(case, f"ends with {code} without {missing}")
        return None

    def try_case(self, case):
        self.judge(case, self.run(case))

    def try_calls(self, verb, kind, lasting):
        code = CALLS[kind]
        for nth in range(1, MOST_CALLS + 1):
            fault = f"{kind}:{nth}{'+' if lasting else ''}:{code}"
            case = Case(verb, f"call {fault}", environment={"ASSAY_FAULT": fault})
            result = self.run(case)
            if not result[4]:
                return
            self.judge(case, result)


# They have begun to write when they wait for an input that does not come: a file, and a folder that one trace is in.
SLOW = (Verb("report slow", "report", "-", "-o", "OUT/r.json", "--perfetto", "OUT/t.json"),
        Verb("export slow", "export", "IN/rank0.json", "-", "--format", "csv", "-o", "OUT/tables"))


def signals(bench, verb, number):
    """A signal in the middle of writing leaves nothing of what was being written."""
    out = bench.fresh_folder(False)
    case = Case(verb, f"signal {number}")
    with subprocess.Popen(verb.command(bench.assay, bench.inputs, out), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as process:
        for _ in range(200):
            begun = [path for path in out.iterdir() if ".tmp-" in path.name]
            if any(path.is_file() or list(path.rglob("*.csv")) for path in begun) or process.poll() is not None:
                break
            threading.Event().wait(0.02)
        process.send_signal(number)
        try:
            process.wait(timeout=HANGS_S)
        except subprocess.TimeoutExpired:
            process.kill()
            bench.problem(case, "does not end")
    bench.cases += 1
    if process.returncode != -number:
        bench.problem(case, f"ends with {process.returncode}")
    if list(out.iterdir()):
        bench.problem(case, f"leaves {[path.name for path in out.iterdir()]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assay", required=True, type=pathlib.Path)
    parser.add_argument("--shim", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--jobs", type=int, default=max(2, os.cpu_count() or 2))
    arguments = parser.parse_args()
    if sanitised(arguments.assay):
        print("faults: not under AddressSanitizer, which cannot live with these limits")
        return 77
    with tempfile.TemporaryDirectory(prefix="assay-faults-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        make_inputs(folder / "in")
        before = state_of(folder / "in")
        bench = Bench(arguments.assay.resolve(), arguments.shim.resolve(), folder)
        is_root = os.geteuid() == 0
        if is_root and subprocess.run([str(bench.assay), "--version"], preexec_fn=as_nobody, capture_output=True,
                                      check=False).returncode != 0:
            print("faults: another user cannot run this binary (a closed folder above it): the cases of such a user are "
                  "left out")
            is_root = False
        cases = [case for verb in verbs() for case in limit_cases(verb, is_root)]
        cases += [case for verb in readers() for case in limit_cases(verb, is_root)
                  if case.fault in ("memory 80 MB", "4 descriptors", "stdout full", "stdout closed", "stack 256 KB")]
        cases = [case for case in cases if arguments.only in str(case)]
        sweeps = [(verb, kind, lasting) for verb in verbs() for kind in CALLS for lasting in (False, True)
                  if (verb.name, kind) not in NOT_TRIED]
        sweeps += [(verb, kind, False) for verb in readers() for kind in ("open", "read", "pread", "stat", "fstat")]
        sweeps = [sweep for sweep in sweeps if arguments.only in f"{sweep[0].name} / call {sweep[1]}"]
        if arguments.list:
            print("\n".join(map(str, cases)))
            return 0
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            done = [pool.submit(bench.try_case, case) for case in cases]
            done += [pool.submit(bench.try_calls, *sweep) for sweep in sweeps]
            for one in done:
                one.result()
        if not arguments.only:
            for verb in SLOW:
                for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                    signals(bench, verb, number)
        if state_of(folder / "in") != before:
            bench.problems.append("an input has other bytes than before")
    for problem in bench.problems:
        print(problem, file=sys.stderr)
    print(f"faults: {bench.cases} cases, {len(bench.problems)} problems")
    return 1 if bench.problems else 0


if __name__ == "__main__":
    sys.exit(main())
