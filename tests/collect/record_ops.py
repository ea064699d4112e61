#!/usr/bin/env python3
"""Runs common ATen operators on the CPU and writes down, for each call that reaches the dispatcher,
what PyTorch's profiler would have recorded of its inputs, and what the call really was: operator,
overload and arguments. One JSON array on standard output; needs PyTorch 1.13 or newer.

With --profile FILE the profiler itself records the same operators; exit code 77 where this PyTorch has none."""

import json
import sys

import torch
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

TYPES = {torch.float32: "float", torch.float64: "double", torch.float16: "c10::Half",
         torch.bfloat16: "c10::BFloat16", torch.int64: "long int", torch.int32: "int", torch.int16: "short int",
         torch.int8: "signed char", torch.uint8: "unsigned char", torch.bool: "bool",
         torch.complex64: "c10::complex<float>"}
NUMBERS = {torch.float32: 6, torch.float64: 7, torch.float16: 5, torch.bfloat16: 15, torch.int64: 4, torch.int32: 3,
           torch.int16: 2, torch.int8: 1, torch.uint8: 0, torch.bool: 11}
FORMATS = {torch.contiguous_format: 0, torch.preserve_format: 1, torch.channels_last: 2}


def as_number(value):
    """dtypes, layouts and memory formats reach the profiler as integers."""
    if isinstance(value, torch.dtype):
        return NUMBERS[value]
    if isinstance(value, torch.layout):
        return 0
    if isinstance(value, torch.memory_format):
        return FORMATS[value]
    return value


def scalar_text(value):
    return str(value)


def is_tensors(value):
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(isinstance(v, torch.Tensor) for v in value)


def recorded(value):
    """(type, dims, strides, concrete) as the profiler of PyTorch 2 writes them."""
    value = as_number(value)
    if isinstance(value, torch.Tensor):
        return TYPES[value.dtype], list(value.shape), list(value.stride()), ""
    if isinstance(value, (bool, int, float)):
        return "Scalar", [], [], scalar_text(value)
    if is_tensors(value):
        return "TensorList", [list(v.shape) for v in value], [list(v.stride()) for v in value], ""
    if isinstance(value, (list, tuple)) and all(isinstance(v, (bool, int, float)) for v in value):
        return "ScalarList", [], [], "[" + ", ".join(scalar_text(v) for v in value) + "]"
    return "", [], [], ""


def shown_tensor(value):
    name = {"torch.float32": "Float", "torch.float64": "Double", "torch.float16": "Half", "torch.bfloat16": "BFloat16",
            "torch.int64": "Long", "torch.int32": "Int", "torch.int16": "Short", "torch.int8": "Char",
            "torch.uint8": "Byte", "torch.bool": "Bool", "torch.complex64": "ComplexFloat"}[str(value.dtype)]
    return f"{name}[{','.join(map(str, value.shape))}|{','.join(map(str, value.stride()))}]"


def truth(value):
    """What the rebuilt argument must be: text of tensors, plain values of the rest."""
    value = as_number(value)
    if isinstance(value, torch.Tensor):
        return shown_tensor(value)
    if is_tensors(value):
        return "".join(shown_tensor(v) + ";" for v in value)
    if isinstance(value, (list, tuple)):
        return list(value)
    return value if isinstance(value, (bool, int, float)) or value is None else str(value)


class Recorder(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        values = []
        for number, argument in enumerate(func._schema.arguments):
            if number < len(args):
                values.append(args[number])
            elif argument.name in kwargs:
                values.append(kwargs[argument.name])
            else:
                values.append(argument.default_value if argument.has_default_value() else None)
        # Python's numbers reach the profiler as tensors without dimensions where a tensor is declared.
        values = [torch.tensor(value, dtype={bool: torch.bool, int: torch.int64, float: torch.float64}[type(value)])
                  if str(argument.type) == "Tensor" and isinstance(value, (bool, int, float)) else value
                  for argument, value in zip(func._schema.arguments, values)]
        rows = [recorded(value) for value in values]
        self.calls.append({
            "op": func._schema.name, "overload": func._schema.overload_name,
            "types": [row[0] for row in rows], "dims": [row[1] for row in rows], "strides": [row[2] for row in rows],
            "concrete": [row[3] for row in rows], "truth": [truth(value) for value in values]})
        return func(*args, **kwargs)


def run():
    torch.manual_seed(1)
    x, y = torch.rand(4, 6), torch.rand(4, 6)
    wide = torch.rand(2, 3, 4, 8)
    ids = torch.randint(0, 5, (2, 3))
    table, weight, bias = torch.rand(5, 8), torch.rand(6, 6), torch.rand(6)
    image, filters = torch.rand(1, 3, 8, 8), torch.rand(4, 3, 3, 3)
    flags = x > 0.5
    for binary in (torch.add, torch.sub, torch.mul, torch.div, torch.pow, torch.maximum, torch.minimum, torch.eq,
                   torch.ne, torch.lt, torch.le, torch.gt, torch.ge, torch.remainder, torch.atan2):
        binary(x, y)
    x + 1, x * 2.5, 1 - x, x / 3, x ** 2, x + torch.tensor(2.0, dtype=torch.float64)
    for unary in (torch.exp, torch.log, torch.sqrt, torch.rsqrt, torch.sin, torch.cos, torch.tanh, torch.sigmoid,
                  torch.abs, torch.neg, torch.floor, torch.ceil, torch.erf, torch.reciprocal, torch.relu, torch.sign,
                  torch.isnan, torch.logical_not):
        unary(x)
    F.gelu(x), F.silu(x), F.softplus(x), F.leaky_relu(x, 0.2), F.elu(x), F.hardtanh(x)
    torch.mm(x, weight), torch.bmm(wide[0], wide[1].transpose(1, 2)), torch.addmm(bias, x, weight)
    torch.baddbmm(torch.rand(3, 4, 4), wide[0], wide[1].transpose(1, 2)), torch.mv(weight, bias), torch.dot(bias, bias)
    torch.matmul(x.t(), y)
    F.softmax(wide, -1), F.log_softmax(x, 1), F.layer_norm(x, (6,), bias, bias), F.embedding(ids, table)
    F.group_norm(image, 3), F.batch_norm(image, torch.zeros(3), torch.ones(3))
    F.conv2d(image, filters, padding=1), F.max_pool2d(image, 2), F.avg_pool2d(image, 2), F.adaptive_avg_pool2d(image, 1)
    F.interpolate(image, scale_factor=2)
    x.sum(), x.sum(1, keepdim=True), x.mean(), x.mean([0, 1]), x.amax(1), x.max(), x.argmax(1), x.std(1), x.var()
    x.cumsum(1), x.prod(), torch.linalg.vector_norm(x), x.any(), flags.all(), x.min(1), x.logsumexp(1)
    torch.cat([x, y], 1), torch.stack([x, y]), torch.where(flags, x, y), x.masked_fill(flags, -1.0), x.clamp(0.1, 0.9)
    x.to(torch.float64), x.to(torch.bfloat16), x.half(), x.t().contiguous(), x.clone(), x.expand(3, 4, 6).clone()
    x.gather(1, torch.zeros(4, 2, dtype=torch.int64)), x.index_select(0, torch.tensor([0, 2]))
    x.scatter(1, torch.zeros(4, 1, dtype=torch.int64), 1.0), x.topk(2), x.sort(1), x.tril(), x.triu(1), x.flip(0)
    x.roll(1, 0), x.repeat(2, 1), torch.lerp(x, y, 0.3), torch.addcmul(x, y, y, value=0.5), x.masked_fill_(flags, 0.5)
    torch.addcdiv(x, y, y + 1), x.fill_(0.5), x.zero_(), x.add_(y, alpha=2), x.mul_(3), x.copy_(y), x.normal_(0.0, 0.02)
    torch.zeros(3, 4), torch.ones(2), torch.full((2, 2), 7.0), torch.arange(5), torch.empty(3), torch.zeros_like(x)
    torch.bitwise_and(ids, ids), torch.logical_and(flags, flags), torch.bitwise_not(ids), torch.outer(bias, bias)
    torch.native_dropout(x, 0.1, True) if hasattr(torch, "native_dropout") else None
    F.pad(x, (1, 1)), F.pad(image, (1, 1, 1, 1), mode="reflect"), torch.nn.functional.mse_loss(x, y), F.one_hot(ids, 5)
    F.nll_loss(F.log_softmax(x, 1), torch.tensor([0, 1, 2, 3])), torch.nonzero(x), x.masked_select(flags)
    x.as_strided((2, 2), (6, 1)).sum(), torch.einsum("ij,kj->ik", x, y)


def profile(path):
    from torch.autograd.profiler import kineto_available
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as torch_profile

    if not kineto_available():
        sys.exit(77)
    with torch.no_grad(), torch_profile(activities=[ProfilerActivity.CPU], record_shapes=True) as profiler:
        run()
    profiler.export_chrome_trace(path)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--profile":
        profile(sys.argv[2])
        return
    with torch.no_grad(), Recorder() as recorder:
        run()
    json.dump(recorder.calls, sys.stdout)


if __name__ == "__main__":
    main()
