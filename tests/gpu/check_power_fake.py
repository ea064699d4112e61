#!/usr/bin/env python3
"""`assay power` from the command line on a GPU that does not exist (tests/fakes/fake_nvidia.cc): calibrating ends in its
budget, a run without a calibration takes the reading that NVML documents and says so, and executions too many
for an event each give the fake's true power and time."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

ASSAY = FAKE = None
TIMEOUT_S = 800  # nothing waits for it where all is well
NAMES = ("libcuda.so.1", "libnvidia-ml.so.1", "libcublas.so.13", "libnccl.so.2")


class PowerOnAFake(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.top = pathlib.Path(self.folder.name)
        for name in NAMES:
            (self.top / name).symlink_to(FAKE)

    def power(self, *words, **extra):
        env = {**os.environ, "LD_LIBRARY_PATH": str(self.top), "XDG_CACHE_HOME": str(self.top / "cache"), **extra}
        return subprocess.run([ASSAY, "power", *map(str, words), "--device", "nvidia:0", "--format", "json"], env=env,
                              capture_output=True, text=True, check=False, timeout=TIMEOUT_S)

    def test_calibrating_ends_in_its_budget(self):
        kept = self.top / "sensor.json"
        began = time.monotonic()
        done = self.power("calibrate", "--calibration", kept, "--budget", 1)
        self.assertEqual(done.returncode, 2)
        self.assertIn("the time of 1 s was up", done.stderr)
        self.assertIn("takes the reading that the vendor documents", done.stderr)
        self.assertFalse(kept.exists())
        # Its first wait is of 2 s, its first load of 2.5 s: neither is begun.
        self.assertLess(time.monotonic() - began, 60)

    def test_short_kernels_without_a_calibration(self):
        done = self.power("run", "--force", "--workload", "gemm:64", "--runs", 2, "--record", self.top / "record",
                          FAKE_AVERAGE="1", FAKE_GEMM_NS="4000")
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        power = answer["power"]
        kernel, how = power["kernels"][0], power["procedure"]
        self.assertEqual(power["sensor"]["sensor_source"],
                         "documented by NVML: 1 s average; the instant reading is not calibrated")
        # More than 200,000 executions of 4 us fill a window of 1 s.
        self.assertGreater(how["executions_per_run"], 250_000)
        self.assertGreater(how["timed_together"], 1)
        self.assertTrue(any("timed together" in line for line in answer["verdict"]), answer["verdict"])
        # The truth: 500 W while it runs; a busy machine keeps the stream waiting at times.
        self.assertAlmostEqual(kernel["ssp_w"], 500, delta=25)
        self.assertAlmostEqual(kernel["t_exec_ns"], 4000, delta=200)

    def test_a_collective_over_four_gpus(self):
        where = self.top / "record"
        arguments = ("run", "--workload", "all_reduce:512MB", "--runs", 2, "--record", where)
        done = self.power(*arguments, FAKE_AVERAGE="1", FAKE_GPUS="4")
        self.assertEqual(done.returncode, 0, done.stderr)
        power = json.loads(done.stdout)["power"]
        kernel = power["kernels"][0]
        self.assertEqual(kernel["name"], "all_reduce:512MB over 4 GPUs")
        # 512 MB at 400 GB/s and 20 us, at 500 W.
        self.assertAlmostEqual(kernel["t_exec_ns"], 1_300_000, delta=30_000)
        self.assertAlmostEqual(kernel["ssp_w"], 500, delta=25)
        # A campaign of four GPUs is not gone on with on two.
        other = self.power(*arguments, FAKE_AVERAGE="1", FAKE_GPUS="2")
        self.assertEqual(other.returncode, 2)
        self.assertIn("all_reduce:512MB over 4 GPUs, this would be all_reduce:512MB over 2 GPUs", other.stderr)

    def test_a_collective_of_one_gpu_is_refused(self):
        done = self.power("run", "--workload", "all_gather:64KiB", "--record", self.top / "record", FAKE_AVERAGE="1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("moves nothing over a link", done.stderr)
        self.assertFalse((self.top / "record").exists())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    parser.add_argument("--fake", required=True)
    known, rest = parser.parse_known_args()
    ASSAY, FAKE = known.assay, str(pathlib.Path(known.fake).resolve())
    unittest.main(argv=[sys.argv[0], *rest])
