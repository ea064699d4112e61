#!/usr/bin/env python3
"""Made-up runs whose truth is known: what holds the GPU up, and what the answer must and must not say of it."""

import argparse
import functools
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from frameworks import SCENES as FRAMEWORKS
from jobs import SCENES as JOBS
from made_up import ADD, GEMM, Program, job, transfer
from vendors import SCENES as VENDORS

# ---- scenes ----------------------------------------------------------------------------------------------------------

def one_thing(category, name, waits=True, **program):
    """Each step ends with a wait, and then the host does one thing for 8 ms."""
    def make():
        run = Program(**program)

        def step(_):
            run.layers(duration=60)
            if waits:
                run.wait()
            run.does(category, name, 8000)
        return run.steps(step)
    return make


def windows(first_of_second, frame=False):
    """Two windows of four steps in one file, 150 ms apart."""
    def make():
        run = Program()
        for first in (3, first_of_second):
            if first != 3:
                run.does("python_function" if frame else "", "evaluate.py(7): evaluate" if frame else "", 150_000)
            for number in range(first, first + 4):
                begin = run.now
                run.layers(duration=60)
                run.wait()
                run.row("user_annotation", f"ProfilerStep#{number}", begin, run.now - begin)
        return run
    return make


def once():
    run = Program()

    def step(number):
        run.layers()
        run.wait()
        if number == 4:
            run.does("python_function", "store/snapshot.py(10): write_state", 60_000)
    return run.steps(step)


def stalls():
    """One operator in fifty takes 10 ms, whichever it is."""
    run = Program()
    chance = random.Random(1)

    def step(_):
        for _ in range(100):
            run.launch(duration=50, prepares=10_000 if chance.random() < 0.02 else 10)
    return run.steps(step)


def computes_itself(name):
    """Before each launch the host computes for 120 µs, and no call is in that."""
    def make():
        run = Program()

        def step(_):
            for _ in range(40):
                run.does("cpu_op", name, 120)
                run.launch(duration=20)
        return run.steps(step)
    return make


def loads_code(steps):
    """The first steps load code for 8 ms each."""
    def make():
        run = Program()

        def step(number):
            if number < steps:
                run.call("cuModuleLoadData", 8000)
            run.layers(duration=60)
            run.wait()
        return run.steps(step)
    return make


def blocking(hip):
    def make():
        run = Program(hip=hip)
        return run.steps(lambda _: run.layers(duration=60, prepares=40, blocks=True))
    return make


def waits_often(name):
    run = Program()

    def step(_):
        for _ in range(40):
            run.launch(duration=60)
            run.wait(name)
            run.does("", "", 40)
    return lambda: run.steps(step)


def polls():
    """The host asks for an event until it has come, then works for 1 ms."""
    run = Program()

    def step(_):
        run.layers(20, duration=100)
        while run.now < max(run.free.values()) + 3:
            run.call("cudaEventQuery", 2)
            run.now += 8
        run.does("python_function", "acme/env.py(7): step", 1000)
    return run.steps(step)


def reads_what_a_kernel_wrote():
    """The host spins on memory that a kernel of another stream writes, which follows the layers."""
    run = Program()

    def step(number):
        run.layers(20, duration=100)
        run.free[20] = max(run.free.get(20, 0), run.free[7])
        run.launch("acme_notify_counts", 20, stream=20, op="acme::notify")
        run.now = max(run.now, run.free[20] + 4 + number % 3)
    return run.steps(step, 10)


def full_queue(depth=300):
    """Launches that return when the kernel `depth` launches before has begun."""
    run = Program()
    starts = []

    def step(_):
        for layer in range(400):
            if len(starts) >= depth:
                begin = run.now
                run.now = max(run.now + 5, starts[-depth] + 2)
                run.free["queue"] = 0
                late = run.now - begin
            else:
                late = 5
            run.now -= late
            before = run.now
            run.launch(GEMM, 50, prepares=0)
            row = [r for r in run.rows[-3:] if r["cat"] == "cuda_runtime"][0]
            row["dur"] = round(max(5, late), 3)
            run.now = before + max(5, late) + 2
            starts.append(run.free[7] - 50)
    return run.steps(step, 6)


def short_pieces():
    """A function of the program's own, ten times a step, each too short for a pause."""
    run = Program()

    def step(_):
        for _ in range(10):
            run.launch(duration=60)
            run.does("python_function", "acme/pack.py(51): pack_tokens", 200)
    return run.steps(step, 12)


def copies_each_batch():
    """The batch is copied on the stream of the kernels: two fifths of the time."""
    run = Program()

    def step(_):
        run.launch("Memcpy HtoD (Pinned -> Device)", 4000, "aten::copy_", category="gpu_memcpy", call="cudaMemcpyAsync")
        run.layers(30, duration=200)
    return run.steps(step)


def gathers_as_long_as_kernels():
    """Collectives on the stream of the kernels, half of the time."""
    run = Program()

    def step(_):
        for _ in range(4):
            run.layers(6, duration=200)
            run.launch("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 1230, "c10d::_allgather_base_",
                       call="cudaLaunchKernelExC")
    return run.steps(step)


def function_of_short_calls():
    """A Python function that calls another one 40 times a step, with few kernels after it."""
    run = Program()

    def step(_):
        begin = run.now
        for _ in range(40):
            run.does("python_function", "acme/beam.py(9): add", 90)
        run.row("python_function", "acme/beam.py(70): process", begin - 5, run.now - begin + 10)
        run.now += 10
        run.layers(8, duration=100)
        run.wait()
    return run.steps(step, 12)


def compiles_now_and_then():
    """A module is compiled and loaded in each third of twelve steps, the last not among them."""
    run = Program()

    def step(number):
        if number % 3 == 1:
            run.call("cuModuleLoadData", 60_000)
        run.layers(20, duration=100)
        run.wait()
    return run.steps(step, 12)


def waits_between_short_kernels():
    """Experts one by one: a wait for their indices, two short kernels, and much dispatch."""
    run = Program()

    def step(_):
        for _ in range(24):
            run.launch(ADD, 4, "aten::nonzero", prepares=60)
            run.wait()
            run.launch(ADD, 5, "aten::index", prepares=70)
            run.launch(GEMM, 20, prepares=60)
    return run.steps(step)


def large_batches_now_and_then():
    """Three of sixteen steps have kernels of twenty times the length."""
    run = Program()

    def step(number):
        run.layers(20, duration=900 if number in (4, 9, 13) else 45)
        run.wait()
    return run.steps(step, 16)


def polls_with_a_sleep():
    """The host asks once, sleeps longer than the kernels take, and asks again."""
    run = Program()

    def step(_):
        run.layers(12, duration=90)
        run.call("cudaEventQuery", 2)
        run.does("python_function", "<built-in function sleep>", 1800)
        run.call("cudaEventQuery", 2)
    return run.steps(step, 12)


def optimizer_of_small_kernels():
    """Four launches for each of 60 parameters, after a forward pass of long kernels."""
    run = Program()

    def step(_):
        run.layers(10, duration=200)
        begin = run.now
        for _ in range(240):
            run.launch(ADD, 3, "aten::addcdiv_", prepares=12)
        run.row("user_annotation", "Optimizer.step#RMSprop.step", begin, run.now - begin)
    return run.steps(step)


def interpreter_lock():
    """A step stands still while another thread tokenizes, and the other way round."""
    run = Program()

    def step(number):
        begin = run.now
        run.does("python_function", None, 0)
        run.row("python_function", "acme/text.py(5): tokenize", run.now + 60, 5200, thread=300)
        run.now += 5400
        run.layers(20, duration=60)
        run.wait()
        run.row("python_function", "acme/train.py(12): train_step", begin - 3, run.now - begin + 6)
        run.now += 10
    return run.steps(step)


def allocation_retries():
    """cudaMalloc fails, the cache is freed, cudaMalloc again; three steps of eight are spared."""
    run = Program()

    def step(number):
        begin = run.now
        if number % 3:
            run.call("cudaMalloc", 300)
            for _ in range(5):
                run.wait("cudaStreamSynchronize")
                run.call("cudaFree", 900)
            run.call("cudaMalloc", 700)
        run.row("cpu_op", "aten::empty", begin, run.now - begin + 1)
        run.now += 2
        run.layers(20, duration=120)
        run.wait()
    return run.steps(step, 9)


def graph_breaks():
    """Twenty guards a step, two kernels after each."""
    run = Program()

    def step(_):
        for _ in range(20):
            run.does("cpu_op", "TorchDynamo Cache Lookup", 230)
            run.launch("triton_poi_fused_add_0", 12, "## Call CompiledFxGraph acme ##")
            run.launch(GEMM, 20)
        run.wait()
    return run.steps(step)


def drawing_at_the_end():
    """After ten steps of kernels the program draws for much longer."""
    run = Program()

    def step(_):
        run.layers(20, duration=150)
        run.wait()
    run.steps(step, 10)
    run.does("python_function", "acme/draw.py(3): savefig", 420_000)
    return run


def gathers_that_kernels_wait_for():
    """Kernels wait for collectives of another stream, as nothing recorded says."""
    run = Program()

    def step(_):
        for _ in range(4):
            run.launch("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 1500, "c10d::_allgather_base_", stream=20,
                       call="cudaLaunchKernelExC")
            run.free[7] = max(run.free.get(7, 0), run.free[20]) + 3
            run.layers(6, duration=250)
            run.free[20] = run.free[7]
        run.wait()
    return run.steps(step)


def dequantizes():
    """Weights are dequantized by a kernel of their own before each product."""
    run = Program()

    def step(_):
        for _ in range(20):
            run.launch("void acmeDequantizeBlockwise<__half, 512, 64, 8>(float*, unsigned char*, float*)", 110, "acme::dequantize_4bit")
            run.launch(GEMM, 70)
        run.wait()
    return run.steps(step)


def samples_on_the_cpu():
    """Logits are copied to the host, an operator on the CPU sorts them, and the next step needs the result."""
    run = Program()

    def step(_):
        run.layers(20, duration=150)
        run.launch("Memcpy DtoH (Device -> Pageable)", 300, "aten::copy_", category="gpu_memcpy", call="cudaMemcpyAsync", blocks=True)
        run.does("cpu_op", "aten::sort", 2600)
    return run.steps(step, 12)


def another_process_takes_turns():
    """Four times a step the GPU does nothing of this trace for 2 ms, though kernels are queued."""
    run = Program()

    def step(_):
        for _ in range(2):
            run.layers(15, duration=150)
            run.free[7] += 2500
        run.wait()
    return run.steps(step, 6)


def copies(name):
    """Copies whose call returns when the bytes have moved."""
    run = Program()

    def step(_):
        run.launch(name, 5000, "aten::copy_", blocks=True, category="gpu_memcpy", call="cudaMemcpyAsync")
        run.layers(4, duration=20)
    return lambda: run.steps(step)


def plain(prepares, duration, **more):
    run = Program(**more)
    return lambda: run.steps(lambda _: run.layers(prepares=prepares, duration=duration))


def second_gpu():
    run = Program()

    def step(number):
        run.layers(duration=200)
        if number < 2:
            run.launch(device=1, stream=27, duration=10)
    return run.steps(step)


def in_turn(waits, gpus=4):
    """Layers on one GPU after the other, each of which waits for what the one before it made: by an event that is not
    recorded, or because the host waits."""
    run = Program()

    def step(_):
        for gpu in range(gpus):
            stream = 10 * gpu + 7
            if waits:
                run.wait()
            run.free[stream] = max([0, *run.free.values()]) + 3
            for _ in range(20):
                run.launch(duration=100, device=gpu, stream=stream)
    return lambda: run.steps(step)


def fed_by_one(gpus=4):
    """One thread that launches to several GPUs, one kernel each in turn, and is too slow for all of them."""
    run = Program()

    def step(_):
        for number in range(80):
            gpu = number % gpus
            run.launch(duration=60, prepares=30, device=gpu, stream=10 * gpu + 7)
    return lambda: run.steps(step)


def early():
    """A GPU clock that goes 3 ms early."""
    run = plain(8, 200)()
    for row in run.rows:
        if row["cat"] == "kernel":
            row["ts"] -= 3000
    return run

def late():
    """The device's clock is 3 ms ahead: the host's waits return before the work they wait for has ended."""
    run = Program()

    def step(_):
        run.layers(duration=60, prepares=100)
        run.wait()
    run.steps(step)
    for row in run.rows:
        if row["cat"] == "kernel":
            row["ts"] += 3000
    return run


def served(steps):
    """A socket brings the work: to a loop of steps, or to a server."""
    run = Program()

    def step(_):
        run.layers(duration=60)
        run.wait()
        run.does("python_function", "<built-in method recv of socket object at 0x7f>", 8000)
    if steps:
        return run.steps(step)
    for number in range(8):
        step(number)
    return run


def tiny(count=4000):
    """A host that is far ahead of kernels of 2 us: 1.5 us lie between two that had been handed over."""
    run = Program()

    def step(_):
        for _ in range(count // 8):
            run.call("cudaLaunchKernel", 1)
            starts = max(run.now + 6, run.free.get(7, 0) + 1.5)
            run.free[7] = starts + 2
            run.row("kernel", ADD, starts, 2, 0, 7, correlation=run.calls, stream=7, device=0)
            run.now += 0.5
        run.wait()
    return run.steps(step)


def moves(name, category, call, kernel=200, host=0):
    """Copies or fills beside which nothing runs, on the same stream; then the host computes."""
    run = Program()

    def step(_):
        for _ in range(5):
            run.launch(name, 600, "aten::copy_", category=category, call=call)
            run.launch(duration=kernel)
        run.wait()
        if host:
            run.does("cpu_op", "acme::log", host)
    return lambda: run.steps(step)


def host_call(name):
    run = Program()

    def step(_):
        run.layers(duration=40)
        run.wait()
        run.call(name, 4000)
    return lambda: run.steps(step)


def one_step_behind():
    """The host waits for the end of the step before by its event: it is never late."""
    run = Program()
    ends = []

    def step(_):
        run.layers(20, duration=200)
        ends.append(run.free[7])
        run.call("cudaEventRecord", 2)
        if len(ends) > 1:
            run.call("cudaEventSynchronize", max(3, ends[-2] + 4 - run.now))
    return run.steps(step, 12)


def profiler():
    """The profiler asks for a buffer once a step."""
    run = Program()

    def step(_):
        run.layers(duration=60)
        run.wait()
        run.row("overhead", "Activity Buffer Request", run.now, 5000, process=-1, thread=0)
        run.now += 5000
    return run.steps(step)


def held_up(other, duration, category, name, call=False):
    """In each step the host is in one thing for a while, and another thread in something else just as long."""
    def make():
        run = Program()

        def step(_):
            run.layers(duration=60)
            run.wait()
            begin = run.now
            if call:
                run.launch(duration=60, prepares=8)
                run.rows[-3]["dur"] = run.rows[-3]["dur"] + duration
                run.rows[-2]["ts"] += duration
                run.rows[-1]["dur"] += duration
                run.now += duration
                run.free[7] += duration
            else:
                run.does("python_function", name, duration)
            run.calls += 1
            run.row(category, other, begin, duration + 40, thread=555, correlation=run.calls)
        return run.steps(step)
    return make


def samples_elsewhere():
    """The host takes batches from a queue that a thread of its own fills too slowly; a third thread only waits."""
    run = Program()

    def step(_):
        run.layers(duration=60)
        run.wait()
        begin = run.now
        run.row("python_function", "queue.py(154): get", begin, 6000)
        run.does("python_function", "<method 'acquire' of '_thread.lock' objects>", 6000)
        run.row("python_function", "acme/graph.py(50): sample_neighbours", begin - 300, 6200, thread=555)
        run.row("python_function", "threading.py(900): run", begin - 900, 8000, thread=777)
        run.row("python_function", "<method 'acquire' of '_thread.lock' objects>", begin - 890, 7900, thread=777)
    return run.steps(step)


def shared_gpu():
    """Another process has the GPU for 2 ms of every 4, to the end; nothing of it is recorded."""
    run = Program()

    def step(_):
        for _ in range(4):
            run.layers(10, duration=200)
            run.free[7] += 2000
    return run.steps(step, 12)


def slower_later():
    """From the tenth step on all kernels take 1.5 times as long."""
    run = Program()
    return run.steps(lambda number: run.layers(20, duration=200 if number < 9 else 300), 18)


def loads(once):
    """The loader is waited for in each step, or for long in the first."""
    run = Program()

    def step(number):
        if not once or number == 1:
            run.does("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
                     100_000 if once else 12_000)
        run.layers(duration=60)
        run.wait()
    return lambda: run.steps(step)


def compiles():
    """A kernel is compiled in the sixth of ten steps."""
    run = Program()

    def step(number):
        if number == 5:
            run.does("python_function", "triton/compiler/compiler.py(300): compile", 300_000)
        run.layers(duration=60)
        run.wait()
    return run.steps(step, 10)


def copies_beside():
    """Copies of the next batch on a stream of their own, which take longer than the kernels that wait for them."""
    run = Program()

    def step(_):
        run.launch("Memcpy HtoD (Pinned -> Device)", 12_000, "aten::copy_", stream=20, category="gpu_memcpy",
                   call="cudaMemcpyAsync")
        run.call("cudaEventRecord", 2)
        run.call("cudaStreamWaitEvent", 2)
        run.free[7] = max(run.free.get(7, 0), run.free[20])
        run.layers(50, duration=200)
        run.now = max(run.now, run.free[20] - 11_000)
    return run.steps(step, 12)


def rounded():
    """Frames one after the other whose times are whole microseconds, so that each begins before the last one ends."""
    run = Program()

    def step(_):
        run.layers(duration=60)
        run.wait()
        run.row("python_function", "model.py(3): prepare", run.now, 20.8)
        run.now += 20
        run.does("python_function", "acme/env.py(7): step", 8000)
    return run.steps(step)


def other_kernel():
    """One rank of four runs another, slower kernel in place of some that the others have."""
    traces = job(lambda *_: 0, ranks=4, slow=2)
    kernels = [row for row in traces[2]["traceEvents"] if row["name"] == GEMM]
    for row in kernels[::3]:
        row["name"] = "acme_fallback_kernel"
    return traces


def stages(shift_us=0):
    """A pipeline of four ranks, eight micro-batches: each sends on what it has computed. The third takes twice as long."""
    programs = [Program() for _ in range(4)]
    for batch in range(24):
        arrives = 0
        for rank, run in enumerate(programs):
            if rank > 0:  # the receive waits for the send
                transfer(run, f"p{rank}", max(run.free.get(7, 0) + 2, run.now + 12), arrives)
            run.layers(4, duration=200 if rank == 2 else 100)
            if rank < 3:
                begins = run.free[7] + 2
                later = programs[rank + 1]
                ends = max(begins, later.free.get(7, 0) + 2, later.now + 12) + 30
                transfer(run, f"p{rank + 1}", begins, ends)
                arrives = ends
    traces = []
    for rank, run in enumerate(programs):
        run.wait("cudaDeviceSynchronize")
        trace = run.trace()
        trace["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": 4}
        for row in trace["traceEvents"]:
            row["ts"] += shift_us * rank
        traces.append(trace)
    return traces


def saves():
    """A host that is always behind writes twice for 12 ms: half of the time is theirs, the rest is launching."""
    run = Program()

    def step(number):
        run.layers(60, duration=10)
        if number in (3, 7):
            run.does("python_function", "store/snapshot.py(10): write_state", 12_000)
    return run.steps(step, 12)


def cut(traces, rank=2, share=0.3):
    """One rank's recording ends early."""
    rows = sorted(traces[rank]["traceEvents"], key=lambda row: row["ts"])
    end = rows[0]["ts"] + share * (rows[-1]["ts"] - rows[0]["ts"])
    traces[rank]["traceEvents"] = [row for row in rows if row["ts"] + row["dur"] < end]
    return traces


def apart(traces):
    """The same ranks by clocks that are milliseconds apart."""
    for rank, trace in enumerate(traces):
        for row in trace["traceEvents"]:
            row["ts"] += 4000 * rank
    return traces


def other_vendor():
    """Calls and devices of a vendor that no table knows."""
    run = plain(20, 3)()
    for row in run.rows:
        row["name"] = row["name"].replace("cuda", "acme")
    return run


def struck_at_random():
    chance = random.Random(4)
    struck = [chance.randrange(8) for _ in range(20)]
    return job(lambda rank, step: 3000 if struck[step] == rank else 0)


# Graphs as the first advice.
GRAPHS = r"\b1 −[\d.]+ m?s [\d.]+ % up to (Replay each iteration as|Reduce launch overhead)"
# name: (program, cause, what the answer says, what it does not say)
SCENES = {
    "operator on the host": (one_thing("cpu_op", "acme::CpuStep"), "host", r"[78] × 8\.0. ms\) while acme::CpuStep runs on the host",
                             GRAPHS + "|Sync-bound"),
    "the host computes": (computes_itself("aten::lerp_"), "host",
                          r"while the CPU computes aten::lerp_\..*Move CPU computation.*aten::lerp_ runs on the CPU", GRAPHS),
    "slow views": (computes_itself("aten::view"), "host", "to launch the next kernel", "computes"),
    "code in every step": (loads_code(8), "cold_start", "No steady state: .* in 8 of 8 iterations", "schedule|record later"),
    "code in the first steps": (loads_code(5), "gpu", r"GPU-bound: kernels run 9\d\.\d % of 7\.4", "No steady state|Warm-up|initialization"),
    "label": (one_thing("user_annotation", "acme_exchange"), "host", "while the host is in (range |system call )?acme_exchange", GRAPHS),
    "label without operators": (one_thing("user_annotation", "acme_exchange", ops=False), "host", "acme_exchange", GRAPHS),
    "frame": (one_thing("python_function", "acme/env.py(7): step"), "host", r"acme/env.py\(7\): step runs", GRAPHS),
    "nothing recorded": (one_thing("", ""), "host", r"[78] × 8\.0. ms\) in host stalls that no recorded event explains.*Find what",
                         GRAPHS + "|CPU core"),
    "nothing recorded, no wait": (one_thing("", "", waits=False), "host", "in host stalls that no recorded event explains", GRAPHS),
    "nothing recorded, HIP": (one_thing("", "", hip=True, ops=False), "host", "in host stalls that no recorded event explains", GRAPHS),
    "a hole between two windows": (windows(17), None, r"of 19\.8 ms.*150 ms between 2 profiler windows not( +)recorded",
                                   r"what the host did|Find what|−15\d|1 × 1[45]\d|2 −7|×"),
    "a pause between two steps": (windows(7), "host", r"1 × 150 ms\) in host stalls that no recorded event explains.*Find what", "Without 1"),
    "a jump that a frame fills": (windows(17, frame=True), "host", r"evaluate\.py\(7\): evaluate runs", "Without 1"),
    "once": (once, "host", r"1 × 60\.0 ms\) while .*write_state runs on the host", GRAPHS + "|Sync-bound"),
    "stalls": (stalls, "host", r"host stalls leave the GPU idle [\d.]+ % of .* \(\d+ × ", GRAPHS + "|runs on the host|CPU core"),
    "blocking launches": (blocking(False), "sync", "launches are synchronous.*unset CUDA_LAUNCH_BLOCKING", "(largest|longest): cuda"),
    "blocking launches, HIP": (blocking(True), "sync", r"unset HIP_LAUNCH_BLOCKING", "CUDA"),
    "waits": (waits_often("cudaStreamSynchronize"), "sync", "(Remove synchronization|Avoid blocking copies|Avoid waiting)", "unrecorded host code to launch"),
    "waits by asking": (polls, "host", r"acme/env.py\(7\): step runs.*−2\.\d\d ms +9\.\d % simulated Run on a 1.3× faster CPU core",
                        "host, .*runtime call"),
    "a host that reads what a kernel wrote": (reads_what_a_kernel_wrote, "gpu", r"[12] −(18|19|20)\.\d ms.* Speed up gemm|[12] −1\d\.\d ms .* Speed up gemm",
                                              "CPU core|CUDA graph"),
    "a full launch queue": (full_queue, "gpu", r"2 −10\d ms 8\d\.\d % up to Speed up gemm", "CPU core"),
    "a function of short pieces": (short_pieces, "host", r"mostly in acme/pack.py\(51\): pack_tokens.*Shorten acme/pack",
                                   "one CUDA graph"),
    "a copy before each batch": (copies_each_batch, "gpu", r"kernels run (59|60)\.\d %.*copies are exposed for (39|40)\.\d %", "gaps between"),
    "collectives as long as kernels": (gathers_as_long_as_kernels, None, r"exposed for (49|50|51)\.\d %.*Overlap or reduce communication",
                                       "the GPU is busy"),
    "a function of short calls": (function_of_short_calls, "host", r"mostly in acme/beam.py\(9\): add.* 8\d\.\d % up to Shorten acme/beam",
                                  "one CUDA graph"),
    "compiles now and then": (compiles_now_and_then, "cold_start", "initialization recurs in 4 of 12 iterations", "one-time"),
    "short kernels between waits": (waits_between_short_kernels, "host", r"1 −\d\d\.\d ms +\d\d\.\d % up to (Reduce host work|Launch fewer)", "one CUDA graph"),
    "large batches now and then": (large_batches_now_and_then, "gpu", "kernels run 9.*Speed up gemm",
                                   "warm-up|autotuning"),
    "a poll that sleeps": (polls_with_a_sleep, "not_loaded", r"the program sleeps 4\d\.\d %.*Wait for the event", "CUDA graph|Host-bound"),
    "an optimizer of small kernels": (optimizer_of_small_kernels, "host", r"in range Optimizer\.step#RMSprop.*Update all parameters in few launches.*fused=True",
                                      "Replay each iteration"),
    "another thread with the interpreter": (interpreter_lock, "host", r"train_step runs on the host.*Move .*tokenize to another process.*GIL",
                                            "Shorten acme/train"),
    "allocations that fail first": (allocation_retries, "alloc", "expandable_segments:True", "empty_cache|CACHING"),
    "a model compiled in pieces": (graph_breaks, "host", r"Remove graph breaks.*TORCH_LOGS=graph_breaks", "fewer launches"),
    "drawing at the end": (drawing_at_the_end, "gpu", r"After the window only the CPU is active, for 4[12]\d ms, mostly in acme/draw.py", "Host-bound"),
    "collectives that kernels wait for": (gathers_that_kernels_wait_for, None, r"[345]\d\.\d % up to Overlap or reduce communication", "fewer, larger kernels"),
    "weights dequantized by kernels": (dequantizes, "gpu", "Speed up quantize kernels.*dequantizes inside", "fuses chains"),
    "sampling on the CPU": (samples_on_the_cpu, "host", r"1 −\d\d\.\d ms \d\d\.\d % up to Shorten aten::sort", "Remove synchronization|Avoid blocking copies"),
    "another process in between": (another_process_takes_turns, "unseen_device_work", "Another process on this GPU", "start from an idle GPU|from before the trace"),
    "a message that has not come": (one_thing("python_function", "zmq/sugar/socket.py(770): recv_multipart"), "not_loaded",
                                    "recv_multipart", "Shorten|CPU core"),
    "waits of no known name": (waits_often("acmeQueueDrain"), "sync", "(Remove synchronization|Avoid blocking copies|Avoid waiting)", "Host-bound"),
    "copies between longer kernels": (moves("Memcpy DtoD (Device -> Device)", "gpu_memcpy", "cudaMemcpyAsync", 1900, 2500), "gpu",
                                      r"GPU-bound: kernels run 6\d\.\d % .*\d+\.\d ms without copies.*2\d\.\d % up to Reduce device copies", "while the host"),
    "copies from pageable memory": (copies("Memcpy HtoD (Pageable -> Device)"), "copy", r"9\d\.\d % up to Reduce copies; pin memory",
                                    "(Remove synchronization|Avoid blocking copies|Avoid waiting)"),
    "copies to pageable memory": (copies("Memcpy DtoH (Device -> Pageable)"), "copy", r"9\d\.\d % up to Reduce (device )?copies",
                                  "(Remove synchronization|Avoid blocking copies|Avoid waiting)|DataLoader"),
    "copies of pinned memory": (copies("Memcpy HtoD (Pinned -> Device)"), "copy", "Transfer fewer bytes", "pin_memory|pin memory"),
    "busy GPU": (plain(5, 400), "gpu", "GPU-bound", "Host-bound"),
    "small kernels": (plain(20, 3), "host", "PyTorch dispatch.*CUDA graph", "pauses|not recorded"),
    "small kernels, HIP": (plain(20, 3, hip=True), "host", "HIP graph", "CUDA|pauses"),
    "a second GPU for a while": (second_gpu, "gpu", "2 GPUs while active, summed", r" ms on 2 GPUs"),
    "GPUs in turn": (in_turn(False), "gpu", "4 GPUs take turns; on average 1 of them.*Run the GPUs concurrently",
                     "Undetermined|Host-bound|gaps between queued"),
    "GPUs in turn, host waits": (in_turn(True), "gpu", "4 GPUs take turns; on average 1 of them", "Synchronization-bound|Host-bound"),
    "one thread for four GPUs": (fed_by_one(), "host", "Host-bound", "take turns|Undetermined"),
    "a late rank": (lambda: job(lambda rank, _: 3000 * (rank == 5)), "collective_wait", "^Rank 5 is late", "confidence low"),
    "a late rank, unknown collective": (lambda: job(lambda rank, _: 3000 * (rank == 5), "mixCCL_ring_k1"),
                                        "collective_wait", "^Rank 5 is late", "confidence low"),
    "two late ranks": (lambda: job(lambda rank, _: 3000 * (rank in (2, 5))), "collective_wait", "^Ranks 2 and 5 are late",
                       "confidence low"),
    "ranks struck at random": (struck_at_random, "collective_wait", "^No rank is later than the others, but their hosts stall",
                               "is late:|are late"),
    "a device's clock that is late": (late, "unseen_device_work", "host and GPU clocks disagree.*confidence low: CPU and GPU clocks differ by at least 3.00 ms", "another process|confidence high"),
    "steps that wait for a socket": (lambda: served(True), "not_loaded", "for an external event, in .*recv",
                                     "server|no work was submitted|CUDA graph"),
    "a server without requests": (lambda: served(False), "not_loaded", "no work was submitted.*A server", "CUDA graph"),
    "small kernels, another vendor": (other_vendor, "host", "runtime calls.*(graph per iteration, or fewer launches)", "CUDA|HIP"),
    "tiny kernels, host ahead": (tiny, "gpu", "by gaps between queued kernels", "Host-bound|CPU core"),
    "copies on the device": (moves("Memcpy DtoD (Device -> Device)", "gpu_memcpy", "cudaMemcpyAsync"), "copy",
                             "Reduce device copies use views and in-place", "pin"),
    "copies between devices": (moves("Memcpy PtoP (Device -> Device)", "gpu_memcpy", "cudaMemcpyPeerAsync"), "copy",
                               "GPU-to-GPU copies", "pin"),
    "fills": (moves("Memset (Device)", "gpu_memset", "cudaMemsetAsync"), "copy", "memory copies.*Reduce memory fills", "pin"),
    "pinned memory each step": (host_call("cudaHostAlloc"), "alloc", "one pinned buffer", "CACHING|empty_cache"),
    "an event, one step behind": (one_step_behind, "gpu", r"−24\.0 ms 4\d\.\d % up to Speed up gemm", "Synchronization-bound"),
    "the profiler's own pauses": (profiler, "host", "the profiler's Activity Buffer Request.*Profile with lower overhead", "with_stack"),
    "two writes in a busy host": (saves, "host", r"2 × 12\.0 ms\) while .*write_state.*−24\.0 ms .* Shorten .*one CUDA graph|2 × 12\.0 ms\) while .*write_state.*−24\.0 ms .* Shorten .*one CUDA graph", "Synchronization-bound"),
    "a slow rank, waits not recorded": (lambda: job(lambda *_: 0, stream=20, slow=3), None, "^Rank 3 (is late|makes the others wait)",
                                        "No rank is later"),
    "a lock that another thread holds": (held_up("tokenizer.py(40): encode_all", 7000, "python_function",
                                                 "<method 'acquire' of '_thread.lock' objects>"), "host",
                                         r"[78] × 7\.0. ms\) while the host waits in .*lock.acquire for tokenizer.py\(40\): encode_all",
                                         "runs on the host|CPU core"),
    "a wait of no known holder": (one_thing("python_function", "concurrent/futures/_base.py(428): result"), "host",
                                  r"the host waits in concurrent/futures/_base.py\(428\): result", "runs on the host|CPU core"),
    "a driver that another thread holds": (held_up("cudaHostAlloc", 6000, "cuda_runtime", "", call=True), "host",
                                           "another thread is in cudaHostAlloc.*Move cudaHostAlloc out of the loop", "gc.freeze"),
    "a queue that another thread fills": (samples_elsewhere, None,
                                          r"for another thread, which runs acme/graph.py\(50\): sample_neighbours.*Shorten acme/graph",
                                          "peer|runs threading"),
    "a GPU that another process uses": (shared_gpu, "unseen_device_work", "Another process on this GPU, or missing events",
                                        "earlier work|prof.start"),
    "slower from one step on": (slower_later, "gpu", "iterations from 10 are 1.5× the earlier ones", "Host-bound"),
    "a loader that is too slow": (loads(False), "input", "raise num_workers", "one wait of"),
    "a loader that starts": (loads(True), "input", "one wait of 100 ms", "raise num_workers"),
    "a server's scheduler": (one_thing("python_function", "srt/scheduler.py(20): get_next_batch_to_run"), "host",
                             "get_next_batch_to_run runs on the host", "input"),
    "sleeps": (one_thing("python_function", "<built-in function sleep>"), "not_loaded", "the program sleeps", "peer|Shorten"),
    "compiled in the middle": (compiles, "cold_start", "^Mid-run initialization.*Compile and autotune before the loop",
                               "warmup="),
    "copies that take longer than kernels": (copies_beside, "copy", "^Copy-bound: memory copies take 144 ms of .*Transfer fewer bytes",
                                             "gemm kernels lead"),
    "times of whole microseconds": (rounded, "host", r"[78] × 8\.0. ms\) while acme/env.py\(7\): step runs on the host",
                                    "not recorded"),
    "a rank with another kernel": (other_kernel, None, "^Rank 2 is late.* Its kernels take longer", "no sooner"),
    "a slow stage": (stages, None, "^Rank 2 is late.* Its kernels take longer", "No rank is later|not known"),
    "a slow stage, clocks apart": (lambda: stages(20_000), None, "^Rank 2 is late.*clocks moved by up to 60.0 ms",
                                   "No rank is later|not known"),
    "two late ranks, two reasons": (lambda: job(lambda rank, _: 3000 * (rank == 5), slow=2), None,
                                    "Rank 2's kernels take longer, all of them alike. Rank 5's host is late", "Their hosts"),
    "all ranks save": (lambda: job(lambda _, step: 30000 * (step % 8 == 3), held=("python_function", "acme/save.py(1): save_state")),
                       "host", r"Most of the idle time the hosts are in acme/save.py\(1\): save_state", "is late:"),
    "two ranks with other work": (lambda: job(lambda *_: 0, others=(6, 7)), None,
                                  "^Ranks 6 and 7, which run other work, make the others wait, last in 20 of 20", "No rank"),
    "a network that is slow for a while": (lambda: job(lambda *_: 0, transfer_us=lambda step: 500 if step < 17 else 8000), None,
                                           "3 of 20 all_reduce of one size take up to 8.00 ms, the others 500 µs", "is late:"),
    "one of the ranks is missing": (lambda: job(lambda rank, _: 3000 * (rank == 5))[:5], None,
                                    "no rank is later.*It is not known whether these wait for the ranks that are not here", "is late:"),
    "a rank that ends early": (lambda: cut(job(lambda *_: 0)), None, "^Rank 2 has rows for .* only", "confidence high"),
    "clocks of ranks apart": (lambda: apart(job(lambda rank, _: 3000 * (rank == 5))), "collective_wait",
                              r"^Rank 5 is late.*clocks moved by up to 28\.0 ms", "as recorded"),
    "clocks that differ": (early, None, r"confidence low: CPU and GPU clocks differ by at least [23]\.", "confidence high"),
}


SCENES |= FRAMEWORKS | VENDORS | JOBS

# Two jobs or runs compared: (A, B, what the screen says, what it must not say).
def kernels(factor):
    """Six kernels a step, all of them by one factor slower."""
    run = Program()

    def step(_):
        for number, name in enumerate(("gemm_a", "softmax_b", "norm_c", "rope_d", "gemm_e", "add_f")):
            run.launch(f"acme_{name}", (100 + 30 * number) * factor)
    return [run.steps(step, 12).trace()]


def reduces(beside):
    """An all-reduce of 2 ms beside the kernels of each step, or behind them."""
    run = Program()

    def step(_):
        if not beside:
            run.layers(20, duration=200)
            run.free[20] = max(run.free.get(20, 0), run.free[7])
        run.launch("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 2000, "c10d::allreduce_", stream=20)
        if beside:
            run.layers(20, duration=200)
        run.free[7] = max(run.free[7], run.free[20])
    return [run.steps(step, 12).trace()]


COMPARED = {
    "a collective that is no longer hidden": (lambda: reduces(True), lambda: reduces(False),
                                              r"ncclDevKernel_AllReduce\w+ \(\+[12]\.\d\d ms, no longer hidden\)", "Rank"),
    "every kernel is slower": (lambda: kernels(1), lambda: kernels(1.12), r"Every kernel takes 1\.12 times as long", "Rank"),
    "a rank becomes late": (lambda: job(lambda *_: 0), lambda: job(lambda rank, _: 3000 * (rank == 5)),
                            r"Rank 5 takes 1\.2\d ms longer per iteration by itself; the others wait longer for it",
                            "kernels ncclDevKernel|operations .*all_reduce"),
    "a late rank is mended": (lambda: job(lambda rank, _: 3000 * (rank == 2)), lambda: job(lambda *_: 0),
                              r"Rank 2 takes 1\.2\d ms less per iteration by itself; the others wait less for it",
                              "kernels ncclDevKernel"),
    "all ranks become slower": (lambda: job(lambda *_: 0), lambda: job(lambda *_: 3000), r"B is \d", "Ranks? [0-9]+ take|wait longer"),
}


def write_compared(name, folder):
    """The folders of two jobs."""
    sides = []
    for side, make in zip("ab", COMPARED[name]):
        sides.append(folder / f"{name} {side}".replace(" ", "_"))
        sides[-1].mkdir()
        for rank, trace in enumerate(make()):
            (sides[-1] / f"rank{rank}.json").write_text(json.dumps(trace))
    return sides


def compare(assay, name, sides):
    """What is wrong about the answer to two jobs."""
    _, _, says, says_not = COMPARED[name]
    screen = subprocess.run([assay, "diff", *sides, "--width", "200"], capture_output=True, text=True, check=True, timeout=60).stdout
    text = " ".join(screen.split("\nDiff\n")[0].split())
    problems = []
    if not re.search(says, text):
        problems.append(f"does not say {says}")
    if found := re.search(says_not, text):
        problems.append(f"says {found.group()}")
    return [f"{name}: {problem}\n{text}" for problem in problems]

# What single rooms say about a scene: verb, what stands there, what does not.
ROOMS = {
    # 150 ms of 170 were not recorded: no room counts them as idle time, or as time at all.
    "a hole between two windows": [
        ("breakdown", r"compute kernels span 19\.\d ms: 9\d\.\d % kernels, \d\.\d % idle", "1[57]\\d ms|152"),
        ("launch", r"IL, inference latency 19\.\d ms.*GPU idle, of IL \d\.\d %", "IL, inference latency 17"),
        ("overhead", r"ran no kernel for \d+ µs of 19\.\d ms \(T_e2e\)", "T_e2e 17"),
        ("whatif", r"compute is 9\d\.\d % of its critical path", "nothing being asked for is"),
        ("why", r"critical path of 19\.\d ms, compute takes 9\d\.\d %.*150 ms between 2 windows are left out",
         "stand nothing being asked"),
    ],
}


def check_rooms(assay, name, file):
    """What is wrong about single rooms' answers to a scene."""
    problems = []
    for verb, says, says_not in ROOMS.get(name, ()):
        screen = subprocess.run([assay, verb, file, "--width", "200"], capture_output=True, text=True, check=True, timeout=60).stdout
        # The summary of the input has the file's own span.
        text = " ".join(line.strip() for line in screen.splitlines() if not re.match("input: |xxh3|(checksum|span)", line.strip()))
        text = " ".join(re.sub(r"span \d+ ms, checksum", "", text).split())
        if not re.search(says, text):
            problems.append(f"{verb} does not say {says}\n{screen}")
        if found := re.search(says_not, text):
            problems.append(f"{verb} says {found.group()}\n{screen}")
    return [f"{name}: {problem}" for problem in problems]


MOST_LINES = 15  # of the answer on a screen of 80 columns


@functools.cache
def made_of(name):
    """What a scene makes. Made once: those who make it go on where they were."""
    return SCENES[name][0]()


def write_scene(name, folder):
    """The folder of a scene: what its recorder writes, or a Chrome trace per rank."""
    made = made_of(name)
    file = folder / name.replace(" ", "_")
    file.mkdir()
    if hasattr(made, "write"):
        made.write(file)
        return file
    for rank, trace in enumerate(made if isinstance(made, list) else [made.trace()]):
        (file / f"rank{rank}.json").write_text(json.dumps(trace))
    return file


# The first part of a headline's code, by the kind of the answer.
HEADLINES = {"gpu": "gpu_bound", "host": "host_bound", "input": "data_loading_bound", "sync": "sync_bound",
             "alloc": "allocation_bound", "cold_start": "warmup_bound", "unseen_device_work": "undetermined",
             "collective_wait": "comm_bound", "communication": "comm_bound", "copy": "copy_bound", "not_loaded": "no_work",
             "too_little": "insufficient_data", "no_gpu": "no_gpu_work", "no_host": "no_host_data|insufficient_data",
             "migration": "migration_bound"}


# Findings on ranks that the finding before names.
OF_LATE_RANKS = ("job.more_work", "job.kernels_longer", "job.kernels_longer_alike", "job.host_slower", "job.host_stalls")


def check_job_findings(answer):
    """Where the findings of a job differ from the screen: each is a sentence there and names the ranks that it is about."""
    def plain(text):  # the screen may end a sentence at a colon
        return re.sub(r"[^a-z0-9]+", " ", text.lower())
    said = plain(" ".join(answer["headline"] + answer["details"]))
    problems = [f"{one['code']} is not on the screen: {one['text']}" for one in answer["findings"]
                if plain(one["text"]) not in said]
    for one in answer["findings"]:
        ranks = [subject["name"] for subject in one["subjects"] if subject["kind"] == "rank"]
        if one["code"] == "job.late" and not ranks:
            problems.append("a late rank is no subject")
        if one["code"] not in OF_LATE_RANKS:
            problems += [f"{one['code']} does not name rank {rank}" for rank in ranks[:4] if rank not in one["text"]]
    return problems


def check_findings(answer):
    """Where the diagnosis as data differs from the screen."""
    findings = answer["findings"]
    if not findings or findings[0]["code"].startswith("job."):
        return check_job_findings(answer)
    problems = []
    headline = findings[0]
    if headline["role"] != "headline" or sum(one["role"] == "headline" for one in findings) != 1:
        problems.append("the findings do not begin with the one headline")
    if headline["code"].split(".")[0] not in HEADLINES[answer["bottleneck"]].split("|"):
        problems.append(f"the headline {headline['code']} is not of kind {answer['bottleneck']}")
    gains = [one["values"]["gain_ns"] for one in findings if one["role"] == "action"]
    if any(lever["gain_ns"] not in gains for lever in answer["actions"]):
        problems.append("a lever is no action")
    heads = [one["code"].split(".")[1] for one in findings if one["role"] == "note"]
    if heads != [note["head"] for note in answer["notes"]]:
        problems.append(f"notes {heads} are not those of the screen")
    for one in findings:
        if one["text"] == one["code"] or len(one["text"]) > 160 and one["role"] == "headline":
            problems.append(f"{one['code']} reads {one['text']}")
    return problems


def check(assay, name, file):
    """What is wrong about the answer to a scene."""
    _, cause, says, says_not = SCENES[name]
    screen = subprocess.run([assay, file, "--width", "200"], capture_output=True, text=True, check=True, timeout=60).stdout
    report = json.loads(subprocess.run([assay, file, "--format", "json"], capture_output=True, text=True, check=True,
                                       timeout=60).stdout)
    text = " ".join(screen.split())
    problems = []
    narrow = subprocess.run([assay, file, "--width", "80"], capture_output=True, text=True, check=True, timeout=60).stdout
    if len(narrow.splitlines()) > MOST_LINES:
        problems.append(f"{len(narrow.splitlines())} lines")
    if cause is not None and report["bottleneck"] != cause:
        problems.append(f"the cause is {report['bottleneck']}, not {cause}")
    problems += check_findings(report["summary"])
    if not re.search(says, text):
        problems.append(f"does not say {says}")
    if found := re.search(says_not, text):
        problems.append(f"says {found.group()}")
    return [f"{name}: {problem}\n{screen}" for problem in problems] + check_rooms(assay, name, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", required=True)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    problems = []
    names = [name for name in SCENES if arguments.only in name]
    compared = [name for name in COMPARED if arguments.only in name]
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            problems += check(arguments.assay, name, write_scene(name, pathlib.Path(folder)))
        for name in compared:
            problems += compare(arguments.assay, name, write_compared(name, pathlib.Path(folder)))
    print("\n".join(problems))
    print(f"{len(names) + len(compared)} scenes, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
