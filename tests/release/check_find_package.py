#!/usr/bin/env python3
"""What `cmake --install` lays down for other programs: examples/embed.cc, built by a project that knows nothing but
find_package(assay), says what the command line says.

    check_find_package.py --cmake cmake --build build/release --assay build/release/assay
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACE = ROOT / "examples/h100_vit_inference.json.gz"
PROJECT = """\
cmake_minimum_required(VERSION 3.22)
project(other LANGUAGES C CXX)
find_package(assay REQUIRED)
add_executable(embed embed.cc)
target_link_libraries(embed PRIVATE assay::answers)
"""


def run(*words):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False, timeout=1200)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--assay", required=True)
    given = parser.parse_args()
    if not pathlib.Path(given.build, "cmake_install.cmake").exists():
        sys.exit(f"{given.build} is no build")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "CMakeLists.txt").write_text(PROJECT)
        (folder / "embed.cc").write_bytes((ROOT / "examples/embed.cc").read_bytes())
        steps = [
            (given.cmake, "--install", given.build, "--prefix", folder / "prefix"),
            (given.cmake, "-S", folder, "-B", folder / "b", f"-DCMAKE_PREFIX_PATH={folder / 'prefix'}"),
            (given.cmake, "--build", folder / "b"),
        ]
        for step in steps:
            done = run(*step)
            if done.returncode != 0:
                sys.exit(f"{' '.join(map(str, step))}:\n{done.stdout[-1500:]}{done.stderr[-3000:]}")
        for path in (folder / "prefix/lib/cmake").rglob("*.cmake"):
            if str(ROOT) in path.read_text():
                sys.exit(f"{path.name} names the folder that it was built in")
        told = run(folder / "b/embed", TRACE).stdout
        said = json.loads(run(given.assay, "report", "--format", "json", TRACE).stdout)["headline"]
    words = " ".join(told.split())
    missing = [sentence for sentence in said if " ".join(sentence.replace("µ", "u").replace("×", "x").split()) not in words]
    if missing or not said:
        sys.exit(f"the program says {told[:500]}, and not {missing}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
