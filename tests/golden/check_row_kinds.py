#!/usr/bin/env python3
"""Device events that are not computation: waits, page migrations of managed memory, duplicate records.

Each trace is a few synthetic events; times are in microseconds.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import datasets

problems = []


def expect(fact, what):
    if not fact:
        problems.append(what)


def row(category, name, start, dur, pid, tid, **arguments):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": dur,
            "args": arguments}


def launch(correlation, start, kernel_start, dur, category="kernel", name="gemm"):
    return [row("cuda_runtime", "cudaLaunchKernel", start, 4.5, 70, 70, correlation=correlation),
            row(category, name, kernel_start, dur, 0, 7, device=0, stream=7, correlation=correlation)]


class Run:
    def __init__(self, assay, folder):
        self.assay, self.trace = assay, pathlib.Path(folder) / "trace.json"

    def __call__(self, events, *arguments):
        self.trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
        return subprocess.run([self.assay, *arguments[:1], str(self.trace), *arguments[1:]], capture_output=True,
                              text=True, check=True).stdout

    def report(self, events):
        return json.loads(self(events, "report", "--format", "json"))


def check_waits(run):
    """A device that waits half of the time computes in the other half."""
    events = []
    for i in range(50):
        at = 1000.25 + i * 200
        events += launch(2 * i + 1, at, at + 6, 90, "mtia_ccp_events", "fc_kernel")
        events.append(row("mtia_ccp_events", "event_wait", at + 100, 100, 0, 8, device=0, stream=8))
    for name in ("event_wait", "BARRIER_PACKET", "semaphore wait 3", "StreamWaitEvent", "NOTIFY_WAIT_SQE", "event_wait(3)",
                 "semaphore_acquire"):
        for event in events:
            if event["tid"] == 8:
                event["name"] = name
        causes = {cause["cause"]: cause["window_share"] for cause in run.report(events)["causes"]}
        expect(0.4 < causes.get("compute", 0) < 0.55, f"with {name} the device computes for {causes.get('compute')}")
        expect(name not in run(events), f"the answer names {name}")


def check_pages(run):
    """The host causes the migration of pages that it reads after its last launch."""
    events = launch(1, 1000.25, 1010, 500)
    events += [row("gpu_memcpy", "Memcpy DtoH (Device -> Managed)", 2000 + i * 50, 20.5, 0, 7, device=0, stream=7,
                   bytes=65536) for i in range(100)]
    report = run.report(events)
    causes = {cause["cause"]: cause["window_share"] for cause in report["causes"]}
    screen = " ".join(run(events).split())
    expect("nothing_asked" not in causes or causes["nothing_asked"] < 0.01, f"nobody asks for {causes}")
    expect("Not loaded" not in screen, f"the answer is {screen[:200]}")
    expect("Managed" in screen or "managed memory" in screen, f"no word on managed memory: {screen[:300]}")


def check_records(run):
    """A file with duplicate allocator records reports the same memory."""
    def record(at, size, total, addr):
        return {"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 70, "tid": 70, "ts": at,
                "args": {"Total Reserved": 1 << 21, "Total Allocated": total, "Bytes": size, "Addr": addr,
                         "Device Id": 0, "Device Type": 1}}
    once = launch(1, 1000.25, 1010, 500)
    once += [record(1001.5, 4096, 4096, 512), record(1100.5, 8192, 12288, 8192), record(1200.5, -4096, 8192, 512),
             record(1300.5, 4096, 12288, 512)]
    twice = [event for event in once for _ in range(2)]
    want, got = (run.report(events).get("memory") for events in (once, twice))
    expect(want, "no memory in the report")
    expect(want == got, f"memory of the doubled file is {json.dumps(got)[:600]}, of the file {json.dumps(want)[:600]}")
    # Allocated, freed and allocated again within one microsecond: three records.
    same_time = once + [record(1300.5, -4096, 8192, 512), record(1300.5, 4096, 12288, 512)]
    expect(run.report(same_time)["memory"] != want, "an address given out again at the same time is left out")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=datasets.ROOT / "build/release/assay")
    assay = pathlib.Path(parser.parse_args().assay).resolve()
    with tempfile.TemporaryDirectory() as folder:
        run = Run(assay, folder)
        for check in (check_waits, check_pages, check_records):
            check(run)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
