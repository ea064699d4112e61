"""What the tools that keep generated files real have in common: --assay names the binary, --check changes nothing."""

import argparse
import pathlib


def parse(doc):
    """The binary's path, and whether to check only. doc: the tool's docstring."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--assay", default="build/release/assay")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    return pathlib.Path(options.assay).resolve(), options.check
