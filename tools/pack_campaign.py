#!/usr/bin/env python3
"""Packs what tests/gpu/campaign.sh needs on a borrowed machine, where nothing can be installed, and fails when anything
that the campaign calls is missing or asks for libraries that such a machine lacks.

    tools/pack_campaign.py --prefix FOLDER_OF_CMAKE_INSTALL --to FOLDER [--any-libraries]

--any-libraries: also a build that stands on this machine's libraries, to try the campaign out here.
tests/gpu/rehearsal.py runs what was packed against drivers that pretend to be a GPU's.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What is brought along to a borrowed machine has at most this size.
MOST_BYTES = 64 << 20
SCRIPTS = ("campaign.sh", "campaign.py", "counted_energy.py", "jobs.py", "operators.py", "pairs.py", "work.py")
INSTALLED = {"bin/assay": "bin/assay", "lib/assay/libassay_record.so": "lib/assay/libassay_record.so",
             "lib/assay/libassay_record_amd.so": "lib/assay/libassay_record_amd.so",
             "lib/assay/assay_null_kernel": "lib/assay/assay_null_kernel", "share/assay/collect": "collect"}


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy2(source, target)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", type=pathlib.Path, required=True)
    parser.add_argument("--to", type=pathlib.Path, required=True)
    parser.add_argument("--any-libraries", action="store_true")
    given = parser.parse_args()
    shutil.rmtree(given.to, ignore_errors=True)
    missing = [name for name in INSTALLED if not (given.prefix / name).exists()]
    for name in missing:
        print(f"missing: {given.prefix}/{name}", file=sys.stderr)
    if missing:
        return 1
    for source, target in INSTALLED.items():
        copy(given.prefix / source, given.to / target)
    for name in SCRIPTS:
        copy(ROOT / "tests/gpu" / name, given.to / "tests/gpu" / name)
    # The campaign knows best what it calls.
    command = [sys.executable, given.to / "tests/gpu/campaign.py", "--check", "--assay", given.to / "bin/assay"]
    if given.any_libraries:
        command.append("--any-libraries")
    if subprocess.run(list(map(str, command)), check=False).returncode != 0:
        return 1
    size = sum(path.stat().st_size for path in given.to.rglob("*") if path.is_file())
    if size > MOST_BYTES:
        print(f"{given.to} has {size} bytes, more than {MOST_BYTES}", file=sys.stderr)
        return 1
    print(f"{given.to}: everything that the campaign calls, {size / (1 << 20):.1f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
