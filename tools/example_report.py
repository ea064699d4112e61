#!/usr/bin/env python3
"""Keeps examples/report.html, the report that README.md links to, what assay writes today.

    tools/example_report.py --assay build/release/assay [--check]

Writes it anew; with --check, fails when the page, its JSON document or what it shows differ. The tool's
version and the definitions, which change with every line of docs/metrics.md, may differ.
"""

import base64
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import check_flag

ROOT = pathlib.Path(__file__).resolve().parent.parent
REPORT = ROOT / "examples/report.html"
TRACE = "examples/h100_vit_inference.json.gz"
DATA = re.compile(r'(id="assay-(?:head|view|json)">)([A-Za-z0-9+/=]*)')


def parts(path):
    """The page around the data, and the documents in it."""
    html = path.read_text(encoding="utf-8")
    documents = [json.loads(gzip.decompress(base64.b64decode(data))) for _, data in DATA.findall(html)]
    for document in documents:
        document.get("tool", {}).pop("version", None)
        document.pop("definitions", None)
    return [DATA.sub(r"\1", html), *documents]


def main():
    assay, check = check_flag.parse(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder, "report.html") if check else REPORT
        subprocess.run([assay, "report", TRACE, "-o", output], cwd=ROOT, check=True)
        if check and parts(output) != parts(REPORT):
            sys.exit("examples/report.html is not what assay writes now: make example")


if __name__ == "__main__":
    main()
