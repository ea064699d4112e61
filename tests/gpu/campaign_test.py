#!/usr/bin/env python3
"""The control flow of tests/gpu/campaign.sh with a stub instead of assay: steps that succeed, fail
and hang are told apart, none stops the others, and no step touches a GPU's settings."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

CAMPAIGN = pathlib.Path(__file__).resolve().parent / "campaign.sh"
STUB = """#!/bin/sh
echo "$@" >> "$STUB_LOG"
case "$*" in
  *gemm:4096*) echo "no such GPU" >&2; exit 2 ;;
  *gemv:2048*) exec sleep 30 ;;
esac
echo '{"power": {}}'
"""


class CampaignTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        top = pathlib.Path(self.folder.name)
        self.out = top / "out"
        self.log = top / "log"
        stub = top / "bin" / "assay"
        stub.parent.mkdir()
        stub.write_text(STUB)
        stub.chmod(0o755)
        self.environment = {**os.environ, "STUB_LOG": str(self.log),
                            "PATH": f"{stub.parent}:{os.environ['PATH']}"}

    def tearDown(self):
        self.folder.cleanup()

    def run_campaign(self, *arguments, script=CAMPAIGN):
        return subprocess.run([str(script), *arguments], env=self.environment, capture_output=True,
                              text=True, timeout=120, check=False)

    def summary(self):
        rows = json.loads((self.out / "campaign.json").read_text())["steps"]
        return {row["step"]: row for row in rows}

    def test_a_failing_and_a_hanging_step_do_not_stop_the_others(self):
        # The same script with a limit of a second for the step that hangs.
        quick = pathlib.Path(self.folder.name, "campaign.sh")
        quick.write_text(re.sub(r"(power_mb_2k) 120", r"\1 1", CAMPAIGN.read_text()))
        quick.chmod(0o755)
        done = self.run_campaign("--out", str(self.out), script=quick)
        self.assertEqual(done.returncode, 1)
        steps = self.summary()
        self.assertEqual(len(steps), 9)
        self.assertEqual(steps["power_calibrate"]["status"], "ok")
        self.assertEqual(steps["power_cb_4k"]["status"], "failed")
        self.assertEqual(steps["power_cb_4k"]["exit_code"], 2)
        self.assertEqual(steps["power_mb_2k"]["status"], "out_of_time")
        self.assertEqual(steps["power_interleaved"]["status"], "ok")
        self.assertIn("no such GPU", (self.out / "power_cb_4k.log").read_text())
        self.assertEqual(json.loads((self.out / "power_cb_2k.json").read_text()), {"power": {}})

    def test_only_runs_what_is_named(self):
        done = self.run_campaign("--out", str(self.out), "--only", "power_interleaved", "--device",
                                 "simulated")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(list(self.summary()), ["power_interleaved"])
        self.assertEqual(
            self.log.read_text().strip(),
            f"power run --calibration {self.out}/sensor.json --record "
            f"{self.out}/records/power_interleaved --workload 60*gemm:2048,1*gemm:8192 "
            "--device simulated --format json")

    def test_wrong_use_is_named(self):
        self.assertEqual(self.run_campaign().returncode, 2)
        done = self.run_campaign("--out", str(self.out), "--only", "power_nothing")
        self.assertEqual(done.returncode, 2)
        self.assertIn("power_nothing", done.stderr)
        self.environment["PATH"] = "/usr/bin:/bin"
        self.assertEqual(self.run_campaign("--out", str(self.out)).returncode, 2)

    def test_the_steps_fit_into_half_an_hour_and_change_no_setting(self):
        done = self.run_campaign("--list")
        limits = [int(line.split()[1]) for line in done.stdout.splitlines()]
        self.assertLessEqual(sum(limits), 1800)
        for word in ("nvidia-smi", "rocm-smi", "amd-smi", "--lock", "persistence"):
            self.assertNotIn(word, CAMPAIGN.read_text())


if __name__ == "__main__":
    unittest.main()
