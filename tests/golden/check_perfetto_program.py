#!/usr/bin/env python3
"""`assay report --perfetto` in Perfetto itself: the trace processor of ui.perfetto.dev (tests/perfetto/query.mjs)
imports the file without errors and agrees with the model of its importer (perfetto_importer.py), slice by slice,
argument by argument, arrow by arrow.
"""

import argparse
import collections
import gzip
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import datasets
from check_perfetto import EXAMPLE, crooked_trace, run
from perfetto_importer import Importer

QUERY = datasets.ROOT / "tests/perfetto/query.mjs"
SKIPPED = 77
# One or two of each kind: PyTorch of several years and makers, Nsight Systems, rocprofv3, begin and end pairs.
TRACES = ("kineto/llm/h100_qwen1.5-0.5b.json.gz", "kineto/rocm/mi250_minitoy_train.json.gz",
          "kineto/old/v100_resnet50_2021-06.json.gz", "kineto/hta/a100_event_sync_multi_stream.json.gz",
          "kineto/hta/cpu_only_rank34of300.json.gz", "kineto/small/a100_gpumodel_trace.json",
          "kineto/multirank/megatron_tp8_a100/megatron_kineto_0.json.gz", "nsys/rtx3060_bert_fused_op.sqlite",
          "nsys/cloverleaf_a100.sqlite", "odd/begin_end_pairs.json")
SQL = {
    "faults": "select name, severity, value from stats where value > 0 and severity != 'info'",
    "slices": """select s.ts, s.dur, s.depth, s.name, coalesce(s.category, ''), t.tid, p.pid, t.name
                 from slice s join thread_track r on s.track_id = r.id join thread t using (utid)
                 join process p using (upid)""",
    "args": """select s.ts, s.name, t.tid, a.key, a.display_value
               from slice s join thread_track r on s.track_id = r.id join thread t using (utid)
               join args a using (arg_set_id)""",
    "arrows": """select a.ts, a.name, b.ts, b.name from flow f
                 join slice a on f.slice_out = a.id join slice b on f.slice_in = b.id""",
    "counters": """select c.ts, c.value, r.name, p.pid from counter c
                   join process_counter_track r on c.track_id = r.id join process p using (upid)""",
    "processes": "select pid, name from process where name is not null",
}
problems = []


class Program:
    """The trace processor, for one file after another."""

    def __init__(self):
        self.process = subprocess.Popen(["node", QUERY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, trace):
        self.process.stdin.write(json.dumps({"trace": str(trace), "sql": SQL}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(self.process.wait() or 1)
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        return self.process.wait(timeout=600)


def text(value):
    """A value as Perfetto shows it: numbers in one form, whether written 3 or 3.0, and rounded, because its decimal
    parser is off in the last bit. It reads integers as signed."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)
    return f"{number - 2**64 if number >= 2**63 else number:.12g}"


def flat(key, value):
    if isinstance(value, list):
        return [(f"{key}[{i}]", part) for i, part in enumerate(value)]
    return [(key, value)]


def model_rows(imported):
    args = collections.Counter()
    for event in imported.slices:
        for name, whole in event.get("args", {}).items():
            for key, value in flat(f"args.{name}", whole):
                args[(event["ns"], event["name"], event["tid"], key, text(value))] += 1
    return {
        "slices": collections.Counter(
            (event["ns"], event["dur_ns"], event["depth"], event["name"], event.get("cat", ""), event["tid"],
             event["pid"], imported.threads[event["tid"]][1]) for event in imported.slices),
        "args": args,
        "arrows": collections.Counter((start["ns"], start["name"], end["ns"], end["name"])
                                      for _, start, end in imported.flows),
        "counters": collections.Counter((ns, text(value), f"{name} {key}", pid)
                                        for pid, name, key, ns, value, _ in imported.counters),
        "processes": collections.Counter(imported.processes.items()),
    }


def program_rows(told):
    rows = {name: collections.Counter(map(tuple, told[name])) for name in SQL if name != "faults"}
    rows["args"] = collections.Counter()
    for ts, name, tid, key, value in told["args"]:
        if key.startswith("args."):
            rows["args"][(ts, name, tid, key, text(value))] += 1
    rows["counters"] = collections.Counter((ts, text(value), name, pid) for ts, value, name, pid in told["counters"])
    return rows


def check(program, name, timeline):
    raw = timeline.read_bytes()
    imported = Importer(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
    imported.finish()
    told = program.ask(timeline)
    if "error" in told:
        problems.append(f"{name}: {told['error']}")
        return 0
    problems.extend(f"{name}: Perfetto counts {fault}" for fault in told["faults"])
    model, held = model_rows(imported), program_rows(told)
    for what, rows in model.items():
        for word, difference in (("lacks", rows - held[what]), ("has also", held[what] - rows)):
            if difference:
                first = list(difference.items())[:2]
                problems.append(f"{name}: Perfetto {word} {sum(difference.values())} {what}: {str(first)[:400]}")
    return len(imported.slices)


def timelines(assay, folder):
    inputs = [("example", [EXAMPLE])]
    for seed in range(3):
        path = folder / f"crooked{seed}.json"
        path.write_text(json.dumps(crooked_trace(seed)))
        inputs.append((path.name, [path]))
    for rank in range(2):
        document = json.loads(gzip.decompress(EXAMPLE.read_bytes()))
        document["distributedInfo"] = {"rank": rank, "world_size": 2, "backend": "nccl"}
        (folder / f"rank{rank}.json").write_text(json.dumps(document))
    inputs.append(("two ranks", sorted(folder.glob("rank*.json"))))
    inputs += [(name, [datasets.CORPUS / name]) for name in TRACES if (datasets.CORPUS / name).exists()]
    for name, traces in inputs:
        for timeline in (folder / "timeline.json", folder / "timeline.json.gz"):
            done = run(assay, "report", *traces, "--format", "json", "--perfetto", timeline)
            if done.returncode in (0, 3):
                yield name, timeline
            else:
                problems.append(f"{name}: {done.stderr.decode()[-300:]}")
            if len(traces) == 1 and traces[0] != EXAMPLE:
                break


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    arguments = parser.parse_args()
    if not shutil.which("node") or not (QUERY.parent / "engine/trace_processor.wasm").exists():
        print("skipped: no node, or no trace processor in tests/perfetto/engine (tools/install_deps.sh test)")
        return SKIPPED
    program = Program()
    with tempfile.TemporaryDirectory() as temporary:
        slices = [check(program, name, timeline) for name, timeline in timelines(arguments.assay, pathlib.Path(temporary))]
    program.close()
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return 1
    print(f"Perfetto holds {sum(slices)} slices of {len(slices)} timelines as the model says, and complains of none")
    if not datasets.CORPUS.exists():
        print(datasets.NO_CORPUS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
