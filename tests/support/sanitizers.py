"""Which sanitizers a program or library is built with."""

import os
import pathlib
import re
import subprocess


def built_with(path):
    """Of "asan" and "tsan" those that the file starts: with them, limits on memory and threads, and what is held in
    memory, say nothing of Assay."""
    code = pathlib.Path(path).read_bytes()
    return [name for name in ("asan", "tsan") if f"__{name}_init".encode() in code]


def loaded_first(program):
    """What the environment of a program without sanitizers needs that loads a library built with those of `program`.
    An interpreter leaves memory behind."""
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    runtime = re.search(r"libasan\S* => (\S+)", linked)
    options = "detect_leaks=0:" + os.environ.get("ASAN_OPTIONS", "")
    return {"LD_PRELOAD": runtime[1], "ASAN_OPTIONS": options} if runtime else {}
