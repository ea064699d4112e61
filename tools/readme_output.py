#!/usr/bin/env python3
"""Keeps the output shown in README.md real.

    tools/readme_output.py --assay build/release/assay [--check]

Runs the command named in the marker line above the block and writes its output into the block;
with --check, fails when the block differs.
"""

import argparse
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(<!-- output of: assay (?P<args>.*?) -->\n```\n)(?P<text>.*?)(```\n<!-- end of output -->)",
                   re.DOTALL)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default="build/release/assay")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    assay = pathlib.Path(options.assay).resolve()
    readme = ROOT / "README.md"
    old = readme.read_text(encoding="utf-8")

    def rewritten(match):
        env = dict(os.environ, LC_ALL="C.UTF-8")
        run = subprocess.run([assay, *shlex.split(match["args"])], cwd=ROOT, env=env, check=True,
                             capture_output=True, text=True, encoding="utf-8")
        return match.group(1) + run.stdout + match.group(4)

    if not BLOCK.search(old):
        sys.exit("README.md shows no output at all")
    new = BLOCK.sub(rewritten, old)
    if options.check:
        if new != old:
            sys.exit("README.md shows an output that assay no longer prints: tools/readme_output.py")
        return
    readme.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
