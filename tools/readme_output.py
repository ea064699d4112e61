#!/usr/bin/env python3
"""Keeps the output shown in README.md real.

    tools/readme_output.py --assay build/release/assay [--check]

Runs the command named in the marker line above the block and writes its output into the block;
with --check, fails when the block differs. The shell runs it, so that a command may go on as a reader
would type it where the output is long: "| head -9", "| grep -A 6 TEXT".
"""

import os
import pathlib
import re
import subprocess
import sys

import check_flag

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- output of: assay (?P<args>.*?) -->\n```\n)(?P<text>.*?)(```\n<!-- end of output -->)",
                   re.DOTALL)
# 141: assay could not write what `head` no longer wanted.
SCRIPT = '"$ASSAY" {args}; status=${{PIPESTATUS[0]}}; [ "$status" = 0 ] || [ "$status" = 141 ]'


def main():
    assay, check = check_flag.parse(__doc__)
    readme = ROOT / "README.md"
    old = readme.read_text(encoding="utf-8")

    def rewritten(match):
        env = dict(os.environ, LC_ALL="C.UTF-8", ASSAY=str(assay))
        run = subprocess.run(["bash", "-c", SCRIPT.format(args=match["args"])], cwd=ROOT, env=env, check=True,
                             capture_output=True, text=True, encoding="utf-8")
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
