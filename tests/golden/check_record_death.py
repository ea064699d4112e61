#!/usr/bin/env python3
"""Programs that die while `assay record` records them. Every record that the fake CUPTI completed by then (in its
ledger) is in the file exactly once, and no other."""

import argparse
import collections
import os
import pathlib
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import check_record
from check_record import (CALL, COPY, FILL, FOOTER, KERNEL, LOST, NOTE, PROCESS, RANGE, STRING, TIMEOUT_S, Bench, check,
                          kernels_written, of_kind, problems, records)

SHARED_NO_MORE, RESCUED, NAMES_LOST = 17, 18, 19  # notes
UNFINISHED = 6  # reason of a loss
SAXPY = "_Z9saxpy_oneIfEvPKT_PS0_i"
LEDGER_KINDS = {KERNEL: (10,), CALL: (4, 5), COPY: (1,), FILL: (2,)}


def notes(found):
    return {struct.unpack_from("<I", record, 4)[0]: struct.unpack_from("<q", record, 16)[0]
            for record in of_kind(found, NOTE)}


def losses(found):
    return dict(struct.unpack_from("<IQ", record, 4) for record in of_kind(found, LOST))


def texts(found):
    told = {}
    for record in of_kind(found, STRING):
        key, length = struct.unpack_from("<II", record, 4)
        told[key] = record[16:16 + length].decode()
    return told


def kernel_names(found):
    """Count per name; None: unknown."""
    told = texts(found)
    ids = [struct.unpack_from("<I", record, 36)[0] for record in of_kind(found, KERNEL)]
    return collections.Counter(told[key] if key != 0 else None for key in ids)


def correlations(found, kind):
    return [struct.unpack_from("<I", record, 4)[0] for record in of_kind(found, kind)]


class Death:
    """One recording of a program that dies, with CUPTI's ledger of completed records."""

    def __init__(self, bench, name, *words, flags=("--flush-ms", "3600000"), faults="half", env=None, **options):
        self.name = name
        ledger = bench.folder / f"{name}.ledger"
        ledger.write_bytes(bytes(512))
        self.done = bench.record(f"{name}.assaytrace", *words, flags=flags, faults=faults,
                                 env=dict(env or bench.env, FAKE_LEDGER=str(ledger)), **options)
        self.counts = struct.unpack("<64Q", ledger.read_bytes())
        path = bench.folder / f"{name}.assaytrace"
        check(path.exists(), f"{name}: no file: {self.done.stderr}")
        self.found = records(path) if path.exists() else []

    def expected(self, kind):
        return sum(self.counts[cupti] for cupti in LEDGER_KINDS[kind])

    def check_rows(self, ahead=0):
        """ahead: records that may be complete just before the ledger has them, if another thread ended the process."""
        for kind in LEDGER_KINDS:
            have, want = len(of_kind(self.found, kind)), self.expected(kind)
            check(0 <= have - want <= ahead, f"{self.name}: {have} rows of kind {kind}, the driver had written {want}")
        keys = correlations(self.found, CALL)
        check(len(set(keys)) == len(keys), f"{self.name}: calls twice")
        footer = of_kind(self.found, FOOTER)
        check(len(footer) == 1 and struct.unpack_from("<Q", footer[0], 8)[0] == len(self.found) - 1,
              f"{self.name}: footer {footer}, {len(self.found)} records")

    def check_names(self):
        names, told = kernel_names(self.found), notes(self.found)
        unknown = names.pop(None, 0)
        check(set(names) <= {SAXPY}, f"{self.name}: names {names}")
        check(told.get(NAMES_LOST, 0) == unknown, f"{self.name}: {unknown} without a name, told {told}")


DEATHS = (("kill", (), 128 + signal.SIGKILL), ("_exit", (3,), 3), ("segfault", (), 128 + signal.SIGSEGV),
          ("abort", (), 128 + signal.SIGABRT), ("_exit", (0,), 0))


def check_random_deaths(bench):
    """At 20 random points each: within the first buffer and after many, with and without flushes."""
    dice = random.Random(20261126)
    for verb, words, code in DEATHS:
        for i in range(20):
            launches = int(10 ** dice.uniform(0, 4.2))
            between = ("pause", dice.randrange(0, 30000), "launch", dice.randrange(1, 3000))
            ranges = dice.randrange(0, 200)
            script = ("push", "step", "copy", 64, "launch", launches, "fill", 8, "graph", dice.randrange(1, 40),
                      *(between if i % 2 else ()), "ranges", ranges, "push", "inner", "launch", 1, verb, *words)
            # AddressSanitizer would report the abort, which changes the kind of death.
            env = dict(bench.env, ASAN_OPTIONS=bench.env["ASAN_OPTIONS"] + ":handle_abort=0")
            flush = "3600000" if i % 3 else str(dice.randrange(10, 40))
            death = Death(bench, f"{verb.strip('_')}{code}-{i}", *script, flags=("--flush-ms", flush), env=env)
            check(death.done.returncode == code, f"{death.name}: exit code {death.done.returncode}")
            check("killed, crashed, called _exit or exec" in death.done.stderr, f"{death.name}: {death.done.stderr}")
            death.check_rows()
            death.check_names()
            # Directly after a flush CUPTI has no buffer, and no record is half written; during one it has two.
            half_written = ({}, {UNFINISHED: 1}, {UNFINISHED: 2}) if i % 3 == 0 else ({UNFINISHED: 1},)
            check(losses(death.found) in half_written, f"{death.name}: lost {losses(death.found)}")
            told = texts(death.found)
            spans = collections.Counter(
                (told[struct.unpack_from("<I", record, 24)[0]].split()[0], struct.unpack_from("<I", record, 32)[0] & 2)
                for record in of_kind(death.found, RANGE))
            want = {("range", 0): ranges, ("step", 2): 1, ("inner", 2): 1}
            check(spans == {key: count for key, count in want.items() if count}, f"{death.name}: ranges {spans}")
    codes = bench.codes(f"{DEATHS[0][0]}137-1.assaytrace")
    check(codes.get("rescued") == 1 and codes.get("lost_records") == 1 and "not_closed" not in codes, f"log: {codes}")


def check_killed_from_outside(bench):
    """A kill at an arbitrary moment of the driver: its ledger is late by at most one record of each kind, and a
    partially written record is dropped."""
    dice = random.Random(7)
    for i in range(20):
        name, ledger = f"outside{i}.assaytrace", bench.folder / f"outside{i}.ledger"
        ledger.write_bytes(bytes(512))
        env = dict(bench.env, FAKE_LEDGER=str(ledger), FAKE_TRACING="half")
        process = subprocess.Popen(bench.command(name, "launch", 100_000_000, flags=("--flush-ms", "20")), env=env,
                                   stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + TIMEOUT_S
        while struct.unpack("<64Q", ledger.read_bytes())[10] == 0 and time.monotonic() < until:
            time.sleep(0.001)
        time.sleep(dice.uniform(0, 0.15))
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        for child in children:
            os.kill(int(child), signal.SIGKILL)
        said = process.communicate(timeout=TIMEOUT_S)[1]
        counts = struct.unpack("<64Q", ledger.read_bytes())
        found = records(bench.folder / name)
        check(process.returncode == 128 + signal.SIGKILL, f"{name}: {process.returncode} {said}")
        dropped = sum(count for reason, count in losses(found).items() if reason == 1)
        for kind, cupti in ((KERNEL, 10), (CALL, 4)):
            extra = len(of_kind(found, kind)) - counts[cupti]
            check(0 <= extra <= 1, f"{name}: {extra} rows of kind {kind} more than the driver wrote; {dropped} dropped")
        keys = correlations(found, KERNEL)
        check(len(set(keys)) == len(keys), f"{name}: kernels twice")


def check_death_while_writing(bench):
    """Death within the recorder: while a buffer is read, at the first blocks and later ones, with none, half or all of
    a block in the file."""
    dice = random.Random(64)
    system = dict(bench.env, LD_PRELOAD=str(bench.fakes / "libassay_fake_system.so"),
                  ASAN_OPTIONS="verify_asan_link_order=0:" + bench.env["ASAN_OPTIONS"])

    def dies(name, what, env, script):
        death = Death(bench, name, *script, "pause", 20_000_000, env=dict(env, **what), faults="", flags=("--flush-ms", "150"))
        check(death.done.returncode == 128 + signal.SIGKILL, f"{name}: {death.done.returncode} {death.done.stderr}")
        death.check_rows(ahead=1)
        death.check_names()
        told = texts(death.found)
        ranges = sorted(int(told[struct.unpack_from("<I", record, 24)[0]].split()[-1])
                        for record in of_kind(death.found, RANGE))
        check(ranges == list(range(len(ranges))), f"{name}: {len(ranges)} ranges, {len(set(ranges))} different")

    for i in range(12):
        last = dice.randrange(1, 2 * 3900)
        dies(f"reading{i}", {"FAKE_DIE_AT_RECORD": str(last)}, bench.env, ("launch", 3900))
    if bench.sanitized():  # It must precede the C library.
        return
    for last in (1, 2, 3, 4, 5, 6):
        for most in (0, 40, 150_000, 1 << 20):
            # More than one block each of a bank and of a buffer.
            dies(f"block{last}-{most}", {"FAKE_DIE_AT_BLOCK": f"{last},{most}"}, system,
                 ("ranges", 8000, "launch", 3900))


def check_scribbled(bench):
    """A program that has overwritten the shared memory: its rows are undefined, but the file is valid or reported as
    invalid, and `assay record` survives."""
    if bench.sanitized():  # The program dies too early.
        return
    for seed in range(60):
        name = f"scribbled{seed}.assaytrace"
        done = bench.record(name, "push", "a", "launch", 50 + seed * 100, "ranges", 20, "pause", 1000 * (seed % 40), "launch", 20,
                            "scribble", seed + 1, flags=("--flush-ms", "20"))
        check(done.returncode in (128 + signal.SIGKILL, 128 + signal.SIGSEGV, 128 + signal.SIGBUS),
              f"{name}: {done.returncode} {done.stderr[-300:]}")
        told = bench.folder / name
        if told.exists():
            # If nothing could be rescued, the file ends as the process left it.
            records(told, whole="in shared memory is lost" not in done.stderr)
        else:
            check("in shared memory is lost" in done.stderr or "whole block" in done.stderr, f"{name}: {done.stderr[-300:]}")


def check_names(bench):
    """Names known while the program lived, at an address that a kernel of another module gets later: names are never
    confused."""
    seen = lambda _, found: "first" in texts(found).values()
    env = dict(bench.env)
    done = bench.staged("names.assaytrace", ("kernel", "first", "launch", 5), seen, ("launch", 2, "kill"),
                        flags=("--flush-ms", "3600000"), env=env)
    found = records(bench.folder / "names.assaytrace")
    check(kernel_names(found) == {"first": 7}, f"names told ahead: {kernel_names(found)} {done.stderr_text}")
    if "tsan" in bench.sanitized():  # The program overwrites the name that the recorder reads.
        return
    seen_both = lambda _, found: kernel_names(found)["first"] == 5
    bench.staged("again.assaytrace", ("kernel", "first", "launch", 5), seen_both,
                 ("unload", "second", "launch", 3, "kill"), flags=("--flush-ms", "200"), env=env)
    found = records(bench.folder / "again.assaytrace")
    names = kernel_names(found)
    unknown = names.pop(None, 0)
    check(names["first"] == 5 and names["second"] + unknown == 3 and set(names) <= {"first", "second"},
          f"an address used again: {names}, {unknown} unknown")
    check(notes(found).get(NAMES_LOST, 0) == unknown, f"an address used again: {notes(found)}")


def check_other_processes(bench):
    """Children: each has its file, however it ends, and none writes into the shared memory of another."""
    done = bench.record("family.assaytrace", "launch", 5, "fork", "launch", 3, "push", "child", "pop", "kill", "join",
                        "launch", 2, "kill")
    files = sorted(bench.folder.glob("family*.assaytrace"))
    kernels = sorted(len(of_kind(records(path), KERNEL)) for path in files)
    ranges = sorted(len(of_kind(records(path), RANGE)) for path in files)
    check(done.returncode == 137 and kernels == [0, 7] and ranges == [0, 1], f"a family: {kernels} {ranges} {done.stderr}")
    # A process that continues after the command: it is reported, and nothing is written into its file.
    end, gate = bench.folder / "lasting.end", bench.folder / "lasting.gate"
    script = f"'{bench.program}' launch 3 await '{gate}' launch 2 & '{bench.program}' await '{end}'"
    command = [bench.assay, "record", "-o", str(bench.folder / "lasting.assaytrace"), "--cupti",
               str(bench.fakes / "libcuda.so.1"), "--flush-ms", "20", "--", "sh", "-c", script]
    with subprocess.Popen(command, env=bench.env, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        until = time.monotonic() + TIMEOUT_S
        while len(of_kind(bench.growing("lasting.assaytrace"), KERNEL)) < 3 and time.monotonic() < until:
            time.sleep(0.01)
        end.touch()
        said = process.stderr.readline() + process.stderr.readline()
        check("still runs" in said, f"a child that lasts: {said}")
        process.wait(timeout=TIMEOUT_S)
        paths = sorted(bench.folder.glob("lasting*.assaytrace"))
        check(len(paths) == 1, f"a child that lasts: {paths} {said}")
        path = paths[0]
        gate.touch()
        until = time.monotonic() + TIMEOUT_S
        while not of_kind(records(path, whole=False), FOOTER) and time.monotonic() < until:
            time.sleep(0.01)
    check(len(of_kind(records(path), KERNEL)) == 5, "a child that lasts closes its own file")


def check_parent_killed(bench):
    """`assay record` itself is killed: the program continues and closes its file. If the program is killed too, its
    file is valid as far as written, and reported as not closed."""
    for end, kernels in (("exit", 15), ("kill", 10)):
        name, gate = f"orphan-{end}", bench.folder / f"orphan-{end}.gate"
        words = ["launch", 10, "await", gate, "launch", 5, *(("kill",) if end == "kill" else ("exit", 0))]
        process = subprocess.Popen(bench.command(f"{name}.assaytrace", *words, flags=("--flush-ms", "20")),
                                   env=bench.env, stderr=subprocess.DEVNULL)
        until = time.monotonic() + TIMEOUT_S
        while len(of_kind(bench.growing(f"{name}.assaytrace"), KERNEL)) < 10 and time.monotonic() < until:
            time.sleep(0.01)
        child = int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])
        process.kill()
        process.wait()
        if end == "kill":  # Buffered, so that events after the gate are not flushed.
            gate.touch()
        else:
            gate.touch()
        while pathlib.Path(f"/proc/{child}").exists() and time.monotonic() < until:
            if "Z" in pathlib.Path(f"/proc/{child}/stat").read_text().split(")")[-1].split()[0]:
                break
            time.sleep(0.01)
        path = next(bench.folder.glob(f"{name}.*.assaytrace"))
        found = records(path)
        have = len(of_kind(found, KERNEL))
        check(kernels <= have <= 15, f"{name}: {have} kernels")
        check(len(of_kind(found, FOOTER)) == (1 if end == "exit" else 0), f"{name}: footer")
        if end == "kill":
            check(bench.codes(path.name) == {"not_closed": 1}, f"{name}: {bench.codes(path.name)}")


def check_refused(bench):
    """Without memfd_create: a file in /dev/shm, and if that is small or missing, no shared memory, which is reported.
    """
    preload = dict(bench.env, FAKE_NO_MEMFD="1", LD_PRELOAD=str(bench.fakes / "libassay_fake_system.so"),
                   ASAN_OPTIONS="verify_asan_link_order=0:" + bench.env["ASAN_OPTIONS"])
    death = Death(bench, "shm", "push", "a", "launch", 3000, "kill", env=preload)
    death.check_rows()
    check(RESCUED in notes(death.found) and SHARED_NO_MORE not in notes(death.found), f"/dev/shm: {death.done.stderr}")
    # More data than its 8 buffers hold: further buffers are private, and no record is duplicated.
    done = bench.record("shm-full.assaytrace", "launch", 60000, env=preload, flags=("--flush-ms", "3600000"))
    found = records(bench.folder / "shm-full.assaytrace")
    check(len(of_kind(found, KERNEL)) == 60000 and not losses(found), f"/dev/shm, many: {done.stderr}")
    # A file size limit: no shared memory, and SIGXFSZ is never delivered.
    small = Death(bench, "limited", "launch", 10, "exit", 4, faults="",
                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8 << 20, 8 << 20)))
    check(small.done.returncode == 4 and SHARED_NO_MORE in notes(small.found), f"limited: {small.done.stderr}")
    check("since the last flush (--flush-ms) is lost" in small.done.stderr and len(of_kind(small.found, KERNEL)) == 10, small.done.stderr)
    check(bench.codes("limited.assaytrace") == {}, f"limited: {bench.codes('limited.assaytrace')}")
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        print("a small /dev/shm: left out, since only root may mount one")
        return
    for size, shared in (("64m", True), ("1m", False)):
        name = f"shm{size}"
        ledger = bench.folder / f"{name}.ledger"
        ledger.write_bytes(bytes(512))
        words = bench.command(f"{name}.assaytrace", "launch", 3000, "kill" if shared else "sync", flags=("--flush-ms", "3600000"))
        script = f"mount -t tmpfs -o size={size} none /dev/shm && exec " + " ".join(f"'{word}'" for word in words)
        done = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, check=False,
                              timeout=TIMEOUT_S, env=dict(preload, FAKE_LEDGER=str(ledger)))
        if "mount" in done.stderr and not (bench.folder / f"{name}.assaytrace").exists():
            print("a small /dev/shm: left out, since nothing may be mounted here")
            return
        found = records(bench.folder / f"{name}.assaytrace")
        check(len(of_kind(found, KERNEL)) == 3000, f"{name}: {done.stderr}")
        check((SHARED_NO_MORE in notes(found)) != shared, f"{name}: {notes(found)} {done.stderr}")


def check_limits(bench):
    """Full files: each record is written or counted, by recorder or rescue."""
    death = Death(bench, "limit", "launch", 4000, "kill", faults="", flags=("--max-bytes", "100000", "--flush-ms", "3600000"))
    kept = len(of_kind(death.found, KERNEL)) + len(of_kind(death.found, CALL))
    lost = sum(losses(death.found).values())
    check(kept > 0 and kept + lost == 8000, f"limit: kept {kept}, lost {lost} of 8000: {death.done.stderr}")
    check((bench.folder / "limit.assaytrace").stat().st_size <= 100_000, "the limit was not kept")
    # Many more consecutive processes than slots.
    loop = f"i=0; while [ $i -lt 150 ]; do '{bench.program}' push a pop; i=$((i+1)); done; '{bench.program}' launch 3 kill"
    done = subprocess.run([bench.assay, "record", "-o", str(bench.folder / "many.assaytrace"), "--cupti",
                           str(bench.fakes / "libcuda.so.1"), "--", "sh", "-c", loop], capture_output=True, text=True,
                          check=False, timeout=TIMEOUT_S, env=bench.env)
    check("up to a second" not in done.stderr and "3 kernels" in done.stderr, f"many processes: {done.stderr[-600:]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    parser.add_argument("--fakes", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    parts = (check_random_deaths, check_killed_from_outside, check_death_while_writing, check_scribbled, check_names, check_other_processes, check_parent_killed,
             check_refused, check_limits)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(str(pathlib.Path(arguments.assay).resolve()), arguments.fakes.resolve(), pathlib.Path(folder))
        check_record.run_parts(bench, [part for part in parts if arguments.only in part.__name__])
    return check_record.tell("record/death")


if __name__ == "__main__":
    sys.exit(main())
