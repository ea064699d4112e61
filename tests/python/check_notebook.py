#!/usr/bin/env python3
"""examples/report.ipynb, executed: its page has the verdict and the tables that the program gives.

    check_notebook.py --assay build/release/assay

Exits with 77 (skipped) without jupyter-nbconvert and pandas.
"""

import argparse
import html
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "examples/report.ipynb"
PYTHON = "/usr/bin/python3"  # whose packages are the distribution's
TRACE = ROOT / "examples/h100_vit_inference.json.gz"
WANTED = [
    "Reduce launch overhead with CUDA graphs",  # the card
    "aten::addmm",  # the table of operators
    "1.80 ms",  # the what-if
    "<pre>True</pre>",  # the gate
]


def first_sentence(assay):
    """What the terminal says first of the notebook's trace, on one line."""
    said = subprocess.run([assay, TRACE], capture_output=True, text=True, check=True).stdout
    return " ".join(said.split("\n\n")[0].split())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    assay = str(pathlib.Path(parser.parse_args().assay).resolve())
    have = subprocess.run([PYTHON, "-c", "import nbconvert, ipykernel, pandas"], capture_output=True, check=False)
    if have.returncode != 0:
        print("jupyter-nbconvert, python3-ipykernel or python3-pandas is not here")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [PYTHON, "-m", "nbconvert", "--to", "html", "--execute", "--output-dir", folder, str(NOTEBOOK)],
            env={**os.environ, "ASSAY": assay, "PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1",
                 "HOME": folder, "PATH": "/usr/bin:/bin"},
            cwd=ROOT / "examples", capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        if done.returncode != 0:
            print(done.stderr[-3000:], file=sys.stderr)
            return 1
        page = pathlib.Path(folder, "report.html").read_text(encoding="utf-8")
    # Only what the cells gave, not what is written in them.
    given = html.unescape(" ".join(re.findall(r'jp-OutputArea-output.*?(?=<div class="jp-Cell|\Z)', page, re.S)))
    wanted = [first_sentence(assay), *WANTED]
    missing = [words for words in wanted if words not in given]
    for words in missing:
        print(f"the page lacks: {words}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
