#!/usr/bin/env python3
"""How far `whatif --on` is off, and what its intervals hold: kernels of tests/data/scaling, measured on ten GPUs.

    check_hardware.py --assay PATH [--write]

Programs are made of measured kernels: operators with shapes, and on GPU A the times of A. `whatif --on B` tells the
time of their kernels on B, which was measured, too. Each pair is asked twice: with the spreads as specified, and with
those that the pairs without B leave (--specs), so that nothing of B taught the interval. The tables of
docs/measured/hardware.md are what this prints; --write puts them there. Leaves with 1 where the page says something
else, or where intervals hold less than they are said to.
"""

import argparse
import concurrent.futures
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
import zlib

from datasets import IN_REPOSITORY, ROOT

TABLES = IN_REPOSITORY / "scaling"
PAGE = ROOT / "docs" / "measured" / "hardware.md"
BEGIN, END = "<!-- measured: begin -->\n", "<!-- measured: end -->\n"
CARDS = {"a100": "Nvidia A100 80GB", "l40s": "Nvidia L40S GPU", "rtxpro": "Nvidia RTX PRO 6000 Blackwell",
         "h100": "Nvidia H100 GPU", "h200": "Nvidia H200 GPU", "b200": "Nvidia B200 GPU", "b300": "Nvidia B300 GPU",
         "gb200": "Nvidia GB200 GPU", "gb300": "Nvidia GB300 GPU", "a40": "Nvidia A40 GPU"}
RECORDED = {"a100": "NVIDIA A100-SXM4-80GB", "l40s": "NVIDIA L40S", "rtxpro": "NVIDIA RTX PRO 6000 Blackwell Server Edition",
            "h100": "NVIDIA H100 80GB HBM3", "h200": "NVIDIA H200", "b200": "NVIDIA B200", "b300": "NVIDIA B300",
            "gb200": "NVIDIA GB200", "gb300": "NVIDIA GB300", "a40": "NVIDIA A40"}
FAMILY = {"gemm": "gemm", "attention_context": "attention", "attention_generation": "attention", "streams": "other"}
TITLES = {"gemm": "products, BF16 and FP8", "attention_context": "attention, prefill",
          "attention_generation": "attention, decode", "streams": "activation, add, norm, rotary",
          "mixed": "products and attention"}
CHANGES = ("die", "generation", "segment")
PROGRAMS = 3
KERNELS = 16  # of one program, of each kind
FEWEST = 8
LEAST_HELD = 0.85
BF16, FP8 = "c10::BFloat16", "c10::Float8_e4m3fn"


def operator(kind, row):
    """Name, dimensions, types and values of the arguments of the operator that launches this kernel."""
    if kind == "streams":
        size = [int(row["bytes"]) // 6]
        return "aten::add", [size, size, []], [BF16, BF16, "Scalar"], ["", "", "1"]
    if kind == "gemm":
        m, n, k = (int(row[x]) for x in "mnk")
        if row["d"] == "fp8":
            return "aten::_scaled_mm", [[m, k], [k, n], [1], [1], [], [], []], [FP8, FP8, "float", "float", "", "", "Scalar"], [""] * 6 + ["15"]
        return "aten::mm", [[m, k], [k, n]], [BF16, BF16], ["", ""]
    b, h, kv, d, s, p = (int(row[x]) for x in ("b", "h", "kv", "d", "isl", "step"))
    keys = [b, s + p, kv, d]
    return "flash_attn::_flash_attn_forward", [[b, s, h, d], keys, keys, [], [], []], [BF16] * 3 + ["Scalar"] * 3, ["", "", "", "0.", "0.1", "True"]


def trace_of(gpu, kernels):
    """A trace in which the host runs ahead and kernels run back to back."""
    events, now = [], 0.0
    for i, (kind, row) in enumerate(kernels):
        name, dims, types, values = operator(kind, row)
        at, us = 2.0 * i, 1000 * float(row[gpu])
        args = {"External id": i + 1, "Input Dims": dims, "Input type": types, "Concrete Inputs": values}
        events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": at, "dur": 1.5, "args": args})
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": at + 0.5,
                       "dur": 0.75, "args": {"correlation": i + 1, "External id": i + 1}})
        now = max(now, at + 5)
        events.append({"ph": "X", "cat": "kernel", "name": kind + "_kernel", "pid": 0, "tid": 7, "ts": round(now, 3),
                       "dur": round(us, 3), "args": {"correlation": i + 1, "device": 0, "stream": 7, "External id": i + 1}})
        now = round(now, 3) + round(us, 3) + 1
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": RECORDED[gpu]}], "traceEvents": events}


class Asker:
    def __init__(self, assay, folder):
        self.assay, self.folder, self.asked = assay, folder, 0

    def on(self, name, a, b, kernels, specs=None):
        path = os.path.join(self.folder, name + ".json")
        with open(path, "w", encoding="utf-8") as out:
            json.dump(trace_of(a, kernels), out)
        command = [self.assay, "whatif", path, "--on", CARDS[b], "--as-recorded", "--format", "json"]
        if specs:
            command += ["--specs", specs]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{name}: {done.stderr}")
        on = json.loads(done.stdout)["whatif"]["on"]
        if on["refused"] or on["gpus"][0]["kernels"] is None or on["known_share"] < 0.999:
            raise AssertionError(f"{name}: refused {on['refused']}, known {on['known_share']}: {on['gpus']}")
        os.remove(path)
        return on["gpus"][0]


def read_tables():
    tables = {}
    for kind in FAMILY:
        with open(TABLES / f"{kind}.csv", encoding="utf-8") as file:
            tables[kind] = list(csv.DictReader(file))
    return tables


def read_facts(assay):
    """Specifications of GPUs by attribute, from Assay."""
    out = subprocess.run([assay, "throughput", "facts", "--format", "json"], capture_output=True, text=True, check=True).stdout
    facts = {}
    for value in json.loads(out)["throughput"]["values"]:
        facts.setdefault(value["name"], {})[value["spec_attribute"]] = value["spec_value"]
    return facts


def flop(kind, row):
    if kind == "streams":
        return 0.0
    if kind == "gemm":
        return 2.0 * int(row["m"]) * int(row["n"]) * int(row["k"])
    b, h, d, s, p = (int(row[x]) for x in ("b", "h", "d", "isl", "step"))
    return 2.0 * b * h * d * s * (s + 2 * p) if kind == "attention_context" else 4.0 * b * h * d * (s + p)


def is_possible(kind, row, gpu, facts):
    """False for a kernel faster than its GPU's peak: a measurement error."""
    if not row.get(gpu):
        return False
    card = facts[CARDS[gpu]]
    peak = card.get("fp8_tflops", card["tflops"]) if row.get("d") == "fp8" else card["tflops"]
    return float(row[gpu]) * 1e-3 >= flop(kind, row) / (peak * 1e12)


def drawn(rows, key, count):
    """A sample of rows, equal in every version of Python."""
    return sorted(rows, key=lambda row: zlib.crc32(f"{key} {sorted(row.items())}".encode()))[:count]


def measured(kernels, a, b):
    return sum(float(row[b]) for _, row in kernels) / sum(float(row[a]) for _, row in kernels)


def rms(values):
    return math.sqrt(sum(v * v for v in values) / len(values))


def spreads_without(offsets, gpu):
    """Standard deviations of the logarithm by change and family, of pairs without this GPU."""
    spreads = {}
    for change in CHANGES:
        for kind, family in FAMILY.items():
            of = [log for (k, c, a, b), log in offsets.items() if k == kind and c == change and gpu not in (a, b)]
            if of:
                key = (change, family)
                spreads[key] = max(spreads.get(key, 0), rms(of))
    return spreads


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def line(title, change, told):
    """told: measured ratio, answer with the spreads as specified, answer with those without this GPU."""
    off = [abs(log) for log in (math.log(ratio / left["kernels"]) for _, ratio, _, left in told)]
    pairs = {pair for pair, _, _, _ in told}

    def holds(which):
        inside = [answer["kernels_low"] <= ratio <= answer["kernels_high"] for _, ratio, answer in which]
        width = [answer["kernels_high"] / answer["kernels"] - 1 for _, _, answer in which]
        return f"{100 * sum(inside) / len(inside):.0f} %, ± {100 * quantile(width, .5):.0f} %"

    left = holds([(pair, ratio, answer) for pair, ratio, _, answer in told])
    full = holds([(pair, ratio, answer) for pair, ratio, answer, _ in told])
    return (f"| {title} | {change} | {len(pairs)}, {len(told)} | {100 * (math.exp(quantile(off, .5)) - 1):.0f} / "
            f"{100 * (math.exp(quantile(off, .9)) - 1):.0f} | {left} | {full} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    tables, facts = read_tables(), read_facts(options.assay)
    pairs = [(a, b) for a in CARDS for b in CARDS if a != b]
    common = {(kind, a, b): [row for row in tables[kind] if is_possible(kind, row, a, facts) and is_possible(kind, row, b, facts)]
              for kind in FAMILY for a, b in pairs}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        asker = Asker(options.assay, folder)

        def whole(task):
            kind, a, b = task
            kernels = [(kind, row) for row in common[task]]
            answer = asker.on(f"{kind}-{a}-{b}", a, b, kernels)
            return (kind, answer["change"], a, b), math.log(measured(kernels, a, b) / answer["kernels"])

        offsets = dict(pool.map(whole, [key for key, rows in common.items() if len(rows) >= FEWEST]))
        specs = {}
        for gpu in CARDS:
            specs[gpu] = os.path.join(folder, gpu + ".ini")
            with open(specs[gpu], "w", encoding="utf-8") as out:
                for (change, family), value in sorted(spreads_without(offsets, gpu).items()):
                    out.write(f"[change {change}]\nsource = pairs without {gpu}\n{family} = {max(value, 0.01):.4f}\n")

        def ask(task):
            title, change, a, b, n, kernels = task
            name = f"{title}-{a}-{b}-{n}"
            full = asker.on(name, a, b, kernels)
            left = asker.on(name, a, b, kernels, specs[b])
            return (title, change), ((a, b), measured(kernels, a, b), full, left)

        tasks = []
        for (kind, change, a, b) in offsets:
            for n in range(PROGRAMS):
                tasks.append((kind, change, a, b, n, [(kind, row) for row in drawn(common[kind, a, b], f"{a} {b} {n}", KERNELS)]))
            if kind != "gemm" or ("attention_context", change, a, b) not in offsets:
                continue
            for n in range(PROGRAMS):
                kernels = [(k, row) for k in ("gemm", "attention_context", "attention_generation") for row in drawn(common[k, a, b], f"all {a} {b} {n}", KERNELS)]
                tasks.append(("mixed", change, a, b, n, kernels))
        told = {}
        for key, answer in pool.map(ask, tasks):
            told.setdefault(key, []).append(answer)
    lines = ["| kernels | change | pairs, programs | off %, half / nine tenths | without this GPU: holds, width | as specified: holds, width |",
             "|---|---|--:|--:|--:|--:|"]
    for kind, title in TITLES.items():
        lines += [line(title, change, told[kind, change]) for change in CHANGES if (kind, change) in told]
    everything = [answer for answers in told.values() for answer in answers]
    lines.append(line("all", "", everything))
    text = "\n".join(lines) + "\n"
    page = PAGE.read_text(encoding="utf-8")
    begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    if options.write:
        PAGE.write_text(page[:begin] + text + page[end:], encoding="utf-8")
    elif page[begin:end] != text:
        print("the page does not say what was measured:\n" + text)
        return 1
    held = sum(left["kernels_low"] <= ratio <= left["kernels_high"] for _, ratio, _, left in everything) / len(everything)
    if held < LEAST_HELD:
        print(f"intervals without the GPU that is asked about hold {held:.3f} of {len(everything)} programs")
        return 1
    print(f"{len(everything)} programs of {len(offsets)} pairs: {held:.3f} held")
    return 0


if __name__ == "__main__":
    sys.exit(main())
