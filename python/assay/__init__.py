"""Assay from Python: where the time of a GPU run went, and what would help.

    import assay

    t = assay.open("trace.json.gz")         # a path, a folder, several, or a stopped torch.profiler.profile
    t.diagnosis                             # headline, findings, actions, confidence; a card in a notebook
    t.diagnosis.findings[0].quantities      # {'host_share': host_share=0.838 share, ...}
    t.kernels.to_pandas()                   # device, stream and rank as the file numbers them
    t.breakdown(by="layer"), t.roofline(), t.fusion(), t.overhead(), t.power("power.csv")
    t.whatif("cuda_graph", "kernel:*gemm*=0.8").actions
    t.sql("select name, sum(dur_ns) from kernels group by 1 order by 2 desc")

    d = assay.diff("before.json.gz", "after.json.gz", fail_on="tklqt>+10%")
    d.passed

    assay.job("ranks/"), assay.predict("model.json", at="bb=96"), assay.plan("table.csv", ...)
    assay.explain("dispatch")

    with assay.profile(steps=10) as p:
        for batch in loader:
            train(batch)
            p.step()
    p.report

    with assay.torch.Watch(every=500, steps=3) as watch:   # in a training loop; logs what a few steps show
        for batch in loader:
            train(batch)
            watch.step()

The program `assay` runs in a process of its own: a crash there raises AssayError here. The functions and their
keywords are generated from the program's table of options (`help(assay.launch)`). A list repeats an option. The module
needs only the standard library. Methods named after NumPy, pandas, Polars and pyarrow need those packages.
"""

from __future__ import annotations

from . import torch
from ._answers import Answer, Diff, Finding, Quantity, Report, Rows, WhatIf, explain, tables
from ._profile import Profile, profile
from ._program import AssayError, program, version
from ._questions import (
    breakdown,
    diff,
    fusion,
    hang,
    info,
    job,
    launch,
    overhead,
    plan,
    power,
    predict,
    report,
    roofline,
    sql,
    sweep,
    whatif,
    why,
)
from ._trace import Trace, open  # noqa: A004
from .columns import Column, Table

__all__ = [
    "Answer",
    "AssayError",
    "Column",
    "Diff",
    "Finding",
    "Profile",
    "Quantity",
    "Report",
    "Rows",
    "Table",
    "Trace",
    "WhatIf",
    "breakdown",
    "diff",
    "explain",
    "fusion",
    "hang",
    "info",
    "job",
    "launch",
    "open",
    "overhead",
    "plan",
    "power",
    "predict",
    "profile",
    "program",
    "report",
    "roofline",
    "sql",
    "sweep",
    "tables",
    "torch",
    "version",
    "whatif",
    "why",
]
