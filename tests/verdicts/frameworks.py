"""Made-up runs in the shapes of frameworks and of what goes wrong in them: compiled programs, servers, graphs, offload,
training loops, and jobs of ranks. Each entry: (program, cause, what the answer says, what it does not say)."""

import random

from made_up import ADD, GEMM, Program, job_of, meet, of_ranks, transfer

TO_HOST, FROM_HOST = "Memcpy DtoH (Device -> Pageable)", "Memcpy HtoD (Pageable -> Device)"
REDUCE, GATHER = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "ncclDevKernel_AllGather_RING_LL"
LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
FLASH = "flash_fwd_kernel<Flash_fwd_kernel_traits<128>>"


def steps(step, count=12, **program):
    """A program that goes through its steps: step(run, number)."""
    def make():
        run = Program(**program)
        return run.steps(lambda number: step(run, number), count)
    return make


def copies(run, name, duration=2, op="aten::copy_", around=None, call="cudaMemcpyAsync", blocks=True, **launch):
    """A copy whose call returns when the bytes have moved, within an operator."""
    begin = run.now
    run.launch(name, duration, op, blocks=blocks, category="gpu_memcpy", call=call, **launch)
    if around:
        run.row("cpu_op", around, begin, run.now - begin)


def item(run, name=TO_HOST, call="cudaMemcpyAsync"):
    copies(run, name, 2, "aten::_local_scalar_dense", "aten::item", call)


def graph(run, count, each, call="cudaGraphLaunch", name=GEMM):
    """One launch of a graph of kernels one after the other."""
    run.call(call, 12)
    starts = max(run.now + 8, run.free.get(7, 0) + 1.5)
    for i in range(count):
        run.row("kernel", f"{name}_{i % 7}", starts, each, 0, 7, correlation=run.calls, stream=7, device=0,
                **{"graph node id": i + 1})
        starts += each + 1
    run.free[7] = starts - 1


# ---- compiled programs and servers -----------------------------------------------------------------------------------

def jax_python(run, _):
    """Python prepares each call of a compiled function."""
    begin = run.now
    run.does("python_function", "jax/_src/pjit.py(320): cache_miss", 4000)
    for i in range(20):
        run.launch(f"gemm_fusion_dot_{i}" if i % 2 else f"loop_add_fusion_{i}", 100, prepares=2, call="cuLaunchKernel")
    run.row("cpu_op", "PjitFunction(train_step)", begin, run.now - begin)
    run.wait("cuStreamSynchronize")


def jax_thunks(run, _):
    """One executable a step, whose 400 small kernels one thread launches one by one."""
    begin = run.now
    for i in range(400):
        run.launch(f"loop_fusion_{i}", 6, prepares=7, call="cuLaunchKernel")
    run.row("cpu_op", "PjRtStreamExecutorLoadedExecutable::Execute", begin, run.now - begin)


def batching_server(run, _):
    begin = run.now
    graph(run, 200, 15)
    run.wait()
    run.row("user_annotation", "executeBatch: forwardAsync", begin, run.now - begin)
    run.does("user_annotation", "InflightBatching::updateRequests", 2500)


def between_graphs(run, _, hip=False):
    for _ in range(4):
        graph(run, 60, 20, *(("hipGraphLaunch", "Cijk_Ailk") if hip else ()))
        run.wait("hipStreamSynchronize" if hip else "cudaStreamSynchronize")
        run.does("python_function", "acme/engine.py(88): prepare_inputs", 900)


def custom_kernels(run, _):
    for i in range(60):
        run.does("python_function", "triton/runtime/jit.py(572): run", 70)
        run.launch("_layer_norm_fwd_kernel" if i % 2 else "_matmul_kernel", 20, prepares=2, call="cuLaunchKernelEx")


def speculative(run, _):
    """Five drafts, one check, and the host reads how many were accepted."""
    for _ in range(5):
        graph(run, 20, 8, name="draft")
    graph(run, 100, 12, name="verify")
    item(run)
    run.does("python_function", "acme/spec.py(40): accept_tokens", 700)


def swapped_cache(run, _):
    copies(run, "Memcpy DtoH (Device -> Pinned)", 9000, blocks=False, stream=20)
    run.layers(30, duration=150)
    run.free[7] = max(run.free[7], run.free[20])
    run.call("cudaEventRecord", 2)
    run.call("cudaStreamWaitEvent", 2)
    run.launch(duration=50)
    run.wait()


def tokenizes(run, _):
    run.does("python_function", "transformers/tokenization_utils_base.py(2800): __call__", 1800)
    run.layers(10, duration=100)
    run.wait()


# ---- copies and waits ------------------------------------------------------------------------------------------------

def small_to_host(run, _):
    """A hundred small results a step, each of which the host waits for."""
    for _ in range(100):
        run.launch(duration=8, prepares=8)
        copies(run, TO_HOST, around="aten::to")
        run.now += 10


def small_to_host_and_wait(run, _):
    """The same as some frameworks do it: a copy, and a wait for its stream."""
    for _ in range(60):
        run.launch(duration=60, prepares=8)
        begin = run.now
        copies(run, TO_HOST, blocks=False)
        run.wait()
        run.row("cpu_op", "aten::to", begin, run.now - begin)
        run.now += 60


def small_from_host(run, _):
    for _ in range(100):
        copies(run, FROM_HOST, around="aten::_to_copy", prepares=4)
        run.launch(duration=8, prepares=8)


def offload(run, _):
    for _ in range(4):
        run.layers(6, duration=100)
        copies(run, TO_HOST, 3000)


def items_of_hip(run, _):
    for _ in range(30):
        run.launch("Cijk_Ailk_Bljk_BBS_BH_MT128x128x32", 60)
        run.launch("void at::native::reduce_kernel<512, 1>", 10, "aten::sum")
        item(run, "Memcpy DtoH (Device -> Host)", "hipMemcpyWithStream")
        run.does("", "", 90)


def cpu_embedding(run, _):
    run.does("cpu_op", "aten::_embedding_bag", 5000)
    copies(run, FROM_HOST, 300)
    run.layers(20, duration=100)


def cpu_optimizer(run, _):
    run.layers(30, duration=150)
    copies(run, "Memcpy DtoH (Device -> Pinned)", 3000, blocks=False)
    run.wait()
    run.does("cpu_op", "DeepSpeedCPUAdam::step_plus_copy", 12_000)
    copies(run, "Memcpy HtoD (Pinned -> Device)", 3000, blocks=False)


def host_functions(run, _):
    """A function of the host on the stream, for which the device waits; it has no row."""
    for _ in range(6):
        run.layers(4, duration=80)
        run.call("cudaLaunchHostFunc", 8)
        run.free[7] = max(run.free[7], run.now) + 700


def event_of_results(run, _):
    run.layers(20, duration=100)
    copies(run, "Memcpy DtoH (Device -> Pinned)", 20, blocks=False)
    run.wait("cudaEventSynchronize")
    run.does("cpu_op", "torchvision::nms_cpu", 1500)


# ---- training loops --------------------------------------------------------------------------------------------------

def accumulation(run, _):
    """Four micro-batches keep the GPU busy; then the optimizer launches 300 small kernels."""
    for _ in range(4):
        run.layers(20, duration=120)
    run.wait()
    begin = run.now
    for _ in range(300):
        run.launch("void at::native::multi_tensor_apply_kernel", 3, "aten::addcdiv_", prepares=22)
    run.row("user_annotation", "Optimizer.step#AdamW.step", begin, run.now - begin)


def workers_start(run, number):
    """The loader begins anew in one step of six."""
    run.does("user_annotation", LOADER, 150_000 if number % 6 == 2 else 50)
    run.layers(60, duration=120)


def checkpoint(run, number):
    run.layers(40, duration=200)
    if number != 9:
        return
    begin = run.now
    for _ in range(30):
        copies(run, TO_HOST, 2500)
    run.does("python_function", "<built-in method write_record>", 120_000)
    run.row("python_function", "torch/serialization.py(600): save", begin, run.now - begin)


def saves_beside(run, number):
    """Another thread saves, and nobody waits for it."""
    if number % 8 == 3:
        run.row("python_function", "torch/serialization.py(600): save", run.now, 40_000, thread=555)
    run.layers(30, duration=200)


def communicator(run, number):
    if number == 1:
        run.does("user_annotation", "ncclCommInitRankConfig", 1_500_000)
    run.layers(40, duration=60)


def unnamed_start(run, number):
    """The same of a label that says nothing to the tool."""
    if number == 1:
        run.does("user_annotation", "acme_rendezvous", 1_500_000)
    run.layers(40, duration=60)


def square_products(duration, kernel="sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas"):
    """Products of 4096 x 4096 in BF16: 137 GFLOP, 139 us at the peak of an H100."""
    def step(run, _):
        for _ in range(20):
            run.launch(kernel, duration,
                       **{"Input Dims": [[4096, 4096], [4096, 4096]], "Input type": ["c10::BFloat16", "c10::BFloat16"]})
    return step


def new_shapes(run, number):
    """One operator tunes itself in one step of four."""
    run.launch("implicit_convolve_sgemm", 80, "aten::cudnn_convolution", prepares=120_000 if number % 4 == 2 else 10)
    run.layers(40, duration=80)


def full_cache(run, number):
    """The allocator's cache runs full in one step of five."""
    run.layers(40, duration=150)
    if number % 5 != 3:
        return
    run.wait("cudaDeviceSynchronize")
    for call, each in (("cudaFree", 1200), ("cudaMalloc", 900)):
        for _ in range(12):
            run.call(call, each)


def compiled_before(run, number):
    """What is compiled before anything is asked of the GPU is no part of the window."""
    if number == 0:
        run.does("python_function", "torch/_dynamo/convert_frame.py(560): _compile_inner", 900_000)
    run.layers(40, duration=30, prepares=10)


def evaluates():
    run = Program().steps(lambda _: None, 0)
    run.steps(lambda _: run.layers(40, duration=200))
    begin = run.now
    for _ in range(30):
        run.layers(20, duration=20, prepares=40)
        item(run)
        run.does("python_function", "acme/metrics.py(3): update", 1500)
    run.row("user_annotation", "evaluate", begin, run.now - begin)
    return run


def fully_sharded(run, _):
    """A gather before each layer, for which the layer waits."""
    for _ in range(12):
        run.free[20] = max(run.free.get(20, 0), run.free.get(7, 0))
        run.launch(GATHER, 900, "c10d::_allgather_base_", stream=20)
        run.call("cudaStreamWaitEvent", 2)
        run.free[7] = max(run.free.get(7, 0), run.free[20])
        run.layers(6, duration=100)


def hidden_reduces(run, _):
    run.layers(20, duration=200)
    for _ in range(5):
        run.launch(REDUCE, 700, "c10d::allreduce_", stream=20)
        run.layers(6, duration=150)


# ---- devices and hosts that are not as usual -------------------------------------------------------------------------

def slow_now_and_then():
    """Of 30 attention kernels a step one in fifteen takes twelve times as long, whichever it is."""
    chance = random.Random(5)

    def step(run, _):
        for _ in range(30):
            run.launch(FLASH, 1200 if chance.random() < 1 / 15 else 100, "aten::_flash_attention")
            run.launch(duration=60)
    return steps(step, 20)()


def ragged():
    """Attention whose time follows the lengths of a batch."""
    chance = random.Random(1)

    def step(run, _):
        for _ in range(20):
            run.launch(FLASH, int(chance.lognormvariate(4.6, 0.6)), "aten::_flash_attention")
            run.launch(duration=60)
    return steps(step, 20)()


def slow_in_place(run, _):
    """Two of 30 that are larger in each step: other work under one name."""
    for i in range(30):
        run.launch(FLASH, 1200 if i in (3, 17) else 100, "aten::_flash_attention")
        run.launch(duration=60)


def far_device(run, _):
    """Every launch takes 400 us to come to the device; the host needs 60 us for a kernel of 20."""
    for i in range(60):
        begin = run.now
        run.now += 50
        starts = max(run.now + 400, run.free.get(7, 0) + 1.5)
        run.free[7] = starts + 20
        run.call("cudaLaunchKernel", 5)
        run.row("kernel", GEMM if i % 2 else ADD, starts, 20, 0, 7, correlation=run.calls, stream=7, device=0)
        run.now += 5
        run.row("cpu_op", "aten::mm" if i % 2 else "aten::add", begin, run.now - begin)


def neighbour():
    """Another process's kernels come between half of ours."""
    chance = random.Random(3)

    def step(run, _):
        for _ in range(60):
            if chance.random() < 0.5:
                run.free[7] = max(run.free.get(7, 0), run.now) + 150
            run.launch(duration=60)
    return steps(step)()


def few_cores():
    """Whatever the host does is now and then some milliseconds late."""
    chance = random.Random(7)

    def step(run, _):
        for _ in range(60):
            run.launch(duration=40, prepares=chance.uniform(2000, 6000) if chance.random() < 0.06 else 25)
    return steps(step, 20)()


def two_streams(run, _):
    for _ in range(40):
        run.launch(GEMM, 150, stream=7)
        run.launch(ADD, 150, "aten::add", stream=20)


def watched(run, _):
    """A thread of the framework asks for events all the time; the GPU is busy."""
    begin = run.now
    run.layers(30, duration=200)
    while begin < run.free[7]:
        run.calls += 1
        run.row("cuda_runtime", "cudaEventQuery", begin, 2, thread=999, correlation=run.calls)
        begin += 150


def interpreter(run, _):
    """Another thread of Python runs while the one that launches shows nothing."""
    run.layers(20, duration=60)
    run.wait()
    run.row("python_function", "acme/metrics.py(40): aggregate", run.now, 3000, thread=555)
    run.does("", "", 3000)


# ---- jobs ------------------------------------------------------------------------------------------------------------

def all_ranks(work, ranks=4, count=12):
    """Ranks that all do the same work, and reduce: work(run)."""
    def step(runs, _):
        for run in runs:
            work(run)
        meet(runs, REDUCE, "allreduce", 300)
    return lambda: job_of(ranks, count, step)


def each_rank(work, ranks=8, count=16):
    """Ranks that do different work, and wait for each other: work(rank, run, step)."""
    def step(runs, number):
        for rank, run in enumerate(runs):
            work(rank, run, number)
        meet(runs, REDUCE, "allreduce", 500, waits=True)
    return lambda: job_of(ranks, count, step)


def sharded():
    def step(runs, _):
        for _ in range(8):
            meet(runs, GATHER, "_allgather_base", 800)
            for run in runs:
                run.layers(4, duration=120)
    return job_of(8, 10, step)


def three_things(run):
    run.layers(20, duration=60)
    run.wait()
    run.does("python_function", "acme/save.py(1): save_state", 5000)
    run.does("python_function", "acme/log.py(9): write_metrics", 2500)
    run.does("cpu_op", "acme::CpuPack", 1800)


def items(run):
    for _ in range(20):
        run.launch(duration=50)
        item(run)
        run.now += 60


def starved(run):
    run.does("user_annotation", LOADER, 6000)
    run.layers(40, duration=80)
    run.wait()


def replays(run):
    graph(run, 60, 30)
    run.wait()
    run.does("python_function", "acme/engine.py(88): prepare_inputs", 2000)


def copies_first(run):
    copies(run, FROM_HOST, 3000)
    run.layers(20, duration=100)


def allocates(run):
    for _ in range(20):
        run.call("cudaMalloc", 120)
        run.launch(duration=50)
        run.call("cudaFree", 110)


def recorder():
    def step(runs, number):
        for run in runs:
            run.layers(20, duration=100)
            if number == 7:
                run.row("overhead", "Activity Buffer Request", run.now, 20_000, process=-1, thread=0)
                run.now += 20_000
        meet(runs, REDUCE, "allreduce", 300)
    return job_of(4, 12, step)


def held_by(names):
    """Hosts of some ranks that do one thing more: rank -> frame."""
    def work(rank, run, _):
        run.layers(20, duration=100)
        if rank in names:
            run.does("python_function", names[rank], 3000)
    return each_rank(work)


def two_kernels(rank, run, _):
    for i in range(20):
        slow = (rank, i % 2) in ((2, 0), (5, 1))
        run.launch("acme_attention" if i % 2 else GEMM, 200 if slow else 100)


def slow_loader(rank, run, _):
    run.does("user_annotation", LOADER, 4000 if rank == 3 else 60)
    run.layers(20, duration=100)


def slow_host(rank, run, _):
    run.layers(40, duration=20, prepares=60 if rank == 3 else 30)


def evaluates_alone(rank, run, step):
    run.layers(20, duration=100)
    if rank == 0 and step == 11:
        for _ in range(60):
            run.launch("acme_eval_kernel", 900)


def uneven_experts():
    chance = random.Random(9)

    def step(runs, _):
        for _ in range(3):
            meet(runs, "ncclDevKernel_SendRecv", "all_to_allv", 150)
            for run in runs:
                run.launch("acme_grouped_gemm_moe", chance.choice([200, 300, 400, 1800]))
                run.layers(4, duration=60)
            meet(runs, "ncclDevKernel_SendRecv", "all_to_allv", 150)
    return job_of(8, 16, step)


def hosts_and_one():
    """All hosts are slow; one is a little slower."""
    def step(runs, _):
        for rank, run in enumerate(runs):
            run.layers(60, duration=12, prepares=30)
            if rank == 1:
                run.does("python_function", "acme/log.py(3): note", 400)
        meet(runs, REDUCE, "allreduce", 200)
    return job_of(4, 12, step)


def bubbles(stages=4, batches=4):
    """A pipeline of equal stages: all forward, then all backward."""
    runs = [Program() for _ in range(stages)]

    def sends(a, b, name):
        begins = [max(run.free.get(7, 0) + 2, run.now + 12) for run in (runs[a], runs[b])]
        for run, begin in zip((runs[a], runs[b]), begins):
            transfer(run, name, begin, max(begins) + 30)
    for _ in range(8):
        for _ in range(batches):
            for stage in range(stages):
                if stage:
                    sends(stage - 1, stage, f"f{stage}")
                runs[stage].layers(4, duration=150)
        for _ in range(batches):
            for stage in reversed(range(stages)):
                if stage < stages - 1:
                    sends(stage + 1, stage, f"b{stage}")
                runs[stage].layers(4, duration=300)
    return of_ranks(runs)


def pairs(work_us=lambda rank: 100, transfer_us=lambda pair: 500, layers=1, count=16):
    """Pairs of ranks that reduce after each layer, and all that gather after each step."""
    runs = [Program() for _ in range(8)]
    for _ in range(count):
        for _ in range(layers):
            for pair in range(4):
                both = runs[2 * pair:2 * pair + 2]
                for side, run in enumerate(both):
                    run.layers(24 // layers, duration=work_us(2 * pair + side))
                meet(both, REDUCE, "allreduce", transfer_us(pair),
                     **{"Process Group Name": f"tp{pair}", "Process Group Ranks": str([2 * pair, 2 * pair + 1])})
        meet(runs, GATHER, "_allgather_base", 100)
    return of_ranks(runs)


# Levers of a job that leave most of the others' lines out on a screen of 80 columns are no part of this.
SCENES = {
    "compiled, Python between": (steps(jax_python, ops=False), "host", r"8 × 4\.0. ms|1[12] × 4\.0. ms\) while .*cache_miss",
                                 r"torch|\.item"),
    "compiled, one by one": (steps(jax_thunks, ops=False), "host", "XLA_FLAGS=--xla_gpu_enable_command_buffer",
                             "one jax.jit|torch"),
    "a batching server": (steps(batching_server, ops=False), "host", r"1[12] × 2\.50 ms\) while the host is in (range |system call )?Inflight", "torch"),
    "between graphs": (steps(between_graphs), "host", "while acme/engine.py.*prepare_inputs runs on the host", "one CUDA graph"),
    "between graphs, HIP": (steps(lambda run, _: between_graphs(run, _, True), hip=True), "host",
                            "prepare_inputs runs on the host", "CUDA|one HIP graph"),
    "kernels of a compiler in Python": (steps(custom_kernels, ops=False), "host", "mostly in triton/runtime/jit.py.*Shorten",
                                        "Warm-up|[Cc]ompile"),
    "speculative decoding": (steps(speculative), "gpu", "without the host.*use pinned memory and non_blocking=True.*Shorten acme/spec.py.*accept_tokens", "one CUDA graph"),
    "a cache that is swapped out": (steps(swapped_cache), "copy", "Copy-bound.*Transfer fewer bytes", "pin memory"),
    "a tokenizer": (steps(tokenizes), "host", "__call__ runs on the host", "CUDA graph"),
    "small copies to pageable memory": (steps(small_to_host), None,
                                        "Avoid blocking copies to pageable memory largest: aten::to; use pinned memory", "one CUDA graph"),
    "small copies and waits": (steps(small_to_host_and_wait), "sync", "copies to pageable memory.*use pinned memory and non_blocking=True",
                               "one CUDA graph"),
    "small copies from pageable memory": (steps(small_from_host), "host",
                                          "calls that copy from pageable memory and PyTorch dispatch.*pin memory",
                                          "one CUDA graph"),
    "offload to pageable memory": (steps(offload), "copy", "Reduce copies; pin memory", "(Remove synchronization|Avoid blocking copies|Avoid waiting)"),
    "items, HIP": (steps(items_of_hip, hip=True), "host", "in aten::item; skip it unless the value is needed now", "CUDA"),
    "an embedding on the CPU": (steps(cpu_embedding), "host", "_embedding_bag runs on the host.*run on the CPU", "CUDA graph"),
    "an optimizer on the CPU": (steps(cpu_optimizer), "host", "DeepSpeedCPUAdam::step_plus_copy runs on the host", "CUDA graph"),
    "host functions on a stream": (steps(host_functions, ops=False), "unseen_device_work", r"Host functions on a stream \(72",
                                   "Another process"),
    "results by an event": (steps(event_of_results), "host", "nms_cpu runs on the host", "one CUDA graph"),
    "an optimizer of small kernels": (steps(accumulation), "host", r"mostly in Optimizer\.step#AdamW\.step.*fused=True", "not recorded"),
    "loader workers that start anew": (steps(workers_start, 24), "input", "4 waits of 11. ms in a few iterations: persistent_workers",
                                       "raise num_workers"),
    "a checkpoint": (steps(checkpoint, 20), "host", r"1 × 120 ms\) while .*write_record", "Synchronization-bound"),
    "a checkpoint beside": (steps(saves_beside, 20), "gpu", "GPU-bound", "save"),
    "a communicator": (steps(communicator, 10), "cold_start", "longest: ncclCommInitRankConfig.*Create process groups", "not recorded"),
    "a long label": (steps(unnamed_start, 10), "host", r"1 × 1\.50 s\) while the host is in (range |system call )?acme_rendezvous.*iteration 2 is 6\d\d× the median",
                     r"not recorded|e\+"),
    "products near the roofline": (steps(square_products(160)), "gpu",
                                   r"1 +−[\d.]+ ms 39\.\d % +up to +Multiply in FP8.*1\d\.\d % +up to +Speed up gemm kernels \(86\.\d % of roofline\)",
                                   r"9\d\.\d % +up to"),
    "products of an unknown kind of kernel": (steps(square_products(700, "acme_unlisted_kernel")), "gpu",
                                              r"Speed up acme_unlisted_kernel", r"Speed up +kernels"),
    "products far from the roofline": (steps(square_products(700)), "gpu",
                                       r"1 +−[\d.]+ ms 7\d\.\d % +up to +Speed up gemm kernels \(19\.\d % of roofline\)",
                                       r"9\d\.\d % +up to"),
    "new shapes": (steps(new_shapes, 16), "host", r"4 × 1.. ms\) while aten::cudnn_convolution.*rare", "on the CPU"),
    "a cache that runs full": (steps(full_cache, 20), "alloc", "expandable_segments:True; the allocator ran out of cached memory", "unset"),
    "compiled before the window": (steps(compiled_before, 10), "gpu", "GPU-bound.*Before the window only the CPU is active, for 90[0-9] ms",
                                   "Warm-up"),
    "an evaluation": (evaluates, "host", "acme/metrics.py.*update runs on the host.*Avoid blocking copies to pageable memory", "Synchronization-bound"),
    "sharded, no prefetch": (steps(fully_sharded, 10), "collective_wait", "Communication-bound.*One rank cannot separate", "Host-bound"),
    "hidden reduces": (steps(hidden_reduces), "gpu", "GPU-bound: kernels run", "communication"),
    "kernels slow now and then": (slow_now_and_then, "gpu", r"\d+ of 600 launches of flash_fwd_kernel take up to 12×", "Undetermined"),
    "kernels as long as their data": (ragged, "gpu", "attention kernels take", "×"),
    "kernels slow in their place": (steps(slow_in_place, 20), "gpu", "attention kernels take", "×"),
    "a clock that falls for a while": (lambda: steps(lambda run, n: run.layers(20, duration=330 if 7 <= n < 13 else 200), 20)(), "gpu",
                                       r"iterations 8 to 13 take 1\.6.× as long", "Undetermined"),
    "a far device": (steps(far_device), "host", "PyTorch dispatch.*launch latency is [34]..? µs", "not recorded"),
    "a neighbour on the GPU": (neighbour, "unseen_device_work", "Another process on this GPU", "arrive"),
    "few cores": (few_cores, "host", "host stalls leave the GPU idle.*Remove host stalls", "faster"),
    "two busy streams": (steps(two_streams, 10), "gpu", "Concurrent elementwise kernels take", "Host-bound"),
    "a thread that watches": (steps(watched, 10), "gpu", "GPU-bound", "Synchronization-bound|Host-bound"),
    "the interpreter's lock": (steps(interpreter), "host", r"another thread is in .*aggregate: contention on the GIL", "one CUDA graph"),
    "job: sharded": (sharded, "communication", r"1 −64\.0 ms 62\.1 % up to Hide or shrink transfers first all_gather, 80 × 800 µs",
                     "is late:|Cheaper.*Hide"),
    "job: slow hosts": (all_ranks(lambda run: run.layers(60, duration=12, prepares=35)), "host",
                        r"each: dispatch 45\.\d %, runtime API 10\.\d %.*1 −17\.\d ms .*Replay each iteration as one CUDA graph", "is late:"),
    "job: three things": (all_ranks(three_things), "host", r"save_state \(46\.\d %\), then acme/log.py\(9\): write_metrics \(23\.\d %\) and "
                          r"acme::CpuPack \(16\.\d %\).*1 −112 ms", "is late:"),
    "job: items": (all_ranks(items), "sync", "1 −1.* Avoid blocking copies to pageable memory", "Host-bound"),
    "job: starved": (all_ranks(starved), "input", "Input-bound.*1 −6.* Overlap data loading", "is late:"),
    "job: busy": (all_ranks(lambda run: run.layers(40, duration=250)), "gpu", r"1 −60\.0 ms .*Speed up gemm kernels", "is late:"),
    "job: graphs": (all_ranks(replays), "host", r"1 −24\.0 ms .*Shorten acme/engine.py\(88\): prepare_inputs", "one CUDA graph"),
    "job: copies": (all_ranks(copies_first), "copy", r"only copy 56\.\d %.*1 −36\.0 ms .*pin memory", "is late:"),
    "job: the profiler": (recorder, "gpu", "the hosts are in the profiler's Activity Buffer Request.*Profile with lower overhead",
                          "no recorded host activity"),
    "job: allocation": (all_ranks(allocates), "alloc", r"cudaMalloc \(4\d\.\d %\), then cudaFree \(2\d\.\d %\).*1 −.* Reuse GPU memory",
                        "is late:"),
    "job: two hosts": (held_by({2: "acme/save.py(1): save_state", 5: "acme/tokenize.py(7): encode"}), None,
                       r"^Ranks 2 and 5 are late.*Rank 2's host is late, most in acme/save.py\(1\): save_state. Rank 5's host is late, most in acme/tokenize.py\(7\): encode.*1 −20\.3 ms .*Ranks 2 and 5 at their peers' pace", "Their hosts"),
    "job: four hosts": (held_by({1: "acme/a.py(1): save", 3: "acme/b.py(2): encode", 5: "acme/a.py(1): save", 6: "acme/b.py(2): encode"}),
                        None, r"Ranks 1 and 5: hosts are late, most in acme/a.py\(1\): save. Ranks 3 and 6: hosts are late, most in acme/b.py\(2\): encode", "Their hosts"),
    "job: two kernels": (each_rank(two_kernels), None, "Rank 2's kernels take longer, most in ampere_sgemm_128x64_nn. Rank 5's kernels take longer, most in acme_attention", "Their kernels"),
    "job: a slow loader": (each_rank(slow_loader), None, "^Rank 3 is late.*Rank 3 at its peers' pace its loader", "Their hosts"),
    "job: a slow host": (each_rank(slow_host), None, "^Rank 3 is late.*a slower host: its cores", "shorten aten"),
    "job: one evaluates": (each_rank(evaluates_alone, count=12), None, "It runs more on the GPU.*more work than its peers have",
                           "kernels take longer"),
    "job: uneven experts": (uneven_experts, "collective_wait", "delays of single ranks make all wait, most in acme_grouped_gemm_moe.*All ranks at the median pace, each time", "is late:"),
    "job: slow hosts, one slower": (hosts_and_one, None, "^Rank 1 is late.*Replay each iteration as one CUDA graph", "No rank"),
    "job: bubbles": (bubbles, "collective_wait", "Bound by sends and receives.*more micro-batches", "is late:|Hide or shrink"),
    "job: a slow pair": (lambda: pairs(transfer_us=lambda pair: 3000 if pair == 2 else 500), None,
                         "^The network between ranks 4 and 5 is slow.*A link as fast as the others' of ranks 4 and 5", "is late:"),
    "job: a slow GPU in a pair": (lambda: pairs(lambda rank: 140 if rank == 5 else 100, lambda _: 80, 4), None,
                                  "^Rank 5 is late.*kernels take longer.*a slower GPU: its clocks", "network"),
}
