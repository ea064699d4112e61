#!/usr/bin/env python3
"""A second series of programs before and after one change, as pairs.py has it: what people do wrong, or what merely takes
time, and what the first sentence must say of it. Written down before anything was recorded.

    pairs_second.py --out DIR [--only NAME] [--tracer kineto|nvtx|none] [--device cuda|cpu]
"""

import gc
import subprocess
import sys
import threading

import torch
import torch.utils.checkpoint
from torch import nn

import pairs
from pairs import Training, block

# ---- the host waits for the device again and again


def masks(device, after):
    data = torch.randn(1 << 20, device=device)

    def step():
        x = data
        for _ in range(40):
            # How many are positive is known to the device alone, and the shape needs it.
            x = torch.where(x > 0, x, 0.5 * x) if after else torch.cat([x[x > 0], 0.5 * x[x <= 0]])
        return x
    return step


def norms(device, after):
    net = Training(device, width=512, layers=16, rows=512)

    def step():
        net.optimizer.zero_grad(set_to_none=True)
        net.forward().backward()
        if not after:
            {number: value.grad.norm().item() for number, value in enumerate(net.model.parameters())}
        torch.nn.utils.clip_grad_norm_(net.model.parameters(), 1.0)
        net.optimizer.step()
    return step


def printing(device, after):
    net = Training(device, width=512, layers=4, rows=512)

    def step():
        net()
        if not after:
            for value in net.model.parameters():
                str(value.data)
    return step


# ---- memory

def workspace(device, after):
    """An extension that takes its workspace from the driver in every call and gives it back."""
    import cupy  # pylint: disable=import-outside-toplevel
    net = block(2048, 6).to(device).eval()
    data = torch.randn(4096, 2048, device=device)
    held = cupy.cuda.runtime.malloc(1 << 28) if after else None

    def step():
        x = data
        with torch.no_grad():
            for layer in net:
                taken = held or cupy.cuda.runtime.malloc(1 << 28)
                x = layer(x)
                if not after:
                    cupy.cuda.runtime.free(taken)
        return x
    return step


# ---- the host does something else

def collecting(device, after):
    """Garbage is collected between forward and backward, of a heap of small objects."""
    net = Training(device, width=512, layers=4, rows=512)
    heap = [[number] for number in range(300_000)]

    def step():
        net.optimizer.zero_grad(set_to_none=True)
        loss = net.forward()
        if not after:
            gc.collect()
        loss.backward()
        net.optimizer.step()
        return len(heap)
    return step


def busy_thread(device, after):
    """A thread of the same process computes in Python, so that the launching thread waits for the interpreter's lock."""
    net = Training(device, width=512, layers=8, rows=512)
    ended = threading.Event()

    def compute():
        while not ended.is_set():
            sum(i * i for i in range(2000))

    def step():
        net()
    if not after:
        threading.Thread(target=compute, daemon=True).start()
        step.close = ended.set
    return step


def recompiling(device, after):
    net = block(512, 4).to(device)
    data = torch.randn(512, 512, device=device)
    torch._dynamo.reset()  # pylint: disable=protected-access
    torch._dynamo.config.recompile_limit = 10_000  # pylint: disable=protected-access
    torch._dynamo.config.accumulated_recompile_limit = 10_000  # pylint: disable=protected-access

    @torch.compile(backend="eager", dynamic=False)
    def scaled(x, factor):
        return net(x) * factor
    number = [0]

    def step():
        # A constant of the program, as the compiler sees it.
        number[0] += 0 if after else 1
        with torch.no_grad():
            scaled(data, 1000 * number[0] + 7)
    return step


def host_random(device, after):
    net = Training(device, width=1024, layers=4, rows=4096)

    def step():
        net(torch.randn(4096, 1024, device=device) if after else torch.randn(4096, 1024).to(device))
    return step


def host_adam(device, after):
    """The optimizer runs on the host: gradients there, weights back."""
    net = block(1024, 4).to(device)
    data = torch.randn(2048, 1024, device=device)
    weights = list(net.parameters())
    masters = weights if after else [value.detach().cpu().requires_grad_() for value in weights]
    optimizer = torch.optim.AdamW(masters, lr=1e-4)

    def step():
        for value in weights:
            value.grad = None
        net(data).square().mean().backward()
        if not after:
            for master, value in zip(masters, weights):
                master.grad = value.grad.cpu()
        optimizer.step()
        if not after:
            with torch.no_grad():
                for master, value in zip(masters, weights):
                    value.copy_(master)
    return step


# ---- launches

def cells(device, after):
    """A recurrent layer cell by cell, or as one call of the library."""
    torch.manual_seed(2)
    layer = nn.LSTM(512, 512).to(device) if after else nn.LSTMCell(512, 512).to(device)
    data = torch.randn(100, 64, 512, device=device)

    def step():
        with torch.no_grad():
            if after:
                return layer(data)[0]
            hidden = state = torch.zeros(64, 512, device=device)
            for x in data:
                hidden, state = layer(x, (hidden, state))
            return hidden
    return step


# ---- the device itself

def recompute(device, after):
    width, layers = 2048, 6
    blocks = nn.ModuleList(block(width, 1) for _ in range(layers)).to(device)
    data = torch.randn(8192, width, device=device, requires_grad=True)
    optimizer = torch.optim.SGD(blocks.parameters(), lr=1e-4)

    def step():
        optimizer.zero_grad(set_to_none=True)
        x = data
        for layer in blocks:
            x = layer(x) if after else torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)
        x.square().mean().backward()
        optimizer.step()
    return step


def table(device, after):
    """A table of embeddings whose gradient is dense: all rows are written and updated for the few that were looked up."""
    rows = nn.Embedding(2_000_000 if device != "cpu" else 1000, 128, sparse=after).to(device)
    optimizer = torch.optim.SGD(rows.parameters(), lr=1e-3)
    asked = torch.randint(0, rows.num_embeddings, (4096,), device=device)

    def step():
        optimizer.zero_grad(set_to_none=True)
        rows(asked).square().mean().backward()
        optimizer.step()
    return step


def accumulate(device, after):
    target = torch.zeros(100_000, 64, device=device)
    where = torch.randint(0, 100_000, (400_000,), device=device)
    values = torch.randn(400_000, 64, device=device)

    def step():
        for _ in range(4):
            if after:
                target.index_add_(0, where, values)
            else:
                target.index_put_((where,), values, accumulate=True)
    return step


def layouts(device, after):
    kind = torch.bfloat16
    layers = []
    for _ in range(8):
        layers += [nn.Conv2d(128, 128, 3, padding=1, bias=False), nn.BatchNorm2d(128), nn.ReLU()]
    net = nn.Sequential(*layers).to(device, kind).eval()
    data = torch.randn(64, 128, 56, 56, device=device, dtype=kind)
    if after:
        net, data = net.to(memory_format=torch.channels_last), data.contiguous(memory_format=torch.channels_last)

    def step():
        with torch.no_grad():
            net(data)
    return step


def autotuning(device, after):
    """The library tries its algorithms out for every new shape, and every step has a new one."""
    net = nn.Sequential(*(nn.Conv2d(64, 64, 3, padding=1) for _ in range(3))).to(device).eval()
    torch.backends.cudnn.benchmark = not after
    width = [64]

    def step():
        width[0] += 1
        with torch.no_grad():
            net(torch.zeros(8, 64, 64, width[0], device=device))
    return step


def same_stream(device, after):
    """64 MiB a step from pinned memory on the stream that computes, or a step ahead on another one."""
    net = Training(device, width=1024, layers=6, rows=16384)
    source = torch.randn(16384, 1024)
    source = source.pin_memory() if device != "cpu" else source
    if not after or device == "cpu":
        return lambda: net(source.to(device, non_blocking=True))
    side = torch.cuda.Stream()
    ahead = [None]

    def fetch():
        with torch.cuda.stream(side):
            ahead[0] = source.to(device, non_blocking=True)

    def step():
        if ahead[0] is None:
            fetch()
        torch.cuda.current_stream().wait_stream(side)
        data = ahead[0]
        data.record_stream(torch.cuda.current_stream())
        fetch()
        net(data)
    return step


def shared_device(device, after):
    """Another process computes on the same device for as long as this program is run."""
    net = Training(device, width=2048, layers=4, rows=4096)
    if after:
        return net
    other = subprocess.Popen([sys.executable, "-c", f"import torch\na = torch.randn(4096, 4096, device='{device}')\n"
                              "print(1, flush=True)\nwhile True:\n a @ a\n torch.cuda.synchronize()"], stdout=subprocess.PIPE)
    other.stdout.readline()

    def step():
        net()

    def close():
        other.kill()
        other.wait()
    step.close = close
    return step


PAIRS = {
    "masks": (masks, "the host waits for the device at every mask (nonzero, 80 a step); small kernels between: waits and launches "
              "bound it, the device is idle for much of the time", "torch.where"),
    "norms": (norms, "the host waits for the device after each gradient's norm (item, 64 a step), between backward and optimizer; "
              "launching bound anyway", "no item()"),
    "printing": (printing, "the host turns weights into text: it waits for small kernels and copies, and computes in Python, while "
                 "the device is idle", "nothing is printed"),
    "workspace": (workspace, "cudaFree in every layer waits for the device, cudaMalloc takes time: the device is drained 24 times a step",
                  "one workspace, held"),
    "collecting": (collecting, "Python collects garbage between forward and backward, unrecorded, while the device is idle", "no collection"),
    "busy_thread": (busy_thread, "launching is slow: the thread waits for the interpreter's lock that another thread holds; nothing of "
                    "that is recorded", "no such thread"),
    "recompiling": (recompiling, "TorchDynamo compiles in every step; the device is idle nearly always", "no new constant"),
    "host_random": (host_random, "the host makes random numbers (aten::normal_ on the CPU) and copies them from pageable memory; the "
                    "device waits for them", "made on the device"),
    "host_adam": (host_adam, "the optimizer runs on the host's processors, with copies of gradients and weights; the device is idle "
                  "meanwhile", "on the device"),
    "cells": (cells, "launching bound: an LSTM cell by cell, about ten small kernels each", "nn.LSTM"),
    "recompute": (recompute, "GPU-bound: products; a quarter of the work is the forward pass made twice", "no checkpoints"),
    "table": (table, "GPU-bound: memory traffic of a dense gradient and of an optimizer that touches every row", "sparse gradients"),
    "accumulate": (accumulate, "GPU-bound: index_put_ that accumulates, with the sort it needs", "index_add_"),
    "layouts": (layouts, "GPU-bound: convolutions in NCHW, with kernels that change the layout and a norm at the memory's bandwidth",
                "channels_last"),
    "autotuning": (autotuning, "cuDNN tries algorithms out in every step (a new shape each): their kernels, waits, and the library's own "
                   "time, most of it not the model's work", "no benchmark"),
    "same_stream": (same_stream, "GPU-bound; the copy of the input on the computing stream takes about a tenth", "a step ahead on "
                    "another stream"),
    "shared_device": (shared_device, "the device is shared with another process: kernels look longer or gaps open that this process does "
                      "not explain", "alone"),
}
NEEDS_GPU = ("workspace", "shared_device", "layouts")


if __name__ == "__main__":
    sys.exit(pairs.main(PAIRS, NEEDS_GPU, __doc__))
