#!/usr/bin/env python3
"""What `breakdown --roofline` takes for an operation's work against what the GPU counted: 61 operations on an NVIDIA
H200, one pass traced by PyTorch's profiler and one counted by Nsight Compute (tests/gpu/work.py, tests/data/h200_work).

    check_work.py --assay build/release/assay [--write]

A roof is a lower bound: an operation moves no fewer bytes than its model says, but for what stays in the cache, and
its tensor cores multiply no less. --write remakes docs/measured/work_counters.md.
"""

import argparse
import csv
import gzip
import io
import json
import pathlib
import subprocess
import sys
import tempfile

import datasets

DATA = datasets.ROOT / "tests/data/h200_work"
PAGE = datasets.ROOT / "docs/measured/work_counters.md"
VECTOR_TILE = 8  # columns that tensor cores multiply at least, even for one vector
CACHE_BYTES = 62_914_560  # of the L2: data written by a kernel may stay there
# Without a model; no profiler records the index list of index_put. A copy engine runs `clone`, which no kernel counter
# covers.
UNKNOWN = {"fft", "lstm", "index_put"}
NO_KERNEL = {"clone"}
WORK = ("cuda_runtime", "cuda_driver")
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")


def counted(name, columns):
    """Rows of a raw page, with these columns as numbers."""
    text = gzip.decompress((DATA / name).read_bytes()).decode()
    rows = csv.DictReader(io.StringIO(text[text.index('"ID"'):]))
    return [[row["Kernel Name"], *(float(row[column].replace(",", "")) for column in columns)] for row in rows if row["ID"]]


class Trace:
    """The trace, divided at the labels of its operations."""

    def __init__(self):
        self.document = json.loads(gzip.decompress((DATA / "work.json.gz").read_bytes()))
        self.events = self.document["traceEvents"]
        spans = [event for event in self.events if event.get("ph") == "X"]
        self.labels = sorted((event for event in spans if event.get("cat") == "user_annotation" and event["name"].startswith("work:")),
                             key=lambda event: event["ts"])
        self.calls = {event["args"]["correlation"]: event["ts"] for event in spans
                      if event.get("cat") in WORK and "correlation" in event.get("args", {})}
        self.kernels = sorted((event for event in spans if event.get("cat") == "kernel"), key=lambda event: event["ts"])

    @staticmethod
    def inside(label, at):
        return label["ts"] <= at <= label["ts"] + label["dur"]

    def kernels_of(self, label):
        """Indices among all kernels."""
        return [place for place, event in enumerate(self.kernels)
                if self.inside(label, self.calls[event["args"]["correlation"]])]

    def belongs(self, event, label):
        if event.get("ph") == "M":
            return True
        if event.get("cat") in DEVICE:
            return self.inside(label, self.calls.get(event["args"].get("correlation"), -1))
        return event.get("cat") != "gpu_user_annotation" and "ts" in event and self.inside(label, event["ts"])

    def cut(self, label, path):
        path.write_text(json.dumps({**self.document, "traceEvents": [e for e in self.events if self.belongs(e, label)]}))


def roof_of(assay, path):
    done = subprocess.run([assay, "breakdown", path, "--roofline", "--format", "json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["roofline"]


def aligned(assay):
    """The share of kernels that get counters from Assay's alignment."""
    done = subprocess.run([assay, "breakdown", DATA / "work.json.gz", "--counters", DATA / "counters.csv.gz", "--format", "json"],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return done.stderr.strip()
    return json.loads(done.stdout)["breakdown"]["counter_passes"][0]["match_rate"]


def compared(assay):
    trace = Trace()
    bytes_moved = counted("counters.csv.gz", ("dram__bytes_read.sum", "dram__bytes_write.sum"))
    operations = counted("tensor_ops.csv.gz", ("sm__ops_path_tensor_src_bf16_dst_fp32.sum",))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "one.json")
        for label in trace.labels:
            places = trace.kernels_of(label)
            if not places:
                rows.append({"name": label["name"][5:], "kernels": 0})
                continue
            trace.cut(label, path)
            roof = roof_of(assay, path)
            rows.append({"name": label["name"][5:], "kernels": len(places), "model": roof["moved_bytes"], "flop": roof["flop"],
                         "known": roof["known_share"], "beyond": roof["calls_below_roofline"] - roof["calls_cache_explained"], "read": sum(bytes_moved[place][1] for place in places),
                         "written": sum(bytes_moved[place][2] for place in places), "multiplied": None})
    take_operations(rows, operations)
    return len(bytes_moved), len(trace.kernels), rows


# In the order in which they were counted.
COUNTED = ("mm_bf16", "bmm", "mv", "linear_gradient", "attention_causal", "attention_grouped", "conv2d_channels_last", "conv2d",
           "layer_norm", "gelu")


def take_operations(rows, operations):
    by_name = {row["name"]: row for row in rows}
    at = 0
    for name in COUNTED:
        count = by_name[name]["kernels"]
        by_name[name]["multiplied"] = sum(row[1] for row in operations[at:at + count])
        at += count
    assert at == len(operations), (at, len(operations))


def problems_of(row):
    name = row["name"]
    if row["kernels"] == 0:
        return [] if name in NO_KERNEL else [f"{name}: no kernel"]
    if name in UNKNOWN:
        return [] if row["known"] < 0.01 else [f"{name}: known, {row['known']}"]
    found = []
    if row["known"] < 0.99:
        found.append(f"{name}: only {row['known']:.1%} of its time has work")
    moved = row["read"] + row["written"]
    # With many kernels the cache explains less than its full size per kernel.
    if row["model"] > moved + min(row["kernels"] * CACHE_BYTES, 0.6 * moved):
        found.append(f"{name}: {row['model'] / 1e6:.1f} MB told, {moved / 1e6:.1f} MB moved")
    if row["model"] < 0.15 * moved:
        found.append(f"{name}: {row['model'] / 1e6:.1f} MB told of {moved / 1e6:.1f} MB moved")
    if row["beyond"] > 0:
        found.append(f"{name}: {row['beyond']} calls faster than their roof, which no cache explains")
    most = VECTOR_TILE if name == "mv" else 1.08
    if row["multiplied"] and not 0.999 <= row["multiplied"] / row["flop"] <= most:
        found.append(f"{name}: {row['flop'] / 1e9:.2f} GFLOP told, {row['multiplied'] / 1e9:.2f} multiplied")
    return found


HEAD = """# Work from shapes against counters

Made by `tests/golden/check_work.py --write`: operations of PyTorch 2.11 on an NVIDIA H200 ([tests/gpu/work.py](../../tests/gpu/work.py),
2026-11-27), bfloat16 unless named otherwise, one pass traced by PyTorch's profiler and one counted by Nsight Compute 2025.3
(`--clock-control none`, the cache flushed before each kernel). *Told*: what `breakdown --roofline` takes for the work, from
shapes. *Read*, *written*: `dram__bytes_read.sum`, `dram__bytes_write.sum`. What a kernel wrote may stay in the cache of 63 MB and is then
not counted; so *told* may be larger by that for each kernel. *Multiplied*: `sm__ops_path_tensor_src_bf16_dst_fp32.sum`, of ten
operations (multiplications and additions, as FLOP).

Moved is more than told where an operation is made of several kernels (a convolution that changes the layout, a sum in
passes), where tiles are read more than once, and where an index asks for parts of a cache line: that is what the roof is
there to show. Multiplied is 3 % more than told for attention (blocks on the diagonal are multiplied whole) and for the
gradient of one convolution's weights (channels last); a product with one vector is multiplied as one with eight.

| operation | kernels | told (MB) | read (MB) | written (MB) | moved / told | told (GFLOP) | multiplied / told |
|---|--:|--:|--:|--:|--:|--:|--:|
"""


def line_of(row):
    if row["kernels"] == 0:
        return f"| {row['name']} | none: a copy engine's | | | | | | |\n"
    told, ratio = f"{row['model'] / 1e6:.1f}", f"{(row['read'] + row['written']) / row['model']:.2f}" if row["model"] else ""
    if row["known"] < 0.99:
        told, ratio = "not known", ""
    multiplied = f"{row['multiplied'] / row['flop']:.3f}" if row["multiplied"] else ""
    return (f"| {row['name']} | {row['kernels']} | {told} | {row['read'] / 1e6:.1f} | {row['written'] / 1e6:.1f} | {ratio} "
            f"| {row['flop'] / 1e9:.1f} | {multiplied} |\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=datasets.ROOT / "build/release/assay")
    parser.add_argument("--write", action="store_true", help="remake docs/measured/work_counters.md")
    options = parser.parse_args()
    counted_kernels, traced_kernels, rows = compared(options.assay)
    problems = [problem for row in rows for problem in problems_of(row)]
    if counted_kernels != traced_kernels:
        problems.append(f"{counted_kernels} kernels counted, {traced_kernels} traced")
    share = aligned(options.assay)
    if share != 1:
        problems.append(f"counters fit the trace at {share}")
    if options.write:
        PAGE.write_text(HEAD + "".join(map(line_of, rows)), encoding="utf-8")
    print("\n".join(problems) if problems else f"{len(rows)} operations, {counted_kernels} kernels: work as counted")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
