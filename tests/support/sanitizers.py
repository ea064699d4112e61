"""Which sanitizers a program or library is built with."""

import pathlib


def built_with(path):
    """Of "asan" and "tsan" those that the file starts: with them, limits on memory and threads, and what is held in
    memory, say nothing of Assay."""
    code = pathlib.Path(path).read_bytes()
    return [name for name in ("asan", "tsan") if f"__{name}_init".encode() in code]
