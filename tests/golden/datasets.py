"""Locations of the traces of the golden tests.

Small ones with a stated licence are in tests/data. The corpus of real traces is too large for the repository: the
environment variable ASSAY_DATA names its folder, with ../shared/data next to the repository as the default.
"""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SUMMARIES = ROOT / "tests/golden/summaries"
IN_REPOSITORY = ROOT / "tests/data"
CORPUS = pathlib.Path(os.environ.get("ASSAY_DATA") or ROOT.parent / "shared/data")

NO_CORPUS = (f"the trace corpus is not here (ASSAY_DATA or {os.path.relpath(CORPUS, ROOT)}): "
             "only the traces in tests/data are checked")


def golden_traces():
    """(name, path) of every trace that has, or should have, a golden summary."""
    traces = {}
    for folder in ("kineto", "perf"):
        for root in (CORPUS, IN_REPOSITORY):  # the copy in the repository wins
            for path in sorted((root / folder).rglob("*.json*")):
                if path.name.startswith("DERIVED_concat"):  # traces of several processes, which are split
                    continue
                traces[str(path.relative_to(root)).split(".json")[0]] = path
    return sorted(traces.items())
