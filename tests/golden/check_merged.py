#!/usr/bin/env python3
"""Ranks in other forms give the answer of a folder of files: merged into one file (by position, with labels, with
renumbered
ids, ordered by time), in archives, in subfolders, in TensorBoard's layout.

    check_merged.py --assay build/release/assay

Answers are compared as JSON, without properties of the file: names, size, checksum, numbers of processes.
"""

import argparse
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import datasets

RANKS = datasets.CORPUS / "kineto/multirank/megatron_tp8_a100"
OF_FILES = {"inputs", "files", "checksum", "content_bytes", "stored_bytes"}
problems = []


def run(assay, *arguments):
    return subprocess.run([assay, *map(str, arguments)], capture_output=True, text=True, timeout=600)


def without_files(node):
    if isinstance(node, dict):
        return {key: without_files(value) for key, value in node.items() if key not in OF_FILES}
    if isinstance(node, list):
        return [without_files(one) for one in node]
    if isinstance(node, str):  # file names in sentences and rows
        return re.sub(r"\S*(?:megatron_kineto_\d+\.json(?:\.gz)?|merged\S*?:[\w-]+|\w+\.(?:zip|tar\S*))\S*", "FILE", node)
    return node


def differences(a, b, path="", found=None):
    found = [] if found is None else found
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(set(a) | set(b)):
            differences(a.get(key), b.get(key), f"{path}.{key}", found)
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (one, other) in enumerate(zip(a, b)):
            differences(one, other, f"{path}[{i}]", found)
    elif a != b:
        found.append(f"{path}: {str(a)[:80]} / {str(b)[:80]}")
    return found


def answer(assay, verb, *inputs):
    done = run(assay, verb, *inputs, "--format", "json")
    if done.returncode != 0:
        return {"error": done.stderr.strip()[-300:]}
    return without_files(json.loads(done.stdout))


def merge(files, way):
    events, heads = [], []
    for rank, file in enumerate(files):
        trace = json.loads(gzip.decompress(file.read_bytes()))
        for event in trace.pop("traceEvents"):
            if "pid" in event and way == "labelled":
                event["pid"] = f"[TP{rank:02d}] {event['pid']}"
            if way == "moved":
                if isinstance(event.get("pid"), int):
                    event["pid"] += rank * 10_000_000
                if isinstance(event.get("id"), int):
                    event["id"] += rank * 10_000_000
                if "correlation" in event.get("args", {}):
                    event["args"]["correlation"] += rank * 10_000_000
            events.append(event)
        heads.append(trace)
    head = dict(heads[0], deviceProperties=[device for one in heads for device in one.get("deviceProperties", [])])
    if way == "sorted":
        events.sort(key=lambda event: event.get("ts", 0))
    return dict(head, traceEvents=events)


def expect_alike(what, told, want):
    found = differences(told, want)
    if found:
        problems.append(f"{what}: {len(found)} differences: " + "; ".join(found[:4]))


def check_merged(assay, files, wants, folder):
    for way in ("plain", "labelled", "moved", "sorted"):
        merged = folder / f"merged-{way}.json"
        merged.write_text(json.dumps(merge(files, way)))
        for verb, want in wants.items():
            told = answer(assay, verb, merged)
            if way == "sorted":  # the profiler's own events belong to no rank and are omitted
                for rank, as_told in zip(want.get("ranks", []), told.get("ranks", [])):
                    if 0 <= rank.get("events", 0) - as_told.get("events", 0) < 8:
                        as_told["events"] = rank["events"]
            expect_alike(f"{verb} of merged, {way}", told, want)
    screen = run(assay, folder / "merged-plain.json")
    if "No rank is later" not in screen.stdout:
        problems.append(f"the screen of a merged file: {screen.stdout[:200]} {screen.stderr[:200]}")
    piped = subprocess.run([assay, "report", "-"], input=(folder / "merged-plain.json").read_bytes(), capture_output=True)
    if piped.returncode != 2 or b"8 processes" not in piped.stderr:
        problems.append(f"a merged file through a pipe: exit {piped.returncode} {piped.stderr[:200]}")


def check_archives(assay, files, want, folder):
    plain = {file.name.removesuffix(".gz"): gzip.decompress(file.read_bytes()) for file in files}
    zips = {"stored.zip": zipfile.ZIP_STORED, "deflated.zip": zipfile.ZIP_DEFLATED}
    for name, method in zips.items():
        with zipfile.ZipFile(folder / name, "w", method) as archive:
            for file, data in plain.items():
                archive.writestr(f"job/{file}", data)
    for name, mode in {"job.tar": "w", "job.tar.gz": "w:gz"}.items():
        with tarfile.open(folder / name, mode) as archive:
            for file in files:
                archive.add(file, f"./run/{file.name}")
    for name in (*zips, "job.tar", "job.tar.gz"):
        expect_alike(name, answer(assay, "report", folder / name), want)

    def refused(name, word):
        done = run(assay, folder / name)
        if done.returncode != 2 or word not in done.stderr:
            problems.append(f"{name}: exit {done.returncode}, {done.stderr[:300]}")

    with zipfile.ZipFile(folder / "outside.zip", "w") as archive:
        archive.writestr("../evil.json", "{}")
    refused("outside.zip", "leads out")
    with zipfile.ZipFile(folder / "nested.zip", "w") as archive:
        archive.writestr("inner.zip", (folder / "outside.zip").read_bytes())
    refused("nested.zip", "archive in an archive")
    link = tarfile.TarInfo("link.json")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    with tarfile.open(folder / "link.tar", "w") as archive:
        archive.addfile(link)
    refused("link.tar", "link")
    with zipfile.ZipFile(folder / "deep.zip", "w") as archive:
        archive.writestr("a/" * 20 + "x.json", "{}")
    refused("deep.zip", "deep")
    with zipfile.ZipFile(folder / "many.zip", "w") as archive:
        for i in range(10_001):
            archive.writestr(f"{i}.json", "")
    refused("many.zip", "10,000")
    whole = (folder / "deflated.zip").read_bytes()
    (folder / "cut.zip").write_bytes(whole[:len(whole) // 2])
    refused("cut.zip", "damaged")
    broken = bytearray(whole)
    broken[2000] ^= 0xFF
    (folder / "broken.zip").write_bytes(broken)
    refused("broken.zip", "cannot be unpacked")
    for name in ("evil.json", "../evil.json"):
        if (folder / name).exists():
            problems.append("a member was written outside of its folder")


def check_folders(assay, files, want, folder):
    for layout in ("deep/a/b", "board/plugins/profile/2026_02_01"):
        place = folder / layout
        place.mkdir(parents=True)
        for file in files:
            (place / file.name).symlink_to(file)
    old = folder / "board/plugins/profile/2026_01_01"
    old.mkdir()
    shutil.copy(files[0], old / "old.json.gz")
    expect_alike("a folder three deep", answer(assay, "report", folder / "deep"), want)
    expect_alike("TensorBoard's folder", answer(assay, "report", folder / "board"), want)
    note = run(assay, folder / "board").stderr
    if "2026_01_01" not in note:
        problems.append(f"the other run is not named: {note[:200]}")
    for engine in ("prefill", "decode"):
        place = folder / "engines" / engine
        place.mkdir(parents=True)
        for file in files:
            (place / file.name).symlink_to(file)
    screen = run(assay, folder / "engines").stdout
    if "2 jobs" not in screen or "prefill (ranks 0-7)" not in screen or "decode (ranks 0-7)" not in screen:
        problems.append(f"two engines: {screen[:400]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=datasets.ROOT / "build/release/assay")
    assay = pathlib.Path(parser.parse_args().assay).resolve()
    if not RANKS.exists():
        print("the ranks of a job are not here")
        return 77
    files = sorted(RANKS.glob("*.json.gz"))
    wants = {verb: answer(assay, verb, RANKS) for verb in ("report", "breakdown", "job")}
    with tempfile.TemporaryDirectory() as name:
        check_merged(assay, files, wants, pathlib.Path(name))
    with tempfile.TemporaryDirectory() as name:
        check_archives(assay, files, wants["report"], pathlib.Path(name))
    with tempfile.TemporaryDirectory() as name:
        check_folders(assay, files, wants["report"], pathlib.Path(name))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
