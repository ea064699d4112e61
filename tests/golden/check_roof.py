#!/usr/bin/env python3
"""`assay breakdown` against FLOP and bytes computed here, from the JSON of the traces alone.

    check_roof.py --assay build/release/assay [--write] [NAME...]

Links, owners and formulas are independent: output positions of a convolution are counted by stepping over the input,
pairs of an attention by iterating over its queries, bytes from sizes and strides. Compared are calls, time, FLOP and
bytes of the operators in OPERATORS, per trace and operator; on every trace the time adds up exactly. For elementwise
kernels with known element counts, the grids must be those of roof/pointwise_launch. --write regenerates
docs/measured/roof.md.
"""

import argparse
import bisect
import collections
import gzip
import json
import math
import re
import subprocess
import sys

import datasets

SKIP = 77
PAGE = datasets.ROOT / "docs/measured/roof.md"
# The traces with shapes that are compared without a NAME: inference and training, both vendors, old and new profilers.
COMPARED = ("h100_qwen1.5-0.5b", "mi300_bert_small", "h100_nsfw_vit", "megatron_kineto_0", "sglang_mi300_qwen3-8b",
            "mi300_resnet_act_checkpoint", "v100_resnet50_2021-06", "a100_trace_diff_control", "mi300_xdit_flux_it0",
            "mi250_minitoy_train")
SIZES = {"float": 4, "double": 8, "c10::Half": 2, "c10::BFloat16": 2, "long": 8, "long int": 8, "int": 4, "short": 2,
         "short int": 2, "char": 1, "signed char": 1, "unsigned char": 1, "bool": 1}


class Call:
    """An operator call and its inputs."""

    def __init__(self, event):
        args = event.get("args", {})
        self.name = event["name"]
        self.dims = args.get("Input Dims") or args.get("Input dims") or []
        self.types = args.get("Input type") or []
        self.strides = args.get("Input Strides") or []
        self.values = args.get("Concrete Inputs") or []
        self.gradient = None  # sizes of the gradient of the result

    def size(self, index):
        return self.dims[index] if index < len(self.dims) else None

    def width(self, index):
        return SIZES.get(self.types[index]) if index < len(self.types) else None

    def value(self, index):
        return self.values[index] if index < len(self.values) else ""

    def list_of(self, index):
        try:
            return json.loads(self.value(index).lower())
        except ValueError:
            return None

    def stored(self, index):
        steps = self.strides[index] if index < len(self.strides) else []
        sizes = self.size(index)
        return math.prod(size for axis, size in enumerate(sizes)
                         if not (len(steps) == len(sizes) and steps[axis] == 0 and size != 0))

    def read(self, *indexes):
        return sum(self.stored(i) * self.width(i) for i in indexes if i < len(self.dims) and self.width(i))


def product(left):
    def work(call):
        a, b = call.size(left), call.size(left + 1)
        if not a or not b or not call.width(left) or not call.width(left + 1):
            return None
        *batch, m, k = a
        n = b[-1]
        flop = math.prod(batch) * m * n * 2 * k
        added = 0
        if left == 1 and call.value(3) not in ("0", "0."):
            added = call.read(0)
        return flop, call.read(left, left + 1) + added + math.prod(batch) * m * n * call.width(left)
    return work


def positions(size, kernel, stride, pad, dilation):
    reach = dilation * (kernel - 1) + 1
    return sum(1 for _ in range(-pad, size + pad - reach + 1, stride))


def convolution(stride, padding, dilation):
    def work(call):
        x, w = call.size(0), call.size(1)
        told = [call.list_of(i) for i in (stride, padding, dilation)]
        if not x or not w or not call.width(0):
            return None
        if None in told:
            if not call.gradient:
                return None
            result = math.prod(call.gradient)
            return result * 2 * math.prod(w[1:]), call.read(0, 1) + result * call.width(0)
        told = [value * (len(x) - 2) if len(value) == 1 else value for value in told]
        spots = math.prod(positions(x[i + 2], w[i + 2], told[0][i], told[1][i], told[2][i]) for i in range(len(x) - 2))
        result = x[0] * w[0] * spots
        return result * 2 * math.prod(w[1:]), call.read(0, 1, 2 if stride != 3 or padding != 2 else 99) + result * call.width(0)
    return work


def convolution_backward(call):
    mask, dy, x, w = call.list_of(10), call.size(0), call.size(1), call.size(2)
    if mask is None or not dy or call.value(7) != "False":
        return None
    one = math.prod(dy) * 2 * math.prod(w[1:])
    moved = call.read(0) + mask[1] * call.read(1) + mask[0] * call.read(2)
    moved += mask[0] * math.prod(x) * call.width(1) + mask[1] * math.prod(w) * call.width(2)
    return one * (mask[0] + mask[1]), moved


def input_gradient(call):
    # The output sizes are those of the enclosing operator, which is not examined here: FLOP only.
    dy, w = call.size(1), call.size(2)
    return (math.prod(dy) * 2 * math.prod(w[1:]), None) if dy and w else None


def flash(call):
    q, k = call.size(0), call.size(1)
    if not q or len(q) != 4 or call.value(8) not in ("True", "False"):
        return None
    batch, queries, heads, dim = q
    keys = k[1]
    if call.value(8) == "True":
        pairs = sum(min(keys, max(0, i + 1 + keys - queries)) for i in range(queries))
    else:
        pairs = queries * keys
    width = call.width(0)
    moved = width * dim * batch * (queries * heads * 2 + keys * k[2] * 2)
    return 2 * 2 * batch * heads * pairs * dim, moved


def elementwise(inputs, in_place):
    def work(call):
        tensors = [i for i in range(min(inputs, len(call.dims))) if call.width(i)]
        if not tensors or any(call.dims[i] and isinstance(call.dims[i][0], list) for i in tensors):
            return None
        shape = []
        for i in tensors:
            sizes = call.size(i)[::-1]
            shape += [1] * (len(sizes) - len(shape))
            shape = [max(s, sizes[axis]) if axis < len(sizes) else s for axis, s in enumerate(shape)]
        rank = max(tensors, key=lambda i: (call.types[i] in ("float", "double", "c10::Half", "c10::BFloat16"),
                                           bool(call.size(i)), call.width(i)))
        result = call.width(0) if in_place else call.width(rank)
        return math.prod(shape), sum(call.read(i) for i in tensors) + math.prod(shape) * result
    return work


def copy(call):
    return (0, call.read(1) + math.prod(call.size(0)) * call.width(0)) if call.width(0) and call.width(1) else None


def same_again(call):
    return (0, 2 * math.prod(call.size(0)) * call.width(0)) if call.size(0) and call.width(0) else None


def checked_indices(call):
    return (math.prod(call.size(1)), sum(math.prod(call.size(i)) * call.width(i) for i in range(3)))


def unpooled(call):
    places = math.prod(call.size(0))
    return places, places * (call.width(0) + 8) + math.prod(call.size(1)) * call.width(0)


def added_into(call):
    values, places = math.prod(call.size(2)), math.prod(call.size(0))
    return values, values * (call.width(2) + call.width(3)) + 2 * min(values, places) * call.width(0)


def halved_bytes(call):
    return 2 * math.prod(call.size(0)), 5 * math.prod(call.size(0))


OPERATORS = {
    "aten::mm": product(0), "aten::bmm": product(0), "aten::addmm": product(1), "aten::baddbmm": product(1),
    "aten::miopen_convolution": convolution(4, 3, 5), "aten::cudnn_convolution": convolution(3, 2, 4),
    "aten::convolution_backward": convolution_backward, "aten::cudnn_convolution_backward_input": input_gradient,
    "aten::_flash_attention_forward": flash, "aten::mul": elementwise(2, False), "aten::add": elementwise(2, False),
    "aten::add_": elementwise(2, True), "aten::mul_": elementwise(2, True), "aten::copy_": copy,
    "aten::max_pool2d_with_indices_backward": unpooled, "aten::scatter_add_": added_into,
    "fbgemm::FloatToHFP8Quantized": halved_bytes, "fbgemm::HFP8QuantizedToFloat": halved_bytes,
    "fbgemm::permute_pooled_embs_auto_grad": same_again, "fbgemm::bounds_check_indices": checked_indices,
}


def events_of(path):
    with (gzip.open(path) if path.suffix == ".gz" else open(path, "rb")) as file:
        loaded = json.loads(file.read().decode("utf-8", "replace"))
    return loaded["traceEvents"] if isinstance(loaded, dict) else loaded


def nanoseconds(event):
    return round(event["dur"] * 1000)


def gradients(lanes):
    """{autograd's number: sizes of the gradient that is the input of its convolution's backward node}."""
    found = {}
    for event in (event for lane in lanes.values() for event in lane):
        args = event.get("args", {})
        if args.get("Fwd thread id") and event["name"].startswith(("CudnnConvolutionBackward", "ConvolutionBackward")):
            found[args.get("Sequence number")] = (args.get("Input Dims") or [None])[0]
    return found


def number_of(lane, at):
    """Autograd's number of the operator, or of the nearest enclosing forward operator that has one."""
    end = lane[at]["ts"] + lane[at].get("dur", 0)
    for event in reversed(lane[:at + 1]):
        args = event.get("args", {})
        if event["ts"] + event.get("dur", 0) >= end and "Sequence number" in args and not args.get("Fwd thread id"):
            return args["Sequence number"]
    return None


def grid_problem(kernel, call):
    """A mismatch between the grid of an elementwise kernel over contiguous tensors and the recorded elements: None if
    it has none of them, "" if it fits."""
    args = kernel.get("args", {})
    grid, block = (args.get(key) or [0] for key in ("grid", "block"))
    sizes = [dims for dims in call.dims if dims and not isinstance(dims[0], list)]
    if "at::native::vectorized_elementwise_kernel<" not in kernel["name"] or not sizes or not grid[0] or not block[0]:
        return None
    elements = max(math.prod(dims) for dims in sizes)
    older = "at::detail::Array<" in kernel["name"] and not re.search("Half|BFloat16|bool|char|short", kernel["name"].split("Array<")[0])
    if any(math.ceil(elements / (block[0] * each)) == grid[0] for each in ((4,) if older else (4, 8, 16))):
        return ""
    return f"{call.name} of {elements} elements: {grid[0]} blocks of {block[0]}, {kernel['name'][:80]}"


def own_sums(path):
    """{operator: [calls, ns, flop, bytes]} of kernels with an innermost operator in OPERATORS, and the results of
    grid_problem()."""
    lanes, calls, kernels = collections.defaultdict(list), {}, []
    for event in events_of(path):
        kind = str(event.get("cat", "")).lower()
        if event.get("ph") != "X":
            continue
        if kind in ("cpu_op", "operator"):
            lanes[(event["pid"], event["tid"])].append(event)
        elif kind in ("cuda_runtime", "cuda_driver", "runtime"):
            number = event.get("args", {}).get("correlation")
            if number is not None and (number not in calls or event["ts"] < calls[number]["ts"]):
                calls[number] = event
        elif kind == "kernel":
            kernels.append(event)
    for lane in lanes.values():
        lane.sort(key=lambda e: (e["ts"], -e.get("dur", 0)))
    starts = {key: [e["ts"] for e in lane] for key, lane in lanes.items()}
    returned = gradients(lanes)
    spent, grids = collections.defaultdict(int), []
    for kernel in kernels:
        call = calls.get(kernel.get("args", {}).get("correlation"))
        if call is None:
            continue
        key = (call["pid"], call["tid"])
        at = bisect.bisect_right(starts.get(key, []), call["ts"]) - 1
        while at >= 0 and lanes[key][at]["ts"] + lanes[key][at].get("dur", 0) <= call["ts"]:
            at -= 1
        if at >= 0:
            spent[(key, at)] += nanoseconds(kernel)
            grids.append(grid_problem(kernel, Call(lanes[key][at])))
    sums = {}
    for (key, at), ns in spent.items():
        call = Call(lanes[key][at])
        call.gradient = returned.get(number_of(lanes[key], at))
        work = OPERATORS[call.name](call) if call.name in OPERATORS else None
        if work is None:
            continue
        row = sums.setdefault(call.name, [0, 0, 0, 0])
        row[0] += 1
        row[1] += ns
        row[2] += work[0]
        row[3] = None if work[1] is None or row[3] is None else row[3] + work[1]
    return sums, [text for text in grids if text is not None]


def recordings(name):
    """Traces of the corpus with the recorded graphs of this trace's server: in its folder, with capture in their names.
    """
    beside = sorted((datasets.CORPUS / name).parent.glob("*captur*"))
    return [word for path in beside if not path.name.startswith(name.split("/")[-1]) for word in ("--capture", str(path))]


def roof_of(assay, name, path):
    done = subprocess.run([assay, "breakdown", str(path), *recordings(name), "--format", "json"], capture_output=True, timeout=600,
                          check=False)
    return json.loads(done.stdout).get("roofline") if done.stdout else None


def theirs(roof):
    sums = {}
    for op in roof["ops"]:
        row = sums.setdefault(op["op"], [0, 0, 0, 0])
        for i, key in enumerate(("calls", "dur_ns", "flop", "moved_bytes")):
            row[i] += op[key]
    return sums


def closes(roof):
    found = []
    if roof["known_ns"] + roof["unknown_ns"] != roof["kernel_ns"]:
        found.append("known and unknown time is not the kernel time")
    if roof["known_ns"] != sum(op["dur_ns"] for op in roof["ops"]):
        found.append("operators do not add up to the known time")
    if roof["unknown_ns"] != sum(row["dur_ns"] for row in roof["unknown"]):
        found.append("names do not add up to the unknown time")
    if roof["kernel_ns"] != sum(row["dur_ns"] + row["unknown_ns"] for row in roof["places"]):
        found.append("layers and phases do not add up to the kernel time")
    for phase in roof["phases"]:
        for key in ("dur_ns", "unknown_ns", "calls"):
            if phase[key] != sum(row[key] for row in roof["places"] if row["phase"] == phase["phase"]):
                found.append(f"{phase['phase']}: layers do not add up to its {key}")
    if roof["kernel_ns"] != sum(row["dur_ns"] + row["unknown_ns"] for row in roof["phases"]):
        found.append("phases do not add up to the kernel time")
    if roof["roofline_ns"] is not None and roof["with_roofline_ns"] != roof["roofline_ns"] + roof["above_ns"] - roof["below_roofline_ns"]:
        found.append("roof, above and beyond are not the time")
    return found


def compare(path, roof):
    found, compared = [], 0
    (ours, grids), given = own_sums(path), theirs(roof)
    found += [text for text in grids if text][:3]
    compared += len(grids)
    for name, row in sorted(ours.items()):
        for what, mine, their in zip(("calls", "ns", "FLOP", "bytes"), row, given.get(name, [0, 0, 0, 0])):
            # An operator with nested operators may own kernels beyond those it launches as the innermost.
            if mine is None:
                continue
            compared += 1
            if not math.isclose(mine, their, rel_tol=1e-9, abs_tol=0.5):
                found.append(f"{name}: {what} {their:.15g}, here {mine:.15g}")
    return found, compared


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else ""


def shapeless_words(shapeless, bounded_ns):
    """Time without known work, of traces without any: {(name, why): ns}."""
    total = sum(shapeless.values())
    lines = [f"\n## Traces without recorded shapes or types\n\nOf {total / 1e6:.1f} ms of kernels in traces of which no work is known "
             f"{share(bounded_ns, total)} have a share of the roof from to. The fifteen longest:\n\n"
             "| name | why | kernel time | of these |\n|---|---|---:|---:|\n"]
    for (name, why), ns in shapeless.most_common(15):
        lines.append(f"| `{name.replace('|', chr(92) + '|')}` | {why} | {ns / 1e6:.2f} ms | {share(ns, total)} |\n")
    return lines


def write_page(rows, unknown, beyond, shapeless):
    total = sum(row[1]["kernel_ns"] for row in rows)
    known = sum(row[1]["known_ns"] for row in rows)
    lines = ["""# How much of the kernel time has a roof

Every public trace of the corpus with kernels whose operators have shapes. Remade with

    ASSAY_DATA=<folder of the corpus> tests/golden/check_roof.py --assay build/release/assay --write

FLOP, bytes, calls and time of twenty operators are compared with an independent computation in Python on ten of them, by the
same script without `--write`.

| trace | kernel time | work known | of roof | above | of that, small calls | calls faster than the roof | by the cache |
|---|---:|---:|---:|---:|---:|---:|---:|
"""]
    for name, roof in rows:
        ms = f"{roof['kernel_ns'] / 1e6:.2f} ms"
        if roof["roofline_ns"] is None:
            lines.append(f"| {name} | {ms} | {share(roof['known_ns'], roof['kernel_ns'])} | no roof: the GPU is not named, or not known |  |  |  |  |\n")
            continue
        lines.append(f"| {name} | {ms} | {share(roof['known_ns'], roof['kernel_ns'])} | {share(roof['roofline_ns'], roof['with_roofline_ns'])} "
                     f"| {roof['above_ns'] / 1e6:.2f} ms | {share(roof['underfilled_ns'], roof['above_ns'])} | {roof['calls_below_roofline']} | {roof['calls_cache_explained']} |\n")
    lines.append(f"\nOf all kernel time, {share(known, total)} has a known work.\n\n## What is not known\n\n"
                 "The twenty longest, over all traces; a graph's kernels and kernels without a launch go by their own names.\n\n"
                 "| name | why | kernel time | of all |\n|---|---|---:|---:|\n")
    for (name, why), ns in unknown.most_common(20):
        lines.append(f"| `{name.replace('|', chr(92) + '|')}` | {why} | {ns / 1e6:.2f} ms | {share(ns, total)} |\n")
    lines.append("""
Lookups of FBGEMM in several tables have bounds: how wide the rows of each are is a value, and values were not recorded; the gradient tells the sum of the widths, and its node is told by the length of what it makes. What FBGEMM's lookups permute may be repeated, so that the size of the result is not told by that of the input. Elementwise kernels of PyTorch without recorded shapes have bounds by their grids, and so have its kernels over lists (`_foreach_*`, fused optimizers): a block takes a chunk of 65,536 elements, of which only a tensor's last may be shorter. Where many small tensors may lie in a launch the lower end says next to nothing. apex's `multi_tensor_apply_kernel` takes the size of a chunk as an argument, and is not told.

What a graph replays has work only where its recording is there. In the traces of FLUX a replayed kernel has no grid either; names tell a product's tile (`MT128x192x64`) and an attention's head, and neither how many tiles there are nor how deep they go: any figure from a name and a time would only say that the GPU was no faster than its peak. Products elsewhere have no bounds for the same reason: a grid tells no depth. `triton_poi_fused_add_0` was recorded without sizes; its grid counts blocks of a size that Inductor tries out, and its name does not say how many tensors it reads.

`aten::cat` of these profilers tells no size of its list, and lists of optional tensors, the indices of `aten::index` and `aten::index_put_`, are recorded by no profiler. `vllm::moe_forward` and `vllm::unified_attention_with_output` are called with the tokens alone: weights, pages and lengths are the layer's own. Sums whose axes were not recorded (they are values) have bounds: one element is left, or nearly all.

The profiler of early 2021 wrote sizes and no types, no strides of convolutions, and no numbers of operators. Types are those of the kernel's name where all tensors of the call are of one: products, convolutions and attention; norms, softmax and reductions in single or double precision; elementwise kernels over contiguous tensors. A convolution's result is as large as the gradient that came back for its input and weight, where as many came back as there are such convolutions, all of one size. Without that 44.5 % of `v100_resnet50_2021_operator_cats` was known. Where strides of tensors were not recorded, one that was expanded counts as a whole one, and where values were not, beta counts as not zero.

`tests/golden/check_roof_hidden.py` takes types, values and numbers, and then sizes too, out of seven traces that have them: everything that is still called known has the FLOP and bytes of the whole recording, and every bound holds the recorded roof.
""")
    lines += shapeless_words(shapeless, sum(ns for (_, why), ns in shapeless.items() if why == "known within bounds"))
    lines.append("\n## Faster than the roof\n\nOperators and shapes whose calls together are above 100 % of the roof, those that are "
                 "faster by most first.\n\n| trace | operator | shape | calls | of roof | faster by | bytes a call | why |\n|---|---|---|---:|---:|---:|---:|---|\n")
    for name, op in sorted(beyond, key=lambda one: -one[1]["below_roofline_ns"])[:20]:
        why = "the cache explains all" if op["calls_cache_explained"] == op["calls_below_roofline"] else f"the cache explains {op['calls_cache_explained']} of {op['calls_below_roofline']}"
        lines.append(f"| {name} | `{op['op']}` | {op['shape']} | {op['calls']} | {100 * op['roofline_share']:.0f} % | {op['below_roofline_ns'] / 1e3:.1f} µs "
                     f"| {op['moved_bytes'] / op['calls'] / 1e6:.2f} MB | {why} |\n")
    left = [op for _, op in beyond if op["calls_cache_explained"] < op["calls_below_roofline"]]
    convolutions = [op for op in left if op["op_kind"] == "conv"]
    lines.append(f"\nThe cache does not explain {len(left)} of {len(beyond)} of them. {len(convolutions)} of these are "
                 "convolutions, which a library may compute with fewer operations (Winograd) than their definition has.\n")
    PAGE.write_text("".join(lines), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", default=datasets.ROOT / "build/release/assay")
    parser.add_argument("--write", action="store_true", help="remake docs/measured/roof.md")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    problems, checked, rows = [], 0, []
    unknown, beyond, shapeless = collections.Counter(), [], collections.Counter()
    chosen = options.names or ([] if options.write else COMPARED)
    for name, path in datasets.golden_traces():
        if "DERIVED" in name or (chosen and not any(word in name for word in chosen)):
            continue
        roof = roof_of(options.assay, name, path)
        if roof is None or roof["kernel_ns"] == 0:
            continue
        found = closes(roof)
        if not options.write:
            wrong, compared = compare(path, roof)
            found += wrong
            checked += compared
        problems += [f"{name}: {text}" for text in found]
        for row in roof["unknown"]:
            (unknown if roof["known_ns"] > 0 else shapeless)[(row["name"], row["reason"])] += row["dur_ns"]
        if roof["known_ns"] > 0:
            rows.append((name, roof))
            beyond += [(name, op) for op in roof["ops"] if (op["roofline_share"] or 0) > 1]
    if not rows:
        print(datasets.NO_CORPUS)
        return SKIP
    if options.write:
        write_page(rows, unknown, beyond, shapeless)
    print("\n".join(problems) if problems else f"{len(rows)} traces, {checked} sums and grids as worked out here")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
