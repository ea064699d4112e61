#!/usr/bin/env python3
"""`assay power` from the command line on GPUs that do not exist (tests/fakes): calibrating ends in its budget, a run without a
calibration takes the reading that NVML documents and says so, executions too many for an event each give the
fake's true power and time, and collectives go from a campaign by their profiles to a page (FinGraV, Figure 10)."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
from page import shown_on  # noqa: E402

ASSAY = FAKE = AMD = None
TIMEOUT_S = 800  # nothing waits for it where all is well
NAMES = ("libcuda.so.1", "libnvidia-ml.so.1", "libcublas.so.13", "libnccl.so.2")
AMD_NAMES = ("libamdhip64.so.7", "librocm_smi64.so.7", "librocblas.so.5", "librccl.so.1", "libhiprtc.so.7")


class Fake(unittest.TestCase):
    def pretend(self, library, names):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        for name in names:
            (self.top / name).symlink_to(library)

    def assay(self, *words, **extra):
        env = {**os.environ, "LD_LIBRARY_PATH": str(self.top), "XDG_CACHE_HOME": str(self.top / "cache"), **extra}
        return subprocess.run([ASSAY, "power", *map(str, words)], env=env, capture_output=True, text=True, check=False,
                              timeout=TIMEOUT_S)


class PowerOnAFake(Fake):
    def setUp(self):
        self.pretend(FAKE, NAMES)

    def power(self, *words, **extra):
        return self.assay(*words, "--device", "nvidia:0", "--format", "json", **extra)

    def test_calibrating_ends_in_its_budget(self):
        kept = self.top / "sensor.json"
        began = time.monotonic()
        done = self.power("calibrate", "--calibration", kept, "--budget", 1)
        self.assertEqual(done.returncode, 2)
        self.assertIn("the time of 1 s was up", done.stderr)
        self.assertIn("uses the sensor as the vendor documents it", done.stderr)
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
        self.assertTrue(any("timed together" in line for line in answer["headline"]), answer["headline"])
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


class CollectivesOnAFake(Fake):
    """Four GPUs whose energy accumulator is read anew every millisecond: of their collectives a curve is drawn."""

    def setUp(self):
        self.pretend(AMD, AMD_NAMES)

    def campaign(self, work, *more, **extra):
        return self.assay("run", "--workload", work, "--device", "amd:0", "--record", self.top / work.replace(":", "-"), *more,
                          **{"FAKE_GPUS": "4", **extra})

    def test_from_a_campaign_to_a_page(self):
        works = ("all_gather:512MB", "all_reduce:512MB")
        for work in works:
            done = self.campaign(work, "--budget", 60)
            self.assertEqual(done.returncode, 0, done.stderr)
        records = [self.top / work.replace(":", "-") for work in works]
        told = self.assay("profile", *records, "--format", "json")
        self.assertEqual(told.returncode, 0, told.stderr)
        profiles = [one["power"]["kernels"][0] for one in json.loads(told.stdout)["recordings"]]
        for work, kernel in zip(works, profiles):
            self.assertEqual(kernel["name"], f"{work} over 4 GPUs")
            self.assertEqual(kernel["verdict"], "averaged")
            self.assertAlmostEqual(kernel["t_exec_ns"], 1_300_000, delta=30_000)
            self.assertLessEqual(kernel["ssp_low_w"], 505)
            self.assertGreaterEqual(kernel["ssp_high_w"], 495)
            self.assertEqual(kernel["curve_kind"], "spline")
        page = self.top / "figure.html"
        drawn = self.assay("profile", *records, "-o", page)
        self.assertEqual(drawn.returncode, 0, drawn.stderr)
        shown = shown_on(page)
        for work in works:
            self.assertRegex(shown, rf"{work} over 4 GPUs draws (49\d|50\d) W")

    def test_a_short_one_asks_for_force(self):
        done = self.campaign("all_gather:64KB", "--budget", 20)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("refused, because the kernel takes", done.stdout)

    def test_without_the_library_it_is_named(self):
        (self.top / "librccl.so.1").unlink()
        (self.top / "librccl.so.1").symlink_to(self.top / "not-there.so")
        done = self.campaign("all_gather:512MB")
        self.assertEqual(done.returncode, 2)
        self.assertIn("collectives need RCCL, which is not installed here", done.stderr)
        self.assertFalse((self.top / "all_gather-512MB").exists())

    def test_of_one_gpu_it_is_refused(self):
        done = self.campaign("all_reduce:512MB", FAKE_GPUS="1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("moves nothing over a link", done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    parser.add_argument("--fake", required=True)
    parser.add_argument("--amd", required=True)
    known, rest = parser.parse_known_args()
    ASSAY, FAKE, AMD = known.assay, str(pathlib.Path(known.fake).resolve()), str(pathlib.Path(known.amd).resolve())
    unittest.main(argv=[sys.argv[0], *rest])
