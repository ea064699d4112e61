"""Made-up jobs of 2 to 16 ranks whose truth was written down before any answer was read: pipelines, experts, shards over
nodes, servers, ranks with other devices, recorders and clocks, hosts that meet beside the devices."""

import random

from frameworks import FLASH, GATHER, LOADER, REDUCE
from made_up import ADD, GEMM, Program, of_ranks

SCATTER = "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL"
SENDRECV = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"


def collective(runs, kernel, kind, us, group="0", ranks=None, stream=20, joins=True, behind=True, nelems=1000000, told=True,
               host_waits=False, call="cudaLaunchKernelExC", **more):
    """runs: those who meet. joins: the main stream waits for it; behind: it waits for the main stream's work."""
    begins = [max(run.now + 12, run.free.get(stream, 0) + 1.5, run.free.get(7, 0) + 1.5 if behind else 0) for run in runs]
    end = max(begins) + us
    for run, begin in zip(runs, begins):
        run.call(call, 6)
        args = {"Collective name": kind, "Process Group Name": group, "In msg nelems": nelems, "dtype": "BFloat16",
                "Group size": len(runs), **({"Process Group Ranks": str(ranks)} if ranks else {}), **more} if told else {}
        run.row("kernel", kernel, begin, end - begin, getattr(run, "device", 0), stream, correlation=run.calls, stream=stream,
                device=getattr(run, "device", 0), **args)
        run.free[stream] = end
        if joins:
            run.free[7] = max(run.free.get(7, 0), end)
        if host_waits:
            run.wait()


def p2p(a, b, group, us=30, stream=20, nelems=1000000):
    begins = [max(run.now + 12, run.free.get(stream, 0) + 1.5, run.free.get(7, 0) + 1.5) for run in (a, b)]
    end = max(begins) + us
    for run, begin in zip((a, b), begins):
        run.call("cudaLaunchKernelExC", 6)
        run.row("kernel", SENDRECV, begin, end - begin, 0, stream, correlation=run.calls, stream=stream, device=0,
                **{"Collective name": "sendrecv", "Process Group Name": group, "In msg nelems": nelems, "Group size": 2})
        run.free[stream] = run.free[7] = end


def steps(ranks, count, step, programs=None, labels=True, **program):
    runs = programs or [Program(**program) for _ in range(ranks)]
    for number in range(count):
        begins = [run.now for run in runs]
        step(runs, number)
        if labels:
            for run, begin in zip(runs, begins):
                run.row("user_annotation", f"ProfilerStep#{number}", begin, run.now - begin)
    return of_ranks(runs)


def dp(work, ranks=8, count=16, us=400, **more):
    def step(runs, number):
        for rank, run in enumerate(runs):
            work(rank, run, number)
        collective(runs, REDUCE, "allreduce", us, host_waits=True, **more)
    return steps(ranks, count, step)


def half_of_p2p(run, kind, name, end=None):
    """One side of a transfer: a receiver leaves when the message has come, a sender need not wait."""
    begin = max(run.now + 12, run.free.get(7, 0) + 1.5)
    ends = begin + 30 if end is None else max(begin, end) + 30
    run.call("cudaLaunchKernelExC", 6)
    run.row("kernel", SENDRECV, begin, ends - begin, 0, 7, correlation=run.calls, stream=7, device=0,
            **{"Collective name": kind, "Process Group Name": name, "In msg nelems": 1000000, "Group size": 2})
    run.free[7] = ends
    return begin + 25


def order_of_1f1b(stage, stages, micro):
    warm = min(stages - 1 - stage, micro)
    order = [("F", m) for m in range(warm)]
    for m in range(micro):
        if warm + m < micro:
            order.append(("F", warm + m))
        order.append(("B", m))
    return order


def one_f_one_b(layers=(4, 4, 6, 4), micro=8, count=4):
    """1F1B of four stages, the third has six layers, the others four."""
    stages = len(layers)
    runs = [Program() for _ in range(stages)]
    for _ in range(count):
        left = [order_of_1f1b(stage, stages, micro) for stage in range(stages)]
        sent = {}  # (kind, from, micro-batch): when
        while any(left):
            for stage, run in enumerate(runs):
                if not left[stage]:
                    continue
                kind, m = left[stage][0]
                source, target = (stage - 1, stage + 1) if kind == "F" else (stage + 1, stage - 1)
                if 0 <= source < stages:
                    if (kind, source, m) not in sent:
                        continue
                    half_of_p2p(run, "recv", f"pp{source}{stage}{kind}", sent[kind, source, m])
                left[stage].pop(0)
                run.layers(layers[stage], duration=200 if kind == "F" else 400)
                sent[kind, stage, m] = half_of_p2p(run, "send", f"pp{stage}{target}{kind}") if 0 <= target < stages else 0
    return of_ranks(runs)


def interleaved():
    """Four ranks, two chunks of the model each, blocking sends; rank 1's GPU is 1.3 times slower in all."""
    runs = [Program() for _ in range(4)]
    slow = [1, 1.3, 1, 1]
    for _ in range(6):
        for m in range(4):
            for chunk in range(2):
                for s in range(4):
                    if s or chunk:
                        p2p(runs[(s - 1) % 4], runs[s], f"ring{(s-1)%4}{s}")
                    runs[s].layers(3, duration=150 * slow[s])
        collective(runs, REDUCE, "allreduce", 200, group="dp")
    return of_ranks(runs)


def hot_expert():
    def step(runs, number):
        for layer in range(4):
            for run in runs:
                run.layers(4, duration=80)
            collective(runs, SENDRECV, "all_to_allv", 120, group="ep")
            for rank, run in enumerate(runs):
                run.launch("grouped_gemm_bf16_kernel", 900 if rank == 6 else 300, op="aten::_grouped_mm")
            collective(runs, SENDRECV, "all_to_allv", 120, group="ep")
    return steps(8, 10, step)


def tp_in_dp():
    """TP2 x DP4; rank 3's host does something for 2.5 ms a step."""
    def step(runs, number):
        for pair in range(4):
            both = runs[2 * pair:2 * pair + 2]
            for layer in range(4):
                for rank, run in zip((2 * pair, 2 * pair + 1), both):
                    run.layers(5, duration=90)
                    if rank == 3 and layer == 2:
                        run.does("python_function", "acme/router.py(12): pick", 2500)
                collective(both, REDUCE, "allreduce", 60, group=f"tp{pair}", ranks=[2 * pair, 2 * pair + 1], stream=7)
                for run in both:
                    run.wait()
        for side in range(2):
            collective(runs[side::2], REDUCE, "allreduce", 300, f"dp{side}", list(range(side, 8, 2)), nelems=9000000)
    return steps(8, 12, step)


def ethernet():
    """HSDP: gathers in the node 100 us, the all-reduce over nodes 6 ms, exposed. None is to blame."""
    def step(runs, number):
        for layer in range(4):
            for node in (0, 1):
                group = runs[4 * node:4 * node + 4]
                collective(group, GATHER, "_allgather_base", 100, f"shard{node}", list(range(4 * node, 4 * node + 4)))
                for run in group:
                    run.layers(4, duration=150)
        for i in range(4):
            collective([runs[i], runs[i + 4]], REDUCE, "allreduce", 6000, group=f"rep{i}", ranks=[i, i + 4], nelems=20000000)
    return steps(8, 12, step)


def allocates_one():
    """Rank 4 frees and allocates memory in each step."""
    def work(rank, run, number):
        run.layers(20, duration=100)
        if rank == 4:
            run.wait()
            for _ in range(4):
                run.call("cudaFree", 500); run.call("cudaMalloc", 400)
        run.layers(10, duration=100)
    return dp(work)


def logs():
    """Rank 0 writes a log for 12 ms in each fifth step."""
    def work(rank, run, number):
        run.layers(30, duration=100)
        if rank == 0 and number % 5 == 4:
            run.wait()
            run.does("python_function", "acme/tracker.py(88): push_metrics", 12000)
    return dp(work, count=20)


def loader_stalls():
    """Rank 2's loader stalls for 25 ms in 5 of 20 steps."""
    def work(rank, run, number):
        run.does("user_annotation", LOADER, 25000 if rank == 2 and number in (3, 4, 9, 14, 17) else 60)
        run.layers(30, duration=100)
    return dp(work, count=20)


def wandering():
    """In step n the host of rank n mod 8 stands still for 5 ms; nothing tells why."""
    def work(rank, run, number):
        run.layers(15, duration=100)
        if rank == number % 8:
            run.does("", "", 5000)
        run.layers(15, duration=100)
    return dp(work, count=24)


def throttles():
    """Rank 7's GPU is 1.6 times slower from step 10 of 20 on."""
    def work(rank, run, number):
        run.layers(30, duration=160 if rank == 7 and number >= 10 else 100)
    return dp(work, count=20)


def older_gpu():
    """Ranks 0 and 1 are A100 with other kernels (sm80), half as fast; the others H100."""
    def work(rank, run, number):
        for i in range(15):
            old = rank < 2
            run.launch("sm80_xmma_gemm_bf16_128x128" if old else "sm90_xmma_gemm_bf16_256x128", 200 if old else 100)
            run.launch(f"flash_fwd_sm{80 if old else 90}_kernel", 120 if old else 60, op="aten::_flash_attention")
    traces = dp(work, count=16)
    for rank, trace in enumerate(traces):
        trace["deviceProperties"] = [{"id": 0, "name": "NVIDIA A100-SXM4-80GB" if rank < 2 else "NVIDIA H100 80GB HBM3"}]
    return traces


def drifting():
    """Clocks 5 ms apart that drift by up to 40 ppm; rank 5's host 800 us late in each step of 100 ms."""
    def work(rank, run, number):
        run.layers(200, duration=500)
        run.wait()
        if rank == 5:
            run.does("python_function", "acme/x.py(3): tidy", 1500)
    traces = dp(work, count=20)
    for rank, trace in enumerate(traces):
        for row in trace["traceEvents"]:
            row["ts"] = round(row["ts"] * (1 + (rank - 4) * 1e-5) + 5000 * rank, 3)
    return traces


def started_apart():
    """The recorders began at different steps; the collectives have numbers. Rank 2's host is late."""
    def step(runs, number):
        for rank, run in enumerate(runs):
            run.layers(20, duration=100)
            if rank == 2:
                run.does("python_function", "acme/aug.py(5): jitter", 2000)
        collective(runs, REDUCE, "allreduce", 300, host_waits=True, Seq=100 + number)
    traces = steps(8, 20, step)
    for rank, trace in enumerate(traces):
        marks = sorted(row["ts"] for row in trace["traceEvents"] if row["name"].startswith("ProfilerStep"))
        begin = marks[rank % 4]
        trace["traceEvents"] = [row for row in trace["traceEvents"] if row["ts"] >= begin]
    return traces


def other_counts():
    """No numbers. Ranks 5 to 7 have two steps fewer at the end. Rank 1's host is late."""
    def work(rank, run, number):
        run.layers(20, duration=100)
        if rank == 1:
            run.does("python_function", "acme/aug.py(5): jitter", 2500)
    traces = dp(work, count=20)
    for rank, trace in enumerate(traces):
        if rank < 5:
            continue
        marks = sorted(row["ts"] for row in trace["traceEvents"] if row["name"].startswith("ProfilerStep"))
        trace["traceEvents"] = [row for row in trace["traceEvents"] if row["ts"] < marks[18]]
    return traces


def no_kernels():
    """Rank 3's file has calls and operators and no row of the GPU. Rank 6's host is late."""
    def work(rank, run, number):
        run.layers(20, duration=100)
        if rank == 6:
            run.does("python_function", "acme/aug.py(5): jitter", 2500)
    traces = dp(work)
    traces[3]["traceEvents"] = [row for row in traces[3]["traceEvents"] if row["cat"] not in ("kernel", "gpu_memcpy")]
    return traces


def missing_file():
    """TP4 of which rank 2, the late one, has no file."""
    def work(rank, run, number):
        run.layers(20, duration=100)
        if rank == 2:
            run.does("python_function", "acme/aug.py(5): jitter", 3000)
    return [trace for rank, trace in enumerate(dp(work, ranks=4)) if rank != 2]


def hosts_meet(runs, category, name, after):
    """All hosts leave a row of their own together, `after` microseconds behind the last to come."""
    end = max(run.now for run in runs) + after
    for run in runs:
        run.row(category, name, run.now, end - run.now)
        run.now = end


def gloo():
    """All meet in gloo on the CPU each step; rank 1's host computes for 5 ms before it."""
    def step(runs, number):
        for rank, run in enumerate(runs):
            run.layers(20, duration=100)
            run.wait()
            if rank == 1:
                run.does("python_function", "acme/eval.py(9): confusion", 5000)
        hosts_meet(runs, "cpu_op", "gloo:all_reduce", 200)
    return steps(8, 16, step)


def store_barrier():
    """Rank 0 saves for 200 ms once, the others wait in a barrier by the store."""
    def step(runs, number):
        for rank, run in enumerate(runs):
            run.layers(30, duration=100)
        collective(runs, REDUCE, "allreduce", 300, host_waits=True)
        if number == 8:
            runs[0].does("python_function", "acme/save.py(40): write_shards", 200_000)
            end = max(run.now for run in runs) + 300
            for run in runs:
                begin = run.now
                run.row("python_function", "torch/distributed/distributed_c10d.py(4000): barrier", begin, end - begin)
                run.row("python_function", "<built-in method wait of torch._C._distributed_c10d.TCPStore>", begin + 1,
                        end - begin - 2)
                run.now = end
    return steps(8, 16, step)


def proxy():
    """One ring of all: transfers of one size take now 0.5, now 1 to 4 ms, often. Nobody is late."""
    chance = random.Random(4)
    def step(runs, number):
        for layer in range(5):
            for run in runs:
                run.layers(6, duration=100)
            collective(runs, GATHER, "_allgather_base", chance.choice([500, 500, 1000, 2000, 4000]))
    return steps(8, 12, step)


def first_collective():
    """The communicator is made in the first collective of the first step: 900 ms in all ranks. Then a busy run."""
    def step(runs, number):
        for run in runs:
            run.layers(40, duration=150)
            run.does("cpu_op", "c10d::allreduce_", 900_000 if number == 0 else 30)
        collective(runs, REDUCE, "allreduce", 300)
    return steps(8, 16, step)


def rccl():
    """AMD: RCCL kernels without names of groups; rank 3's host is slow in its dispatcher."""
    runs = [Program(hip=True) for _ in range(8)]
    def step(runs, number):
        for rank, run in enumerate(runs):
            run.layers(60, duration=25, prepares=70 if rank == 3 else 14)
        collective(runs, "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", "allreduce", 200, stream=7,
                   call="hipExtLaunchKernel")
        for run in runs:
            run.wait("hipStreamSynchronize")
    return steps(8, 12, step, runs)


def hccl():
    """Kernels of a vendor's own communication, nothing told of groups; rank 1's host does something for 3 ms."""
    def step(runs, number):
        for rank, run in enumerate(runs):
            run.layers(20, duration=100)
            if rank == 1:
                run.does("python_function", "acme/feed.py(3): collate", 3000)
        collective(runs, "hcom_allReduce__950_0_1", "", 300, told=False, stream=9)
        for run in runs:
            run.wait()
    return steps(8, 14, step)


def deep_ep():
    """Dispatch and combine of an expert library, no groups or numbers. Rank 5's host is late."""
    def step(runs, number):
        for layer in range(3):
            for rank, run in enumerate(runs):
                run.layers(8, duration=80)
                if rank == 5:
                    run.does("python_function", "acme/plan.py(3): route", 900)
            collective(runs, "void deep_ep::intranode::dispatch<8, 768, 8192>(int4*, float*)", "", 90, told=False, stream=21)
            for run in runs:
                run.launch("grouped_gemm_bf16_kernel", 250)
            collective(runs, "void deep_ep::intranode::combine<__nv_bfloat16, 8, 768, 4096>(__nv_bfloat16*)", "", 90,
                       told=False, stream=21)
            for run in runs:
                run.wait()
    return steps(8, 10, step)


def overlapped():
    """DP's reduce-scatters beside the work, TP's all-reduces in it; rank 6's attention is 1.8 times slower."""
    def step(runs, number):
        for layer in range(6):
            for pair in range(4):
                both = runs[2 * pair:2 * pair + 2]
                for rank, run in zip((2 * pair, 2 * pair + 1), both):
                    run.launch(GEMM, 120)
                    run.launch(FLASH, 270 if rank == 6 else 150, op="aten::_flash_attention")
                    run.launch(GEMM, 120)
                collective(both, REDUCE, "allreduce", 70, group=f"tp{pair}", ranks=[2 * pair, 2 * pair + 1], stream=7)
            for side in range(2):
                collective(runs[side::2], SCATTER, "_reduce_scatter_base", 200, f"dp{side}", list(range(side, 8, 2)), stream=21,
                           joins=False)
        for run in runs:
            run.free[7] = max(run.free[7], run.free[21])
            run.wait()
    return steps(8, 10, step)


def no_sync():
    """Four micro-batches, one all-reduce; rank 2's loader takes 2 ms before each."""
    def step(runs, number):
        for rank, run in enumerate(runs):
            for _ in range(4):
                run.does("user_annotation", LOADER.replace("Multi", "Single"), 2500 if rank == 2 else 80)
                run.layers(10, duration=100)
                run.wait()
        collective(runs, REDUCE, "allreduce", 500, host_waits=True)
    return steps(8, 12, step)


def last_batch():
    """The last batch of rank 0 is three times as large; else all are equal."""
    def work(rank, run, number):
        for i in range(30):
            run.launch(GEMM if i % 2 else ADD, 300 if rank == 0 and number == 11 else 100)
    return dp(work, count=12)


def three_d():
    """TP2 x PP2 x DP2: rank 6's GPU is 1.4 times slower."""
    # rank = dp*4 + pp*2 + tp
    def step(runs, number):
        for micro in range(3):
            for stage in range(2):
                for d in range(2):
                    both = [4 * d + 2 * stage, 4 * d + 2 * stage + 1]
                    if stage:
                        for r in both:
                            p2p(runs[r - 2], runs[r], f"pp{r-2}")
                    for r in both:
                        runs[r].layers(6, duration=140 if r == 6 else 100)
                    collective([runs[r] for r in both], REDUCE, "allreduce", 50, group=f"tp{both[0]}", ranks=both, stream=7)
        for r in range(4):
            collective([runs[r], runs[r + 4]], REDUCE, "allreduce", 200, group=f"dp{r}", ranks=[r, r + 4], nelems=9000000)
    return steps(8, 10, step)


def slow_node():
    """16 ranks of two nodes; all GPUs of the second node 12 % slower."""
    runs = [Program() for _ in range(16)]
    def step(runs, number):
        for rank, run in enumerate(runs):
            run.layers(40, duration=168 if rank >= 8 else 150)
        collective(runs, REDUCE, "allreduce", 300, host_waits=True)
    traces = steps(16, 10, step, runs)
    for rank, trace in enumerate(traces):
        for row in trace["traceEvents"]:
            if row["cat"] == "kernel":
                row["pid"] = row["args"]["device"] = rank % 8
        trace["deviceProperties"] = [{"id": d, "name": "NVIDIA H100"} for d in range(8)]
    return traces


def slow_hop():
    """A ring of sends and receives between neighbours (ring attention); the hop from 3 to 4 is five times slower."""
    def step(runs, number):
        for turn in range(4):
            for rank in range(8):
                runs[rank].layers(3, duration=150)
            for rank in range(0, 8, 2):
                p2p(runs[rank], runs[rank + 1], f"hop{rank}", 100)
            for rank in range(1, 8, 2):
                p2p(runs[rank], runs[(rank + 1) % 8], f"hop{rank}", 500 if rank == 3 else 100)
        collective(runs, REDUCE, "allreduce", 100)
    return steps(8, 12, step)


def tables():
    """Recommendation: rank 0 holds the larger embedding tables; all-to-all behind the look-ups."""
    def step(runs, number):
        for rank, run in enumerate(runs):
            run.launch("void fbgemm_gpu::split_embedding_codegen_forward_kernel<float>", 3000 if rank == 0 else 1000, op="fbgemm::lookup")
        collective(runs, SENDRECV, "all_to_allv", 400, group="emb")
        for run in runs:
            run.layers(20, duration=100)
        collective(runs, REDUCE, "allreduce", 200, group="dense")
    return steps(8, 14, step)


def tp_server():
    """TP4 decode by graphs that hold the all-reduces; rank 0 plans for 4 ms, the others wait for it in a receive."""
    runs = [Program(ops=False) for _ in range(4)]
    for step in range(16):
        runs[0].does("python_function", "acme/scheduler.py(77): plan_batch", 4000)
        at = runs[0].now
        for run in runs[1:]:
            run.row("python_function", "<built-in method recv_multipart of Socket object>", run.now, max(at - run.now, 0) + 50)
            run.now = max(run.now, at) + 50
        for run in runs:
            run.call("cudaGraphLaunch", 12)
        begins = [max(run.now + 8, run.free.get(7, 0) + 1.5) for run in runs]
        t = list(begins)
        for layer in range(20):
            for i, run in enumerate(runs):
                run.row("kernel", GEMM, t[i], 60, 0, 7, correlation=run.calls, stream=7, device=0, **{"graph node id": 2 * layer + 1})
                t[i] += 61
            end = max(t) + 15
            for i, run in enumerate(runs):
                run.row("kernel", "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 4>", t[i], end - t[i], 0, 7, correlation=run.calls,
                        stream=7, device=0, **{"graph node id": 2 * layer + 2})
                t[i] = end + 1
        for i, run in enumerate(runs):
            run.free[7] = t[i]
            run.wait()
    return of_ranks(runs)


def disaggregated():
    """Ranks 0 and 1 prefill, 2 and 3 decode; each KV cache goes over; prefill is busy, decode waits for it half the time."""
    runs = [Program() for _ in range(4)]
    for request in range(20):
        for pair in (runs[:2],):
            for run in pair:
                run.layers(20, duration=300)
            collective(pair, REDUCE, "allreduce", 60, group="tp_prefill", ranks=[0, 1], stream=7)
        for i in range(2):
            p2p(runs[i], runs[i + 2], f"kv{i}", 400)
        for _ in range(4):
            for run in runs[2:]:
                for i in range(10):
                    run.launch("paged_attention_decode_kernel" if i % 2 else "gemv_kernel", 60)
            collective(runs[2:], REDUCE, "allreduce", 20, group="tp_decode", ranks=[2, 3], stream=7)
    return of_ranks(runs)


class OfProcess(Program):
    """A process of several in one file, with a device of its own."""

    def __init__(self, device):
        super().__init__()
        self.device, self.calls = device, 100_000 * device

    def row(self, category, name, begin, duration, process=100, thread=100, **args):
        if "device" in args:
            args["device"] = process = self.device
        else:
            process = thread = 100 + self.device
        super().row(category, name, begin, duration, process, thread, **args)


def one_file():
    """One file with four processes, one GPU each; process 2's host is late before each all-reduce."""
    runs = [OfProcess(device) for device in range(4)]

    def step(runs, number):
        for rank, run in enumerate(runs):
            run.layers(20, duration=100)
            if rank == 2:
                run.does("python_function", "acme/feed.py(3): collate", 3000)
        collective(runs, REDUCE, "allreduce", 300, host_waits=True)
    traces = steps(4, 14, step, runs)
    return [{"schemaVersion": 1, "deviceProperties": [{"id": d, "name": "NVIDIA H100"} for d in range(4)],
             "traceEvents": [row for trace in traces for row in trace["traceEvents"]]}]


def save_and_victims():
    """PP2 x DP2; the host of rank 1 (stage 1 of replica 0) is late by 2 ms in each micro-batch: rank 0, 2, 3 are victims."""
    def step(runs, number):
        for micro in range(2):
            for d in range(2):
                a, b = runs[2 * d], runs[2 * d + 1]
                a.layers(6, duration=150)
                p2p(a, b, f"f{d}")
                if d == 0:
                    b.wait(); b.does("python_function", "acme/loss.py(9): weigh", 2000)
                b.layers(6, duration=150)
                p2p(b, a, f"b{d}")
                a.layers(6, duration=150)
        for stage in range(2):
            collective([runs[stage], runs[2 + stage]], REDUCE, "allreduce", 200, group=f"dp{stage}", ranks=[stage, 2 + stage])
    return steps(4, 10, step)


def bare():
    """No operators, groups, labels of steps; rank 2's kernels 1.3 times slower."""
    def work(rank, run, number):
        run.layers(30, duration=130 if rank == 2 else 100)
    def step(runs, number):
        for rank, run in enumerate(runs):
            work(rank, run, number)
        collective(runs, REDUCE, "allreduce", 400, host_waits=True, told=False)
    return steps(4, 12, step, [Program(ops=False) for _ in range(4)], labels=False)


def of_no_kind():
    """A collective whose name tells no kind, on AMD; rank 1's GPU 1.25 times slower."""
    def step(runs, number):
        for rank, run in enumerate(runs):
            run.layers(30, duration=125 if rank == 1 else 100)
        collective(runs, "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", "allreduce", 400, told=False, stream=7)
    return steps(4, 12, step, [Program(ops=False, hip=True) for _ in range(4)], labels=False)


def in_turn():
    """Each step another rank gathers for the others over gloo."""
    def step(runs, number):
        for rank, run in enumerate(runs):
            run.layers(10, duration=100)
            run.wait()
            if rank == number % 4:
                run.does("python_function", "acme/gather.py(3): merge", 4000)
        hosts_meet(runs, "cpu_op", "gloo:gather", 100)
    return steps(4, 16, step)


def validates():
    """Rank 0 validates on its GPU, once; the others stand in a barrier."""
    def step(runs, number):
        for run in runs:
            run.layers(30, duration=100)
        collective(runs, REDUCE, "allreduce", 300, host_waits=True)
        if number == 6:
            for _ in range(400):
                runs[0].launch("acme_eval_kernel", 300)
            runs[0].wait()
            hosts_meet(runs, "python_function", "torch/distributed/distributed_c10d.py(4000): barrier", 100)
    return steps(4, 14, step)


SCENES = {
    "job: a larger stage": (one_f_one_b, None, "^Rank 2 is late.*runs more on the GPU.*equal parts to all", "network|No rank"),
    "job: interleaved, a slow GPU": (interleaved, None, "^Rank 1 is late.*all of them 1.30 times as long.*a slower GPU: its clocks",
                                     "its shapes|network"),
    "job: a hot expert": (hot_expert, None, "^Rank 6 is late.*most in grouped_gemm_bf16_kernel", "all of them|network"),
    "job: a host in a pair": (tp_in_dp, None, r"^Rank 3 is late.*shorten acme/router.py\(12\): pick", "Ranks? 2 |network"),
    "job: nodes over Ethernet": (ethernet, "communication", "^No rank is later.*1 −76.8 ms .*first all_reduce, 12 × 6.00 ms",
                                 "is late:|network"),
    "job: one allocates": (allocates_one, None, "^Rank 4 is late.*most in cudaFree", "network"),
    "job: one logs": (logs, None, r"^Rank 0 is late.*stalls 4 times.*push_metrics", "network"),
    "job: a loader that stalls": (loader_stalls, None, "^Rank 2 is late.*stalls 5 times.*its loader", "network"),
    "job: a pause that wanders": (wandering, "collective_wait", "^No rank is later.*their hosts stall now and then", "is late:"),
    "job: a GPU that throttles": (throttles, None, "^Rank 7 is late.*longer starting at ProfilerStep#10.*1 −18.0 ms .*a slower GPU",
                                  "its shapes"),
    "job: older GPUs": (older_gpu, None, r"^Ranks 0 and 1 \(NVIDIA A100-SXM4-80GB among NVIDIA H100 80GB HBM3\).*"
                        "1 −38.4 ms .*less of the work for it", "not recorded"),
    "job: clocks that drift": (drifting, None, r"^Rank 5 is late.*acme/x.py\(3\): tidy", "No rank"),
    "job: recorders that start apart": (started_apart, None, r"Rank 2 is late.*acme/aug.py\(5\): jitter.*1 −4.54 ms", "No rank"),
    "job: other numbers of steps": (other_counts, None, r"^Ranks 5, 6 and 7 have rows for .* only.*Rank 1 is late.*acme/aug.py",
                                    "No rank|not known"),
    "job: a rank without GPU rows": (no_kernels, None, "^Rank 3 has no GPU activity: its delay is not known. Rank 6 is late",
                                     "Rank 3 is late|not recorded"),
    "job: the late rank has no file": (missing_file, None, "It is not known whether these wait for the rank that is not here",
                                       "is late:|network"),
    "job: gloo": (gloo, None, r"^Rank 1 blocks the hosts of the others: each waits 75.0 ms .*confusion.*1 −75.0 ms",
                  "Do not wait for it"),
    "job: hosts in turn": (in_turn, None, "^The hosts wait for each other in turn: each 44.0 ms .*: merge"
                           ".*1 −44.0 ms", "Do not wait for it|blocks the hosts"),
    "job: a rank that validates": (validates, None, "^Rank 0 blocks the hosts of the others: each waits 121 ms .* rank 0's GPU computes",
                                   "Do not wait for it|No rank"),
    "job: a barrier by the store": (store_barrier, None, "^Rank 0 blocks the hosts of the others: each waits 200 ms .*write_shards",
                                    "Do not wait for it|No rank"),
    "job: transfers that vary": (proxy, "communication", "No rank is later.*take now 500 µs, now 4.00 ms.*All transfers like",
                                 "is late:"),
    "job: a first collective": (first_collective, "cold_start", "done once: c10d::allreduce_.*record", "is late:|Do not wait"),
    "job: RCCL": (rccl, None, "^Rank 3 is late.*a slower host: its cores", "CUDA|network"),
    "job: another vendor": (hccl, None, r"^Rank 1 is late.*shorten acme/feed.py\(3\): collate", "No rank"),
    "job: an expert library": (deep_ep, None, r"^Rank 5 is late.*most in acme/plan.py\(3\): route", "No rank|not known"),
    "job: communicators overlapped": (overlapped, None, "^Rank 6 is late.*most in flash_fwd_kernel.*1 −7.20 ms", "network"),
    "job: no_sync, a loader": (no_sync, None, "^Rank 2 is late.*1 .*Rank 2 at its peers' pace", "No rank|network"),
    "job: an uneven last batch": (last_batch, None, "^Rank 0 is late.*in ProfilerStep#11 alone.*a larger batch there", "a slower GPU"),
    "job: a slow GPU in three dimensions": (three_d, None, "^Rank 6 is late.*all of them 1.40 times as long", "network"),
    "job: a slow node": (slow_node, None, r"^Ranks 8, 9, 10, 11 and 4 more \(node 1\) are late.*all of them 1.12 times.*1 −7.20 ms",
                         "Nobody|No rank"),
    "job: a slow hop": (slow_hop, None, "^The network between ranks 3 and 4 is slow.*1 −19.2 ms .*A link as fast", "is late:"),
    "job: embedding tables": (tables, None, "^Rank 0 is late.*most in fbgemm_gpu", "network|host"),
    "job: a server that plans": (tp_server, "host", "^Rank 0 blocks the hosts of the others.*plan_batch.*1 −60.. ms",
                                 "Not loaded|No rank"),
    "job: prefill and decode": (disaggregated, None, "^Ranks 0 and 1, which run other work, make the others wait", "not recorded"),
    "four processes in one file": (one_file, None, "^Rank 2 is late.*collate", "give the folder of all ranks|record one file"),
    "job: a host between stages": (save_and_victims, None, r"^Rank 1 is late.*shorten acme/loss.py\(9\): weigh", "network"),
    "job: no labels": (bare, None, "^Rank 2 is late.*all of them 1.30 times as long.*a slower GPU", "No rank"),
    "job: a collective of no kind": (of_no_kind, None, "^Rank 1 is late.*all of them 1.25 times as long", "No rank|not known"),
}
