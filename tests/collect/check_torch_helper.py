#!/usr/bin/env python3
"""collect/pytorch/assay_torch.py with small models on the CPU: every architecture and phase runs, the
traces have the iterations and labels that Assay looks for, and what is not possible is said. Exit code
77 without a Python that has PyTorch."""

import argparse
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from torch_python import python_with_torch

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HELPER = ROOT / "collect/pytorch/assay_torch.py"
ASSAY = PYTHON = None
SMALL = ["--device", "cpu", "--seq", "16", "--warmup", "1", "--timed", "2", "--repeats", "2"]


class TorchHelperTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.out = pathlib.Path(self.folder.name, "traces")

    def tearDown(self):
        self.folder.cleanup()

    def helper(self, *words, status=0):
        done = subprocess.run([PYTHON, str(HELPER), *SMALL, "--out", str(self.out), *words], capture_output=True,
                              text=True, timeout=600, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def trace(self, name):
        with gzip.open(self.out / f"{name}.json.gz") as file:
            return json.load(file)

    def assay(self, *words):
        done = subprocess.run([ASSAY, *map(str, words), "--format", "json"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def names(self, trace):
        events = trace if isinstance(trace, list) else trace["traceEvents"]
        return [event.get("name") for event in events]

    def test_every_architecture_writes_a_trace_with_its_iterations(self):
        for model in ("tiny", "tiny-llama", "tiny-bert", "tiny-moe"):
            self.helper("--model", model)
            names = self.names(self.trace(f"{model}_eager_prefill_b1_s16"))
            self.assertEqual(sum(name == "prefill" for name in names), 2, "one per repeat")
            self.assertEqual(len({name for name in names if name.startswith("ProfilerStep#")}), 2)
            self.assertIn("aten::softmax" if model != "tiny-moe" else "aten::topk", names)
        whole = self.assay("info", self.out / "tiny_eager_prefill_b1_s16.json.gz")
        self.assertEqual([note for note in whole["import_log"] if note["severity"] != "info"], [])

    def test_decode_repeats_the_same_tokens_from_one_prefill(self):
        self.helper("--model", "tiny-llama", "--phase", "decode", "--tokens", "3")
        names = self.names(self.trace("tiny-llama_eager_decode_b1_s16"))
        self.assertNotIn("prefill", names, "it lies before the first iteration")
        for token in (1, 2, 3):
            self.assertEqual(names.count(f"decode {token}"), 2)
        self.assertNotIn("decode 4", names)
        self.helper("--model", "tiny-llama", "--phase", "both", "--tokens", "3")
        names = self.names(self.trace("tiny-llama_eager_both_b1_s16"))
        self.assertEqual((names.count("prefill"), names.count("decode 1")), (2, 2))

    def test_a_sweep_is_a_folder_that_assay_takes_whole(self):
        self.helper("--model", "tiny", "--batch", "1,2,4")
        files = sorted(path.name for path in self.out.glob("*.json.gz"))
        self.assertEqual(files, [f"tiny_eager_prefill_b{size}_s16.json.gz" for size in (1, 2, 4)])
        lines = [json.loads(line) for line in (self.out / "runs.jsonl").read_text().splitlines()]
        self.assertEqual([line["batch"] for line in lines], [1, 2, 4])
        self.assertEqual(lines[0]["latency"]["n"], 2)
        self.assertEqual(len(self.assay("breakdown", self.out)["inputs"]), 3)
        # No kernels on a CPU, so nothing to bound; that the sizes are told by the names shows before that.
        done = subprocess.run([ASSAY, "overhead", "--batch", str(self.out), "--format", "json"], capture_output=True, text=True,
                              check=False)
        self.assertEqual([row["batch"] for row in json.loads(done.stdout)["inputs"]], [1, 2, 4], done.stderr)
        (self.out / "other_b1_s16.json.gz").write_bytes((self.out / files[0]).read_bytes())
        done = subprocess.run([ASSAY, "overhead", "--batch", str(self.out)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("2 sweeps in one", done.stderr)
        (self.out / "nothing.json.gz").write_bytes((self.out / files[0]).read_bytes())
        done = subprocess.run([ASSAY, "sweep", "--batch", str(self.out)], capture_output=True, text=True, check=False)
        self.assertIn("has no batch size in its name", done.stderr)

    def test_cached_tokens_give_what_reading_everything_gives(self):
        code = f'''
import sys; sys.path.insert(0, {str(HELPER.parent)!r})
import torch, assay_torch as a
for name in ("tiny", "tiny-llama", "tiny-moe"):
    for kind in ("math", "sdpa") if a.has_sdpa() else ("math",):
        config = a.MODELS[name]
        with torch.no_grad():
            model = a.build_model(config, kind, "cpu", torch.float64, 1)
            ids = torch.randint(2, config["vocab"], (2, 9))
            whole = model(ids, torch.arange(9))
            for cache in (a.GrowingCache(model.layers),
                          a.StaticCache(model.layers, (2, model.kv_shape[0], 12, model.kv_shape[1]), "cpu", torch.float64)):
                parts = [model(ids[:, :6], torch.arange(6), cache)]
                parts += [model(ids[:, i:i + 1], torch.arange(i, i + 1), cache) for i in (6, 7, 8)]
                assert torch.allclose(torch.cat(parts, 1), whole, atol=1e-6), (name, kind, type(cache).__name__)
print("same")
'''
        done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout.strip(), "same", done.stderr)

    def test_any_callable_can_be_profiled(self):
        code = f'''
import sys; sys.path.insert(0, {str(HELPER.parent)!r})
import torch, assay_torch
calls = []
line = assay_torch.profile(lambda: calls.append(torch.ones(3).sum()), {str(self.out)!r}, "mine", warmup=2, repeats=3,
                           timed=4, device="cpu")
assert len(calls) == 2 + 4 + 1 + 3, len(calls)
assert line["latency"]["n"] == 4 and line["trace"] == "mine.json.gz", line
try:
    assay_torch.profile(print, {str(self.out)!r}, "../mine")
except ValueError as error:
    print(error)
'''
        done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=False)
        self.assertIn("cannot be part of a file name", done.stdout, done.stderr)
        self.assertEqual(sum(name == "aten::ones" for name in self.names(self.trace("mine"))), 3)

    def test_what_cannot_be_is_said(self):
        for words, say in ((["--model", "tiny-bert", "--phase", "decode"], "no decode"),
                           (["--model", "tiny", "--seq", "60", "--phase", "both"], "positions"),
                           (["--model", "tiny", "--tracer", "nvtx"], "needs a GPU"),
                           (["--model", "tiny", "--batch", "0"], "batch")):
            self.assertIn(say, self.helper(*words, status=2).stderr)
        for mode in ("compile",):
            if subprocess.run([PYTHON, "-c", "import torch; torch.compile"], capture_output=True,
                              check=False).returncode != 0:
                self.assertIn("needs PyTorch 2", self.helper("--model", "tiny", "--mode", mode, status=1).stderr)

    def test_one_size_that_fails_does_not_cost_the_others(self):
        code = f'''
import sys; sys.path.insert(0, {str(HELPER.parent)!r})
import assay_torch as a
real = a.ModelRun.prefill
def failing(self):
    if self.batch == 2: raise RuntimeError("out of memory")
    return real(self)
a.ModelRun.prefill = failing
assert a.first_words("backend='inductor' raised:\\n\\nImportError: no compiler\\n\\nmore") == "backend='inductor' raised: ImportError: no compiler"
assert a.first_words("out of memory\\nTried to") == "out of memory" and a.first_words("") == ""
sys.exit(a.main({[*SMALL, "--model", "tiny", "--batch", "1,2,4", "--out"]!r} + [{str(self.out)!r}]))
'''
        done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("batch 2, length 16: RuntimeError: out of memory", done.stderr)
        self.assertEqual(len(list(self.out.glob("*.json.gz"))), 2)


def main():
    global ASSAY, PYTHON
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    args, rest = parser.parse_known_args()
    ASSAY, PYTHON = os.path.abspath(args.assay), python_with_torch()
    if PYTHON is None:
        print("no Python with PyTorch here", file=sys.stderr)
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
