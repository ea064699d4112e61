"""A small PyTorch program on the CPU whose one custom operator launches kernels of the GPU that does not exist. With a
file as argument PyTorch's own profiler looks at the same steps, and nothing is launched."""

import ctypes
import json
import sys
import time

import torch
from torch import nn
from torch.autograd.profiler import record_function

HIP = sys.argv[1:] == ["hip"]  # on AMD's
GRAPH = sys.argv[1:] == ["graph"]  # a graph of three launches is captured and replayed five times
PROFILED = sys.argv[1] if len(sys.argv) > 1 and not GRAPH and not HIP else None
cuda = None if PROFILED or HIP else ctypes.CDLL("libcuda.so.1")
hip = ctypes.CDLL("libamdhip64.so.6") if HIP else None
library = torch.library.Library("fake", "DEF")
library.define("launch(Tensor x, float by, int[] dims) -> Tensor")


def launch(x, by, dims):
    if cuda is not None:
        cuda.cudaLaunchKernel(None)
        time.sleep(0.0002)  # the call that the fake records takes 5 us
    if hip is not None:
        hip.fake_hip_launch(ctypes.c_uint64(0), 0)
        time.sleep(0.0002)
    return x + by


library.impl("launch", launch, "CPU")
library.define("other(Tensor x) -> Tensor")
library.impl("other", lambda x: launch(x, 2.0, []), "CPU")


class Launch(nn.Module):
    def forward(self, x):
        return torch.ops.fake.launch(x, 1.5, [0, 1])


class Raises(nn.Module):
    def forward(self, x):
        raise RuntimeError("on purpose")


torch.manual_seed(0)
model = nn.Sequential(nn.Conv1d(2, 3, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(24, 16), nn.LayerNorm(16))
after = nn.Sequential(Launch(), Launch())
raises = nn.Sequential(Raises())
data = torch.ones(4, 2, 8)


def step():
    with record_function("my step"):
        x = model(data)
        loss = torch.cat([x, x.half().float()]).sum(dim=[0, 1], keepdim=False) * 2.5
        loss.backward()
        with torch.no_grad():
            after(x)
            try:
                raises(x)
            except RuntimeError:
                pass
            after(x)


if PROFILED:
    with torch.autograd.profiler.profile(record_shapes=True) as profile:
        for _ in range(3):
            step()
    seen = [{"name": event.name, "shapes": event.input_shapes, "sequence": event.sequence_nr,
             "backward": bool(event.fwd_thread) and event.sequence_nr >= 0, "start": event.time_range.start,
             "thread": event.thread, "end": event.time_range.end} for event in profile.function_events]
    with open(PROFILED, "w", encoding="utf-8") as file:
        json.dump(seen, file)
elif HIP:
    hip.hipInit(0)
    time.sleep(1)  # the recorder looks for PyTorch every 50 ms
    for _ in range(3):
        step()
else:
    cuda.cuInit(0)
    for _ in range(3):
        step()
    if GRAPH:
        time.sleep(0.001)
        cuda.cudaStreamBeginCapture(None, 0)
        time.sleep(0.0001)
        torch.ops.fake.other(data)
        torch.ops.fake.other(data)
        torch.ops.fake.launch(data, 1.0, [])
        cuda.cudaStreamEndCapture(None, None)
        for _ in range(5):
            time.sleep(0.001)
            cuda.cuGraphLaunch(None, None)
    cuda.cuCtxSynchronize()
