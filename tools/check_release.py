#!/usr/bin/env python3
"""Holds what a release ships to what it promises: every ELF file asks for glibc 2.34 at most, for no shared library
but the C library's and libgcc_s, names no folder to search, and is stripped.

    tools/check_release.py [--newest] FILE_OR_FOLDER...
"""

import argparse
import pathlib
import re
import subprocess
import sys

NEWEST_GLIBC = (2, 34)
MAY_NEED = re.compile(r"^(lib(c|m|dl|pthread|rt|gcc_s)\.so\.\d|ld-linux-.*\.so\.\d)$")
MOST_BYTES = 17_000_000


def readelf(*words):
    return subprocess.run(["readelf", "-W", *words], capture_output=True, text=True, check=True).stdout


def problems_of(path):
    """The newest glibc that one file asks for, what is wrong with it, and all that it asks for."""
    dynamic, names, sections = readelf("-d", path), readelf("-V", path), readelf("-S", path)
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    asked = {tuple(map(int, v.split("."))) for v in re.findall(r"\bGLIBC_(2(?:\.\d+)+)", names)}
    newest = max(asked, default=(0,))
    wrong = [f"needs {name}" for name in needed if not MAY_NEED.match(name)]
    if newest > NEWEST_GLIBC:
        wrong.append("asks for GLIBC_" + ".".join(map(str, newest)))
    if re.search(r"\bGLIBCXX_|\bCXXABI_", names):
        wrong.append("asks for the system's C++ library")
    if re.search(r"\((RPATH|RUNPATH)\)", dynamic):
        wrong.append("names folders to search for libraries")
    if ".symtab" in sections or ".debug_info" in sections:
        wrong.append("is not stripped")
    size = path.stat().st_size
    if size > MOST_BYTES:
        wrong.append(f"has {size} bytes, more than {MOST_BYTES}")
    return newest, wrong, f"{size:>10} bytes  GLIBC_{'.'.join(map(str, newest))}  {' '.join(sorted(needed))}"


def elf_files(places):
    for place in map(pathlib.Path, places):
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file() and not path.is_symlink() and path.open("rb").read(4) == b"\x7fELF":
                yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("places", nargs="+")
    parser.add_argument("--newest", action="store_true", help="print the newest glibc that is asked for, e.g. 2.34")
    given = parser.parse_args()
    bad = found = 0
    newest = (0,)
    for path in elf_files(given.places):
        asked, wrong, asks = problems_of(path)
        newest = max(newest, asked)
        if not given.newest:
            print(f"{path.name:<22} {asks}")
        found += 1
        for what in wrong:
            bad += 1
            print(f"{path}: {what}", file=sys.stderr)
    if not found:
        sys.exit("no ELF file there")
    if given.newest:
        print(".".join(map(str, newest)))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
