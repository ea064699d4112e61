#!/usr/bin/env python3
"""Profiles a model, or any callable, with PyTorch and writes traces that Assay reads.

    python3 assay_torch.py --model gpt2 --batch 1,2,4 --out traces
    python3 assay_torch.py --model llama-3.2-1b --phase decode --tokens 10 --mode sdpa --out traces

    import assay_torch
    assay_torch.profile(lambda: model(batch), "traces", name="mine")

One file, needs PyTorch 1.13 or newer and nothing else. Models are built from their published
configurations with random weights: nothing is downloaded, and the kernels launched do not depend on
the values. --hf builds them with the transformers package instead, also without weights.

Each run writes OUT/MODEL_MODE_PHASE_bBATCH_sLENGTH.json.gz and one line of OUT/runs.jsonl: latencies
measured without the profiler, what was run, on what. Then, for instance:

    assay overhead traces/
    assay sweep --batch 1=traces/gpt2_sdpa_prefill_b1_s512.json.gz --batch 2=…
"""

import argparse
import contextlib
import gzip
import json
import math
import os
import re
import shutil
import statistics
import sys
import tempfile
import time

import torch
from torch import nn
from torch.nn import functional as F

TRACERS = ("kineto", "nvtx", "none")
MODES = ("eager", "sdpa", "flash", "compile", "compile-reduce-overhead", "compile-max-autotune")

# The published configurations. A name ending in -small is the same architecture, scaled down.
MODELS = {
    "gpt2": {"arch": "gpt2", "layers": 12, "hidden": 768, "heads": 12, "vocab": 50257, "positions": 1024},
    "bert-base": {"arch": "bert", "layers": 12, "hidden": 768, "heads": 12, "inter": 3072, "vocab": 30522,
                  "positions": 512, "types": 2, "pad": None},
    "xlm-r-base": {"arch": "bert", "layers": 12, "hidden": 768, "heads": 12, "inter": 3072, "vocab": 250002,
                   "positions": 514, "types": 1, "pad": 1},
    "llama-3.2-1b": {"arch": "llama", "layers": 16, "hidden": 2048, "heads": 32, "kv_heads": 8, "inter": 8192,
                     "vocab": 128256, "theta": 500000.0},
    "olmoe": {"arch": "llama", "layers": 16, "hidden": 2048, "heads": 16, "kv_heads": 16, "inter": 1024,
              "vocab": 50304, "theta": 10000.0, "experts": 64, "top_k": 8, "qk_norm": True},
    "olmoe-small": {"arch": "llama", "layers": 4, "hidden": 2048, "heads": 16, "kv_heads": 16, "inter": 1024,
                    "vocab": 50304, "theta": 10000.0, "experts": 16, "top_k": 8, "qk_norm": True},
    "qwen-moe": {"arch": "llama", "layers": 24, "hidden": 2048, "heads": 16, "kv_heads": 16, "inter": 1408,
                 "vocab": 151936, "theta": 1000000.0, "experts": 60, "top_k": 4, "shared_inter": 5632,
                 "qkv_bias": True},
    "qwen-moe-small": {"arch": "llama", "layers": 4, "hidden": 2048, "heads": 16, "kv_heads": 16, "inter": 1408,
                       "vocab": 151936, "theta": 1000000.0, "experts": 16, "top_k": 4, "shared_inter": 5632,
                       "qkv_bias": True},
    "tiny": {"arch": "gpt2", "layers": 2, "hidden": 32, "heads": 2, "vocab": 101, "positions": 64},
    "tiny-llama": {"arch": "llama", "layers": 2, "hidden": 32, "heads": 4, "kv_heads": 2, "inter": 64,
                   "vocab": 101, "theta": 10000.0},
    "tiny-bert": {"arch": "bert", "layers": 2, "hidden": 32, "heads": 2, "inter": 64, "vocab": 101,
                  "positions": 64, "types": 1, "pad": 1},
    "tiny-moe": {"arch": "llama", "layers": 2, "hidden": 32, "heads": 4, "kv_heads": 4, "inter": 16,
                 "vocab": 101, "theta": 10000.0, "experts": 4, "top_k": 2, "shared_inter": 32,
                 "qkv_bias": True, "qk_norm": True},
}


# ---------------------------------------------------------------------------------- attention


def repeat_heads(x, times):
    """Repeats each key or value head for the query heads that share it."""
    if times == 1:
        return x
    batch, heads, length, width = x.shape
    x = x[:, :, None].expand(batch, heads, times, length, width)
    return x.reshape(batch, heads * times, length, width)


def attend(q, k, v, mask, causal, kind, upcast=False):
    """Attention of the given kind. mask is added to the scores; None with causal: a causal mask. upcast: a softmax in
    32 bits, as in Llama's published implementation."""
    if kind == "math":
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.shape[-1])
        if mask is None and causal:
            mask = causal_mask(q.shape[-2], k.shape[-2], q.device, q.dtype)
        if mask is not None:
            scores = scores + mask
        weights = F.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype) if upcast else F.softmax(scores, dim=-1)
        return torch.matmul(weights, v)
    if mask is None:
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal and q.shape[-2] > 1)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def causal_mask(queries, keys, device, dtype):
    shape = (queries, keys)
    mask = torch.full(shape, torch.finfo(dtype).min, device=device, dtype=dtype)
    return torch.triu(mask, diagonal=keys - queries + 1)[None, None]


class GrowingCache:
    """Concatenates keys and values token by token, as libraries do without compilation. The start is never changed, so
    that every repeat of a decode can begin from the same prefill."""

    static = False

    def __init__(self, layers):
        self.keys, self.values = [None] * layers, [None] * layers

    def copy(self):
        other = GrowingCache(len(self.keys))
        other.keys, other.values = list(self.keys), list(self.values)
        return other

    def update(self, layer, k, v, position):
        if self.keys[layer] is not None:
            k = torch.cat([self.keys[layer], k], dim=-2)
            v = torch.cat([self.values[layer], v], dim=-2)
        self.keys[layer], self.values[layer] = k, v
        return k, v


class StaticCache:
    """Preallocates all tokens, so that every step has the same shape, as compiled graphs need."""

    static = True

    def __init__(self, layers, shape, device, dtype):
        self.keys = [torch.zeros(shape, device=device, dtype=dtype) for _ in range(layers)]
        self.values = [torch.zeros(shape, device=device, dtype=dtype) for _ in range(layers)]
        # Otherwise torch.compile skips CUDA graphs, because a graph may not write to its inputs.
        mark = getattr(getattr(torch, "_dynamo", None), "mark_static_address", None)
        for tensor in self.keys + self.values:
            if mark is not None:
                mark(tensor)

    def copy(self):
        return self

    def update(self, layer, k, v, position):
        self.keys[layer].index_copy_(2, position, k)
        self.values[layer].index_copy_(2, position, v)
        return self.keys[layer], self.values[layer]


def static_mask(position, keys, dtype):
    """A query at `position` sees the keys of a StaticCache up to its own position."""
    hidden = torch.arange(keys, device=position.device)[None, :] > position[:, None]
    mask = torch.zeros(hidden.shape, device=position.device, dtype=dtype)
    return mask.masked_fill(hidden, torch.finfo(dtype).min)[None, None]


# ---------------------------------------------------------------------------------- models


class Conv1D(nn.Module):
    """GPT-2's linear layer: the weight is transposed, so that it launches addmm."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.empty(outputs))

    def forward(self, x):
        flat = torch.addmm(self.bias, x.reshape(-1, x.shape[-1]), self.weight)
        return flat.view(*x.shape[:-1], -1)


def tanh_gelu(x):
    """GPT-2's activation as in its published implementation: eight kernels when eager."""
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


def split_heads(x, heads):
    batch, length, width = x.shape
    return x.view(batch, length, heads, width // heads).transpose(1, 2)


def merge_heads(x):
    batch, heads, length, width = x.shape
    return x.transpose(1, 2).reshape(batch, length, heads * width)


class Gpt2Block(nn.Module):
    def __init__(self, c, kind, layer):
        super().__init__()
        self.heads, self.kind, self.layer = c["heads"], kind, layer
        width = c["hidden"]
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = Conv1D(width, 3 * width), Conv1D(width, width)
        self.up, self.down = Conv1D(width, 4 * width), Conv1D(4 * width, width)

    def forward(self, x, position, mask, cache):
        q, k, v = self.qkv(self.norm1(x)).split(x.shape[-1], dim=2)
        q, k, v = split_heads(q, self.heads), split_heads(k, self.heads), split_heads(v, self.heads)
        if cache is not None:
            k, v = cache.update(self.layer, k, v, position)
        x = x + self.out(merge_heads(attend(q, k, v, mask, True, self.kind)))
        return x + self.down(tanh_gelu(self.up(self.norm2(x))))


class Gpt2(nn.Module):
    def __init__(self, c, kind):
        super().__init__()
        self.kind, self.layers = kind, c["layers"]
        self.kv_shape = (c["heads"], c["hidden"] // c["heads"])
        self.tokens = nn.Embedding(c["vocab"], c["hidden"])
        self.places = nn.Embedding(c["positions"], c["hidden"])
        self.blocks = nn.ModuleList(Gpt2Block(c, kind, i) for i in range(c["layers"]))
        self.norm = nn.LayerNorm(c["hidden"])

    def forward(self, ids, position, cache=None):
        x = self.tokens(ids) + self.places(position)[None]
        mask = mask_for(self.kind, position, cache, x.dtype)
        for block in self.blocks:
            x = block(x, position, mask, cache)
        return F.linear(self.norm(x), self.tokens.weight)


def mask_for(kind, position, cache, dtype):
    """Built once per forward pass, as in libraries; None if the attention call builds its own."""
    if cache is not None and cache.static:
        return static_mask(position, cache.keys[0].shape[-2], dtype)
    if kind == "math" and position.shape[0] > 1:
        return causal_mask(position.shape[0], position.shape[0], position.device, dtype)
    return None


class BertBlock(nn.Module):
    def __init__(self, c, kind):
        super().__init__()
        width = c["hidden"]
        self.heads, self.kind = c["heads"], kind
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.out, self.norm1 = nn.Linear(width, width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, c["inter"]), nn.Linear(c["inter"], width)
        self.norm2 = nn.LayerNorm(width)

    def forward(self, x, mask):
        q, k, v = (split_heads(part(x), self.heads) for part in (self.q, self.k, self.v))
        x = self.norm1(self.out(merge_heads(attend(q, k, v, mask, False, self.kind))) + x)
        return self.norm2(self.down(F.gelu(self.up(x))) + x)


class Bert(nn.Module):
    """BERT, or with a padding id XLM-R, which derives its positions from the tokens."""

    def __init__(self, c, kind):
        super().__init__()
        self.kind, self.pad = kind, c["pad"]
        self.tokens = nn.Embedding(c["vocab"], c["hidden"])
        self.places = nn.Embedding(c["positions"], c["hidden"])
        self.types = nn.Embedding(c["types"], c["hidden"])
        self.norm = nn.LayerNorm(c["hidden"])
        self.blocks = nn.ModuleList(BertBlock(c, kind) for _ in range(c["layers"]))
        self.pooler = nn.Linear(c["hidden"], c["hidden"])

    def forward(self, ids, position, cache=None):
        places = position[None]
        if self.pad is not None:
            seen = ids.ne(self.pad).int()
            places = (torch.cumsum(seen, dim=1).type_as(seen) * seen).long() + self.pad
        x = self.tokens(ids) + self.types(torch.zeros_like(ids)) + self.places(places)
        x = self.norm(x)
        mask = None
        if self.kind == "math":
            attended = torch.ones(ids.shape, device=ids.device, dtype=x.dtype)[:, None, None, :]
            mask = (1.0 - attended) * torch.finfo(x.dtype).min
        for block in self.blocks:
            x = block(x, mask)
        return torch.tanh(self.pooler(x[:, 0]))


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        wide = x.to(torch.float32)
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
        return self.weight * wide.to(x.dtype)


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    turned = torch.cat((-x[..., half:], x[..., :half]), dim=-1)
    return x * cos + turned * sin


class GatedMlp(nn.Module):
    def __init__(self, width, inter):
        super().__init__()
        self.gate, self.up = nn.Linear(width, inter, bias=False), nn.Linear(width, inter, bias=False)
        self.down = nn.Linear(inter, width, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Experts(nn.Module):
    """A mixture of experts as an eager library runs it: a loop over the experts, each gathering its tokens. Only the
    device knows the number of tokens per expert, hence many small kernels and synchronizations."""

    def __init__(self, c):
        super().__init__()
        self.top_k, self.count = c["top_k"], c["experts"]
        self.router = nn.Linear(c["hidden"], c["experts"], bias=False)
        self.experts = nn.ModuleList(GatedMlp(c["hidden"], c["inter"]) for _ in range(c["experts"]))
        self.shared = self.shared_gate = None
        if "shared_inter" in c:
            self.shared = GatedMlp(c["hidden"], c["shared_inter"])
            self.shared_gate = nn.Linear(c["hidden"], 1, bias=False)

    def forward(self, x):
        flat = x.view(-1, x.shape[-1])
        weights = F.softmax(self.router(flat), dim=1, dtype=torch.float32)
        weights, chosen = torch.topk(weights, self.top_k, dim=-1)
        weights = weights.to(x.dtype)
        result = torch.zeros_like(flat)
        routes = F.one_hot(chosen, num_classes=self.count).permute(2, 1, 0)
        for number, expert in enumerate(self.experts):
            slot, token = torch.where(routes[number])
            part = expert(flat[None, token].reshape(-1, flat.shape[-1]))
            result.index_add_(0, token, (part * weights[token, slot, None]).to(x.dtype))
        if self.shared is not None:
            result = result + torch.sigmoid(self.shared_gate(flat)) * self.shared(flat)
        return result.view(x.shape)


class LlamaBlock(nn.Module):
    def __init__(self, c, kind, layer):
        super().__init__()
        self.kind, self.layer = kind, layer
        self.heads, self.kv_heads = c["heads"], c["kv_heads"]
        width, head = c["hidden"], c["hidden"] // c["heads"]
        bias = c.get("qkv_bias", False)
        self.norm1, self.norm2 = RmsNorm(width), RmsNorm(width)
        self.q = nn.Linear(width, width, bias=bias)
        self.k = nn.Linear(width, self.kv_heads * head, bias=bias)
        self.v = nn.Linear(width, self.kv_heads * head, bias=bias)
        self.out = nn.Linear(width, width, bias=False)
        self.q_norm = self.k_norm = None
        if c.get("qk_norm"):
            self.q_norm, self.k_norm = RmsNorm(width), RmsNorm(self.kv_heads * head)
        self.mlp = Experts(c) if "experts" in c else GatedMlp(width, c["inter"])

    def forward(self, x, position, cos, sin, mask, cache):
        inner = self.norm1(x)
        q, k, v = self.q(inner), self.k(inner), self.v(inner)
        if self.q_norm is not None:
            q, k = self.q_norm(q), self.k_norm(k)
        q, k, v = split_heads(q, self.heads), split_heads(k, self.kv_heads), split_heads(v, self.kv_heads)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        if cache is not None:
            k, v = cache.update(self.layer, k, v, position)
        times = self.heads // self.kv_heads
        x = x + self.out(merge_heads(
            attend(q, repeat_heads(k, times), repeat_heads(v, times), mask, True, self.kind, upcast=True)))
        return x + self.mlp(self.norm2(x))


class Llama(nn.Module):
    """Llama's architecture, and with experts OLMoE's and Qwen-MoE's."""

    def __init__(self, c, kind):
        super().__init__()
        self.kind, self.layers = kind, c["layers"]
        self.head = c["hidden"] // c["heads"]
        self.kv_shape = (c["kv_heads"], self.head)
        self.theta = c["theta"]
        self.tokens = nn.Embedding(c["vocab"], c["hidden"])
        self.blocks = nn.ModuleList(LlamaBlock(c, kind, i) for i in range(c["layers"]))
        self.norm = RmsNorm(c["hidden"])

    def rotary(self, position, dtype):
        steps = torch.arange(0, self.head, 2, device=position.device, dtype=torch.float32)
        angles = position.to(torch.float32)[:, None] * (self.theta ** (-steps / self.head))[None, :]
        angles = torch.cat((angles, angles), dim=-1)
        return angles.cos().to(dtype)[None, None], angles.sin().to(dtype)[None, None]

    def forward(self, ids, position, cache=None):
        x = self.tokens(ids)
        cos, sin = self.rotary(position, x.dtype)
        mask = mask_for(self.kind, position, cache, x.dtype)
        for block in self.blocks:
            x = block(x, position, cos, sin, mask, cache)
        return F.linear(self.norm(x), self.tokens.weight)


ARCHITECTURES = {"gpt2": Gpt2, "bert": Bert, "llama": Llama}


def build_model(config, kind, device, dtype, seed):
    """Builds the model on the device in the given dtype, with small random weights."""
    torch.manual_seed(seed)
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        # PyTorch 2 builds on the device; 1.13 builds on the host and copies.
        with torch.device(device) if hasattr(torch.device, "__enter__") else contextlib.nullcontext():
            model = ARCHITECTURES[config["arch"]](config, kind)
    finally:
        torch.set_default_dtype(before)
    model = model.to(device).eval().requires_grad_(False)
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1 or "bias" in name:
            parameter.normal_(0.0, 0.02)
    return model


# ---------------------------------------------------------------------------------- runs


def is_gpu(device):
    return str(device).startswith("cuda")


def synchronize(device):
    if is_gpu(device):
        torch.cuda.synchronize()


def mark_step(mode):
    """Lets compiled CUDA graphs reuse the outputs of the previous step."""
    compiler = getattr(torch, "compiler", None)
    if mode.startswith("compile") and hasattr(compiler, "cudagraph_mark_step_begin"):
        compiler.cudagraph_mark_step_begin()


@contextlib.contextmanager
def attention_of(mode):
    """Only FlashAttention, if the mode requires it; raises if this PyTorch lacks it."""
    if mode != "flash":
        yield
        return
    try:
        from torch.nn.attention import SDPBackend, sdpa_kernel
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            yield
    except ImportError:
        with torch.backends.cuda.sdp_kernel(enable_flash=True, enable_math=False, enable_mem_efficient=False):
            yield


def has_sdpa():
    return hasattr(F, "scaled_dot_product_attention")


def compiled(function, mode):
    """The function, through torch.compile if the mode requires it."""
    if not mode.startswith("compile"):
        return function
    if not hasattr(torch, "compile"):
        raise SystemExit(f"--mode {mode} needs PyTorch 2; this is {torch.__version__}")
    kind = mode[len("compile-"):] or "default"
    return torch.compile(function, mode=kind, dynamic=False)


class ModelRun:
    """One point of the sweep. A call runs one iteration."""

    def __init__(self, model, config, args, batch, length):
        self.args = args
        device = args.device
        generator = torch.Generator(device="cpu").manual_seed(args.seed)
        ids = torch.randint(2, config["vocab"], (batch, length), generator=generator)
        self.ids = ids.to(device)
        self.position = torch.arange(length, device=device)
        self.decode_only = args.phase == "decode"
        self.forward = compiled(model, args.mode)
        self.model, self.batch, self.length = model, batch, length
        self.start = self.first = None
        self.places = torch.arange(length, length + args.tokens, device=device)

    def new_cache(self):
        if self.args.phase == "prefill" and self.args.mode.startswith("compile"):
            return None
        if not self.args.mode.startswith("compile"):
            return GrowingCache(self.model.layers)
        heads, width = self.model.kv_shape
        shape = (self.batch, heads, self.length + self.args.tokens, width)
        return StaticCache(self.model.layers, shape, self.args.device, next(self.model.parameters()).dtype)

    def prefill(self):
        cache = self.new_cache() if hasattr(self.model, "kv_shape") else None
        mark_step(self.args.mode)
        with torch.profiler.record_function("prefill"):
            # The prefill is not compiled when decoding: it runs once, and compilation is slow.
            forward = self.model if self.decode_only else self.forward
            logits = forward(self.ids, self.position, cache)
        return logits, cache

    def step(self, token, number, cache):
        mark_step(self.args.mode)
        with torch.profiler.record_function(f"decode {number + 1}"):
            logits = self.forward(token, self.places[number:number + 1], cache)
            return logits[:, -1:].argmax(dim=-1)

    def prepare(self):
        """Runs before the first iteration, outside the measurement."""
        if not self.decode_only:
            return
        logits, self.start = self.prefill()
        self.first = logits[:, -1:].argmax(dim=-1)

    def __call__(self):
        if self.args.phase == "prefill":
            return self.prefill()[0]
        if self.decode_only:
            token, cache = self.first, self.start.copy()
        else:
            logits, cache = self.prefill()
            token = logits[:, -1:].argmax(dim=-1)
        for number in range(self.args.tokens):
            token = self.step(token, number, cache)
        return token


class HuggingFaceRun:
    """The same with a model of the transformers package, which has its own cache and masks."""

    def __init__(self, model, config, args, batch, length):
        self.args, self.model = args, model
        generator = torch.Generator(device="cpu").manual_seed(args.seed)
        self.ids = torch.randint(2, config["vocab"], (batch, length), generator=generator).to(args.device)
        self.length = length
        self.forward = compiled(model.forward, args.mode)
        self.start = self.first = None
        self.caches = config["arch"] != "bert"

    def prefill(self):
        mark_step(self.args.mode)
        with torch.profiler.record_function("prefill"):
            extra = {"use_cache": True} if self.caches else {}
            return self.forward(input_ids=self.ids, **extra)

    def prepare(self):
        if self.args.phase == "decode":
            done = self.prefill()
            self.start, self.first = done.past_key_values, done.logits[:, -1:].argmax(dim=-1)

    def __call__(self):
        if self.args.phase == "prefill":
            return self.prefill()
        if self.args.phase == "decode":
            token, cache = self.first, self.start
            cache.crop(self.length)
        else:
            done = self.prefill()
            token, cache = done.logits[:, -1:].argmax(dim=-1), done.past_key_values
        for number in range(self.args.tokens):
            mark_step(self.args.mode)
            with torch.profiler.record_function(f"decode {number + 1}"):
                done = self.forward(input_ids=token, past_key_values=cache, use_cache=True)
                token, cache = done.logits[:, -1:].argmax(dim=-1), done.past_key_values
        return token


def build_hf_model(name, config, args, dtype):
    """The transformers class of that architecture, built from a configuration without a download."""
    import transformers as tf

    size = {"vocab_size": config["vocab"], "hidden_size": config["hidden"],
            "num_hidden_layers": config["layers"], "num_attention_heads": config["heads"]}
    if config["arch"] == "gpt2":
        made = tf.GPT2Config(vocab_size=config["vocab"], n_embd=config["hidden"], n_layer=config["layers"],
                             n_head=config["heads"], n_positions=config["positions"])
    elif config["arch"] == "bert":
        kind = tf.BertConfig if config["pad"] is None else tf.XLMRobertaConfig
        made = kind(intermediate_size=config["inter"], max_position_embeddings=config["positions"],
                    type_vocab_size=config["types"], **size)
    else:
        size.update(intermediate_size=config["inter"], num_key_value_heads=config["kv_heads"],
                    tie_word_embeddings=True, max_position_embeddings=32768)
        if name.startswith("olmoe"):
            made = tf.OlmoeConfig(num_experts=config["experts"], num_experts_per_tok=config["top_k"], **size)
        elif name.startswith("qwen"):
            made = tf.Qwen2MoeConfig(moe_intermediate_size=config["inter"], num_experts=config["experts"],
                                     num_experts_per_tok=config["top_k"],
                                     shared_expert_intermediate_size=config["shared_inter"], **size)
        else:
            made = tf.LlamaConfig(**size)
    attention = {"eager": "eager", "flash": "sdpa"}.get(args.mode, "sdpa")
    family = tf.AutoModel if config["arch"] == "bert" else tf.AutoModelForCausalLM
    torch.manual_seed(args.seed)
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device(args.device):
            model = family.from_config(made, attn_implementation=attention)
    finally:
        torch.set_default_dtype(before)
    return model.to(device=args.device, dtype=dtype).eval().requires_grad_(False)


# ---------------------------------------------------------------------------------- measuring


def time_runs(function, repeats, device):
    """Seconds of wall time per repeat, with the device synchronized before and after."""
    seconds = []
    for _ in range(repeats):
        synchronize(device)
        begin = time.perf_counter_ns()
        function()
        synchronize(device)
        seconds.append((time.perf_counter_ns() - begin) / 1e9)
    return seconds


def summary(seconds):
    if not seconds:
        return None
    ordered = sorted(seconds)
    return {"n": len(ordered), "mean_ms": 1e3 * statistics.fmean(ordered),
            "p50_ms": 1e3 * statistics.median(ordered), "min_ms": 1e3 * ordered[0], "max_ms": 1e3 * ordered[-1]}


def has_kineto():
    from torch.autograd.profiler import kineto_available
    return kineto_available()


def write_gz(path, write):
    """Writes a temporary file and renames it, so that a full disk leaves no partial trace."""
    unfinished = path + ".tmp"
    try:
        with gzip.open(unfinished, "wb", compresslevel=6) as out:
            write(out)
        os.replace(unfinished, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(unfinished)


def export(profiler, path):
    if has_kineto():
        with tempfile.TemporaryDirectory(dir=os.path.dirname(path) or ".") as folder:
            plain = os.path.join(folder, "trace.json")
            profiler.export_chrome_trace(plain)

            def compress(out):
                with open(plain, "rb") as trace:
                    shutil.copyfileobj(trace, out, 1 << 20)

            write_gz(path, compress)
        return
    text = json.dumps(trace_of_events(profiler.events())).encode()
    write_gz(path, lambda out: out.write(text))


def trace_of_events(events):
    """A trace in the profiler's format for a PyTorch that was built without Kineto (as in Debian): operators and labels
    with their shapes, no types, no device."""
    rows, steps = [], 0
    for number, event in enumerate(events):
        label, name = "::" not in event.name, event.name
        if name == "ProfilerStep*":
            name, steps = f"ProfilerStep#{steps}", steps + 1
        rows.append({"ph": "X", "cat": "user_annotation" if label else "cpu_op", "name": name,
                     "pid": os.getpid(), "tid": event.thread, "ts": event.time_range.start,
                     "dur": event.time_range.end - event.time_range.start,
                     "args": {"External id": number + 1, "Input Dims": event.input_shapes}})
    return {"schemaVersion": 1, "deviceProperties": [], "record_shapes": 1, "traceEvents": rows}


@contextlib.contextmanager
def nvtx(name):
    torch.cuda.nvtx.range_push(name)
    try:
        yield
    finally:
        torch.cuda.nvtx.range_pop()


@contextlib.contextmanager
def labels_as_nvtx():
    """Emits record_function's labels as NVTX ranges too, for a tracer outside PyTorch."""
    real = torch.profiler.record_function

    @contextlib.contextmanager
    def both(name, args=None):
        with real(name), nvtx(name):
            yield

    torch.profiler.record_function = both
    try:
        yield
    finally:
        torch.profiler.record_function = real


def run_labelled(function, repeats, device):
    """Iterations as NVTX ranges, for `assay record` or Nsight Systems."""
    with labels_as_nvtx():
        for number in range(repeats):
            with nvtx(f"ProfilerStep#{number}"):
                function()
                synchronize(device)


def run_profiled(function, repeats, device, options, path):
    """Profiles `repeats` iterations after one warm-up iteration, to a trace at `path`."""
    from torch.profiler import ProfilerActivity, schedule
    from torch.profiler import profile as torch_profile

    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if is_gpu(device) else [])
    wanted = {"record_shapes": True, "with_stack": False, "with_modules": False, **options}
    with torch_profile(activities=activities, schedule=schedule(wait=0, warmup=1, active=repeats, repeat=1),
                       on_trace_ready=lambda done: export(done, path), **wanted) as profiler:
        for _ in range(repeats + 1):
            function()
            synchronize(device)
            profiler.step()


def profile(function, out, name="run", *, warmup=3, repeats=3, timed=10, device=None, tracer="kineto",
            record_shapes=True, with_stack=False, with_modules=False, facts=None):
    """Runs `function` (warm-up, then timed without a profiler, then traced), writes OUT/NAME.json.gz and a line of
    OUT/runs.jsonl, and returns that line as a dict.

    tracer: "kineto" writes the trace; "nvtx" labels the iterations for an external tracer and writes no trace; "none"
    only measures the time."""
    if tracer not in TRACERS:
        raise ValueError(f"tracer is one of {', '.join(TRACERS)}, not {tracer!r}")
    if re.search(r"[^A-Za-z0-9._=+-]", name):
        raise ValueError(f"{name!r} cannot be part of a file name")
    device = str(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    os.makedirs(out, exist_ok=True)
    first = time_runs(function, 1, device)[0]
    time_runs(function, max(0, warmup - 1), device)
    latencies = time_runs(function, timed, device)
    trace = None
    if tracer == "kineto":
        options = {"record_shapes": record_shapes, "with_stack": with_stack, "with_modules": with_modules}
        trace = name + ".json.gz"
        run_profiled(function, repeats, device, options, os.path.join(out, trace))
    elif tracer == "nvtx":
        run_labelled(function, repeats, device)
    line = {"name": name, "trace": trace, "tracer": tracer, "device": device_name(device),
            "torch": torch.__version__, "warmup": warmup, "repeats": repeats, "first_ms": 1e3 * first,
            "latency": summary(latencies), "seconds": latencies, **(facts or {})}
    with open(os.path.join(out, "runs.jsonl"), "a", encoding="utf-8") as index:
        index.write(json.dumps(line) + "\n")
    return line


def device_name(device):
    return torch.cuda.get_device_name() if is_gpu(device) else "cpu"


# ---------------------------------------------------------------------------------- command line


def numbers(text):
    values = [int(part) for part in text.split(",")]
    if not values or min(values) < 1:
        raise ValueError
    return values


def parse_arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0],
                                     epilog="models: " + ", ".join(MODELS))
    parser.add_argument("--model", required=True, choices=MODELS, metavar="NAME")
    parser.add_argument("--phase", default="prefill", choices=("prefill", "decode", "both"),
                        help="what an iteration is: the prompt, TOKENS further tokens, or both")
    parser.add_argument("--batch", type=numbers, default=[1], help="batch sizes, such as 1,2,4")
    parser.add_argument("--seq", type=numbers, default=[512], help="prompt lengths")
    parser.add_argument("--tokens", type=int, default=10, help="tokens to decode")
    parser.add_argument("--mode", default="eager", choices=MODES,
                        help="eager: attention by hand; sdpa, flash: PyTorch's own; compile…: torch.compile")
    parser.add_argument("--dtype", choices=("fp32", "fp16", "bf16"), help="default: bf16, on a CPU fp32")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--layers", type=int, help="another number of layers")
    parser.add_argument("--warmup", type=int, default=5, help="iterations that do not count")
    parser.add_argument("--timed", type=int, default=10, help="iterations timed without the profiler")
    parser.add_argument("--repeats", type=int, default=3, help="iterations in the trace")
    parser.add_argument("--tracer", default="kineto", choices=TRACERS,
                        help="nvtx: only label iterations, for assay record or nsys around this program")
    parser.add_argument("--no-shapes", action="store_true", help="leave out what operators were called with")
    parser.add_argument("--with-stack", action="store_true", help="Python frames; inflates host times")
    parser.add_argument("--with-modules", action="store_true", help="names of modules (TorchScript)")
    parser.add_argument("--hf", action="store_true", help="build the model with the transformers package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="traces", help="folder")
    args = parser.parse_args(argv)
    if min(args.tokens, args.repeats, args.warmup) < 1 or args.timed < 0:
        parser.error("--tokens, --repeats and --warmup are at least 1, --timed at least 0")
    return check_arguments(parser, args)


def check_arguments(parser, args):
    config = dict(MODELS[args.model])
    if args.layers is not None:
        config["layers"] = args.layers
    if config["arch"] == "bert" and args.phase != "prefill":
        parser.error(f"{args.model} is an encoder: it has no decode")
    most = config.get("positions")
    tokens = 0 if args.phase == "prefill" else args.tokens
    if args.hf and args.mode.startswith("compile") and args.phase != "prefill":
        parser.error("--hf with torch.compile: only --phase prefill (its cache grows, each token would compile anew)")
    # XLM-R's first position follows its padding id.
    room = None if most is None else most - (config.get("pad") or -1) - 1
    if room is not None and max(args.seq) + tokens > room:
        parser.error(f"{args.model} has {room} positions: {max(args.seq)} + {tokens} tokens do not fit")
    if args.tracer == "nvtx" and not is_gpu(args.device):
        parser.error("--tracer nvtx needs a GPU")
    return args, config


def kind_of_attention(mode):
    """(kind, its description): manual attention if this PyTorch has no other."""
    if mode == "eager":
        return "math", "math"
    if has_sdpa():
        return "sdpa", "flash" if mode == "flash" else "sdpa"
    return "math", f"math (PyTorch {torch.__version__} has no scaled_dot_product_attention)"


def first_words(text):
    """The first line, and the next one if the first ends with a colon: torch.compile puts the cause there."""
    lines = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    return " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]


def run_point(model, config, args, batch, length, facts):
    run = (HuggingFaceRun if args.hf else ModelRun)(model, config, args, batch, length)
    with torch.no_grad(), attention_of(args.mode):
        run.prepare()
        name = f"{args.model}{'-hf' if args.hf else ''}_{args.mode}_{args.phase}_b{batch}_s{length}"
        facts = {**facts, "batch": batch, "seq": length}
        return profile(run, args.out, name, warmup=args.warmup, repeats=args.repeats, timed=args.timed,
                       device=args.device, tracer=args.tracer, record_shapes=not args.no_shapes,
                       with_stack=args.with_stack, with_modules=args.with_modules, facts=facts)


def main(argv=None):
    args, config = parse_arguments(argv)
    dtype_name = args.dtype or ("bf16" if is_gpu(args.device) else "fp32")
    dtype = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[dtype_name]
    kind, words = kind_of_attention(args.mode)
    with torch.no_grad():
        model = (build_hf_model(args.model, config, args, dtype) if args.hf
                 else build_model(config, kind, args.device, dtype, args.seed))
    facts = {"model": args.model, "layers": config["layers"], "mode": args.mode, "attention": words,
             "phase": args.phase, "tokens": 0 if args.phase == "prefill" else args.tokens,
             "dtype": dtype_name, "source": "transformers" if args.hf else "built in"}
    failed = 0
    for length in args.seq:
        for batch in args.batch:
            try:
                line = run_point(model, config, args, batch, length, facts)
            except Exception as error:  # pylint: disable=broad-except
                # A size that does not fit or compile must not stop the others.
                failed = 1
                words = first_words(str(error))
                print(f"batch {batch}, length {length}: {type(error).__name__}: {words}", file=sys.stderr)
                if is_gpu(args.device):
                    torch.cuda.empty_cache()
                continue
            latency = line["latency"]
            shown = f"{latency['p50_ms']:.3f} ms" if latency else "not timed"
            print(f"{line['name']}: {shown}" + (f", trace {line['trace']}" if line["trace"] else ""))
    return failed


if __name__ == "__main__":
    sys.exit(main())
