"""A simulated serving engine: its trace in PyTorch Profiler's format, its requests, and the truth about both.

One loop admits requests in order of arrival, runs a step, waits for the GPU, and gives every running sequence a token.
All times are ns since 1970.
"""
import gzip
import json
import random

BASE_NS = 1_775_078_550_000_000_000


class Request:
    def __init__(self, name, arrival_ns, prompt, output):
        self.name, self.arrival_ns, self.prompt, self.output = name, arrival_ns, prompt, output
        self.done = 0              # prompt tokens
        self.scheduled_ns = None
        self.tokens = []           # times
        self.input_ns = 60_000

    @property
    def queued_ns(self):
        return self.arrival_ns + self.input_ns


class Engine:
    """style: "vllm" or "sglang"; chunk: prompt tokens of one step; mixed: prompts and decoding in one step."""

    def __init__(self, style="vllm", graphs=False, mixed=True, chunk=2048, max_seqs=8, layers=4, speculate=0,
                 host_us=4, helpers=False, ranks=1, seed=1, kernel_scale=1.0):
        self.__dict__.update(locals())
        self.random = random.Random(seed)
        self.events, self.correlation = [[] for _ in range(ranks)], 100
        self.now = BASE_NS + 1_000_000
        self.steps = []            # kind, prompt tokens, decoding, host start, device end, emitted

    def row(self, rank, cat, name, tid, start_ns, ns, **args):
        pid = rank if cat in ("kernel", "gpu_memcpy") else 4000 + rank
        self.events[rank].append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid,
                                  "ts": (start_ns - BASE_NS) / 1e3, "dur": ns / 1e3, "args": args})

    def kernels(self, tokens, decoding):
        """Names and ns of one step's kernels: products by tokens, attention by sequences."""
        scale = self.kernel_scale
        weights, each = 60_000 * scale, 400 * scale
        made = []
        for _ in range(self.layers):
            made += [("rms_norm_kernel", 4_000), ("nvjet_tst_128x128_qkv", max(weights, tokens * each)),
                     ("flash_fwd_splitkv_kernel", 8_000 + 1_500 * decoding + 30 * tokens),
                     ("nvjet_tst_128x128_mlp", max(weights, tokens * each) * 2)]
            if self.ranks > 1:
                made.append(("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 20_000 + 20 * tokens))
        return [(name, int(ns)) for name, ns in made] + [("argmax_sample_kernel", 6_000)]

    def step(self, prompts, running):
        """prompts: (request, tokens). Returns when its tokens are out."""
        tokens = sum(n for _, n in prompts)
        decode_tokens = len(running) * (1 + self.speculate)
        graph = self.graphs and not prompts
        begin, work = self.now, self.kernels(tokens + decode_tokens, len(running))
        if self.style == "vllm":
            label = (f"execute_context_{len(prompts)}({tokens})_generation_{len(running)}({decode_tokens})")
        elif prompts and running:
            label = f"step[MIXED bs={len(prompts) + len(running)}]"
        elif prompts:
            label = f"step[EXTEND bs={len(prompts)} toks={tokens}]"
        else:
            label = f"step[{'TARGET_VERIFY' if self.speculate else 'DECODE'} bs={len(running)}]"
        ends, starts = [], []
        for rank in range(self.ranks):
            host = begin + 20_000
            gpu = host
            if graph:
                self.correlation += 1
                self.row(rank, "cuda_runtime", "cudaGraphLaunch", 4000 + rank, host, 30_000, correlation=self.correlation)
                gpu = host + 20_000
            for name, ns in work:
                if not graph:
                    self.correlation += 1
                    cost = int(self.host_us * 1000 * self.random.uniform(.9, 1.1))
                    self.row(rank, "cpu_op", "aten::mm" if "nvjet" in name else "aten::op", 4000 + rank, host, cost)
                    self.row(rank, "cuda_runtime", "cudaLaunchKernel", 4000 + rank, host + cost // 3, cost // 3,
                             correlation=self.correlation)
                    gpu = max(gpu, host + cost // 3 * 2 + 3_000)
                    host += cost
                starts.append(gpu)
                self.row(rank, "kernel", name, 7, gpu, ns, correlation=self.correlation, stream=7, device=rank,
                         **({"Collective name": "allreduce", "Group size": self.ranks} if "nccl" in name else {}))
                gpu += ns + 1_000
            host = host + 35_000 if graph else host
            label_end = host
            self.row(rank, "cuda_runtime", "cudaStreamSynchronize", 4000 + rank, host, max(gpu - host, 1_000) + 4_000,
                     correlation=self.correlation + 1)
            self.correlation += 1
            ends.append((label_end, gpu, max(gpu, host) + 5_000))
            self.row(rank, "user_annotation", label, 4000 + rank, begin, label_end - begin)
            if self.helpers:
                self.row(rank, "python_function", "zmq/backend/cython: recv", 9000, begin, max(gpu, host) - begin)
        out = max(end for _, _, end in ends) + 15_000
        self.steps.append({"kind": "mixed" if prompts and running else "prefill" if prompts else "decode",
                           "tokens": tokens, "decoding": len(running), "begin": begin, "start": min(starts),
                           "end": max(end for _, end, _ in ends) - 1_000, "out": out})
        self.now = out + 30_000
        return out

    def run(self, requests):
        waiting, prefill, running = sorted(requests, key=lambda r: r.arrival_ns), [], []
        while waiting or prefill or running:
            if not prefill and not running and waiting[0].queued_ns > self.now:
                self.now = waiting[0].queued_ns + 5_000
            budget, taken = self.chunk, []
            for request in prefill:
                n = min(budget, request.prompt - request.done)
                if n:
                    taken.append((request, n))
                    budget -= n
            while (waiting and waiting[0].queued_ns <= self.now and budget
                   and len(prefill) + len(running) < self.max_seqs):
                request = waiting.pop(0)
                request.scheduled_ns = self.now
                prefill.append(request)
                n = min(budget, request.prompt)
                taken.append((request, n))
                budget -= n
            decoding = running if self.mixed or not taken else []
            out = self.step(taken, decoding)
            for request in decoding:
                request.tokens.append(out)
            for request, n in taken:
                request.done += n
                if request.done == request.prompt:
                    request.tokens.append(out)
                    prefill.remove(request)
                    running = running + [request]
            running = [r for r in running if len(r.tokens) < r.output]
        return requests

    def write(self, path, gpu="NVIDIA H100 80GB HBM3"):
        events = [event for rank in self.events for event in rank]
        for rank in range(self.ranks):
            name = f"[TP{rank:02d}] vLLM::Worker" if self.ranks > 1 else "VLLM::EngineCore"
            events.append({"ph": "M", "name": "process_name", "pid": 4000 + rank, "tid": 0, "args": {"name": name}})
        data = {"schemaVersion": 1, "baseTimeNanoseconds": BASE_NS,
                "deviceProperties": [{"id": rank, "name": gpu} for rank in range(self.ranks)], "traceEvents": events}
        if self.ranks == 1:
            data["distributedInfo"] = {"rank": 0}
        with (gzip.open(path, "wt") if path.endswith("gz") else open(path, "w")) as out:
            json.dump(data, out)


def otlp(requests, shift_ns=0):
    """As vLLM exports: one span a request, latencies in seconds."""
    spans = []
    for number, r in enumerate(requests):
        first, last = r.tokens[0], r.tokens[-1]
        values = {"gen_ai.request.id": r.name, "gen_ai.usage.prompt_tokens": r.prompt,
                  "gen_ai.usage.completion_tokens": len(r.tokens),
                  "gen_ai.latency.time_in_queue": (r.scheduled_ns - r.queued_ns) / 1e9,
                  "gen_ai.latency.time_to_first_token": (first - r.arrival_ns) / 1e9,
                  "gen_ai.latency.time_in_model_prefill": (first - r.scheduled_ns) / 1e9,
                  "gen_ai.latency.time_in_model_decode": (last - first) / 1e9,
                  "gen_ai.latency.time_in_model_inference": (last - r.scheduled_ns) / 1e9,
                  "gen_ai.latency.e2e": (last - r.arrival_ns) / 1e9}
        typed = [{"key": key, "value": {"stringValue": v} if isinstance(v, str) else
                  {"intValue": str(v)} if isinstance(v, int) else {"doubleValue": v}} for key, v in values.items()]
        spans.append({"traceId": f"{number + 1:032x}", "spanId": f"{number + 1:016x}", "name": "llm_request", "kind": 2,
                      "startTimeUnixNano": str(r.arrival_ns + shift_ns), "endTimeUnixNano": str(last + shift_ns),
                      "attributes": typed})
    return {"resourceSpans": [{"resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "vllm"}}]},
                               "scopeSpans": [{"scope": {"name": "vllm.llm_engine"}, "spans": spans}]}]}


def jaeger(requests, shift_ns=0):
    """The same spans as Jaeger's page saves them: times in whole us, typed tags."""
    spans = otlp(requests, shift_ns)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    kinds = {"stringValue": "string", "intValue": "int64", "doubleValue": "float64"}

    def tag(attribute):
        (kind, value), = attribute["value"].items()
        return {"key": attribute["key"], "type": kinds[kind], "value": int(value) if kind == "intValue" else value}
    return {"data": [{"traceID": span["traceId"], "processes": {"p1": {"serviceName": "vllm", "tags": []}}, "spans": [{
        "traceID": span["traceId"], "spanID": span["spanId"], "operationName": span["name"], "references": [],
        "startTime": int(span["startTimeUnixNano"]) // 1000, "processID": "p1", "logs": [],
        "duration": (int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])) // 1000,
        "tags": [tag(attribute) for attribute in span["attributes"]]}]} for span in spans]}


def sglang_lines(requests, shift_ns=0):
    """As SGLang writes with --export-metrics-to-file: one line a request, seconds since 1970."""
    return "".join(json.dumps({
        "request_parameters": json.dumps({"rid": r.name, "stream": True}), "id": r.name,
        "finish_reason": {"type": "length", "length": r.output}, "prompt_tokens": r.prompt,
        "completion_tokens": len(r.tokens), "cached_tokens": 0, "e2e_latency": (r.tokens[-1] - r.arrival_ns) / 1e9,
        "request_received_ts": (r.arrival_ns + shift_ns) / 1e9,
        "queue_time": (r.scheduled_ns - r.queued_ns) / 1e9,
        "forward_entry_time": (r.scheduled_ns + shift_ns) / 1e9,
        "prefill_finished_time": (r.tokens[0] + shift_ns) / 1e9,
        "request_finished_ts": (r.tokens[-1] + shift_ns) / 1e9}) + "\n" for r in requests)


def bench(requests, shift_ns=0, start_times=True):
    """As `vllm bench serve --save-result --save-detailed`: the client's view, seconds of its own clock."""
    made = {"date": "20260401-000000", "backend": "vllm", "completed": len(requests), "num_prompts": len(requests),
            "input_lens": [r.prompt for r in requests], "output_lens": [len(r.tokens) for r in requests],
            "ttfts": [(r.tokens[0] - r.arrival_ns) / 1e9 for r in requests],
            "itls": [[(b - a) / 1e9 for a, b in zip(r.tokens, r.tokens[1:])] for r in requests],
            "generated_texts": ["" for _ in requests], "errors": ["" for _ in requests]}
    if start_times:
        made["start_times"] = [(r.arrival_ns + shift_ns) / 1e9 for r in requests]
    return made


def load(seed, count=24, gap_us=1500, prompts=(64, 512), outputs=(8, 24)):
    r, at, made = random.Random(seed), BASE_NS + 900_000, []
    for i in range(count):
        made.append(Request(f"cmpl-{seed}-{i}", at, r.randrange(*prompts), r.randrange(*outputs)))
        at += int(r.expovariate(1 / (gap_us * 1000)))
    return made
