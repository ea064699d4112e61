#!/usr/bin/env python3
"""Every verb answers byte for byte the same from a .assay file as from its source. `--cache` keeps a file only in the
given folder, opens it, and notices changes of the source.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import datasets

VERBS = (["report"], ["info"], ["launch", "--tree", "--top", "0"], ["breakdown"], ["overhead", "--top", "0"])
CSV = (["report", "--format", "csv"],)
problems = []


def expect(fact, what):
    if not fact:
        problems.append(what)


def run(assay, *arguments, cwd=None, env=None):
    return subprocess.run([assay, *map(str, arguments)], capture_output=True, cwd=cwd, timeout=600, check=False,
                          env=dict(os.environ, **(env or {})))


def answer(assay, verb, path, *flags):
    """Exit code and output without the name of the input."""
    form = [] if "--format" in verb else ["--format", "json"]
    done = run(assay, *verb, path, *form, *flags)
    return done.returncode, done.stdout.replace(str(path).encode(), b"INPUT"), done.stderr


def compare(assay, name, path, folder):
    cached = folder / "c.assay"
    made = run(assay, "cache", path, "-o", cached)
    if made.returncode != 0:
        plain = answer(assay, ["info"], path)
        expect(plain[0] == 2, f"{name}: cannot be cached but can be read: {made.stderr.decode()[:200]}")
        return 0
    for verb in (*VERBS, *CSV):
        plain, second = answer(assay, verb, path), answer(assay, verb, cached)
        expect(plain[:2] == second[:2], f"{name}: {' '.join(verb)} differs on the .assay file: "
                                        f"{plain[0]} and {second[0]} {second[2].decode()[:200]}")
    return 1


def check_folder(assay, trace, folder):
    """--cache: the first run writes, the second reads, a changed source is noticed."""
    source, store = folder / "t.json.gz", folder / "store"
    shutil.copy(trace, source)
    plain = answer(assay, ["report"], source)
    before = {path.name for path in folder.iterdir()}
    expect("store" not in before and "t.json.gz" in before, "a run without --cache writes something")
    flag = f"--cache={store}"
    first = answer(assay, ["report"], source, flag)
    kept = list(store.iterdir())
    expect(len(kept) == 1 and kept[0].suffix == ".assay", f"--cache keeps {kept}")
    second = answer(assay, ["report"], source, flag)
    expect(plain[:2] == first[:2] == second[:2], "--cache changes the answer")
    expect(second[2] == b"", f"a plain hit talks: {second[2]!r}")
    launch = answer(assay, ["launch"], source, flag)
    expect(launch[:2] == answer(assay, ["launch"], source)[:2], "--cache changes what launch says")
    expect(len(list(store.iterdir())) == 1, "another verb keeps another file")

    other = sorted((pathlib.Path(datasets.ROOT) / "tests/data/kineto").rglob("*.json*"))[0]
    if other.suffix == ".gz":
        shutil.copy(other, source)
    else:
        source.write_bytes(other.read_bytes())
    stale = answer(assay, ["info"], source, flag)
    expect(stale[:2] == answer(assay, ["info"], source)[:2], "a changed source is answered from the cache")
    expect(b"stale" in stale[2], f"a stale file is not named: {stale[2]!r}")

    damaged = kept[0].read_bytes()
    kept[0].write_bytes(damaged[:500] + bytes([damaged[500] ^ 1]) + damaged[501:])
    again = answer(assay, ["info"], source, flag)
    expect(again[:2] == stale[:2] and b"damaged" in again[2], f"damage: {again[2]!r}")
    expect(answer(assay, ["info"], source, flag)[2] == b"", "a damaged file is not made anew")

    # Same size and time, other bytes: the hash detects it, because a file newer than the cache's clock tick is hashed.
    # A date in the future makes this independent of the speed of caching.
    if source.read_bytes()[:1] in (b"{", b"["):
        ahead = time.time_ns() + 3600 * 10**9
        os.utime(source, ns=(ahead, ahead))
        answer(assay, ["info"], source, flag)
        stamp, text = source.stat(), source.read_bytes()
        at = text.index(b'"name"') + 9
        source.write_bytes(text[:at] + bytes([text[at] ^ 1]) + text[at + 1:])
        os.utime(source, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        quick = answer(assay, ["report"], source, flag)
        expect(quick[:2] == answer(assay, ["report"], source)[:2], "a quick change goes unnoticed")

    unwritable = folder / "file"
    unwritable.write_text("")
    blocked = answer(assay, ["info"], source, f"--cache={unwritable}")
    expect(blocked[:2] == answer(assay, ["info"], source)[:2] and b"not cached" in blocked[2],
           f"a cache folder that is a file: {blocked[2]!r}")
    home = folder / "home"
    run(assay, "info", source, "--cache", env={"HOME": str(home), "XDG_CACHE_HOME": ""})
    expect(len(list((home / ".cache/assay").iterdir())) == 1, "--cache alone does not use ~/.cache/assay")


def check_refusals(assay, trace, folder):
    cached, precious = folder / "c.assay", folder / "precious.txt"
    run(assay, "cache", trace, "-o", cached)
    precious.write_text("mine")
    for arguments, words in ((("cache", trace, "-o", precious), b"not overwritten"),
                             (("cache", trace, "-o", trace), b"overwritten"),
                             (("cache", cached, "-o", folder / "d.assay"), b"already"),
                             (("cache", "-", "-o", folder / "d.assay"), b"not a regular file"),
                             (("cache", trace, "-o", folder / "no/such/folder.assay"), b"cannot write"),
                             (("cache", trace, "-o", "/dev/full/x.assay"), b"cannot write")):
        done = run(assay, *arguments)
        expect(done.returncode == 2 and words in done.stderr, f"{arguments}: {done.returncode} {done.stderr!r}")
    expect(precious.read_text() == "mine", "a foreign file was overwritten")
    with subprocess.Popen(["cat", str(cached)], stdout=subprocess.PIPE) as pipe:
        done = subprocess.run([assay, "info", "-"], stdin=pipe.stdout, capture_output=True, check=False)
    expect(done.returncode == 2 and b"through a pipe" in done.stderr, f".assay through a pipe: {done.stderr!r}")
    packed = folder / "c.assay.gz"
    packed.write_bytes(subprocess.run(["gzip", "-c", str(cached)], capture_output=True, check=True).stdout)
    done = run(assay, "info", packed)
    expect(done.returncode == 2 and b"compressed .assay" in done.stderr, f".assay.gz: {done.stderr!r}")
    alone = folder / "alone"
    alone.mkdir()
    shutil.copy(cached, alone / "rank0.assay")
    expect(run(assay, "info", alone).returncode == 0, "a folder of .assay files is not read")
    shutil.copy(trace, alone / "t.json.gz")
    done = run(assay, "info", alone, "--format", "json")
    expect(b"rank0.assay" not in done.stdout, "a folder counts a trace and its .assay twice")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=datasets.ROOT / "build/release/assay")
    assay = pathlib.Path(parser.parse_args().assay).resolve()
    example = sorted((datasets.ROOT / "examples").glob("*.json.gz"))[0]
    traces = datasets.golden_traces()
    traces += [(path.name, path) for path in sorted(datasets.CORPUS.rglob("*.sqlite"))]
    compared = 0
    with tempfile.TemporaryDirectory() as name:
        for trace, path in traces:
            compared += compare(assay, trace, path, pathlib.Path(name))
    for check in (check_folder, check_refusals):
        with tempfile.TemporaryDirectory() as name:
            check(assay, example, pathlib.Path(name))
    for problem in problems:
        print(problem)
    print(f"{compared} traces compared")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
