#!/usr/bin/env python3
"""Keeps the output shown in README.md real.

    tools/readme_output.py --assay build/release/assay [--check]

Runs the command named in the marker line above the block and writes its output into the block;
with --check, fails when the block differs. The shell runs it, so that a command may go on as a reader
would type it where the output is long: "| head -9", "| grep -A 6 TEXT". $DATA is the corpus of real
traces, $OUT a folder to write to. A block that needs the corpus, DuckDB or libxlsxwriter stays as it is
where these are not.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import check_flag

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- output of: assay (?P<args>.*?) -->\n```\n)(?P<text>.*?)(```\n<!-- end of output -->)",
                   re.DOTALL)
# 1: a gate was crossed; 141: assay could not write what `head` no longer wanted.
SCRIPT = '"$ASSAY" {args}\nstatus=${{PIPESTATUS[0]}}; [ "$status" = 0 ] || [ "$status" = 1 ] || [ "$status" = 141 ]'
NOT_HERE = ("tools/install_deps.sh query", "libxlsxwriter-dev")
DATA = pathlib.Path(os.environ.get("ASSAY_DATA") or ROOT.parent / "shared/data")


def main():
    assay, check = check_flag.parse(__doc__)
    readme = ROOT / "README.md"
    old = readme.read_text(encoding="utf-8")

    def rewritten(match):
        if "$DATA" in match["args"] and not DATA.exists():
            print(f"not here: the corpus, for assay {match['args']}")
            return match.group(0)
        with tempfile.TemporaryDirectory() as folder:
            env = dict(os.environ, LC_ALL="C.UTF-8", ASSAY=str(assay), DATA=str(DATA), OUT=folder)
            run = subprocess.run(["bash", "-c", SCRIPT.format(args=match["args"])], cwd=ROOT, env=env, check=False,
                                 capture_output=True, text=True, encoding="utf-8")
        if any(words in run.stderr for words in NOT_HERE):
            print(f"not here: what assay {match['args']} needs")
            return match.group(0)
        if run.returncode != 0:
            sys.exit(f"assay {match['args']}: {run.stderr}")
        if not run.stdout:
            sys.exit(f"assay {match['args']} prints nothing")
        return match.group(1) + run.stdout + match.group(4)

    if not BLOCK.search(old):
        sys.exit("README.md shows no output at all")
    new = BLOCK.sub(rewritten, old)
    if check:
        if new != old:
            sys.exit("README.md shows an output that assay no longer prints: tools/readme_output.py")
        return
    readme.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
