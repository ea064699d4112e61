"""Assay from Python: where a GPU run's time went, and what would change it.

    import assay

    r = assay.report("trace.json.gz")       # a path, a folder, several, or a stopped torch.profiler.profile
    r.headline, r.bottleneck, r.causes, r.actions  # r alone shows the answer in a notebook
    r.tables["kernels"].to_pandas()

    d = assay.diff("before.json.gz", "after.json.gz", fail_on="tklqt>+10%")
    d.passed

    assay.whatif("trace.json.gz", "cuda_graph", "kernel:*gemm*=0.8").actions
    assay.sql("trace.json.gz", "select name, sum(dur_ns) from kernels group by 1 order by 2 desc")
    assay.explain("dispatch")

    with assay.profile(steps=10) as p:
        for batch in loader:
            train(batch)
            p.step()
    p.report

The program `assay` does the work in a process of its own: a fault of ours ends that process and not
yours, and is an AssayError here. An option of the command line is a keyword, with `_` for `-`
(`window="decode*"`); a list gives it several times, True is a flag. Nothing outside the standard library
is needed; NumPy, pandas, Polars and pyarrow are used where a method names them.
"""

from __future__ import annotations

from ._answers import Diff, Report, Rows, WhatIf, diff, explain, report, sql, tables, whatif
from ._program import AssayError, program, version
from ._profile import Profile, profile
from .columns import Column, Table

__all__ = [
    "AssayError",
    "Column",
    "Diff",
    "Profile",
    "Report",
    "Rows",
    "Table",
    "WhatIf",
    "diff",
    "explain",
    "profile",
    "program",
    "report",
    "sql",
    "tables",
    "version",
    "whatif",
]
