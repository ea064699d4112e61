#!/usr/bin/env python3
"""Checks `assay breakdown --config` on generated training runs of four ranks against figures computed here.

    check_breakdown_configs.py --assay build/release/assay

The generator knows the operation, layer, phase and iteration of every kernel. From that and the times this script
computes the figures again by the definitions of docs/metrics.md, with the Python standard library. The figures of a
configuration must not depend on the order of its files, and wrong options are refused.
"""

import argparse
import collections
import json
import math
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

RANKS, LAYERS, ITERATIONS = 4, 3, 4
FORWARD = (("attn_n", "vec", "void at::native::rms_norm_kernel<float>"), ("qkv_ip", "gemm", "ampere_bf16_gemm_128x128"),
           ("attn_fa", "fa", "flash_fwd_kernel<128>"), ("attn_op", "gemm", "ampere_bf16_gemm_64x64"),
           ("mlp_up", "gemm", "ampere_bf16_gemm_256x128"))
NAME_OF = {op: name for op, _, name in FORWARD} | {"opt_step": "void at::native::multi_tensor_apply_kernel<float>"}
Kernel = collections.namedtuple("Kernel", "gpu iter phase layer op type launch start end")


class Rank:
    """One rank's trace: host work in order on one thread, kernels on stream 7, collectives on stream 20."""

    def __init__(self, gpu, scale, seed):
        self.gpu, self.scale, self.random = gpu, scale, random.Random(seed)
        self.host_ns, self.free_ns, self.comm_free_ns, self.correlation = 1_000_000, 0, 0, 0
        self.events, self.kernels = [], []

    def event(self, cat, name, start, dur, tid, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": 0 if cat == "kernel" else 100, "tid": tid,
                            "ts": start, "dur": dur, "args": args})

    def launch(self, name, dur, stream, place):
        """Launches a kernel; the host continues."""
        self.correlation += 1
        launch = self.host_ns
        self.event("cuda_runtime", "cudaLaunchKernel", launch, 700, 1, correlation=self.correlation)
        self.host_ns += self.random.randint(800, 3000)
        if self.random.random() < 0.1:
            self.host_ns += 60_000  # the GPU runs dry
        free = self.comm_free_ns if stream == 20 else self.free_ns
        start = max(launch + self.random.randint(900, 1500), free + self.random.randint(0, 400))
        end = start + dur
        if stream == 20:
            self.comm_free_ns = end
        else:
            self.free_ns = end
        self.event("kernel", name, start, dur, stream, device=self.gpu, stream=stream, correlation=self.correlation)
        self.kernels.append(Kernel(self.gpu, *place, launch, start, end))

    def labelled(self, label, work):
        start = self.host_ns
        self.host_ns += 100
        work()
        self.host_ns += 100
        self.event("user_annotation", label, start, self.host_ns - start, 1)

    def operation(self, number, phase, layer, op, kind, name, parts):
        def work():
            for _ in range(parts):
                dur = round(self.random.randint(4000, 9000) * self.scale * (1 + 0.05 * self.gpu))
                self.launch(name, dur, 7, (number, phase, layer, op, kind))
        self.labelled("f_" + op if phase == "forward" else op, work)

    def collective(self, number, phase, name, op):
        if self.random.random() < 0.7:
            dur = self.random.randint(9000, 30000)
            self.launch(name, dur, 20, (number, phase, None, op, "comm"))

    def iteration(self, number, tokens):
        def layer_of(layer, phase):
            def work():
                self.collective(number, phase, "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgs)", "all_gather")
                for op, kind, name in FORWARD if phase == "forward" else FORWARD[::-1]:
                    parts = 2 if op == "attn_n" else 1
                    self.operation(number, phase, layer, op if phase == "forward" else "b_" + op, kind, name, parts)
                if phase == "backward":
                    self.collective(number, phase, "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgs)",
                                    "reduce_scatter")
            return work

        def step():
            start = self.host_ns
            self.host_ns += 500
            self.event("cpu_op", "aten::embedding", start, 400, 1, **{"Input Dims": [[32000, 64], [1, tokens], [], [], []]})
            for layer in range(LAYERS):
                self.labelled(f"Layer{layer}", layer_of(layer, "forward"))
            for layer in reversed(range(LAYERS)):
                self.labelled(f"Layer{layer}", layer_of(layer, "backward"))
            # Two iterations in three have an optimizer.
            if number % 3:
                self.labelled("Optimizer.step#AdamW.step", lambda: self.launch(
                    "void at::native::multi_tensor_apply_kernel<float>", 5000, 7,
                    (number, "optimizer", None, "opt_step", "vec")))
        self.labelled(f"ProfilerStep#{number}", step)
        self.host_ns += 20_000

    def write(self, path):
        microseconds = {"ts", "dur"}
        text = json.dumps({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": self.gpu,
                                                                   "world_size": RANKS},
                           "baseTimeNanoseconds": 0, "traceEvents": []})[:-2]
        parts = []
        for row in self.events:
            fields = [f'"{k}": {v // 1000}.{v % 1000:03d}' if k in microseconds else f'"{k}": {json.dumps(v)}'
                      for k, v in row.items()]
            parts.append("{" + ", ".join(fields) + "}")
        path.write_text(text + ",\n".join(parts) + "]}")


def generate(folder, scale, tokens, seed):
    """The kernels of all ranks, the first start of any event, and the first GPU activity of rank 0."""
    folder.mkdir()
    kernels, first = [], []
    for gpu in range(RANKS):
        rank = Rank(gpu, scale, seed * 100 + gpu)
        for number in range(5, 5 + ITERATIONS):
            rank.iteration(number, tokens)
        rank.write(folder / f"rank{gpu}.json")
        kernels.extend(rank.kernels)
        first.append(min(e["ts"] for e in rank.events if e["cat"] != "user_annotation"))
    return kernels, min(first), min(k.start for k in kernels if k.gpu == 0)


# ---- the figures, computed again ----

def covered(intervals, begin, end):
    """Time of [begin, end) in at least one interval."""
    total, at = 0, begin
    for start, stop in sorted(intervals):
        low, high = max(start, at), min(stop, end)
        if high > low:
            total += high - low
            at = high
    return total


def measured(kernels):
    """Per compute kernel (kernel, prep, call, wait, overlap, inner bubble, advance of the latest end)."""
    rows = []
    for gpu in range(RANKS):
        own = [k for k in kernels if k.gpu == gpu]
        comm = [(k.start, k.end) for k in own if k.type == "comm"]
        before, latest = None, None
        for k in sorted((k for k in own if k.type != "comm"), key=lambda k: k.start):
            prep = call = wait = inner = 0
            if before is not None and k.start > latest:
                launch = min(max(k.launch, latest), k.start)
                wait = covered(comm, launch, k.start)
                # A collective keeps the GPU busy, whatever the host does.
                prep = launch - latest - covered(comm, latest, launch)
                call = k.start - launch - wait
                same = (k.iter, k.phase, k.layer, k.op) == (before.iter, before.phase, before.layer, before.op)
                inner = k.start - latest if same else 0
            advance = k.end - (k.start if latest is None else min(latest, k.end))
            rows.append((k, prep, call, wait, covered(comm, k.start, k.end), inner, advance))
            before, latest = k, max(latest or 0, k.end)
    return rows


def quantile(values, q):
    values = sorted(values)
    at = (len(values) - 1) * q
    low = math.floor(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def whole(value):
    return math.floor(value + 0.5)


def pearson(xs, ys):
    if max(xs) == min(xs) or max(ys) == min(ys):
        return None
    mx, my = statistics.fmean(xs), statistics.fmean(ys)
    sxy = sum((x - mx) * (y - my) for x, y in zip(xs, ys))
    return sxy / math.sqrt(sum((x - mx) ** 2 for x in xs) * sum((y - my) ** 2 for y in ys))


def sums(rows, key):
    """key -> [dur, prep, call, wait, overlap, operation duration]."""
    found = collections.defaultdict(lambda: [0] * 6)
    for k, prep, call, wait, overlap, inner, _ in rows:
        one = found[key(k)]
        for i, value in enumerate((k.end - k.start, prep, call, wait, overlap, k.end - k.start + inner)):
            one[i] += value
    return found


def grouped(per_sample):
    """(group..., sample) -> values becomes group -> list of values."""
    groups = collections.defaultdict(list)
    for (group, _), values in per_sample.items():
        groups[group].append(values)
    return groups


class Checker:
    def __init__(self):
        self.failures, self.checked = [], 0

    def near(self, what, got, want):
        self.checked += 1
        if got is None or want is None:
            fine = got is want
        else:
            fine = math.isclose(got, want, rel_tol=1e-9, abs_tol=1e-12)
        if not fine:
            self.failures.append(f"{what}: {got}, worked out {want}")


def rows_of(figures, table, config, *keys):
    return {tuple(row[k] for k in keys): row for row in figures[table] if row["config"] == config}


def check_config(figures, config, kernels, tokens, check):
    rows = measured(kernels)
    spans = collections.defaultdict(int)
    for row in rows:
        spans[row[0].gpu, row[0].iter] += row[6]
    own = rows_of(figures, "configs", config, "config")[(config,)]
    check.near("span", own["span_ns"], whole(statistics.median(spans.values())))
    rates = [RANKS * tokens * 1e9 / max(spans[g, i] for g in range(RANKS)) for i in {i for _, i in spans}]
    check.near("tokens_per_s", own["tokens_per_s"], statistics.median(rates))
    for kind in (lambda k: ((k.phase, "all"), (k.gpu, k.iter)), lambda k: ((k.phase, k.type), (k.gpu, k.iter))):
        got = rows_of(figures, "breakdown", config, "phase", "op_type")
        for group, values in grouped(sums(rows, kind)).items():
            row = got[group]
            check.near(f"{group} samples", row["samples"], len(values))
            check.near(f"{group} dur", row["dur_ns"], whole(statistics.median(v[0] for v in values)))
            check.near(f"{group} launch", row["launch_ns"], whole(statistics.median(v[1] + v[2] for v in values)))
            check.near(f"{group} wait", row["comm_wait_ns"], whole(statistics.median(v[3] for v in values)))
    check_operations(figures, config, rows, check)
    comm = collections.defaultdict(int)
    for k in kernels:
        if k.type == "comm":
            comm[k.op, (k.gpu, k.iter)] += k.end - k.start
    got = rows_of(figures, "communication", config, "collective")
    for kind, values in grouped(comm).items():
        for name, q in (("min_ns", 0), ("p25_ns", 0.25), ("median_ns", 0.5), ("max_ns", 1)):
            check.near(f"{kind} {name}", got[(kind,)][name], whole(quantile(values, q)))


def check_operations(figures, config, rows, check):
    got = rows_of(figures, "operations", config, "phase", "op")
    for group, values in grouped(sums(rows, lambda k: ((k.phase, k.op), (k.gpu, k.iter)))).items():
        durations = [v[5] for v in values]
        for name, q in (("min_ns", 0), ("p25_ns", 0.25), ("median_ns", 0.5), ("p75_ns", 0.75), ("max_ns", 1)):
            check.near(f"{group} {name}", got[group][name], whole(quantile(durations, q)))
    executions = sums(rows, lambda k: ((k.phase, k.op), (k.gpu, k.iter, k.layer)))
    overlap, launch = (rows_of(figures, table, config, "phase", "op") for table in ("overlap", "launch"))
    for group, values in grouped(executions).items():
        check.near(f"{group} executions", overlap[group]["executions"], len(values))
        check.near(f"{group} overlap", overlap[group]["overlap_ratio"], sum(v[4] for v in values) / sum(v[0] for v in values))
        check.near(f"{group} correlation", overlap[group]["correlation"],
                   pearson([v[4] / v[0] for v in values], [v[5] for v in values]))
        check.near(f"{group} prep", launch[group]["prep_ns"], whole(statistics.fmean(v[1] for v in values)))
        check.near(f"{group} call", launch[group]["call_ns"], whole(statistics.fmean(v[2] for v in values)))
    shown = [row for row in figures["overlap_by_layer"] if row["config"] == config]
    places = collections.defaultdict(list)
    for ((phase, op), (_, iteration, layer)), v in executions.items():
        places[phase, op, iteration, layer].append((v[4] / v[0], v[5]))
    for row in shown:
        values = places[row["phase"], row["op"], row["iter"], row["layer"]]
        for name, q in (("min", 0), ("p25", 0.25), ("median", 0.5), ("p75", 0.75), ("max", 1)):
            check.near(f"layer overlap {name}", row[f"overlap_{name}"], quantile([v[0] for v in values], q))
            check.near(f"layer dur {name}", row[f"dur_{name}_ns"], whole(quantile([v[1] for v in values], q)))
    if len({row["iter"] for row in shown}) != 3 or not any(row["op"] == "attn_fa" for row in shown):
        check.failures.append("Figures 7 and 9: three iterations and attention are shown")
    curves = [row for row in figures["overlap_curve"] if row["config"] == config]
    check.near("executions of the curve", len(curves), RANKS * ITERATIONS * LAYERS)
    for gpu in range(RANKS):
        mine = [row for row in curves if row["gpu"] == gpu]
        durations = sorted(v[5] for ((phase, op), (g, _, _)), v in executions.items()
                           if (phase, op, g) == ("forward", "attn_op", gpu))
        ratios = [row["overlap_ratio"] for row in mine]
        for place, row in enumerate(mine):
            check.near("curve relative", row["relative"], durations[place] / durations[0])
            check.near("curve cumulative", row["cumulative"],
                       sum(ratios[:place + 1]) / sum(ratios) if sum(ratios) else None)


STEP_NS, READINGS = 20_000, 12


def write_logs(folder):
    """Clocks and power of every GPU, and the load of three CPU cores of which one and a half are needed."""
    gpu, cpu = ["gpu,ts,current_gfxclk,current_uclk,current_socket_power"], ["cpu,ts,percent"]
    for i in range(READINGS):
        gpu += [f"{g},{i * STEP_NS},{1000 + 10 * i + g},900,{300 + i * i + 20 * g}" for g in range(RANKS)]
        cpu += [f"{n},{i * STEP_NS},{percent}" for n, percent in enumerate((100, 50, 0))]
    (folder / "gpu.csv").write_text("\n".join(gpu) + "\n")
    (folder / "cpu.csv").write_text("\n".join(cpu) + "\n")


def write_counters(folder, kernels):
    """One counter run per rank, of an MI300X: 90 % of the clock, matrix units 60 % busy at 95 % of their rate."""
    folder.mkdir()
    for gpu in range(RANKS):
        lines = ["Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value"]
        own = sorted((k for k in kernels if k.gpu == gpu and k.type != "comm"), key=lambda k: k.launch)
        for number, k in enumerate(own):
            cycles = (k.end - k.start) * 2.1 * 0.9
            matrix = 0.6 * 0.95 * 2048 * 304 * cycles / 512 if k.type in ("gemm", "fa") else 0
            for name, value in (("GRBM_GUI_ACTIVE", 8 * cycles), ("SQ_INSTS_VALU_MFMA_MOPS_BF16", matrix),
                                ("SQ_VALU_MFMA_BUSY_CYCLES", 0.6 * 4 * 304 * cycles if matrix else 0)):
                lines.append(f'{number + 1},"{NAME_OF[k.op.removeprefix("b_")]}",{name},{round(value)}')
        (folder / f"rank{gpu}_counter_collection.csv").write_text("\n".join(lines) + "\n")


def check_waterfalls(figures, config, kernels, check):
    """The bars of an operation sum to its duration; clock and matrix-unit use are as written."""
    durations = collections.defaultdict(int)
    for k in kernels:
        durations[k.phase, k.op] += k.end - k.start
    bars = collections.defaultdict(dict)
    for row in figures["waterfall"]:
        if row["config"] == config:
            bars[row["phase"], row["op"]][row["bar"]] = row["time_ns"]
    heavy = [key for key in durations if key[1].removeprefix("b_") in ("qkv_ip", "attn_fa", "attn_op", "mlp_up")]
    check.near("operations with a waterfall", sorted(bars) == sorted(heavy), True)
    for key, parts in bars.items():
        check.near(f"{key} bars", sum(parts.values()), durations[key])


def check_logs(figures, config, start, first_work, check):
    """Samples begin with the first GPU activity; moments count from the first start, in steps of the period."""
    wanted = collections.defaultdict(list)
    for i in range(READINGS):
        wanted[(first_work - start + i * STEP_NS) // STEP_NS * STEP_NS].append(i)
    for signal, of in (("sm_clock_mhz", lambda i, g: 1000 + 10 * i + g), ("memory_clock_mhz", lambda i, g: 900),
                       ("power_w", lambda i, g: 300 + i * i + 20 * g)):
        got = {row["t_ns"]: row for row in figures["telemetry_moments"]
               if (row["config"], row["signal"]) == (config, signal)}
        check.near(f"{signal} moments", len(got), len(wanted))
        for t_ns, readings in wanted.items():
            values = [statistics.fmean(of(i, g) for i in readings) for g in range(RANKS)]
            row = got.get(t_ns, {"gpus": None, "mean": None, "min": None, "max": None})
            for key, value in (("gpus", RANKS), ("mean", statistics.fmean(values)), ("min", min(values)), ("max", max(values))):
                check.near(f"{signal} {key} at {t_ns}", row[key], value)
    cores = [row for row in figures["core_moments"] if row["config"] == config]
    check.near("core samples", len(cores) >= READINGS - 1, True)
    check.near("active", {row["active"] for row in cores} == {2}, True)
    check.near("needed", {row["min_cores"] for row in cores} == {1.5}, True)


def run(assay, *arguments):
    return subprocess.run([assay, "breakdown", *map(str, arguments)], capture_output=True, text=True, check=False, timeout=600)


def per_iteration(kernels):
    """Launch overhead over kernel time, and the mean span of a GPU, of each iteration."""
    launch, dur, span = (collections.Counter() for _ in range(3))
    for k, prep, call, _, _, _, advance in measured(kernels):
        launch[k.iter] += prep + call
        dur[k.iter] += k.end - k.start
        span[k.iter] += advance / RANKS
    return [launch[i] / dur[i] for i in sorted(dur)], [span[i] for i in sorted(span)]


T975, T95 = 3.182446305, 2.353363435  # Student's t of three degrees of freedom, tables


def memory(values):
    """Widening of the interval of a mean of four values for autocorrelation (docs/metrics.md, Noise)."""
    n, mean = len(values), statistics.fmean(values)
    off = [v - mean for v in values]
    seen = sum(x * y for x, y in zip(off, off[1:])) / sum(x * x for x in off)
    unbiased = seen + (1 + 3 * seen) / n
    alike = min(0.95, max(0.0, unbiased + T95 * math.sqrt(max(0.05, 1 - unbiased**2) / n)))
    ratio = 1 + 2 * sum((1 - k / n) * alike**k for k in range(1, n))
    by_neighbours = math.sqrt(ratio / (1 - (ratio - 1) / (n - 1)))
    halves = abs(statistics.fmean(values[: n // 2]) - statistics.fmean(values[n // 2:]))
    return max(1.0, by_neighbours, 1.5 * halves / half_of_mean(values))


def half_of_mean(values):
    return T975 * statistics.stdev(values) / math.sqrt(len(values))


def shift(a, b):
    """Four iterations a side: at 95 % all differences are those of the ranks. With autocorrelation too few would
    remain, and the means are used."""
    ranks = [[sorted(side).index(v) for v in side] for side in (a, b)]
    if all(memory(side) == 1 for side in ranks):
        between = sorted(y - x for x in a for y in b)
        return statistics.median(between), between[0], between[-1]
    change = statistics.fmean(b) - statistics.fmean(a)
    half = math.hypot(*(memory(side) * half_of_mean(side) for side in (a, b)))
    return change, change - half, change + half


def check_words(document, made, check):
    """The slower one by span; Insight 6 by launches; and no insight that does not hold."""
    (launch_a, span_a), (launch_b, span_b) = (per_iteration(made[name][0]) for name in ("b1s4", "b2s4"))
    words = " ".join(document["headline"])
    change, low, high = shift(span_a, span_b)
    told = "An iteration of b2s4 spans " if low > 0 or high < 0 else "Iterations of b2s4 and b1s4 do not differ significantly"
    check.near("the slower configuration", told in words, True)
    check.near("by how much", f"({'+' if change > 0 else ''}{change / 1000:.1f} µs, " in words, True)
    rows = {(row["insight"], row["config"]): row for row in document["figures"]["insights"]}
    six = rows[6, "b1s4"]
    change, low, high = shift(launch_a, launch_b)
    check.near("insight 6", six["insight_state"] == ("holds" if high < 0 and change <= -0.01 else "not"), True)
    for key, want in (("insight_from", statistics.median(launch_a)), ("insight_to", statistics.median(launch_b)),
                      ("low", low), ("high", high), ("insight_n", ITERATIONS), ("other_n", ITERATIONS)):
        check.near(f"insight 6, {key}", six[key], want)
    check.near("cores without a log", rows[7, "b1s4"]["insight_state"] == "unknown", True)
    for row in rows.values():
        said = f"Insight {row['insight']}," in words
        if row["insight_state"] == "holds" and not said:
            check.failures.append(f"insight {row['insight']} holds and is not said")
    holding = {row["insight"] for row in rows.values() if row["insight_state"] == "holds"}
    for number in set(range(1, 9)) - holding:
        check.near(f"insight {number} is not said", f"Insight {number}," in words, False)


def check_refusals(assay, folder, check):
    good = f"a={folder / 'b1s4'}"
    for arguments, words in ((("--config", "b1s4"), "NAME="), (("--config", good, "--config", good), "twice"),
                             (("--config", f"a={folder / 'absent'}"), "absent"), ((folder / "b1s4", "--config", good), "together"),
                             (("--config", good, "--tokens", "b=3"), "no --config"), (("--config", good, "--tokens", "a=0"), "above 0"),
                             (("--config", good, "--detail", "c"), "no --config"),
                             (("--config", good, "--telemetry", folder / "gpu.csv"), "NAME=PATH"), ((), "needs")):
        done = run(assay, *arguments)
        check.checked += 1
        if done.returncode != 2 or words not in done.stderr:
            check.failures.append(f"{arguments}: left with {done.returncode}: {done.stderr.strip()[:200]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    options = parser.parse_args()
    check = Checker()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        runs = {"b1s4": (1.0, 4096), "b2s4": (1.7, 8192)}
        made = {name: generate(folder / name, scale, tokens, seed)
                for seed, (name, (scale, tokens)) in enumerate(runs.items())}
        write_logs(folder)
        flags = [flag for name in runs for flag in ("--config", f"{name}={folder / name}")]
        logs = [flag for log in ("gpu", "cpu") for flag in ("--telemetry", f"b2s4={folder / log}.csv")]
        write_counters(folder / "counters", made["b1s4"][0])
        logs += ["--counters", f"b1s4={folder / 'counters'}", "--peaks", "MI300X"]
        done = run(options.assay, *flags, *logs, "--telemetry-offset", "start", "--format", "json")
        if done.returncode != 0:
            sys.exit(f"assay breakdown left with {done.returncode}: {done.stderr.strip()[:500]}")
        document = json.loads(done.stdout)
        figures = document["figures"]
        check_words(document, made, check)
        for name, (_, tokens) in runs.items():
            check_config(figures, name, made[name][0], tokens, check)
        check_logs(figures, "b2s4", *made["b2s4"][1:], check)
        check_waterfalls(figures, "b1s4", made["b1s4"][0], check)
        if any(row["missing"] for row in figures["available"] if int(row["figure"].split(",")[0]) < 13):
            check.failures.append(f"all figures can be made: {figures['available']}")
        # Renamed files in another order, and a pattern instead of the folder.
        other = folder / "other"
        other.mkdir()
        for gpu in range(RANKS):
            shutil.copy(folder / "b1s4" / f"rank{gpu}.json", other / f"{9 - gpu}.json")
        turned = run(options.assay, "--config", f"b1s4={other}/*.json", *flags[2:], *logs, "--telemetry-offset", "start",
                     "--format", "json")
        check.checked += 1
        if json.loads(turned.stdout)["figures"] != figures:
            check.failures.append("the figures depend on the order of the files")
        check_refusals(options.assay, folder, check)
    for failure in check.failures[:40]:
        print(failure)
    print(f"{check.checked} values, {len(check.failures)} wrong")
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
