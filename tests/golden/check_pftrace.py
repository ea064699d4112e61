#!/usr/bin/env python3
"""A Perfetto trace of rocprofv3 gives the answer of its JSON with the same events. Track events of other tools give
that of a Chrome
trace. A truncated or damaged file is refused by name or counted.

    check_pftrace.py --assay build/release/assay
"""

import argparse
import gzip
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import zlib

import pftrace
from check_xplane import Checker
from xplane import message, number

KINDS = ["NONE", "HSA_CORE_API", "HIP_RUNTIME_API", "MARKER_CORE_API", "KERNEL_DISPATCH", "MEMORY_COPY"]
DOMAIN_OF = {"hsa_api": 1, "hip_api": 2, "marker_api": 3}


def made_run(steps=60):
    """Steps of three kernels and a copy on two streams, with the calls that launched them and a label around each step."""
    run, now, corr = {"pid": 4242, "kernels": [], "copies": [], "calls": []}, 1_000_000_000, 0
    for step in range(steps):
        begin = now
        for i, (name, stream) in enumerate((("gemm(float*, int)", 1), ("softmax", 1), ("gelu<float>", 2))):
            corr += 1
            run["calls"].append({"start": now, "end": now + 4_000, "tid": 4243, "name": "hipLaunchKernel", "category": "hip_api",
                                 "corr": corr})
            run["kernels"].append({"start": now + 6_000, "end": now + 15_000 + 1000 * i + step % 3, "stream": stream, "queue": stream,
                                   "tid": 4243, "name": name, "corr": corr, "shared": 2048 * i, "group": 256, "grid": 256 * (40 + i)})
            now += 20_000
        corr += 1
        run["calls"].append({"start": now, "end": now + 7_000, "tid": 4243, "name": "hipMemcpyAsync", "category": "hip_api", "corr": corr})
        run["copies"].append({"start": now + 5_000, "end": now + 11_000, "stream": 1, "tid": 4243, "bytes": 1 << 20, "corr": corr,
                              "name": "MEMORY_COPY_" + ("HOST_TO_DEVICE" if step % 2 else "DEVICE_TO_HOST")})
        now += 12_000
        run["calls"].append({"start": begin, "end": now, "tid": 4243, "name": "step", "category": "marker_api", "corr": 100_000 + step})
        run["calls"].append({"start": begin + 100, "end": begin + 900, "tid": 4243, "name": "hsa_signal_store_relaxed",
                             "category": "hsa_api", "corr": 200_000 + step})
        now += 30_000
    return run


def rocprof_json(run):
    """The rows as PREFIX_results.json of rocprofv3."""
    operations = [sorted({row["name"] for row in run["calls"] if DOMAIN_OF.get(row["category"]) == kind}) for kind in range(4)]
    copies = ["MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST"]
    names = sorted({row["name"] for row in run["kernels"]})
    records = {"kernel_dispatch": [], "memory_copy": [], "hip_api": [], "hsa_api": [], "marker_api": []}
    for row in run["kernels"]:
        info = {"agent_id": {"handle": 11}, "queue_id": {"handle": row["queue"]}, "dispatch_id": row["corr"],
                "kernel_id": names.index(row["name"]) + 1, "group_segment_size": row["shared"],
                "workgroup_size": {"x": row["group"], "y": 1, "z": 1}, "grid_size": {"x": row["grid"], "y": 1, "z": 1}}
        records["kernel_dispatch"].append({"start_timestamp": row["start"], "end_timestamp": row["end"], "thread_id": row["tid"],
                                           "correlation_id": {"internal": row["corr"]}, "stream_id": {"handle": row["stream"]},
                                           "dispatch_info": info})
    for row in run["copies"]:
        ends = (10, 11) if "HOST_TO" in row["name"] else (11, 10)
        records["memory_copy"].append({"start_timestamp": row["start"], "end_timestamp": row["end"], "kind": 5,
                                       "operation": copies.index(row["name"]), "bytes": row["bytes"],
                                       "src_agent_id": {"handle": ends[0]}, "dst_agent_id": {"handle": ends[1]},
                                       "stream_id": {"handle": row["stream"]}, "correlation_id": {"internal": row["corr"]}})
    for row in run["calls"]:
        kind = DOMAIN_OF[row["category"]]
        records[row["category"]].append({"start_timestamp": row["start"], "end_timestamp": row["end"], "kind": kind,
                                         "operation": operations[kind].index(row["name"]), "thread_id": row["tid"],
                                         "correlation_id": {"internal": row["corr"]}})
    kinds = [{"kind": kind, "operations": operations[i] if i < 4 else copies if i == 5 else []} for i, kind in enumerate(KINDS)]
    tool = {"metadata": {"pid": run["pid"]}, "agents": [{"id": {"handle": 10}, "type": 1}, {"id": {"handle": 11}, "type": 2}],
            "kernel_symbols": [{"kernel_id": i + 1, "formatted_kernel_name": name} for i, name in enumerate(names)],
            "strings": {"buffer_records": kinds}, "buffer_records": records}
    return json.dumps({"rocprofiler-sdk-tool": [tool]})


class Answers(Checker):
    def answer(self, path, *options, without=()):
        text = super().answer(path, *options)
        if not text.startswith("{"):
            return text
        document = json.loads(text)
        return json.dumps(self.compared(document, {"profiler", "format", *without}), sort_keys=True).replace(path.name, "FILE")

    def compared(self, value, without):
        """The common part of two forms of one run: without the name of the form and its metadata."""
        if isinstance(value, dict):
            return {key: self.compared(one, without) for key, one in value.items() if key not in without}
        if isinstance(value, list):
            return [self.compared(one, without) for one in value]
        return value.replace("rocprofv3 JSON", "FORM").replace("rocprofv3 pftrace", "FORM") if isinstance(value, str) else value

    def log(self, path, *options):
        run = self.run(path, *options)
        self.expect(f"{path.name} is read", run.returncode == 0, f"{run.returncode} {run.stderr}")
        return {entry["code"]: entry["count"] for entry in json.loads(run.stdout)["import_log"]} if run.returncode == 0 else {}


def check_rocprof(checker):
    run = made_run()
    expected = checker.answer(checker.write("a.json", rocprof_json(run).encode()))
    checker.expect("the JSON has an answer", expected.startswith("{") and "gemm" in expected, expected)
    for what, gpu, unit, interned, mixed in (
            ("as rocprofv3 writes it", lambda _: "Agent-1", 1, True, False),
            ("sequences in turns, GPUs counted apart", lambda _: "GPU-0", 1, True, True),
            ("names in every event", lambda _: "Agent-1", 1, False, True),
            ("a clock of microseconds", lambda _: "Agent-1", 1000, True, True)):
        head, parts = pftrace.rocprofv3(run, gpu, unit, interned)
        checker.same(what, expected, checker.write("a.pftrace", pftrace.joined(head, parts, mixed)))
    head, parts = pftrace.rocprofv3(run)
    whole = pftrace.joined(head, parts)
    checker.same("gzip", expected, checker.write("b.pftrace.gz", gzip.compress(whole)))
    checker.same("by content", expected, checker.write("without_ending", whole))
    packed = b"".join(head) + pftrace.compressed(parts[0]) + pftrace.compressed(parts[1] + parts[2])
    checker.same("compressed packets", expected, checker.write("c.pftrace", packed))
    for annotated in (True, False):
        head, parts = pftrace.systems(run, annotated)
        path = checker.write("d.perfetto-trace", pftrace.joined(head, parts))
        log = checker.log(path)
        checker.expect("rocprofiler-systems without oddities", not log, log)
        report = json.loads(checker.run(path).stdout)
        same = json.loads(checker.run(checker.folder / "a.json").stdout)
        # Without annotations the streams of copies are unknown.
        for key in same["summary"] if annotated else ("bottleneck", "window_ns", "total_ns"):
            found, wanted = (one["summary"].get(key) for one in (report, same))
            checker.expect(f"rocprofiler-systems, {annotated}: {key}", found == wanted, f"{found} {wanted}")
    # A folder with both forms of one run counts it once.
    folder = checker.folder / "run"
    folder.mkdir()
    (folder / "9_results.json").write_text(rocprof_json(run))
    (folder / "9_results.pftrace").write_bytes(whole)
    listed = subprocess.run([checker.assay, "report", folder, "--format", "json"], capture_output=True, text=True, check=False,
                            env={**os.environ, "ASSAY_CACHE": "off"})
    inputs = json.loads(listed.stdout).get("inputs", []) if listed.returncode == 0 else listed.stderr
    checker.expect("a run counts once in a folder", len(inputs) == 1 and "pftrace" not in str(inputs), inputs)
    return whole, parts


def chrome_rows():
    """A CUDA-like tool: calls and kernels by the categories of Kineto, joined by flows; a counter; an instant."""
    rows, packets, now = [], [], 5_000_000
    host, gpu = pftrace.Sequence(2), pftrace.Sequence(3)
    host.start(1000, default_track=501)
    gpu.start(1000)
    packets += [pftrace.track(500, process=(31, "python")), pftrace.track(501, thread=(31, 32, "main"), parent=500),
                pftrace.track(600, "stream 7", 500), pftrace.track(700, "memory", 500, counter=True)]
    for i in range(50):
        host.event(pftrace.BEGIN, now, None, "forward", "user_annotation")
        host.event(pftrace.BEGIN, now + 1000, None, "cudaLaunchKernel", "cuda_runtime", flow=(i + 1) << 40)
        host.event(pftrace.END, now + 4000)
        host.event(pftrace.END, now + 9000)
        gpu.slice(now + 6000, now + 16000, 600, f"kernel_{i % 3}", "kernel", {"device": 0, "stream": 7}, (i + 1) << 40)
        gpu.event(pftrace.COUNTER, now, 700, value=i)
        gpu.event(pftrace.INSTANT, now + 500, 600, "mark", "note")
        rows += [{"ph": "X", "pid": 31, "tid": 32, "ts": now / 1000, "dur": 9, "name": "forward", "cat": "user_annotation"},
                 {"ph": "X", "pid": 31, "tid": 32, "ts": now / 1000 + 1, "dur": 3, "name": "cudaLaunchKernel", "cat": "cuda_runtime",
                  "args": {"correlation": i + 1}},
                 {"ph": "X", "pid": 31, "tid": "stream 7", "ts": now / 1000 + 6, "dur": 10, "name": f"kernel_{i % 3}", "cat": "kernel",
                  "args": {"device": 0, "stream": 7, "correlation": i + 1}}]
        now += 20_000
    return rows, b"".join(packets), [host.out, gpu.out]


def check_other_tools(checker):
    rows, head, parts = chrome_rows()
    names = [{"ph": "M", "pid": 31, "tid": 32, "name": "process_name", "args": {"name": "python"}},
             {"ph": "M", "pid": 31, "tid": 32, "name": "thread_name", "args": {"name": "main"}}]
    plain = checker.write("rows.json", json.dumps({"displayTimeUnit": "ns", "traceEvents": names + rows}).encode())
    path = checker.write("rows.pftrace", head + pftrace.joined([], parts, True))
    one, other = (json.loads(checker.run(which).stdout) for which in (plain, path))
    checker.expect("track events as a Chrome trace", one["summary"] == other["summary"], f"{one['summary']} {other['summary']}")
    # Stages of a GPU, whose names are interned.
    stages = pftrace.Sequence(5)
    stages.start(1000)
    for i in range(40):
        new = []
        stage = stages.iid(24, f"shader_{i % 2}", new)
        launch = message(1, number(1, 64) + number(2, 2)) + message(2, number(1, 128))
        content = number(1, i + 1) + number(2, 8000) + number(11, 1) + number(13, 3) + number(14, stage) + message(21, launch)
        stages.packet(stages.time(10_000_000 + i * 10_000) + (message(12, b"".join(new)) if new else b"") + message(53, content))
    path = checker.write("stages.pftrace", pftrace.joined([], [stages.out]))
    info = subprocess.run([checker.assay, "info", path, "--format", "json"], capture_output=True, text=True, check=False,
                          env={**os.environ, "ASSAY_CACHE": "off"})
    links = json.loads(info.stdout)["links"] if info.returncode == 0 else info.stderr
    checker.expect("stages of a GPU are its kernels", info.returncode == 0 and links["kernels"] == 40, links)


def check_oddities(checker, whole, parts):
    run = made_run(3)
    head, some = pftrace.rocprofv3(run)
    kernels = some[0]
    def log_of(name, *extra):
        return checker.log(checker.write(name, pftrace.joined(head, some) + b"".join(extra)))
    base = log_of("base.pftrace")
    checker.expect("no oddities", not base, base)
    late = pftrace.Sequence(20)
    late.start(1000)
    late.slice(2_000_000_000, 2_000_001_000, 9, "lost", "hip_api")
    log = log_of("lost.pftrace", *late.out[1:])
    checker.expect("packets before their names", log == {"lost_records": 2}, log)
    log = log_of("dropped.pftrace", late.out[0], message(1, number(10, 20) + number(42, 1)), *late.out[1:])
    checker.expect("packets after a loss", log == {"lost_records": 3}, log)
    opened = pftrace.Sequence(21)
    opened.start(1000)
    opened.event(pftrace.BEGIN, 1_000_100_000, 9, "open", "host")
    opened.event(pftrace.END, 1_000_100_000, 10)
    log = log_of("open.pftrace", *opened.out)
    checker.expect("halves of slices", log == {"unmatched_begin": 1, "unmatched_end": 1}, log)
    first, second = pftrace.Sequence(22), pftrace.Sequence(23)
    first.start(1000)
    second.start(1000)
    first.event(pftrace.BEGIN, 1_000_100_000, 9, "across", "host")
    second.event(pftrace.END, 1_000_200_000, 9)
    log = log_of("across.pftrace", *first.out, *second.out)
    checker.expect("halves of two sequences are joined", not log, log)
    log = log_of("kinds.pftrace", *[message(1, message(1, b"\x08\x01")) for _ in range(5)], message(1, message(52, b"\x08\x01")))
    checker.expect("other packets, once a kind", log == {"unknown_record": 2}, log)
    log = log_of("clock.pftrace", message(1, number(10, 99) + number(8, 5) + number(58, 70) + message(11, number(9, 3))))
    checker.expect("a clock that nothing tells of", log == {"missing_timestamp": 1}, log)
    log = log_of("damaged.pftrace", message(1, message(11, b"\x0b\x0b")), message(1, message(50, b"no zlib")))
    checker.expect("damaged packets", log == {"damaged_block": 2}, log)
    checker.refused("a cut file", checker.write("cut.pftrace", whole[:-9]), "ends within a packet")
    log = checker.log(checker.write("cut2.pftrace", whole[:-9]), "--allow-truncated")
    checker.expect("packets before the cut", log.get("truncated") == 1, log)
    checker.refused("no trace", checker.write("meta.pftrace", message(1, message(33, b"\x08\x01" * 40))), "without track events")
    bomb = message(1, message(50, zlib.compress(bytes(80 << 20), 9)))
    checker.refused("a bomb", checker.write("bomb.pftrace", pftrace.joined(head, some) + bomb), "more than 64 MiB")
    # Any changed byte of the file: read or refused, in the same way each time.
    random.seed(7)
    for at in random.sample(range(len(whole)), 60):
        changed = bytearray(whole)
        changed[at] ^= 1 << random.randrange(8)
        done = checker.run(checker.write("changed.pftrace", bytes(changed)), "--allow-truncated")
        checker.expect(f"byte {at} changed", done.returncode in (0, 2), f"{done.returncode} {done.stderr}")


def check_speed(checker):
    """100,000 events: at least 0.3 of the speed of the same events as JSON of rocprofv3."""
    run = made_run(11_000)
    head, parts = pftrace.rocprofv3(run)
    files = [checker.write("large.pftrace", pftrace.joined(head, parts)), checker.write("large.json", rocprof_json(run).encode())]
    seconds = []
    for path in files:
        tries = []
        for _ in range(3):
            before = os.times()
            subprocess.run([checker.assay, "info", path], capture_output=True, check=False, env={**os.environ, "ASSAY_CACHE": "off"})
            after = os.times()
            tries.append(after.children_user + after.children_system - before.children_user - before.children_system)
        seconds.append(min(tries))
    checker.expect("speed", seconds[0] * 0.3 < seconds[1], f"{seconds[0]:.2f} s for pftrace, {seconds[1]:.2f} s for JSON")
    return f"{seconds[0]:.2f} s of CPU time for {sum(len(run[k]) for k in ('kernels', 'copies', 'calls')):,} rows, as JSON {seconds[1]:.2f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True, type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checker = Answers(args.assay.resolve(), folder)
        whole, parts = check_rocprof(checker)
        check_other_tools(checker)
        check_oddities(checker, whole, parts)
        speed = check_speed(checker)
    print("\n".join(checker.faults) or f"a Perfetto trace answers as rocprofv3's JSON; {speed}")
    return bool(checker.faults)


if __name__ == "__main__":
    sys.exit(main())
