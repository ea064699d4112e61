#!/usr/bin/env python3
"""Small programs before and after one change, as traces of PyTorch's profiler: what a prediction made from the first is
judged on. What ails the first, and what the change is, stands in PAIRS, written before anything was recorded.

    pairs.py --out DIR [--only NAME] [--tracer kineto|nvtx|none] [--device cuda|cpu]

Writes DIR/NAME.before.json.gz, DIR/NAME.after.json.gz and DIR/runs.jsonl (latencies without the profiler). With
--tracer nvtx the same iterations are labelled for `assay record` around this program.
"""

import argparse
import contextlib
import json
import pathlib
import queue
import sys
import threading
import time
import traceback

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "collect/pytorch"))
import assay_torch  # pylint: disable=wrong-import-position

REPEATS, TIMED = 6, 20


def block(width, layers):
    return nn.Sequential(*(layer for _ in range(layers)
                           for layer in (nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width),
                                         nn.LayerNorm(width))))


class Training:
    """A step of training: forward, backward, optimizer."""

    def __init__(self, device, width=1024, layers=6, rows=4096, optimizer=None):
        self.model = block(width, layers).to(device)
        self.data = torch.randn(rows, width, device=device)
        make = optimizer or (lambda p: torch.optim.SGD(p, lr=1e-4))
        self.optimizer = make(self.model.parameters())

    def forward(self, data=None):
        return self.model(self.data if data is None else data).square().mean()

    def __call__(self, data=None):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.forward(data)
        loss.backward()
        self.optimizer.step()
        return loss


# ---- the host waits for the device again and again

def item_each_layer(device, after):
    net = Training(device, layers=8)

    def step():
        x = net.data
        for layer in net.model:
            x = layer(x)
            if not after and isinstance(layer, nn.LayerNorm) and not torch.isfinite(x.abs().max()).item():
                raise ValueError("not finite")
        return x
    return step


def item_each_step(device, after):
    net = Training(device, width=512, layers=12, rows=1024)

    def step():
        for _ in range(3):
            loss = net()
            if not after:
                loss.item()
    return step


# ---- copies

def copies(device, after):
    net = Training(device, width=1024, layers=3, rows=8192)
    make = torch.randn(8192, 1024)
    source = make.pin_memory() if after and device != "cpu" else make

    def step():
        net(source.to(device, non_blocking=after))
    return step


def checkpoint(device, after):
    net = Training(device, width=2048, layers=4, rows=2048)

    def step():
        net()
        if not after:
            # To pageable memory, weight by weight.
            return {name: value.cpu() for name, value in net.model.state_dict().items()}
        return None
    return step


# ---- input

class Images(torch.utils.data.Dataset):
    """Examples that take the host a while to make."""

    def __init__(self, width, rows):
        self.width, self.rows = width, rows

    def __len__(self):
        return 10000

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        rows = torch.rand(self.rows, self.width, generator=generator)
        return rows.sort(dim=1)[0].sort(dim=0)[0]


def loader(device, after):
    torch.set_num_threads(1)
    net = Training(device, width=1024, layers=4, rows=1)
    options = {"num_workers": 6, "prefetch_factor": 4, "pin_memory": device != "cpu", "persistent_workers": True} if after else {}
    data = iter(torch.utils.data.DataLoader(Images(1024, 64), batch_size=8, **options))

    def step():
        net(next(data).view(-1, 1024).to(device, non_blocking=True))
    return step


# ---- launches

def adam(device, after):
    kinds = {"fused": True} if after else {"foreach": False}
    return Training(device, width=256, layers=24, rows=256, optimizer=lambda p: torch.optim.Adam(p, **kinds))


def graph(device, after):
    net = block(512, 16).to(device).eval()
    data = torch.randn(8, 512, device=device)

    def eager():
        with torch.no_grad():
            for _ in range(4):
                net(data)
    if not after:
        return eager
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        eager()
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        eager()
    return captured.replay


def one_by_one(device, after):
    left, right = torch.randn(64, 128, 128, device=device), torch.randn(64, 128, 128, device=device)

    def step():
        for _ in range(4):
            if after:
                torch.bmm(left, right)
            else:
                torch.stack([a @ b for a, b in zip(left, right)])
    return step


def pointwise(device, after):
    data = torch.randn(1 << 25, device=device)

    def chain(x):
        for _ in range(4):
            x = torch.sigmoid(x * 1.1 + 0.1) * x - torch.tanh(x)
        return x
    call = torch.compile(chain) if after else chain
    return lambda: call(data)


# ---- memory

def empty_cache(device, after):
    net = Training(device, width=2048, layers=4, rows=4096)

    def step():
        net()
        if not after:
            torch.cuda.empty_cache()
    return step


# ---- the host does something else

def python_between(device, after):
    net = Training(device, width=512, layers=4, rows=512)

    def step():
        net()
        assay_torch.synchronize(device)
        if not after:
            sum(i * i for i in range(120000))
    return step


def logging_thread(device, after):
    """Another thread holds what the training thread needs while it pretends to write a log."""
    net = Training(device, width=512, layers=4, rows=512)
    lock = threading.Lock()
    asked = queue.Queue()

    def write():
        while asked.get():
            with lock:
                time.sleep(0.008)
    threading.Thread(target=write, daemon=True).start()

    def step():
        net()
        if not after:
            asked.put(True)
            time.sleep(0.0005)
        with lock:
            net()
    return step


# ---- the device itself

def precision(device, after):
    kind = torch.bfloat16 if after else torch.float32
    net = block(4096, 2).to(device, kind)
    data = torch.randn(4096, 4096, device=device, dtype=kind)

    def step():
        with torch.no_grad():
            net(data)
    return step


def streams(device, after):
    """Chains of small products that each leave most of the device empty."""
    left = [torch.randn(512, 512, device=device) for _ in range(4)]
    sides = [torch.cuda.Stream() for _ in left] if device != "cpu" else [None] * 4

    def chain(x):
        for _ in range(40):
            x = torch.tanh(x @ x)
        return x

    def step():
        if not after:
            for x in left:
                chain(x)
            return
        for x, side in zip(left, sides):
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                chain(x)
        for side in sides:
            torch.cuda.current_stream().wait_stream(side)
    return step


def attention(device, after):
    kind = torch.bfloat16 if device != "cpu" else torch.float32
    q, k, v = (torch.randn(4, 16, 2048, 64, device=device, dtype=kind) for _ in range(3))

    def step():
        for _ in range(4):
            assay_torch.attend(q, k, v, None, True, "sdpa" if after else "math")
    return step


# name: (make, what ails the first, what the change is). Written down before anything was recorded.
PAIRS = {
    "item_each_layer": (item_each_layer, "the host waits for the device after each layer (item), and the device then waits for the "
                        "launches of the next; most of the time is kernels", "no item()"),
    "item_each_step": (item_each_step, "launching bound: small training steps; item() adds a wait at the end of each", "no item()"),
    "copies": (copies, "32 MiB a step from pageable memory: the host copies, the device waits for the copy", "pinned, non_blocking"),
    "checkpoint": (checkpoint, "weights are copied to the host every step: copies to pageable memory, the device computes nothing "
                   "meanwhile", "no copies"),
    "loader": (loader, "the device waits for input: the DataLoader makes examples in the training process", "six workers, pinned"),
    "adam": (adam, "launching bound; Adam's for-loop is most of the launches", "fused Adam"),
    "graph": (graph, "launching bound: tiny kernels of an eager inference", "a CUDA graph"),
    "one_by_one": (one_by_one, "launching bound: 64 small products one by one and a stack", "bmm"),
    "pointwise": (pointwise, "GPU-bound: pointwise kernels at the memory's bandwidth", "torch.compile fuses them"),
    "empty_cache": (empty_cache, "cudaFree and cudaMalloc every step (empty_cache): the device is drained and waits", "no empty_cache"),
    "python_between": (python_between, "the host computes in Python between steps, unrecorded, while the device waits", "no such work"),
    "logging_thread": (logging_thread, "the training thread waits for a lock that another thread holds about 8 ms a step, unrecorded",
                       "no log is written"),
    "precision": (precision, "GPU-bound: products in FP32", "bf16"),
    "streams": (streams, "launching bound or one chain of dependent small kernels on one stream", "four streams"),
    "attention": (attention, "GPU-bound: attention by hand, bound by memory", "scaled_dot_product_attention"),
}
NEEDS_GPU = ("graph", "empty_cache")


@contextlib.contextmanager
def everything_ended():
    threads = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        if torch.cuda.is_available():
            torch.cuda.synchronize()
            torch.cuda.empty_cache()


def record(make, name, side, args):
    with everything_ended():
        step = make(args.device, side == "after")
        try:
            assay_torch.profile(step, args.out, f"{name}.{side}", warmup=6, repeats=REPEATS, timed=TIMED, device=args.device,
                                tracer=args.tracer)
        finally:
            # What runs beside the program ends with it.
            getattr(step, "close", lambda: None)()


def main(pairs=PAIRS, needs_gpu=NEEDS_GPU, words=__doc__):
    parser = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", action="append", choices=pairs, metavar="NAME")
    parser.add_argument("--tracer", default="kineto", choices=assay_torch.TRACERS)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()
    torch.manual_seed(1)
    failed = 0
    for name in args.only or pairs:
        if args.device == "cpu" and name in needs_gpu:
            continue
        for side in ("before", "after"):
            try:
                began = time.monotonic()
                record(pairs[name][0], name, side, args)
                print(json.dumps({"pair": name, "side": side, "seconds": round(time.monotonic() - began, 1)}), flush=True)
            except Exception:  # pylint: disable=broad-except
                # One program must not cost the others.
                failed = 1
                traceback.print_exc()
    return failed


if __name__ == "__main__":
    sys.exit(main())
