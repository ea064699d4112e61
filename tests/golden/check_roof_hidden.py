#!/usr/bin/env python3
"""Traces with known truth from which information is removed: the remaining statements must still be true.

    check_roof_hidden.py --assay build/release/assay

Two variants: without types, values and numbers of operators, as in profilers of early 2021, and also without sizes. A
value reported as known must equal that of the complete recording; bounds must contain its roofline. At least the share
MUST_TELL of the time must be reported, so that an empty answer fails.
"""

import argparse
import collections
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import datasets

SKIP = 77
TRACES = ("kineto/old/v100_resnet50_2021-06", "kineto/hta/a100_trace_diff_control_r3of8",
          "kineto/train/mi300_resnet_act_checkpoint_r0of8", "kineto/llm/h100_qwen1.5-0.5b", "kineto/llm/mi300_bert_small",
          "kineto/vision/h100_nsfw_vit", "h200_work/work")
# Strides stay: without them an expanded tensor counts as a full one.
TELLS = ("Concrete Inputs", "Sequence number", "Fwd thread id")
SIZES = ("Input Dims", "Input dims")
# Minimum shares of the kernel time that are known, or have bounds.
MUST_TELL = {("kineto/old/v100_resnet50_2021-06", "untyped"): 0.9,
             ("kineto/old/v100_resnet50_2021-06", "bare"): 0.1,
             ("h200_work/work", "bare"): 0.1}
# Sums over rows are of doubles; a number may have been a tensor of one element, of at most 16 bytes.
CLOSE = 1e-9
NUMBER_BYTES = 16
# beta is a value, and determines if the first argument was read.
BETA = ("aten::addmm", "aten::addmm_", "aten::addmv", "aten::addmv_", "aten::baddbmm", "aten::baddbmm_")


def hidden(trace, sizes_too):
    text = json.loads(json.dumps(trace))
    for event in text["traceEvents"] if isinstance(text, dict) else text:
        args = event.get("args", {})
        if "Input type" in args:
            args["Input type"] = []
        for key in TELLS + (SIZES if sizes_too else ()):
            args.pop(key, None)
    return text


def roof_of(assay, path):
    done = subprocess.run([assay, "breakdown", str(path), "--roofline", "--format", "json"], capture_output=True, text=True, timeout=600)
    return json.loads(done.stdout)["roofline"]


def by_shape(roof):
    """(operator, shape without its type) -> [kernels, FLOP, bytes]; types that mix under one shape add up."""
    sums = collections.defaultdict(lambda: [0, 0.0, 0.0])
    for row in roof["ops"]:
        key = row["op"], re.sub(r" [a-z]+\d*$", "", row["shape"] or "")
        for at, value in enumerate((row["kernels"], row["flop"], row["moved_bytes"])):
            sums[key][at] += value
    return sums


def by_op(rows, *names):
    sums = collections.defaultdict(lambda: [0] * (len(names) + 1))
    for row in rows:
        for at, name in enumerate(("kernels",) + names):
            sums[row["op"]][at] += row[name]
    return sums


def check(truth, told):
    compared = 0
    whole = by_shape(truth)
    for key, (kernels, *got) in by_shape(told).items():
        if key not in whole or whole[key][0] != kernels or key[0] in BETA:
            continue
        compared += 1
        for word, one, other in zip(("FLOP", "bytes"), got, whole[key][1:]):
            numbers = NUMBER_BYTES * kernels if word == "bytes" else 0
            if abs(one - other) > CLOSE * max(one, other) + numbers:
                yield f"{key}: {word} {one}, recorded {other}"
    known = [row for row in truth["ops"] if row["roofline_ns"] is not None]
    roofs = by_op(known, "roofline_ns")
    calls = by_op(known, "calls")
    bounds = [row for row in told["bounds"] if row["roofline_min_ns"] is not None]
    for op, (kernels, least, most) in by_op(bounds, "roofline_min_ns", "roofline_max_ns").items():
        if roofs[op][0] != kernels:
            continue
        compared += 1
        # Each call is rounded to a nanosecond.
        if not least - calls[op][1] <= roofs[op][1] <= most + calls[op][1]:
            yield f"{op}: a roof of {roofs[op][1]} ns, said to be from {least} to {most} ns"
    print(f"  {compared} compared")
    if compared == 0:
        yield "nothing could be compared"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    assay = pathlib.Path(parser.parse_args().assay).resolve()
    failed = checked = 0
    for name in TRACES:
        path = next((folder / f"{name}.json.gz" for folder in (datasets.CORPUS, datasets.IN_REPOSITORY)
                     if (folder / f"{name}.json.gz").exists()), None)
        if path is None:
            continue
        truth = roof_of(assay, path)
        trace = json.loads(gzip.open(path, "rb").read())
        for way, sizes_too in (("untyped", False), ("bare", True)):
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / "hidden.json"
                file.write_text(json.dumps(hidden(trace, sizes_too)))
                told = roof_of(assay, file)
            bounded = sum(row["dur_ns"] for row in told["bounds"])
            share = (told["known_ns"] + bounded) / told["kernel_ns"]
            print(f"{name}, {way}: {told['known_ns'] / told['kernel_ns']:.1%} known, {bounded / told['kernel_ns']:.1%} within bounds")
            problems = list(check(truth, told))
            if share < MUST_TELL.get((name, way), 0):
                problems.append(f"{share:.1%} are told, less than before")
            for problem in problems:
                print(f"{name}, {way}: {problem}")
            failed += len(problems)
            checked += 1
    if not checked:
        print(datasets.NO_CORPUS)
        return SKIP
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
