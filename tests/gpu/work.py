#!/usr/bin/env python3
"""Operations one by one, each under a label, as a trace with shapes or for a counter's tool around this program: what
`breakdown --roofline` says an operation's work is, is judged by what the GPU counted.

    work.py --trace FILE            the trace (.json) of one pass
    ncu --profile-from-start off … work.py      counters of the same pass: the kernels are the same, in the same order

--only NAME takes single operations, --list names them; --device cpu (with --scale 64 or so) tries the program out.
An operation that this PyTorch lacks is left out, with a line on stderr.
"""

import argparse
import contextlib
import sys

import torch
from torch.nn import functional

BF16, FP16, FP32 = torch.bfloat16, torch.float16, torch.float32
OPERATIONS = {}


class Maker:
    """Tensors of a pass. Large enough that a cache holds none of them whole, but for `scale`, which divides lengths."""

    def __init__(self, device, scale):
        self.device, self.scale = device, scale

    def __call__(self, *shape, dtype=BF16, grad=False):
        return (torch.randn(*shape, device=self.device) * 0.1).to(dtype).requires_grad_(grad)

    def indices(self, high, *shape):
        return torch.randint(0, high, shape, device=self.device)

    def short(self, length):
        return max(8, length // self.scale // 8 * 8)


def operation(make):
    """make(maker) returns a function without arguments that runs the operation once."""
    OPERATIONS[make.__name__] = make
    return make


def with_gradient(function, *inputs):
    """Forward and the gradient by all inputs that want one. The gradient that comes in has memory of its own."""
    with torch.no_grad():
        seed = torch.randn_like(function())
    wanted = [x for x in inputs if x.requires_grad]
    return lambda: torch.autograd.grad(function(), wanted, seed)


# ---- products

@operation
def mm_bf16(m):
    n = m.short(4096)
    a, b = m(n, n), m(n, n)
    return lambda: torch.mm(a, b)


@operation
def addmm_fp16(m):
    n = m.short(4096)
    a, b, c = m(n, n, dtype=FP16), m(n, 3 * n, dtype=FP16), m(3 * n, dtype=FP16)
    return lambda: torch.addmm(c, a, b)


@operation
def mm_fp32(m):
    n = m.short(2048)
    a, b = m(n, n, dtype=FP32), m(n, n, dtype=FP32)
    return lambda: torch.mm(a, b)


@operation
def mm_tf32(m):
    n = m.short(4096)
    a, b = m(n, n, dtype=FP32), m(n, n, dtype=FP32)

    def run():
        torch.backends.cuda.matmul.allow_tf32 = True
        torch.mm(a, b)
        torch.backends.cuda.matmul.allow_tf32 = False

    return run


@operation
def scaled_mm_fp8(m):
    n = m.short(4096)
    a, b = m(n, n).to(torch.float8_e4m3fn), m(n, n).to(torch.float8_e4m3fn).t()
    one = torch.ones((), device=m.device)
    return lambda: torch._scaled_mm(a, b, one, one, out_dtype=BF16)  # pylint: disable=protected-access


@operation
def int_mm(m):
    n = m.short(4096)
    a, b = m(n, n, dtype=torch.int8), m(n, n, dtype=torch.int8).t()
    return lambda: torch._int_mm(a, b)  # pylint: disable=protected-access


@operation
def bmm(m):
    n = m.short(1024)
    a, b = m(64, n, n), m(64, n, 128)
    return lambda: torch.bmm(a, b)


@operation
def mv(m):
    n = m.short(16384)
    a, b = m(n, n), m(n)
    return lambda: torch.mv(a, b)


@operation
def linear_gradient(m):
    x, w, b = m(m.short(8192), 2048, grad=True), m(4096, 2048, grad=True), m(4096, grad=True)
    return with_gradient(lambda: functional.linear(x, w, b), x, w, b)


# ---- attention

def attention(m, queries, keys, heads, of_keys, **options):
    q = m(4, heads, m.short(queries), 64, grad=True)
    k, v = (m(4, of_keys, m.short(keys), 64, grad=True) for _ in range(2))
    return with_gradient(lambda: functional.scaled_dot_product_attention(q, k, v, **options), q, k, v)


@operation
def attention_causal(m):
    return attention(m, 4096, 4096, 16, 16, is_causal=True)


@operation
def attention_full(m):
    return attention(m, 4096, 4096, 16, 16)


@operation
def attention_grouped(m):
    return attention(m, 4096, 4096, 32, 8, is_causal=True, enable_gqa=True)


@operation
def attention_masked(m):
    n = m.short(2048)
    return attention(m, 2048, 2048, 16, 16, attn_mask=torch.ones(n, n, dtype=torch.bool, device=m.device).tril())


@operation
def attention_one_query(m):
    q, k, v = m(16, 32, 1, 128), m(16, 32, m.short(4096), 128), m(16, 32, m.short(4096), 128)
    return lambda: functional.scaled_dot_product_attention(q, k, v)


# ---- convolutions

def convolution(m, function, channels, out, size, kernel, layout=torch.contiguous_format, **options):
    x = m(m.short(64), channels, *size).contiguous(memory_format=layout).detach().requires_grad_()
    groups = options.get("groups", 1)
    shape = (channels, out, *kernel) if "transpose" in function.__name__ else (out, channels // groups, *kernel)
    w = m(*shape).contiguous(memory_format=layout).detach().requires_grad_()
    return with_gradient(lambda: function(x, w, **options), x, w)


@operation
def conv2d(m):
    return convolution(m, functional.conv2d, 128, 128, (56, 56), (3, 3), padding=1)


@operation
def conv2d_channels_last(m):
    return convolution(m, functional.conv2d, 128, 256, (56, 56), (3, 3), torch.channels_last, stride=2, padding=1)


@operation
def conv2d_depthwise(m):
    return convolution(m, functional.conv2d, 256, 256, (56, 56), (3, 3), padding=1, groups=256)


@operation
def conv2d_transposed(m):
    return convolution(m, functional.conv_transpose2d, 256, 128, (28, 28), (4, 4), stride=2, padding=1)


@operation
def conv3d(m):
    return convolution(m, functional.conv3d, 32, 64, (8, 32, 32), (3, 3, 3), padding=1)


@operation
def conv1d(m):
    return convolution(m, functional.conv1d, 256, 512, (2048,), (5,), padding=2)


# ---- norms, softmax, losses

def rows(m, width=4096, dtype=BF16):
    return m(m.short(16384), width, dtype=dtype, grad=True)


@operation
def layer_norm(m):
    x, w, b = rows(m), m(4096, grad=True), m(4096, grad=True)
    return with_gradient(lambda: functional.layer_norm(x, (4096,), w, b), x, w, b)


@operation
def rms_norm(m):
    x, w = rows(m), m(4096, grad=True)
    return with_gradient(lambda: functional.rms_norm(x, (4096,), w), x, w)


@operation
def group_norm(m):
    x, w, b = m(m.short(64), 256, 64, 64, grad=True), m(256, grad=True), m(256, grad=True)
    return with_gradient(lambda: functional.group_norm(x, 32, w, b), x, w, b)


@operation
def batch_norm(m):
    x, w, b = m(m.short(64), 256, 64, 64, grad=True), m(256, grad=True), m(256, grad=True)
    return with_gradient(lambda: functional.batch_norm(x, None, None, w, b, True), x, w, b)


@operation
def softmax(m):
    x = rows(m)
    return with_gradient(lambda: functional.softmax(x, -1), x)


@operation
def cross_entropy(m):
    n = m.short(4096)
    x, y = m(n, 32000, dtype=FP32, grad=True), m.indices(32000, n)
    return with_gradient(lambda: functional.cross_entropy(x, y), x)


# ---- elementwise, reductions, movement

@operation
def gelu(m):
    x = rows(m)
    return with_gradient(lambda: functional.gelu(x, approximate="tanh"), x)


@operation
def silu_times(m):
    x, y = rows(m), rows(m)
    return with_gradient(lambda: functional.silu(x) * y, x, y)


@operation
def add_broadcast(m):
    x, y = rows(m).detach(), m(4096)
    return lambda: x + y


@operation
def add_inplace(m):
    x, y = rows(m).detach(), rows(m).detach()
    return lambda: x.add_(y, alpha=0.5)


@operation
def dropout(m):
    x = rows(m)
    return with_gradient(lambda: functional.dropout(x, 0.1, True), x)


@operation
def where(m):
    x, y = rows(m).detach(), rows(m).detach()
    chosen = x > 0
    return lambda: torch.where(chosen, x, y)


@operation
def masked_fill(m):
    x = rows(m).detach()
    chosen = x > 0
    return lambda: x.masked_fill(chosen, 0)


@operation
def cast(m):
    x = rows(m).detach()
    return lambda: x.to(FP32)


@operation
def transpose_copy(m):
    x = rows(m).detach()
    return lambda: x.t().contiguous()


@operation
def slice_copy(m):
    x = rows(m).detach()
    return lambda: x[:, :1024].contiguous()


@operation
def cat(m):
    x, y = rows(m).detach(), rows(m, 1024).detach()
    return lambda: torch.cat((x, y), 1)


@operation
def clone(m):
    x = rows(m).detach()
    return x.clone


@operation
def fill_zero(m):
    x = rows(m).detach()
    return x.zero_


@operation
def sum_rows(m):
    x = rows(m).detach()
    return lambda: x.sum(0)


@operation
def mean_all(m):
    x = rows(m, dtype=FP32).detach()
    return x.mean


@operation
def argmax(m):
    x = rows(m, dtype=FP32).detach()
    return lambda: x.argmax(-1)


@operation
def cumsum(m):
    x = rows(m, dtype=FP32).detach()
    return lambda: x.cumsum(-1)


@operation
def top_k(m):
    x = rows(m, dtype=FP32).detach()
    return lambda: x.topk(8)


@operation
def sort(m):
    x = rows(m, dtype=FP32).detach()
    return lambda: x.sort(-1)


@operation
def rotary(m):
    x = m(8, 32, m.short(2048), 128)
    cos, sin = m(m.short(2048), 128), m(m.short(2048), 128)

    def run():
        left, right = x.chunk(2, -1)
        return x * cos + torch.cat((-right, left), -1) * sin

    return run


# ---- lookups

@operation
def embedding(m):
    table, index = m(50304, 2048, grad=True), m.indices(50304, m.short(8192))
    return with_gradient(lambda: functional.embedding(index, table), table)


@operation
def embedding_bag(m):
    table = m(m.short(1 << 19), 128, dtype=FP32, grad=True)
    index = m.indices(table.shape[0], m.short(8192), 32)
    return with_gradient(lambda: functional.embedding_bag(index, table, mode="sum"), table)


@operation
def index_select(m):
    x, index = rows(m).detach(), m.indices(m.short(16384), m.short(8192))
    return lambda: x.index_select(0, index)


@operation
def gather(m):
    x = rows(m).detach()
    index = m.indices(4096, m.short(16384), 1024)
    return lambda: x.gather(1, index)


@operation
def scatter_add(m):
    x, y = rows(m, dtype=FP32).detach(), rows(m, 1024, dtype=FP32).detach()
    index = m.indices(4096, m.short(16384), 1024)
    return lambda: x.scatter_add_(1, index, y)


@operation
def index_put(m):
    x = rows(m).detach()
    index, y = torch.randperm(m.short(16384), device=m.device)[:m.short(8192)], m(m.short(8192), 4096)
    return lambda: x.index_put_((index,), y)


# ---- pooling and sampling

@operation
def max_pool(m):
    x = m(m.short(64), 256, 112, 112, grad=True)
    return with_gradient(lambda: functional.max_pool2d(x, 3, 2, 1), x)


@operation
def average_pool(m):
    x = m(m.short(64), 256, 112, 112, grad=True)
    return with_gradient(lambda: functional.avg_pool2d(x, 2), x)


@operation
def interpolate(m):
    x = m(m.short(64), 64, 64, 64, dtype=FP32, grad=True)
    return with_gradient(lambda: functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False), x)


# ---- optimizers

def parameters_with_gradients(m):
    parameters = [m(4096, m.short(4096), dtype=FP32, grad=True) for _ in range(4)]
    for parameter in parameters:
        parameter.grad = torch.randn_like(parameter)
    return parameters


def optimizer(m, make):
    return make(parameters_with_gradients(m)).step


@operation
def adamw_fused(m):
    return optimizer(m, lambda p: torch.optim.AdamW(p, fused=True))


@operation
def adamw_foreach(m):
    return optimizer(m, lambda p: torch.optim.AdamW(p, foreach=True))


@operation
def sgd_momentum(m):
    return optimizer(m, lambda p: torch.optim.SGD(p, 1e-4, momentum=0.9, foreach=True))


@operation
def clip_gradients(m):
    parameters = parameters_with_gradients(m)
    return lambda: torch.nn.utils.clip_grad_norm_(parameters, 1.0)


# ---- what no model of work knows: it must stay unknown

@operation
def fft(m):
    x = rows(m, dtype=FP32).detach()
    return lambda: torch.fft.rfft(x)


@operation
def lstm(m):
    net = torch.nn.LSTM(512, 512, 2).to(m.device)
    x = m(16, 64, 512, dtype=FP32)
    return lambda: net(x)


# ---------------------------------------------------------------------------------- running


def synchronize(device):
    if device != "cpu":
        torch.cuda.synchronize()


@contextlib.contextmanager
def counted(device):
    """What a counter's tool sees, when it is told to begin switched off."""
    if device != "cpu":
        torch.cuda.cudart().cudaProfilerStart()
    try:
        yield
    finally:
        synchronize(device)
        if device != "cpu":
            torch.cuda.cudart().cudaProfilerStop()


@contextlib.contextmanager
def traced(device, path):
    from torch.profiler import ProfilerActivity, profile

    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device != "cpu" else [])
    with profile(activities=activities, record_shapes=True) as profiler:
        yield
        synchronize(device)
    profiler.export_chrome_trace(path)


def warm(name, device, scale):
    """The operation with its tensors made, run twice; None where this PyTorch or GPU cannot."""
    torch.manual_seed(1)
    try:
        step = OPERATIONS[name](Maker(device, scale))
        for _ in range(2):
            step()
        synchronize(device)
    except Exception as error:  # pylint: disable=broad-except
        # One operation must not cost the others.
        print(f"{name}: left out: {type(error).__name__}: {str(error).splitlines()[0]}", file=sys.stderr, flush=True)
        return None
    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace", help="file for a trace of the pass")
    parser.add_argument("--only", action="append", choices=OPERATIONS, metavar="NAME")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    if args.list:
        print("\n".join(OPERATIONS))
        return 0
    steps = {name: warm(name, args.device, args.scale) for name in args.only or OPERATIONS}
    steps = {name: step for name, step in steps.items() if step is not None}
    with traced(args.device, args.trace) if args.trace else counted(args.device):
        for name, step in steps.items():
            with torch.profiler.record_function(f"work:{name}"):
                step()
                # The gap between operations, so that none runs beside the next.
                synchronize(args.device)
    return 0 if steps else 1


if __name__ == "__main__":
    sys.exit(main())
