"""The operators of an iteration, counted by name: as `assay record --torch` saw them, and as PyTorch's profiler did."""

import collections
import gzip
import json
import struct

ITERATION = "ProfilerStep#"
# Of a recording (docs/formats/assaytrace.md): kinds of records, and a flag of ranges of record_function.
STRING, RANGE, OPERATOR, USER_RANGE = 2, 8, 21, 1


def records(path):
    data = path.read_bytes()
    if len(data) < 64:
        return
    at = struct.unpack_from("<I", data, 12)[0]
    while at + 32 <= len(data):
        payload = struct.unpack_from("<I", data, at + 4)[0]
        at += 32
        inner = at
        while inner < min(at + payload, len(data)):
            kind, size = struct.unpack_from("<2H", data, inner)
            yield kind, data[inner:inner + size]
            inner += size
        at += payload


def counted(steps, operators):
    """steps: (begin, end); operators: (begin, name). The mean number of each name in a step."""
    counts = collections.Counter(name for begin, name in operators
                                 for step_begin, step_end in steps if step_begin <= begin < step_end)
    return {name: count / len(steps) for name, count in counts.items()} if steps else {}


def recorded(path):
    """Of a recording."""
    texts, ranges, found = {}, [], []
    for kind, record in records(path):
        if kind == STRING:
            key, length = struct.unpack_from("<II", record, 4)
            texts[key] = record[16:16 + length].decode(errors="replace")
        elif kind == RANGE:
            ranges.append(struct.unpack_from("<QQI", record, 8))
        elif kind == OPERATOR:
            begin, = struct.unpack_from("<Q", record, 8)
            name, *_, flags = struct.unpack_from("<6I", record, 40)
            if not flags & USER_RANGE:
                found.append((begin, name))
    steps = [(begin, end) for begin, end, name in ranges if texts.get(name, "").startswith(ITERATION)]
    return counted(steps, [(begin, texts.get(name, "")) for begin, name in found])


def profiled(path):
    """Of a trace of PyTorch's profiler (.json.gz)."""
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    spans = [event for event in events if event.get("ph") == "X"]
    steps = [(event["ts"], event["ts"] + event["dur"]) for event in spans
             if event.get("cat") == "user_annotation" and event["name"].startswith(ITERATION)]
    return counted(steps, [(event["ts"], event["name"]) for event in spans if event.get("cat") == "cpu_op"])


def compared(ours, theirs):
    """What a reader of both wants to know; names that differ with both counts, the most different first."""
    different = {name: [ours.get(name, 0), theirs.get(name, 0)] for name in {*ours, *theirs}
                 if ours.get(name, 0) != theirs.get(name, 0)}
    order = sorted(different, key=lambda name: (-abs(different[name][0] - different[name][1]), name))
    return {"kinds": len(ours), "operators": sum(ours.values()), "profiler_kinds": len(theirs),
            "profiler_operators": sum(theirs.values()), "agree": not different,
            "different": {name: different[name] for name in order[:20]}}
