#!/usr/bin/env python3
"""Jobs of a few kinds of kernels in random order, with pauses, each in a process of its own, for `assay record` with
`assay sample` around it: what `power attribute` says of their energy is judged by the GPU's own energy counter.

    assay sample --hz 20 -o samples.csv -- assay record -o jobs.assaytrace -- python jobs.py --jobs 8 --seconds 7

The last process runs each kind of kernel alone for --steady seconds: its power then is that kind's in a job. Writes a
line of JSON for each process: kinds, seed, begin and end in ns since 1970.
"""

import argparse
import contextlib
import json
import os
import random
import sys
import time

import torch

PAUSE = "pause"
# Each takes milliseconds of a large GPU; --scale divides lengths, to try the program out elsewhere.
KINDS = {
    "gemm": lambda d, s: products(d, 8192 // s, torch.bfloat16, 2),
    "gemm_small": lambda d, s: products(d, 2048 // s, torch.bfloat16, 24),
    "gemm_fp32": lambda d, s: products(d, 4096 // s, torch.float32, 1),
    "copy": lambda d, s: copies(d, (1 << 30) // s**2),
    "softmax": lambda d, s: softmaxes(d, 32768 // s, 8192 // s),
    # In the cache: power of arithmetic, not of memory.
    "exp": lambda d, s: elementwise(d, (1 << 22) // s),
    "sort": lambda d, s: sorts(d, (1 << 24) // s),
}


def products(device, n, dtype, count):
    a, b = (torch.randn(n, n, device=device).to(dtype) for _ in range(2))
    out = torch.empty(n, n, device=device, dtype=dtype)
    return lambda: [torch.mm(a, b, out=out) for _ in range(count)]


def copies(device, size):
    a, b = (torch.empty(size, dtype=torch.uint8, device=device) for _ in range(2))
    return lambda: [b.copy_(a) for _ in range(4)]


def softmaxes(device, height, width):
    x = torch.randn(height, width, device=device).to(torch.bfloat16)
    return lambda: [torch.softmax(x, -1) for _ in range(4)]


def elementwise(device, size):
    x = torch.rand(size, device=device)
    return lambda: [x.exp_().reciprocal_() for _ in range(60)]


def sorts(device, size):
    x = torch.rand(size, device=device)
    return x.sort


def synchronize(device):
    if device != "cpu":
        torch.cuda.synchronize()


@contextlib.contextmanager
def labelled(name, device):
    if device != "cpu":
        torch.cuda.nvtx.range_push(name)
    yield
    if device != "cpu":
        torch.cuda.nvtx.range_pop()


def run_for(step, seconds, device):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        step()
        synchronize(device)


def job(seed, args):
    """Three kinds and pauses, 30 to 600 ms each; the sensor sees a quiet GPU before and after."""
    chance = random.Random(seed)
    names = chance.sample(sorted(KINDS), 3)
    steps = {name: KINDS[name](args.device, args.scale) for name in names}
    for step in steps.values():
        step()
    synchronize(args.device)
    time.sleep(0.4)
    until = time.monotonic() + args.seconds
    while time.monotonic() < until:
        part([*names, PAUSE], chance, steps, args)
    time.sleep(0.4)
    return names


def part(names, chance, steps, args):
    name = chance.choice(names)
    length = chance.uniform(0.03, 0.6)
    with labelled(name, args.device):
        time.sleep(length / 2) if name == PAUSE else run_for(steps[name], length, args.device)


def few(seed, loads, args):
    """A job of one kind and so many loads, 150 to 600 ms each, with pauses between them."""
    chance = random.Random(seed)
    name = chance.choice(sorted(KINDS))
    step = KINDS[name](args.device, args.scale)
    step()
    synchronize(args.device)
    for _ in range(loads):
        time.sleep(chance.uniform(0.3, 0.7))
        with labelled(name, args.device):
            run_for(step, chance.uniform(0.15, 0.6), args.device)
    time.sleep(0.5)
    return [name]


def alone(args):
    for name, make in KINDS.items():
        step = make(args.device, args.scale)
        step()
        synchronize(args.device)
        time.sleep(0.3)
        begin = time.time_ns()
        with labelled(name, args.device):
            run_for(step, args.steady, args.device)
        print(json.dumps({"alone": name, "begin": begin, "end": time.time_ns()}), flush=True)
    time.sleep(0.4)
    return list(KINDS)


def make(number, args):
    if number < args.jobs:
        return job(args.seed + number, args)
    if number < args.jobs + len(args.loads):
        return few(args.seed + number, args.loads[number - args.jobs], args)
    return alone(args)


def child(number, args):
    """One job, in a process of its own, so that its recording stands alone."""
    pid = os.fork()
    if pid == 0:
        begin = time.time_ns()
        names = make(number, args)
        print(json.dumps({"job": number, "pid": os.getpid(), "kinds": names, "begin": begin, "end": time.time_ns()}), flush=True)
        # In order, so that the recording is closed.
        sys.exit(0)
    return os.waitpid(pid, 0)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=7)
    parser.add_argument("--steady", type=float, default=1.6)
    parser.add_argument("--loads", type=lambda words: [int(word) for word in words.split(",")], default=[], metavar="N,N",
                        help="further jobs of one kind and so many loads each")
    parser.add_argument("--seed", type=int, default=41)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--scale", type=int, default=1)
    args = parser.parse_args()
    return 1 if any([child(number, args) for number in range(args.jobs + len(args.loads) + 1)]) else 0


if __name__ == "__main__":
    sys.exit(main())
