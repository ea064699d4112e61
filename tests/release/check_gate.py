#!/usr/bin/env python3
"""packaging/gate.sh as action.yml and other systems call it: a release fetched over HTTP and checked, gates judged,
files written; names of files that would be commands are none.

    check_gate.py --assay build/release/assay
"""

import argparse
import functools
import gzip
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACE = ROOT / "examples/h100_vit_inference.json.gz"
ASSAY = ""
VERSION = "9.8.7"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Gate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = tempfile.mkdtemp()
        name = f"assay-{VERSION}-linux-{os.uname().machine}"
        release = pathlib.Path(cls.top, "releases", f"v{VERSION}")
        release.mkdir(parents=True)
        cls.archive = release / f"{name}.tar.xz"
        with tarfile.open(cls.archive, "w:xz", preset=0) as packed:
            packed.add(ASSAY, f"{name}/bin/assay")
        cls.digest = hashlib.sha256(cls.archive.read_bytes()).hexdigest()
        cls.sums = release / "SHA256SUMS"
        handler = functools.partial(Quiet, directory=str(release.parent))
        cls.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=cls.server.serve_forever, daemon=True).start()

    @classmethod
    def tearDownClass(cls):
        cls.server.shutdown()
        cls.server.server_close()
        shutil.rmtree(cls.top)

    def setUp(self):
        self.sums.write_text(f"{'0' * 64}  other.tar.xz\n{self.digest}  {self.archive.name}\n")
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=self.top))
        self.trace = self.folder / "a.json.gz"
        shutil.copy(TRACE, self.trace)

    def gate(self, base=None, new=None, **more):
        env = {
            "PATH": os.environ["PATH"], "RUNNER_TEMP": str(self.folder), "ASSAY_VERSION": VERSION,
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"), "GITHUB_OUTPUT": str(self.folder / "output"),
            "ASSAY_RELEASES": f"http://127.0.0.1:{self.server.server_port}", "ASSAY_OUT": str(self.folder / "out"),
            "ASSAY_BASE": str(base or self.trace), "ASSAY_NEW": str(new or self.trace), **more,
        }  # fmt: skip
        for name in ("summary", "output"):
            (self.folder / name).write_text("")
        done = subprocess.run([ROOT / "packaging/gate.sh"], env=env, cwd=self.folder, capture_output=True, text=True,
                              check=False, timeout=300)  # fmt: skip
        told = dict(line.split("=", 1) for line in (self.folder / "output").read_text().splitlines())
        return done, told

    def test_fine(self):
        done, told = self.gate(ASSAY_GATES="kernels>+0\n\n  \r\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(told["crossed"], "false")
        self.assertIn("as long as A", (self.folder / "summary").read_text())
        self.assertIn("<html", pathlib.Path(told["report"]).read_text()[:300])
        self.assertIn('name="kernels&gt;+0"', pathlib.Path(told["junit"]).read_text())
        self.assertEqual(list(self.folder.glob("assay.*")), [], "what was fetched is gone")

    def test_crossed(self):
        # Kernels are counted, and do not vary: more of them is no noise.
        sides = [self.folder / side for side in ("base", "new")]
        for side in sides:
            side.mkdir()
        events = json.loads(gzip.decompress(TRACE.read_bytes()))
        seen = 0
        for event in list(events["traceEvents"]):
            if event.get("cat") == "kernel":
                seen += 1
                if seen % 10 == 0:
                    events["traceEvents"].remove(event)
        for run in ("1", "2"):
            (sides[0] / f"run{run}.json").write_text(json.dumps(events))
            shutil.copy(TRACE, sides[1] / f"run{run}.json.gz")
        done, told = self.gate(*sides, ASSAY_GATES="kernels>+0", ASSAY_STRICT="false")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(told["crossed"], "true")
        self.assertIn("<failure", pathlib.Path(told["junit"]).read_text())
        done, told = self.gate(*reversed(sides), ASSAY_GATES="kernels>+0", ASSAY_STRICT="false")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_undecided_and_unknown(self):
        done, told = self.gate(ASSAY_GATES="tklqt>-10%")
        self.assertEqual(done.returncode, 2)
        self.assertIn("Undecided", done.stderr)
        self.assertEqual(told["crossed"], "false")
        done, told = self.gate(ASSAY_GATES="nonsense>+10%")
        self.assertEqual((done.returncode, told["report"]), (2, ""))
        self.assertIn("tklqt", done.stderr, "lists what there is")

    def test_a_missing_side(self):
        done, told = self.gate(new=self.folder / "none.json")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(told["report"], "")

    def test_lost_data(self):
        cut = self.folder / "cut.json"
        cut.write_bytes(gzip.decompress(TRACE.read_bytes())[:2_000_000])
        self.assertEqual(self.gate(new=cut)[0].returncode, 2, "a cut trace is refused")

    def test_a_wrong_checksum(self):
        self.sums.write_text(f"{'0' * 64}  {self.archive.name}\n")
        done, _ = self.gate()
        self.assertEqual(done.returncode, 2)
        self.assertIn("checksum", done.stderr)
        self.assertEqual(self.gate(ASSAY_SHA256=self.digest)[0].returncode, 0)
        self.assertEqual(self.gate(ASSAY_SHA256="0" * 64)[0].returncode, 2)
        self.sums.write_text("")
        self.assertEqual(self.gate()[0].returncode, 2, "a file that the sums do not name")

    def test_names_are_no_commands(self):
        marker = self.folder / "made"
        odd = self.folder / f"it's \"a\" $(touch {marker.name}) `touch {marker.name}`;touch {marker.name} trace.json.gz"
        shutil.copy(TRACE, odd)
        done, told = self.gate(new=odd, ASSAY_GATES=f"$(touch {marker})>1")
        self.assertEqual(done.returncode, 2)
        done, told = self.gate(new=odd, ASSAY_GATES="kernels>+0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(marker.exists())
        self.assertEqual(self.gate(ASSAY_VERSION="../../x")[0].returncode, 2)

    def test_an_archive_at_hand(self):
        done, _ = self.gate(ASSAY_RELEASES="http://127.0.0.1:1", ASSAY_ARCHIVE=str(self.archive))
        self.assertEqual(done.returncode, 0, done.stderr)
        done, _ = self.gate(ASSAY_RELEASES="http://127.0.0.1:1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("was not fetched", done.stderr)


class Action(unittest.TestCase):
    def test_every_input_reaches_the_script_as_a_variable(self):
        text = (ROOT / "action.yml").read_text()
        inputs = set(re.findall(r"^  ([a-z0-9-]+): \{ description", text.split("outputs:")[0], re.M))
        self.assertEqual(inputs, set(re.findall(r"\$\{\{ inputs\.([a-z0-9-]+) \}\}", text)))
        script = (ROOT / "packaging/gate.sh").read_text()
        for name in re.findall(r"^        (ASSAY_\w+):", text, re.M):
            self.assertTrue(name in script or name == "ASSAY_GATE", name)
        # Nothing is pasted into shell text.
        runs = [line for line in text.splitlines() if line.strip().startswith("run:")]
        self.assertEqual(len(runs), 1)
        self.assertNotIn("${{", runs[0])
        outputs = set(re.findall(r"steps\.diff\.outputs\.(\w+)", text))
        self.assertEqual(outputs, {"report", "markdown", "junit", "crossed"})

    def test_the_document_uses_what_there_is(self):
        page = (ROOT / "docs/ci.md").read_text()
        action = (ROOT / "action.yml").read_text()
        used = re.search(r"uses: OWNER/assay@\S+\n\s+with:\n((?:\s+[a-z0-9-]+:.*\n(?:\s{12,}\S.*\n)*)+)", page)
        self.assertIsNotNone(used)
        for name in re.findall(r"^\s{10}([a-z0-9-]+):", used[1], re.M):
            self.assertIn(f"  {name}: {{", action)
        script = (ROOT / "packaging/gate.sh").read_text()
        for name in set(re.findall(r"\bASSAY_[A-Z0-9]+\b", page)):
            self.assertIn(name, script)


class Versions(unittest.TestCase):
    def test_the_changelog_begins_with_what_is_being_made(self):
        top = re.search(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.M)[1]
        made = re.search(r"^project\(assay VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]
        self.assertIn(top, ("Unreleased", made))
        said = subprocess.run([ASSAY, "--version"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(said, rf"^assay {re.escape(made)}( \([0-9a-f]{{7,}}\))?\n$")


def main():
    global ASSAY  # noqa: PLW0603
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    given, rest = parser.parse_known_args()
    ASSAY = str(pathlib.Path(given.assay).resolve())
    if shutil.which("curl") is None:
        print("curl is not here")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
