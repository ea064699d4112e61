#!/usr/bin/env python3
"""Checks iterations, layers and phases that `assay breakdown` finds in kernels alone.

    check_periods.py --assay build/release/assay

Runs of known structure are generated as kernel traces of rocprofv3 and as Kineto files without host events, with
realistic work around iterations: start-up, autotuning, an evaluation, a checkpoint, logging every few steps. The number
of iterations, the layers of every stack, and the kernels per phase, if known, must be those generated. Runs without
distinguishable iterations (one pass, a loop over one kernel) must have none. Public traces follow, if available, with
values that a person counted in them.
"""

import argparse
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

from datasets import CORPUS

FORWARD = ["void rms_norm_kernel<float>(float*)", "Cijk_Alik_Bljk_BBS_MT128x128x32_qkv", "rotary_embedding_kernel",
           "flash_fwd_kernel", "Cijk_Alik_Bljk_BBS_MT64x64x32_out", "void add_kernel<float>(float*)",
           "void rms_norm_kernel<float>(float*)", "Cijk_Alik_Bljk_BBS_MT256x128x32_up", "silu_kernel",
           "Cijk_Alik_Bljk_BBS_MT128x256x32_down"]
BACKWARD = ["Cijk_Ailk_Bljk_BBS_MT128x64x32_down_dx", "Cijk_Ailk_Bjlk_BBS_MT128x64x32_down_dw", "silu_backward_kernel",
            "Cijk_Ailk_Bljk_BBS_MT64x128x32_up_dx", "Cijk_Ailk_Bjlk_BBS_MT64x128x32_up_dw", "rms_norm_backward_kernel",
            "Cijk_Ailk_Bljk_BBS_MT32x64x32_out_dx", "Cijk_Ailk_Bjlk_BBS_MT32x64x32_out_dw", "flash_bwd_kernel",
            "Cijk_Ailk_Bljk_BBS_MT96x64x32_qkv_dx", "Cijk_Ailk_Bjlk_BBS_MT96x64x32_qkv_dw",
            "rms_norm_backward_kernel"]
OPTIMIZER = "void at::native::multi_tensor_apply_kernel<FusedAdamMathFunctor>(int)"


class Run:
    """Kernels of 20 us, 3 us apart, on one stream."""

    def __init__(self):
        self.rows = []
        self.now = 1_000_000

    def add(self, *names):
        for name in names:
            self.rows.append((name, self.now, self.now + 20_000))
            self.now += 23_000

    def passes(self, layers):
        self.add("indexSelectLargeIndex")
        for _ in range(layers):
            self.add(*FORWARD)
        self.add("void rms_norm_kernel<float>(float*)", "Cijk_Alik_Bljk_BBS_MT256x256x32_head")

    def train_step(self, layers):
        self.now += 400_000
        self.passes(layers)
        self.add("nll_loss_forward_kernel", "nll_loss_backward_kernel", "Cijk_Ailk_Bljk_BBS_MT256x256x32_head_dx")
        for _ in range(layers):
            self.add(*BACKWARD)
        self.add(OPTIMIZER, OPTIMIZER, OPTIMIZER)

    def decode_step(self, layers, length):
        self.now += 400_000
        self.add("indexSelectSmallIndex")
        for _ in range(layers):
            self.add(*[f"paged_attention_kernel_{length}" if "flash" in name else name for name in FORWARD])
        self.add("void rms_norm_kernel<float>(float*)", "Cijk_Alik_Bljk_BBS_MT256x256x32_head", "argmax_kernel")


def training():
    run = Run()
    for k in range(150):
        run.add("distribution_elementwise_kernel" if k % 2 else "fill_kernel")
    for k in range(40):
        run.add(f"Cijk_Alik_Bljk_BBS_MT{16 + 8 * k}x64x32_tuned_{chr(97 + k % 26)}")
    for step in range(30):
        run.train_step(12)
        if step % 5 == 4:
            run.add("loss_mean_kernel", "isfinite_kernel")
        if step == 14:
            for _ in range(4):
                run.passes(12)
    return run


def convolutions():
    """Training without attention, with PyTorch's default optimizer, which works on lists of tensors."""
    run = Run()
    for _ in range(70):
        run.add("distribution_elementwise_kernel")
    for step in range(20):
        for k in range(30):
            run.add(f"implicit_convolve_sgemm_{k}", "bn_fw_tr_1C11_kernel_NCHW", "vectorized_elementwise_kernel")
        for k in range(30):
            run.add(f"wgrad_alg0_engine_{k}", "bn_bw_1C11_kernel_new")
        for functor in ("BinaryOpScalarFunctor<float, 1, 1, 0>, std::multiplies<float>",
                        "TernaryOpScalarFunctor<float, 3, 2, 1>, LerpFunctor<float>",
                        "PointwiseOpScalarFunctor<float, 3, 3, 0>, std::multiplies<float>",
                        "UnaryOpFunctor<float, 2, 1, 1>, Sqrt<float>",
                        "PointwiseOpScalarListFunctor<float, 4, 3, 0>, std::divides<float>"):
            run.add(f"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::{functor}>")
        if step == 9:
            for k in range(30):
                run.add(f"implicit_convolve_sgemm_{k}", "bn_fw_inf_1C11_kernel_NCHW", "vectorized_elementwise_kernel")
    return run


def decoding():
    run = Run()
    for _ in range(60):
        run.add("fill_kernel")
    for step in range(50):
        run.decode_step(16, 128 if step < 25 else 256)
    return run


def one_pass():
    run = Run()
    run.passes(24)
    return run


def loop():
    run = Run()
    for _ in range(300):
        run.add("fill_kernel", "Cijk_Alik_Bljk_BBS_MT128x128x32_bmm")
    return run


def hybrid():
    """One pass over layers of two kinds, three to one: no iteration."""
    run = Run()
    run.add("indexSelectLargeIndex")
    for layer in range(48):
        if layer % 4 == 3:
            run.add(*FORWARD, "full_attention_combine_kernel", "split_kernel", "gate_kernel")
        else:
            run.add(*[name if "flash" not in name else "chunk_gated_delta_rule_fwd" for name in FORWARD])
    run.add("Cijk_Alik_Bljk_BBS_MT256x256x32_head")
    return run


def as_rocprof(run, path):
    lines = ["Kind,Agent_Id,Queue_Id,Stream_Id,Thread_Id,Dispatch_Id,Kernel_Id,Kernel_Name,Correlation_Id,"
             "Start_Timestamp,End_Timestamp"]
    for n, (name, start, end) in enumerate(run.rows):
        lines.append(f'"KERNEL_DISPATCH","Agent 1",1,0,7,{n + 1},1,"{name}",{n + 1},{start},{end}')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def as_kineto(run, path):
    events = [{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": start / 1000,
               "dur": (end - start) / 1000, "args": {"device": 0, "stream": 7, "correlation": n + 1}}
              for n, (name, start, end) in enumerate(run.rows)]
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}), encoding="utf-8")


# The generated structure: iterations (0 = none), layers per stack (None = unchecked), kernels per phase if known.
CASES = [
    ("training", training, 30, [12],
     {"forward": 30 * 12 * 10, "backward": 30 * (12 * 12 + 1), "optimizer": 30 * 3}),  # and the loss's, by its name
    ("convolutions", convolutions, 20, None, {"backward": 20 * 60, "optimizer": 20 * 5}),
    ("decoding", decoding, 50, [16], None),
    ("one_pass", one_pass, 0, [24], None),
    ("loop", loop, 0, [], None),
    ("hybrid", hybrid, 0, [48], None),
]
PUBLIC = [  # iterations and their source
    ("nsys/cloverleaf_a100.sqlite", 10, "kernel_period"),
    ("perf/mi300_xdit_flux_it0.json.gz", 4, "kernel_period"),
    ("kineto/sglang/sglang_mi300_qwen3-8b_prefilldecode.json.gz", 0, "whole_trace"),
    ("kineto/rocm/mi210_gpu_only.json.gz", 0, "whole_trace"),
    ("rocm/rocpd/bmm_20251230_mi300x_163_results.db", 0, "whole_trace"),
]


# Kernels of six decoding steps of 923 dispatches each, of which a filter left 24. Read without the table of calls next
# to it, which has a few of them.
ALONE = ("rocm/rocprofv3/decode_kernel_trace.csv", 6, "kernel_period")


def levels_of(assay, path):
    done = subprocess.run([assay, "breakdown", str(path), "--format", "json"], capture_output=True, timeout=600,
                          check=False)
    if done.returncode != 0:
        raise SystemExit(f"{path}: {done.stderr.decode(errors='replace')[:300]}")
    return json.loads(done.stdout)["breakdown"]


def words_on_launches(assay, path):
    """Sentences on launches for a file that has none."""
    for verb in ("report", "breakdown"):
        done = subprocess.run([assay, verb, str(path), "--format", "json"], capture_output=True, timeout=600, check=True)
        for words in json.loads(done.stdout)["headline"]:
            if "launch" in words.lower().replace("no launch record", ""):
                yield f"{path.name}: {verb} speaks of launches: {words}"


def iterations_of(levels):
    if levels["window_source"] == "whole_trace":
        return 0
    return len({row["iter"] for row in levels["rows"] if row["iter"] is not None})


def stacks_of(levels):
    unplaced = levels["unplaced"]
    parts = (unplaced["layer_source"] or "").split("; ")
    if all(part.split(" of ")[0].isdigit() for part in parts):
        return sorted(int(part.split(" of ")[0]) for part in parts)
    return [unplaced["layers"]] if unplaced["layers"] else []


def phases_of(levels):
    kernels = collections.Counter()
    for row in levels["rows"]:
        kernels[row["phase"]] += row["kernels"]
    return kernels


def check_case(assay, what, path, iterations, layers, phases):
    levels = levels_of(assay, path)
    found = iterations_of(levels)
    if found != iterations:
        yield f"{what}: {found} iterations, {iterations} were run ({levels.get('iteration_evidence')})"
    if layers is not None and stacks_of(levels) != layers:
        yield f"{what}: layers {stacks_of(levels)}, there are {layers} ({levels['unplaced']['layer_source']})"
    if phases is not None:
        told = phases_of(levels)
        for phase, kernels in phases.items():
            if told[phase] != kernels:
                yield f"{what}: {told[phase]} kernels are {phase}, {kernels} were run"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--assay", required=True)
    assay = parser.parse_args().assay
    problems, cases = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name, make, iterations, layers, phases in CASES:
            for ending, write in (("_kernel_trace.csv", as_rocprof), (".json", as_kineto)):
                path = pathlib.Path(folder) / (name + ending)
                write(make(), path)
                problems += check_case(assay, path.name, path, iterations, layers, phases)
                problems += words_on_launches(assay, path)
                cases += 1
        public = [(name, CORPUS / name, *wanted) for name, *wanted in PUBLIC]
        if (CORPUS / ALONE[0]).exists():
            copy = pathlib.Path(folder) / "alone_kernel_trace.csv"
            copy.write_bytes((CORPUS / ALONE[0]).read_bytes())
            public.append((ALONE[0], copy, *ALONE[1:]))
        found, wrong = check_public(assay, public)
        cases += found
        problems += wrong
    print("\n".join(problems))
    print(f"{cases} runs, {len(problems)} problems")
    return 1 if problems else 0


def check_public(assay, public):
    cases, problems = 0, []
    for name, path, iterations, source in public:
        if not path.exists():
            continue
        cases += 1
        levels = levels_of(assay, path)
        if (iterations_of(levels), levels["window_source"]) != (iterations, source):
            problems.append(f"{name}: {iterations_of(levels)} iterations from {levels['window_source']}, "
                            f"a person found {iterations} ({source})")
    return cases, problems


if __name__ == "__main__":
    sys.exit(main())
