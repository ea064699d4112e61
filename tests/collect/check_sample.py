#!/usr/bin/env python3
"""`assay sample` as a user runs it: codes, signals, full disks, readers that leave, and what `breakdown` and
`power attribute` make of the file."""

import argparse
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ASSAY = None
SECOND = 1_000_000_000
TIMEOUT_S = 600  # nothing waits for it where all is well


def sample(*words, **options):
    return subprocess.run([ASSAY, "sample", *map(str, words)], capture_output=True, text=True,
                          check=False, timeout=TIMEOUT_S, **options)


class Sample(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = pathlib.Path(self.folder.name, "samples.csv")

    def rows(self):
        lines = self.out.read_text().splitlines()
        header = next(line for line in lines if not line.startswith("#")).split(",")
        rows = [line.split(",") for line in lines if not line.startswith(("#", "t_ns"))]
        for row in rows:
            self.assertEqual(len(row), len(header), row)
        return [dict(zip(header, row)) for row in rows]

    def complete_rows(self):
        """Of a file that is being written: the rows of the CPU that it has by now."""
        text = self.out.read_text() if self.out.exists() else ""
        lines = text[:text.rfind("\n") + 1].splitlines()
        return [line.split(",") for line in lines if ",cpu," in line]

    def wait_for(self, process, holds):
        """Until something holds, however slow the machine is, or the process is gone."""
        until = time.monotonic() + TIMEOUT_S
        while process.poll() is None and not holds():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.005)

    def until_rows(self, count):
        """A command that ends when that many rows are written."""
        return ("sh", "-c", 'while [ "$(grep -c ,cpu, "$1")" -lt "$2" ]; do sleep 0.05; done', "sh", self.out, count)

    def test_the_commands_code_output_and_arguments_are_its_own(self):
        done = sample("-o", self.out, "--", "sh", "-c", "echo out; echo -o --hz; exit 11")
        self.assertEqual(done.returncode, 11)
        self.assertEqual(done.stdout, "out\n-o --hz\n")
        self.assertIn("no GPU to sample", done.stderr)

    def test_both_clocks_run_together_and_rows_are_a_period_apart(self):
        started = time.clock_gettime_ns(time.CLOCK_REALTIME)
        done = sample("-o", self.out, "--hz", 20, "--", *self.until_rows(25))
        self.assertEqual(done.returncode, 0, done.stderr)
        cpu = [row for row in self.rows() if row["device"] == "cpu"]
        # Each row but the last is of a period of its own, and those without one are told as missed.
        periods = [(int(row["monotonic_ns"]) - int(cpu[0]["monotonic_ns"])) // (SECOND // 20) for row in cpu]
        self.assertEqual(periods[:-1], sorted(set(periods[:-1])))
        missed = int(re.search(r"^# end: .*missed=(\d+)", self.out.read_text(), re.MULTILINE)[1])
        self.assertIn(len(cpu) + missed - periods[-1], (1, 2))
        self.assertGreaterEqual(int(cpu[0]["t_ns"]), started)
        apart = {int(row["t_ns"]) - int(row["monotonic_ns"]) for row in cpu}
        # Half of the tightest of some reads of both, which took 20 us at most, and what adjusting a clock adds.
        self.assertLess(max(apart) - min(apart), 1_000_000)
        cores = len(os.sched_getaffinity(0))
        self.assertGreaterEqual(len(cpu[-1]["cpu_util_percent"].split()), cores)
        for row in cpu[1:]:
            for one in row["cpu_util_percent"].split():
                self.assertTrue(one == "-" or 0 <= float(one) <= 100, row)
        self.assertIn("of one core", done.stderr)

    def test_cpu_time_of_the_command_is_counted(self):
        # It works for half a second, tells what it took, and then waits without working until that is seen.
        took, seen = (pathlib.Path(self.folder.name, name) for name in ("took", "seen"))
        os.mkfifo(seen)
        busy = f"""import time
while time.process_time() < 0.5: pass
took = time.process_time()
print(took, file=open({str(took)!r} + ".new", "w"))
import os
os.rename({str(took)!r} + ".new", {str(took)!r})
open({str(seen)!r}).read()
"""
        command = [ASSAY, "sample", "-o", str(self.out), "--", "sh", "-c", f"{sys.executable} -c \"$0\"; true", busy]

        def counted():
            rows = self.complete_rows()
            return took.exists() and rows and float(rows[-1][-1] or 0) >= float(took.read_text()) - 0.05

        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as running:
            self.wait_for(running, counted)
            last = float(self.complete_rows()[-1][-1])
            seen.write_text("")
            running.wait(timeout=TIMEOUT_S)
        # The shell's own time comes on top, and is nothing beside it.
        self.assertLess(last, float(took.read_text()) + 0.25)

    def interrupted(self, number):
        with subprocess.Popen([ASSAY, "sample", "-o", str(self.out)], stderr=subprocess.PIPE,
                              text=True) as running:
            self.wait_for(running, lambda: len(self.complete_rows()) >= 3)
            running.send_signal(number)
            running.communicate(timeout=TIMEOUT_S)
        self.assertEqual(running.returncode, 0)
        self.assertTrue(self.out.read_text().splitlines()[-1].startswith("# end: ticks="))
        self.rows()

    def test_an_interrupt_ends_it_in_order(self):
        self.interrupted(signal.SIGINT)

    def test_so_does_a_termination(self):
        self.interrupted(signal.SIGTERM)

    def test_killed_it_leaves_whole_rows_that_can_be_read(self):
        with subprocess.Popen([ASSAY, "sample", "-o", str(self.out), "--hz", "50"],
                              stderr=subprocess.DEVNULL) as running:
            self.wait_for(running, lambda: len(self.complete_rows()) > 5)
            running.kill()
        self.assertTrue(self.out.read_text().endswith("\n"))
        self.assertGreater(len(self.rows()), 5)

    def test_it_ends_with_the_process_it_watches(self):
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as watched:
            with subprocess.Popen([ASSAY, "sample", "-o", str(self.out), "--pid", str(watched.pid)],
                                  stderr=subprocess.DEVNULL) as running:
                self.wait_for(running, lambda: len(self.complete_rows()) >= 3)
                # Reaped at once, as a job's own parent would.
                watched.stdin.close()
                watched.wait()
                self.assertEqual(running.wait(timeout=TIMEOUT_S), 0)
        self.assertIn("# end: ", self.out.read_text())

    def test_a_reader_that_leaves_is_no_error(self):
        script = f"'{ASSAY}' sample -o - --hz 50 2>/dev/null | head -3; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True,
                              timeout=TIMEOUT_S)
        self.assertEqual(done.stdout.splitlines()[-1], "0")

    def test_what_cannot_be_written_or_started_is_said_before_anything_runs(self):
        mark = pathlib.Path(self.folder.name, "ran")
        for words in (["-o", "/no/such/folder/x.csv", "--", "touch", mark],
                      ["-o", "/dev/full", "--", "touch", mark],
                      ["-o", self.out, "--hz", "0", "--", "touch", mark],
                      ["-o", self.out, "--pid", "1", "--", "touch", mark],
                      ["--", "touch", mark]):
            done = sample(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertTrue(done.stderr, words)
            self.assertFalse(mark.exists(), words)

    def test_a_command_that_is_not_there_leaves_no_file_and_no_older_one_is_lost(self):
        closed = pathlib.Path(self.folder.name, "closed")
        closed.mkdir(mode=0)  # to who is not root: holds no command that one could mean
        paths = {**os.environ, "PATH": f"{closed}:{os.environ['PATH']}"}
        for command, code in (("nosuchcommand", 127), ("/no/such/program", 127), ("/tmp", 126),
                              (os.devnull, 126)):
            done = sample("-o", self.out, "--", command, env=paths)
            self.assertEqual(done.returncode, code, command)
            self.assertIn("cannot be started", done.stderr)
            self.assertFalse(self.out.exists(), command)
        self.out.write_text("older\n")
        self.assertEqual(sample("-o", self.out, "--", "nosuchcommand").returncode, 127)
        self.assertEqual(self.out.read_text(), "older\n")

    def test_what_libraries_print_where_there_is_no_gpu_is_not_shown(self):
        done = sample("-o", self.out, "--", "sh", "-c", "echo of the command >&2")
        lines = done.stderr.splitlines()
        self.assertIn("of the command", lines)
        self.assertEqual([line for line in lines if not line.startswith("assay: ")], ["of the command"])

    def test_a_disk_that_fills_up_stops_the_samples_and_not_the_command(self):
        # A limit on the size of files stands for the disk: once some rows are there, not one more byte.
        go = pathlib.Path(self.folder.name, "go")
        command = [ASSAY, "sample", "-o", str(self.out), "--hz", "100", "--", "sh", "-c", 'read x < "$0"; exit 6', str(go)]
        os.mkfifo(go)
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True,
                              preexec_fn=lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN)) as running:
            self.wait_for(running, lambda: len(self.complete_rows()) >= 3)
            resource.prlimit(running.pid, resource.RLIMIT_FSIZE, (1, 1))
            kept = len(self.complete_rows())
            go.write_text("on\n")
            told = running.communicate(timeout=TIMEOUT_S)[1]
        self.assertEqual(running.returncode, 6, told)
        self.assertIn("writing failed", told)
        self.assertTrue(self.out.read_text().endswith("\n"))
        self.assertEqual(len(self.complete_rows()), kept)
        self.rows()

    def test_levels_reads_what_it_wrote(self):
        sample("-o", self.out, "--hz", 20, "--", *self.until_rows(30))
        times = [int(row["t_ns"]) for row in self.rows() if row["device"] == "cpu"]
        start = times[4]
        args = {"correlation": 1, "External id": 1, "device": 0, "stream": 7}
        events = [
            dict(ph="X", cat="cpu_op", name="aten::mm", pid=1, tid=1, ts=0, dur=30, args={"External id": 1}),
            dict(ph="X", cat="cuda_runtime", name="cudaLaunchKernel", pid=1, tid=1, ts=5, dur=5, args=args),
            dict(ph="X", cat="kernel", name="gemm", pid=0, tid=7, ts=20,
                 dur=(times[24] - start) // 1000, args=args)]
        trace = pathlib.Path(self.folder.name, "trace.json")
        trace.write_text(json.dumps({"baseTimeNanoseconds": start, "traceEvents": events}))
        done = subprocess.run([ASSAY, "breakdown", trace, "--telemetry", self.out, "--format", "json"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        levels = json.loads(done.stdout)["breakdown"]
        self.assertGreaterEqual(levels["cpu"]["samples"], 10)
        self.assertGreaterEqual(levels["cpu"]["active_cores_max"], levels["cpu"]["min_cores_max"])
        found = [row for row in levels["telemetry"]
                 if row["level"] == "operation" and row["signal"] == "active_cores"]
        self.assertEqual([row["how"] for row in found], ["weighted"])
        # Without a GPU there is no power in it.
        done = subprocess.run([ASSAY, "power", "attribute", trace, "--samples", self.out],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("power", done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    options, rest = parser.parse_known_args()
    ASSAY = os.path.abspath(options.assay)
    unittest.main(argv=[sys.argv[0], *rest])
