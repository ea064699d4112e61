#!/usr/bin/env python3
"""`cmake --install` into an empty folder, and the verbs that need what lies beside the binary there: the recorder, the
null kernel and the sources of the replay are found relative to it, wherever the folder is moved."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TIMEOUT_S = 600
problems = []


def check(fine, message):
    if not fine:
        problems.append(message)


def run(command, **variables):
    env = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                          timeout=TIMEOUT_S, env=dict(env, **variables))


def check_files(prefix):
    for name in ("bin/assay", "lib/assay/libassay_record.so", "lib/assay/libassay_record_amd.so", "lib/assay/assay_null_kernel",
                 "share/assay/collect/build_for_torch.sh", "share/assay/collect/replay/arguments.cc",
                 "share/assay/collect/replay/replay.py",
                 "share/assay/collect/pytorch/assay_torch.py", "share/doc/assay/LICENSE", "share/doc/assay/NOTICE",
                 "share/doc/assay/metrics.md", "share/doc/assay/formats/floor.md", "share/man/man1/assay.1",
                 "share/bash-completion/completions/assay", "share/zsh/vendor-completions/_assay",
                 "share/fish/vendor_completions.d/assay.fish"):
        check((prefix / name).is_file(), f"not installed: {name}")
    for name in ("bin/assay", "lib/assay/assay_null_kernel", "share/assay/collect/build_for_torch.sh"):
        check(os.access(prefix / name, os.X_OK), f"not executable: {name}")
    strangers = [path.name for path in (prefix / "bin").iterdir() if path.name != "assay"]
    check(not strangers, f"in bin: {strangers}")


def check_verbs(prefix, fakes, folder):
    assay = prefix / "bin/assay"
    trace = sorted((ROOT / "examples").glob("*.json.gz"))[0]
    done = run([assay, "info", trace, "--format", "json"])
    check(done.returncode == 0 and '"kernels"' in done.stdout, f"info: {done.returncode} {done.stderr}")
    gpu = {"LD_LIBRARY_PATH": str(fakes)}
    recorded = folder / "run.assaytrace"
    done = run([assay, "record", "-o", recorded, "--cupti", fakes / "libcuda.so.1", "--",
                fakes / "assay_traced_program", "launch", "3"], **gpu)
    check(done.returncode == 0 and "3 kernels" in done.stderr, f"record: {done.returncode} {done.stderr}")
    floor = folder / "floor.json"
    done = run([assay, "null-kernel", "-o", floor, "--cupti", fakes / "libcuda.so.1"], **gpu)
    check(done.returncode == 0, f"null-kernel: {done.returncode} {done.stderr}")
    if floor.exists():
        check(json.loads(floor.read_text())["gpus"][0]["launch"]["n"] == 150, "floor")
    # The sources are found; that this Python is none is what fails.
    done = run([assay, "replay", "--build", "--python", "no-such-python"], XDG_CACHE_HOME=str(folder))
    check("no such Python" in done.stderr, f"replay --build: {done.stderr}")
    database = folder / "db.json"
    database.write_text(json.dumps({"kind": "assay-kernel-db", "schema_version": 1, "gpu": {"name": ""}, "entries": []}))
    if (prefix / "lib/assay/assay-replay").exists():
        done = run([assay, "replay", database, "-o", folder / "replay.json"], XDG_CACHE_HOME=str(folder))
        check("assay-replay is missing" not in done.stderr, f"replay: {done.stderr}")


def main():
    parser = argparse.ArgumentParser()
    for name in ("--cmake", "--build", "--fakes"):
        parser.add_argument(name, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        done = run([arguments.cmake, "--install", arguments.build, "--prefix", folder / "first"])
        check(done.returncode == 0, f"install: {done.stderr}")
        if done.returncode == 0:
            check_files(folder / "first")
            shutil.move(folder / "first", folder / "moved here")
            check_verbs(folder / "moved here", pathlib.Path(arguments.fakes).resolve(), folder)
    for problem in problems:
        print(problem, file=sys.stderr)
    print("install: fine" if not problems else f"install: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
