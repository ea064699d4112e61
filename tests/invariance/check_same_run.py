#!/usr/bin/env python3
"""What says nothing about a run changes no answer: metadata that is moved or comes twice, other numbers for processes,
threads, correlation and external ids, another time of day, numbers as strings, and how the file is stored or given. In
each copy of a trace the JSON has the same bytes, without the name, size and checksum of the file and places in it.

    check_same_run.py --assay build/release/assay [--all] [--only NAME]
"""

import argparse
import copy
import decimal
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import check_order  # noqa: E402
import datasets  # noqa: E402

SMALL_BYTES = 60_000  # as stored
VERBS = (["report", "--format", "json"], ["launch", "--format", "json"])
NUMBER = "\x01{}\x01"  # a number as it is written, until it is in the file
HOST = {"cpu_op", "operator", "cuda_runtime", "cuda_driver", "hip_runtime", "python_function", "user_annotation", "ac2g",
        "fwdbwd", "async_cpu_to_gpu"}


def read(path):
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    return json.loads(text, parse_float=NUMBER.format)


def text_of(document):
    return re.sub(r'"\\u0001([^"\\]*)\\u0001"', r"\1", json.dumps(document))


def written(value):
    return isinstance(value, str) and value.startswith("\x01")


def changed_events(change):
    def changed(document):
        made = copy.deepcopy(document)
        events = made if isinstance(made, list) else made["traceEvents"]
        for event in events:
            change(event)
        return made
    return changed


def with_order(order):
    def changed(document):
        if isinstance(document, list):
            return order(document)
        return {**document, "traceEvents": order(document["traceEvents"])}
    return changed


def is_metadata(event):
    return event.get("ph") == "M"


def metadata_last(events):
    return [e for e in events if not is_metadata(e)] + [e for e in events if is_metadata(e)]


def metadata_twice(events):
    return [e for e in events if is_metadata(e)] + events


def arguments(event):
    args = event.get("args")
    return args if isinstance(args, dict) else {}


def other_correlations(event):
    args = arguments(event)
    for key in ("correlation", "wait_on_cuda_event_record_corr_id"):
        if isinstance(args.get(key), int) and args[key] > 0:
            args[key] = 2 * args[key] + 1
    if event.get("cat") in ("ac2g", "async_cpu_to_gpu") and isinstance(event.get("id"), int) and event["id"] > 0:
        event["id"] = 2 * event["id"] + 1


def other_externals(event):
    args = arguments(event)
    for key in ("External id", "external id"):
        if isinstance(args.get(key), int) and args[key] > 0:
            args[key] = 3 * args[key] + 5


def other_processes(events):
    """Other pids and tids of the host. Rows of a device have its number and that of their stream in their place."""
    devices = {e.get("pid") for e in events if isinstance(arguments(e).get("device"), int)}
    hosts = {e.get("pid") for e in events if e.get("cat") in HOST and isinstance(e.get("pid"), int)} - devices

    def moved(event):
        if event.get("pid") not in hosts:
            return event
        tid = event.get("tid")
        tid = {"tid": tid + 40_000} if isinstance(tid, int) and tid > 0 else {}
        return {**event, "pid": event["pid"] + 30_000, **tid}
    return [moved(event) for event in events]


def other_streams(events):
    """Streams keep their order, and the default ones their numbers."""
    def stream(number):
        return number + 100 if isinstance(number, int) and number > 7 else number

    on_device = {(e.get("pid"), e.get("tid")) for e in events
                 if e.get("cat") not in HOST and isinstance(arguments(e).get("device"), int)}

    def moved(event):
        args = {key: stream(value) if key in ("stream", "wait_on_stream") else value
                for key, value in arguments(event).items()}
        tid = {"tid": stream(event["tid"])} if (event.get("pid"), event.get("tid")) in on_device else {}
        return {**event, **tid, **({"args": args} if args else {})}
    return [moved(event) for event in events]


def shifted(event):
    """By 2 seconds."""
    time = event.get("ts")
    if isinstance(time, int) and not isinstance(time, bool):
        event["ts"] = time + 2_000_000
    elif written(time):
        event["ts"] = NUMBER.format(decimal.Decimal(time.strip("\x01")) + 2_000_000)


def as_strings(event):
    for key in ("ts", "dur"):
        value = event.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            event[key] = str(value)
        elif written(value):
            event[key] = value.strip("\x01")


def with_fraction(event):
    for key in ("ts", "dur"):
        value = event.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            event[key] = NUMBER.format(f"{value}.000")


def decimal_of(value):
    if written(value):
        return decimal.Decimal(value.strip("\x01"))
    return decimal.Decimal(value) if isinstance(value, int) and not isinstance(value, bool) else None


def as_pairs(events):
    """Host spans that nest, as begin and end events. Of one time they stand in the order in which they happen: the format
    gives the order in the file a meaning there."""
    kept, by_thread = [], {}
    for event in events:
        times = [decimal_of(event.get(key)) for key in ("ts", "dur")]
        if event.get("ph") == "X" and event.get("cat") in HOST and "name" in event and None not in times and times[1] >= 0:
            by_thread.setdefault((event.get("pid"), event.get("tid")), []).append((times[0], times[0] + times[1], event))
        else:
            kept.append(event)
    for spans in by_thread.values():
        spans.sort(key=lambda span: (span[0], -span[1]))  # of equal spans the first in the file is outermost
        open_spans = []

        def close(until):
            while open_spans and open_spans[-1][1] <= until:
                _, end, event = open_spans.pop()
                kept.append({"ph": "E", "pid": event["pid"], "tid": event["tid"], "name": event["name"],
                             "ts": NUMBER.format(end)})

        for span in spans:
            close(span[0])
            if open_spans and span[1] > open_spans[-1][1]:
                kept.append(span[2])  # it does not nest
                continue
            kept.append({key: value for key, value in span[2].items() if key != "dur"} | {"ph": "B"})
            open_spans.append(span)
        close(decimal.Decimal("Infinity"))
    return kept


def in_order_of_marks(events, order):
    """Begin and end events of one thread and time keep their order in `order`, a permutation of the events."""
    place = {id(event): i for i, event in enumerate(events)}

    def key(event):
        return (event.get("pid"), event.get("tid"), decimal_of(event.get("ts")))
    groups = {}
    for event in order:
        if event.get("ph") in ("B", "E"):
            groups.setdefault(key(event), []).append(event)
    for group in groups.values():
        group.sort(key=lambda event: -place[id(event)])
    return [groups[key(event)].pop() if event.get("ph") in ("B", "E") else event for event in order]


def shuffled_pairs(events):
    pairs = as_pairs(events)
    mixed = list(pairs)
    random.Random(4).shuffle(mixed)
    return in_order_of_marks(pairs, mixed)


def reversed_pairs(events):
    pairs = as_pairs(events)
    return in_order_of_marks(pairs, pairs[::-1])


def with_ids_alone(events):
    """Host spans with the arguments that are read of a begin event: docs/formats/kineto.md."""
    ids = ("correlation", "External id", "external id")
    return [{**e, "args": {key: value for key, value in arguments(e).items() if key in ids}}
            if e.get("cat") in HOST and e.get("ph") == "X" else e for e in events]


PAIRS = {"begin and end events": as_pairs, "begin and end events, reversed": reversed_pairs,
         "begin and end events, shuffled": shuffled_pairs}
CHANGES = {
    "metadata last": with_order(metadata_last),
    "metadata twice": with_order(metadata_twice),
    "other correlation ids": changed_events(other_correlations),
    "other processes and threads": with_order(other_processes),
    "other streams": with_order(other_streams),
    "other external ids": changed_events(other_externals),
    "two seconds later": changed_events(shifted),
    "times as strings": changed_events(as_strings),
    "times with a fraction": changed_events(with_fraction),
}


def comparable(text, path):
    text = re.sub(r'"(stored_bytes|content_bytes|source_bytes|first_offset|events)": *(-?\d+|null)', r'"\1": 0', text)
    text = re.sub(r'"(file|name)": "-"', r'"\1": "TRACE"', text)
    text = re.sub(r'"(checksum|source_checksum)": *"[^"]*"', r'"\1": ""', text)
    return text.replace(str(path), "TRACE")


def answers(assay, path, options=(), given=None):
    found = []
    for verb in VERBS:
        run = subprocess.run([assay, verb[0], "-" if given is not None else str(path), *verb[1:], *options], input=given,
                             capture_output=True, env={**os.environ, "ASSAY_CACHE": "off"}, check=False)
        text = comparable(run.stdout.decode(), path)
        found.append((run.returncode, re.sub(r"\n +\"TRACE\.(gz|zst)\"", "", text)))
    return found


TIMES = ("il_ns", "kernel_sum_ns", "kernel_union_ns")
COUNTS = ("kernels", "linked", "launches")


def ten_times(events):
    """Ten times as slow. Thresholds are times of hardware, so that the answer may differ: sums may not."""
    first = min((time for event in events if (time := decimal_of(event.get("ts")))), default=0)

    def slowed(event):
        times = {key: NUMBER.format((value - (first if key == "ts" else 0)) * 10) for key in ("ts", "dur")
                 if (value := decimal_of(event.get(key))) is not None}
        return {**event, **times}
    return [slowed(event) for event in events]


def check_scaled(path, expected, got):
    one, ten = (json.loads(answer[1][1])["launch"]["whole"] for answer in (expected, got))
    return [f"{path.name}, ten times as slow: {key} {one[key]} is {ten[key]}" for key in TIMES + COUNTS
            if None not in (one[key], ten[key]) and one[key] * (10 if key in TIMES else 1) != ten[key]]


def without_import_log(text):
    try:
        document = json.loads(text)
    except ValueError:
        return text
    document.pop("import_log", None)
    document.pop("trust", None)
    document.pop("inputs", None)
    return json.dumps(document, indent=1)


def compare(name, path, expected, got):
    for verb, wanted, found in zip(VERBS, expected, got):
        if wanted[0] != found[0]:
            return [f"{path.name}, {name}: {verb[0]}: exit code {wanted[0]} is {found[0]}"]
        one, other = without_import_log(wanted[1]), without_import_log(found[1])
        if one != other:
            return [f"{path.name}, {name}: {verb[0]}: {check_order.first_difference(one, other)}"]
    return []


def check(assay, path, folder):
    try:
        document = read(path)
    except ValueError:
        return []
    events = document if isinstance(document, list) else document.get("traceEvents")
    if not isinstance(events, list) or not events or not all(isinstance(e, dict) for e in events):
        return []
    trace = pathlib.Path(folder) / "trace.json"
    trace.write_text(text_of(document))
    expected = answers(assay, trace)
    failed = []
    for name, change in CHANGES.items():
        trace.write_text(text_of(change(document)))
        failed += compare(name, path, expected, answers(assay, trace))
    if all(code == 0 for code, _ in expected):
        trace.write_text(text_of(with_order(ten_times)(document)))
        failed += check_scaled(path, expected, answers(assay, trace))
    bare = with_order(with_ids_alone)(document)
    trace.write_text(text_of(bare))
    spans = answers(assay, trace)
    for name, order in PAIRS.items():
        trace.write_text(text_of(with_order(order)(bare)))
        failed += compare(name, path, spans, answers(assay, trace))
    trace.write_text(text_of(document))
    stored = {".gz": lambda to: to.write_bytes(gzip.compress(trace.read_bytes())),
              ".zst": lambda to: subprocess.run(["zstd", "-q", "-f", str(trace), "-o", str(to)], check=True)}
    for ending, make in stored.items():
        if ending == ".zst" and not shutil.which("zstd"):
            continue
        packed = trace.with_name(trace.name + ending)
        make(packed)
        failed += compare(ending, path, expected, answers(assay, packed))
    failed += compare("through a pipe", path, expected, answers(assay, trace, given=trace.read_bytes()))
    cache = [f"--cache={folder}/cache"]
    for name in ("into a cache", "from the cache"):
        failed += compare(name, path, expected, answers(assay, trace, cache))
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    parser.add_argument("--all", action="store_true", help="traces of every size")
    parser.add_argument("--only", default="", help="traces whose name contains this")
    args = parser.parse_args()
    paths = [path for name, path in datasets.golden_traces() if args.only in name
             and path.suffix != ".zst" and (args.all or path.stat().st_size <= SMALL_BYTES)]
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            failed += check(args.assay, path, folder)
    print("\n".join(failed + [f"{len(paths)} traces, {len(failed)} copies that change an answer"]))
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
