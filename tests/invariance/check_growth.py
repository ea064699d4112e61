#!/usr/bin/env python3
"""What an answer costs grows with the trace and no faster: twice the events take at most 2.3 times the processor time,
and each further event a bounded number of bytes. On made traces whose shape tempts an algorithm into more: operators
that overlap without nesting, many steps, many names of kernels, many threads, many events at one time.

    check_growth.py --assay build/release/assay [--large] [SHAPE...]

--large: ten times the events, for which `make test` has no time.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

MOST_TIMES = 2.3
NOISE_S = 0.15  # of processor time, on a busy machine
MOST_REPEATS = 4
MOST_BYTES = 1400  # of memory per event more; of a run of 20,000 steps also two copies without the cost of its recorder
MOST_ROWS = 1000  # of a table of steps in a document
MOST_OUTPUT_BYTES = 8_000_000  # of a document: of long runs it has the first rows and what the others sum to
TIMEOUT_S = 900


def op(name, begin, dur, tid=1):
    return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": tid, "ts": begin, "dur": dur,
            "args": {"External id": int(begin) + 1}}


def launched(number, begin, kernel_begin, dur, name="gemm", tid=1):
    """A call and its kernel."""
    return [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": tid, "ts": begin, "dur": 2,
             "args": {"correlation": number}},
            {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": kernel_begin, "dur": dur,
             "args": {"device": 0, "stream": 7, "correlation": number}}]


def overlap(count):
    """Each operator ends within each of those behind it."""
    for i in range(count):
        yield op(f"op{i % 50}", 10 * i, 10 * count + i)
        yield from launched(i + 1, 10 * i + 1, 10 * i + 5, 4)


def nested(count):
    """Each operator begins within all before it, ends 0.5 us after them, and launches a kernel."""
    for i in range(count):
        yield {**op(f"op{i % 50}", i / 2, 10 * count), "args": {"External id": i + 1}}
        yield from launched(i + 1, i / 2 + 0.1, 11 * count + 3 * i, 1)


def labels(count):
    """Labels of a layer, each of which outlives the one before it."""
    for i in range(count):
        yield {"ph": "X", "cat": "user_annotation", "name": f"layer_{i % 32}", "pid": 1, "tid": 1, "ts": 10 * i, "dur": 15}
        yield op("aten::mm", 10 * i + 2, 5)
        yield from launched(i + 1, 10 * i + 3, 10 * i + 6, 3)


def steps(count):
    for i in range(count):
        yield {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{i}", "pid": 1, "tid": 1, "ts": 20 * i, "dur": 19}
        yield op("aten::mm", 20 * i + 1, 10)
        yield from launched(i + 1, 20 * i + 2, 20 * i + 6, 8)


def names(count):
    for i in range(count):
        yield op("aten::mm", 20 * i + 1, 10)
        yield from launched(i + 1, 20 * i + 2, 20 * i + 6, 8, f"kernel_{i}_x{i % 7}")


def threads(count):
    for i in range(count):
        yield op("aten::mm", 20 * i + 1, 10, i + 1)
        yield from launched(i + 1, 20 * i + 2, 20 * i + 6, 8, tid=i + 1)


def ties(count):
    """A hundred calls and kernels begin at the same time."""
    for i in range(count):
        at = 5000 * (i // 100)
        yield op(f"op{i % 100}", at, 4000, i % 100 + 1)
        yield from launched(i + 1, at, at + 10, 5, tid=i % 100 + 1)


# Operators, and the answers that are asked. Pages and levels cost the most.
ASKED = (("report",), ("report", "-o", "page.html"), ("report", "-o", "report.json"), ("breakdown",))
SHAPES = {overlap: 10_000, nested: 5_000, labels: 5_000, steps: 10_000, names: 20_000, threads: 4_000, ties: 20_000}


def write(path, shape, count):
    events = 0
    with path.open("w") as file:
        file.write('{"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "traceEvents": [\n')
        for event in shape(count):
            file.write(("," if events else "") + json.dumps(event) + "\n")
            events += 1
        file.write("]}\n")
    return events


def cost(command, folder):
    """Seconds of processor time and bytes of memory."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read().decode()
    process.stderr.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{command}: exit code {process.returncode}: {said[-500:]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def too_slow(once, twice):
    return twice[0] > MOST_TIMES * once[0] + NOISE_S


def all_counted(path, kernels):
    """Whether the rows of every table of steps, and what it leaves out, hold all kernels."""
    document = json.loads(path.read_text())
    for section, table, key in (("launch", "iterations", "kernels"), ("host_overhead", "windows", "n"),
                                ("breakdown", "iterations", "kernels")):
        rows, rest = document[section][table], document[section].get(f"{table}_left_out", {key: 0})
        if sum(row[key] for row in rows) + rest[key] != kernels or len(rows) > MOST_ROWS:
            return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("shapes", nargs="*")
    given = parser.parse_args()
    assay = str(pathlib.Path(given.assay).resolve())
    failed = False
    for shape, count in SHAPES.items():
        if given.shapes and shape.__name__ not in given.shapes:
            continue
        count *= 10 if given.large else 1
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            few, many = (write(folder / f"{times}.json", shape, times * count) for times in (1, 2))
            for verb in ASKED:
                commands = [[assay, verb[0], "--threads", "1", f"{times}.json", *verb[1:]] for times in (1, 2)]
                once, twice = (cost(command, folder) for command in commands)
                for _ in range(MOST_REPEATS):  # the least time of several is the least disturbed
                    if not too_slow(once, twice):
                        break
                    once, twice = (min(before, cost(command, folder)) for before, command in zip((once, twice), commands))
                bytes_each = (twice[1] - once[1]) / (many - few)
                wrong = []
                if too_slow(once, twice):
                    wrong.append("TIME")
                if bytes_each > MOST_BYTES:
                    wrong.append("MEMORY")
                if len(verb) > 1 and (folder / verb[-1]).stat().st_size > MOST_OUTPUT_BYTES:
                    wrong.append("OUTPUT")
                if shape is steps and verb[-1] == "report.json" and not all_counted(folder / verb[-1], 2 * count):
                    wrong.append("SUM")
                failed |= bool(wrong)
                print(f"{shape.__name__:8} {' '.join(verb):21} {few} events {once[0]:.2f} s, {many} events {twice[0]:.2f} s "
                      f"({twice[0] / max(once[0], 1e-3):.2f} times), {twice[1] / 2**20:.0f} MiB, {bytes_each:.0f} bytes an event "
                      f"{' '.join(wrong)}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
