#!/usr/bin/env python3
"""An RPD database gives the answer of the Chrome-trace JSON that rpd2tracing.py made of it, with more precision.

    check_rpd.py --assay build/release/assay
"""

import argparse
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

from datasets import CORPUS
import rpd

SOURCE = "kineto/other/rpd_matmul_chrome.json"


def answer(assay, path):
    run = subprocess.run([assay, "report", path, "--format", "json"], capture_output=True, text=True, check=False,
                         env={**os.environ, "ASSAY_CACHE": "off"})
    return json.loads(run.stdout) if run.returncode == 0 else run.stderr


def rows(assay, path, query):
    run = subprocess.run([assay, "sql", path, query, "--format", "csv"], capture_output=True, text=True, check=False)
    return run.stdout + run.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True, type=pathlib.Path)
    args = parser.parse_args()
    source = CORPUS / SOURCE
    if not source.exists():
        print("the public trace is not here")
        return 77
    assay = args.assay.resolve()
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        path = rpd.write(pathlib.Path(folder) / "run.rpd", source)
        expected, found = answer(assay, source), answer(assay, path)
        for key in ("bottleneck", "headline", "details", "total_ns", "causes", "actions"):
            wanted, got = expected["summary"][key], found["summary"][key] if isinstance(found, dict) else found
            if wanted != got:
                faults.append(f"{key}: {got}, from JSON {wanted}")
        with sqlite3.connect(path) as file:
            launch = file.execute("SELECT a.id, o.id FROM rocpd_api a JOIN rocpd_string s ON s.id = a.apiName_id "
                                  "JOIN rocpd_api_ops o ON o.api_id = a.id WHERE s.string = 'hipLaunchKernel' LIMIT 1").fetchone()
            copy = file.execute("SELECT o.api_id FROM rocpd_op p JOIN rocpd_api_ops o ON o.op_id = p.id "
                                "JOIN rocpd_string s ON s.id = p.opType_id WHERE s.string = 'CopyHostToDevice' LIMIT 1").fetchone()
            file.execute("INSERT INTO rocpd_kernelapi VALUES (?, '0x7f', 12, 2, 1, 256, 1, 1)", (launch[0],))
            file.execute("INSERT INTO rocpd_copyapi VALUES (?, '0x7f', 1048576)", copy)
            marker = file.execute("INSERT INTO rocpd_string (string) VALUES ('UserMarker') RETURNING id").fetchone()[0]
            label = file.execute("INSERT INTO rocpd_string (string) VALUES ('step 1') RETURNING id").fetchone()[0]
            first = file.execute("SELECT pid, tid, min(start), max(end) FROM rocpd_api").fetchone()
            file.execute("INSERT INTO rocpd_api VALUES (100000, ?, ?, ?, ?, ?, ?)", (*first, marker, label))
        file.close()
        document = answer(assay, path)
        if not isinstance(document, dict):
            faults.append(document)
        for what, query in {"12,2,1,256": "SELECT grid_x, grid_y, grid_z, block_x FROM kernel_shapes",
                            "1048576": "SELECT bytes FROM transfers",
                            "step 1": "SELECT name FROM annotations"}.items():
            said = rows(assay, path, query)
            if "DuckDB is not here" in said:
                break
            if what not in said:
                faults.append(f"{what}: {said[-300:]}")
    print("\n".join(faults) or "an RPD database answers as its JSON")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
