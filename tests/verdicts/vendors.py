"""Made-up runs of one device as other recorders and other vendors' stacks keep them. What a person who sees the whole run
would say of each stands in its text; each entry: (program, cause, what the answer says, what it does not say)."""

import json
import random

from made_up import Program
from stacks import Recorded, ascend, chrome, mlu, musa, nsys, onnx_runtime, rocpd, rocprof_csv, rocprof_json, xprof, xpu

TO_HOST, FROM_HOST = "Memcpy DtoH (Device -> Pageable)", "Memcpy HtoD (Pageable -> Device)"


def steps(step, form, count=10, **program):
    """A program that goes through its steps, as `form` keeps it."""
    def make():
        run = Program(**program)
        return form(run.steps(lambda number: step(run, number), count))
    return make


def chrome_rows(*rows):
    """A Chrome trace as it stands."""
    return lambda: chrome({"traceEvents": rows})


# The work ran in another process than the one that was profiled.
SAW_NOTHING = chrome_rows(
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaGetDeviceCount", "pid": 7, "tid": 7, "ts": 77_000_000, "dur": 468},
    {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "ts": 0, "dur": 77_862_881.765})
# A kernel, and a row of the host of a category that is not known.
ONE_KERNEL_OF_ONNX = chrome_rows(
    {"ph": "X", "cat": "Node", "name": "Add_0_fence_before", "pid": 12, "tid": 9, "ts": 6_770_761, "dur": 24},
    {"ph": "X", "cat": "Kernel", "name": "BinaryElementWiseKernel", "pid": -1, "tid": -1, "ts": 6_771_333, "dur": 4})


def silence_before(run, number):
    """Long before the first work a call or two, and then nothing that was recorded."""
    if number == 0:
        run.call("cudaGetDeviceCount", 5)
        run.now += 15_000_000
        run.call("cudaMalloc", 5)
    run.layers(40, duration=30, prepares=10)


def osrt(run, name, duration, thread=100):
    """A call of the operating system's library, for which the thread stands still."""
    run.row("osrt", name, run.now, duration, thread=thread)
    if thread == 100:
        run.now += duration


def silent(run, duration):
    run.does("", "", duration)


def label(run, name, begin):
    run.row("user_annotation", name, begin, run.now - begin)


def within(run, duration, *frames):
    """Frames within each other, the outermost first."""
    begin = run.now
    for depth, name in enumerate(frames):
        run.row("python_function", name, begin + 3 * depth, duration - 6 * depth)
    run.now += duration


def kernels(run, count, duration, names=("ampere_sgemm_128x64_nn",), **launch):
    for i in range(count):
        run.launch(names[i % len(names)], duration, **launch)


def graph_nodes(run, count, each, gaps=(), gap=0, call="cudaGraphLaunch"):
    """One launch of a graph; behind the nodes in `gaps` the device does for a while what has no row."""
    run.call(call, 12)
    starts = max(run.now + 8, run.free.get(7, 0) + 1.5)
    for i in range(count):
        run.row("kernel", f"fused_node_{i % 7}", starts, each, 0, 7, correlation=run.calls, stream=7, device=0,
                **{"graph node id": i + 1})
        starts += each + 1 + (gap if i in gaps else 0)
    run.free[7] = starts - 1


# ---- Nsight Systems ---------------------------------------------------------------------------------------------------

STENCIL = ("void Kokkos::Impl::cuda_parallel_launch_local_memory<Kokkos::Impl::ParallelFor<AdvecCell>>",
           "void Kokkos::Impl::cuda_parallel_launch_local_memory<Kokkos::Impl::ParallelFor<FluxCalc>>")
ENGINE = ("sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x32", "__myl_FcMulAdd_0x3c1d")


def simulation(run, _):
    """GPU-bound: 30 kernels of 300 us, one wait a step. Levers are the kernels; nothing of PyTorch."""
    kernels(run, 30, 300, STENCIL)
    run.wait("cudaDeviceSynchronize")


def requests(run, _):
    """The thread that launches sits in recv between requests: not loaded, no lever on the host."""
    kernels(run, 30, 60)
    run.wait()
    osrt(run, "recv", 9000)


def decoder(run, _):
    """The host waits on a condition for a thread that decodes; that is no work of the host's, and no faster core helps."""
    begin = run.now
    run.row("osrt", "read", begin + 200, 1500, thread=555)
    run.row("user_annotation", "decode_frame", begin, 7600, thread=555)
    osrt(run, "pthread_cond_wait", 7600)
    kernels(run, 30, 60)
    run.wait()


def flushes(run, number):
    """A checkpoint in every fourth step: 60 ms in fsync. Host, in pauses, in fsync."""
    kernels(run, 40, 150)
    if number % 4 == 3:
        run.wait()
        osrt(run, "write", 8000)
        osrt(run, "fsync", 60_000)


def one_row_graphs(run, _):
    """A graph that is one row, 3 ms; then the host samples for 4 ms under its label. Host, in sample_token."""
    run.call("cudaGraphLaunch", 15)
    run.row("graph_trace", "graph", run.now + 8, 3000, 0, 7, correlation=run.calls, stream=7, device=0)
    run.free[7] = run.now + 3008
    run.wait()
    begin = run.now
    silent(run, 4000)
    label(run, "sample_token", begin)


def serves_tokens(run, _):
    """A server's loop: inputs are prepared for 2.5 ms, a graph of 60 kernels runs 1.3 ms, the host waits for tokens."""
    begin = run.now
    silent(run, 2500)
    label(run, "gpu_model_runner: _prepare_inputs", begin)
    graph_nodes(run, 60, 20)
    run.launch("Memcpy DtoH (Device -> Pinned)", 3, category="gpu_memcpy", call="cudaMemcpyAsync")
    run.wait("cudaEventSynchronize")


def clients():
    """Two processes take the GPU in turn, so that it is busy nearly all the time: GPU-bound, nobody's host is late."""
    runs = [Program(), Program()]
    for _ in range(12):
        for run in runs:
            kernels(run, 10, 150)
            runs[0].free[7] = runs[1].free[7] = max(other.free.get(7, 0) for other in runs)
        for run in runs:
            run.wait()
    second = runs[1]
    for row in second.rows:
        row["args"]["process"] = 200
        if row["cat"] == "cuda_runtime":
            row["pid"], row["tid"] = 200, 200
    runs[0].rows += second.rows
    return nsys(runs[0])


def page_faults(run, _):
    """Kernels that touch managed memory run while its pages move: 80 % of their time is migration. GPU-bound by the rows, and
    the copies of managed memory beside the kernels are the thing to say: prefetch."""
    for _ in range(6):
        run.launch("void spmv_kernel<double>(int, double const*)", 2000)
        end = run.free[7]
        for i in range(16):
            run.row("gpu_memcpy", "Memcpy UVM_HtoD (Pageable -> Device)", end - 1950 + 100 * i, 95, 0, 7, stream=0, device=0)
    run.wait("cudaDeviceSynchronize")


def trims(run, _):
    """An allocator of the stream's whose pool gives memory back at each wait: cudaMallocAsync of 700 us. Allocation; a release
    threshold, not PyTorch's cache."""
    for _ in range(6):
        run.call("cudaMallocAsync", 700)
        kernels(run, 4, 60)
        run.call("cudaFreeAsync", 30)
        run.wait()


def builds(run, number):
    """A kernel is linked and loaded in the sixth step: 220 ms, once."""
    kernels(run, 30, 100, ("cupy_add__float32_float32_float32",), call="cuLaunchKernel")
    if number == 5:
        run.call("cuLinkComplete", 140_000)
        run.call("cuModuleLoadData", 80_000)
    run.wait("cuStreamSynchronize")


def emitted(run, _):
    """PyTorch under emit_nvtx: an operator of 30 us a kernel of 4."""
    kernels(run, 80, 4, ("void at::native::vectorized_elementwise_kernel<4>",), prepares=25)


def engine(run, _):
    """An inference engine launches 90 kernels of 3 us one by one, 7 us each: host, one graph. Nothing of PyTorch."""
    begin = run.now
    kernels(run, 90, 3, ENGINE, prepares=1)
    label(run, "ExecutionContext::enqueue", begin)
    run.wait()


def collects():
    """The garbage collector of the language stops the program for 25 ms now and then; nothing is recorded of it."""
    chance = random.Random(11)
    run = Program(ops=False)

    def step(_):
        for _ in range(40):
            run.launch("gpu_broadcast_kernel_linear", 80, call="cuLaunchKernel", prepares=3)
            if chance.random() < 0.02:
                silent(run, 25_000)
        run.wait("cuStreamSynchronize")
    return nsys(run.steps(step, 12), nvtx=False)


def sizes(run, _):
    """Every operation of a table asks for its size: a copy of 8 bytes and a wait, 60 a step."""
    begin = run.now
    for _ in range(60):
        run.launch("void cub::DeviceScanKernel<Policy900>", 25, prepares=3)
        run.launch("Memcpy DtoH (Device -> Pinned)", 2, category="gpu_memcpy", call="cudaMemcpyAsync", prepares=1)
        run.wait()
        silent(run, 30)
    label(run, "libcudf:inner_join", begin)
    silent(run, 20)


def idle_server(run, _):
    """A server's thread sits in epoll_wait for 12 ms between batches."""
    begin = run.now
    graph_nodes(run, 40, 25)
    run.wait()
    label(run, "execute_model", begin)
    osrt(run, "epoll_wait", 12_000)


def mutexes(run, _):
    """Two threads launch; each waits in pthread_mutex_lock for the other while it prepares its work."""
    for _ in range(12):
        run.row("osrt", "pthread_mutex_lock", run.now, 400, thread=200)
        silent(run, 380)
        run.launch(duration=60)
        held = len(run.rows)
        run.row("osrt", "pthread_mutex_lock", run.now, 400)
        begin = run.now
        silent(run, 380)
        run.launch(duration=60)
        for row in run.rows[held:]:
            if row["ts"] >= begin and row["cat"] != "kernel" and row["cat"] != "osrt":
                row["tid"] = 200
    run.now += 5


# ---- rocprofv3 --------------------------------------------------------------------------------------------------------

AMD = ("Cijk_Ailk_Bljk_BBS_BH_MT128x128x32", "void ck::kernel_gemm_xdlops_v2r3<GridwiseGemm>")
HIP = {"call": "hipLaunchKernel"}


def reads_back(run, _):
    """After each small kernel a hipMemcpy of one number to pageable memory: the host waits, then 40 us nothing."""
    for _ in range(50):
        kernels(run, 1, 40, AMD, prepares=2, **HIP)
        run.launch(TO_HOST, 3, category="gpu_memcpy", call="hipMemcpy", blocks=True, prepares=1)
        silent(run, 40)


def alone(run, _):
    """Kernels with gaps, and nothing of the host: whose fault the gaps are cannot be known."""
    kernels(run, 40, 20, AMD, prepares=35, **HIP)


def decodes(run, _):
    """One graph of 80 kernels after the other, hardly a gap: GPU-bound."""
    begin = run.now
    graph_nodes(run, 80, 40, call="hipGraphLaunch")
    label(run, "decode", begin)
    if run.free[7] - run.now > 8000:
        run.wait("hipStreamSynchronize")


def allocates(run, _):
    """hipMalloc and hipFree around each of 10 operations."""
    for _ in range(10):
        run.call("hipMalloc", 180)
        kernels(run, 2, 50, AMD, prepares=2, **HIP)
        run.call("hipFree", 220)


def stages(run, _):
    """Data comes from pageable memory before each step, 4 ms; kernels take 2."""
    run.launch(FROM_HOST, 4000, category="gpu_memcpy", call="hipMemcpy", blocks=True)
    kernels(run, 20, 100, AMD, prepares=2, **HIP)
    run.wait("hipStreamSynchronize")


def loads_late(run, number):
    """A code object is loaded in the fifth step, 150 ms."""
    if number == 4:
        run.call("hipModuleLoadData", 150_000)
    kernels(run, 30, 100, AMD, **HIP)
    run.wait("hipDeviceSynchronize")


# ---- other vendors ----------------------------------------------------------------------------------------------------

SYCL = ("at::native::xpu::VectorizedElementwiseKernel<4, at::native::xpu::AddFunctor<float> >", "gemm_kernel")


def eager(run, _):
    """Small kernels one by one: PyTorch's dispatcher."""
    for i in range(80):
        run.launch(SYCL[i % 2], 5, op="aten::mm" if i % 2 else "aten::add", prepares=24)


def items(run, _):
    """.item() 30 times a step: a copy to the host, and a wait."""
    for _ in range(30):
        run.launch(SYCL[1], 60)
        begin = run.now
        run.launch("zeCommandListAppendMemoryCopy(D2M)", 3, "aten::_local_scalar_dense", category="gpu_memcpy", call="cudaMemcpyAsync")
        run.wait("cudaEventSynchronize")
        run.row("cpu_op", "aten::item", begin, run.now - begin)
        silent(run, 60)


def one_kernel():
    """One kernel of 900 ms between 60 short ones, nearly all of the window: GPU-bound, that kernel."""
    run = Program()
    kernels(run, 30, 100, SYCL)
    run.launch("fused_recurrent_gated_delta_rule_fwd", 900_000, op="fla::chunk")
    kernels(run, 30, 100, SYCL)
    run.wait("cudaDeviceSynchronize")
    return xpu(run)


def polls_level_zero(run, _):
    """Waits in the driver, then 5 ms of the program's own Python."""
    kernels(run, 30, 60, SYCL)
    run.call("zeEventHostSynchronize", max(3, run.free[7] + 4 - run.now))
    run.rows[-1]["cat"] = "cuda_driver"
    run.does("python_function", "train.py(88): log_metrics", 5000)


def queue_waits(run, _):
    """A wait for the queue after each operator."""
    for _ in range(40):
        run.launch("MLUKernelMatMulFp16", 60)
        run.wait()
        silent(run, 50)


def frees(run, _):
    """Allocation and release in the loop."""
    for _ in range(15):
        run.call("cudaMalloc", 150)
        run.launch("void at::musa::vectorized_elementwise_kernel<4>", 50)
        run.call("cudaFree", 160)


def mtia(run, _):
    """A wait by the runtime's own name, then 6 ms in a frame."""
    for _ in range(30):
        run.launch("fba_tbe_pooled_kernel", 80, call="runFunction - job_prep_and_submit_for_execution")
    run.call("runFunction - wait_for_completion", max(3, run.free[7] + 4 - run.now))
    run.does("python_function", "serve.py(31): pack_response", 6000)


def as_mtia(run):
    for row in run.rows:
        row["cat"] = {"cuda_runtime": "mtia_runtime", "kernel": "kernel"}.get(row["cat"], row["cat"])
    return chrome({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "MTIA"}], "traceEvents": run.rows})


def npu_eager(run, _):
    """The host prepares each operator for 40 us, the NPU works 8."""
    kernels(run, 60, 8, prepares=40)


def npu_busy(run, _):
    kernels(run, 60, 300)
    run.wait()


# ---- compilers and other frameworks -----------------------------------------------------------------------------------

def xla_busy(run, _):
    begin = run.now
    kernels(run, 40, 250, ("gemm_fusion_dot_1", "loop_add_fusion_2"), call="cuLaunchKernel")
    run.row("user_annotation", "PjitFunction(train_step)", begin, run.now - begin)
    run.wait("cuStreamSynchronize")


def starved(run, _):
    """The iterator is waited for 8 ms a step."""
    run.does("user_annotation", "IteratorGetNextOp::DoCompute", 8000)
    kernels(run, 30, 80, ("Conv2D_sm80_xmma_fprop",), call="cuLaunchKernel")
    run.wait("cuStreamSynchronize")


def sessions(run, _):
    """Kernels of ONNX Runtime on a busy GPU; which call launched which is not in the file."""
    begin = run.now
    kernels(run, 40, 200, ("ampere_fp16_s16816gemm_fp16_128x64_ldg8",))
    run.wait()
    label(run, "model_run", begin)


def environments(run, _):
    """The policy waits 7 ms for processes that step the environments: no server, and more requests are no lever."""
    kernels(run, 20, 50)
    run.wait()
    within(run, 7000, "stable_baselines3/common/vec_env/subproc_vec_env.py(125): step_wait", "multiprocessing/connection.py(246): recv",
           "multiprocessing/connection.py(390): _recv", "<built-in function read>")


def samples(run, _):
    """The graph sampler runs in the loop, 9 ms."""
    within(run, 9000, "dgl/dataloading/dataloader.py(1020): __next__", "dgl/sampling/neighbor.py(40): sample_neighbors")
    kernels(run, 30, 80)
    run.wait()


def throttles(run, number):
    """From the eighth step on clocks fall slowly, to half of the pace."""
    kernels(run, 30, 200 * (1 + max(0, number - 7) / 8))


def begun_before():
    """The window begins within a kernel of 3 s that was launched before; then 60 kernels of the host's that waited for it."""
    run = Program()
    run.row("kernel", "persistent_megakernel_decode", run.now - 2_990_000, 3_000_000, 0, 7, stream=7, device=0)
    run.free[7] = run.now + 10_000
    kernels(run, 80, 100)
    run.wait("cudaDeviceSynchronize")
    return chrome(run.trace())


def denoises(run, number):
    """30 kernels of 400 us a step, and one .item() of the scheduler: busy, the wait costs next to nothing."""
    kernels(run, 30, 400)
    begin = run.now
    run.launch(TO_HOST, 2, "aten::_local_scalar_dense", category="gpu_memcpy", call="cudaMemcpyAsync", blocks=True)
    run.row("cpu_op", "aten::item", begin, run.now - begin)


def host_nodes(run, _):
    """A graph with functions of the host between its kernels: 6 holes of 900 us inside each replay."""
    graph_nodes(run, 42, 40, gaps=range(5, 42, 7), gap=900)
    run.wait()


def first_calls(run, number):
    """A function of Numba is compiled in the fourth step, 500 ms."""
    if number == 3:
        within(run, 500_000, "numba/cuda/dispatcher.py(340): compile", "numba/core/compiler.py(480): _compile_core")
    kernels(run, 30, 100, ("cudapy::__main__::saxpy",), call="cuLaunchKernel")
    run.wait()


# ---- the same kinds again, made after the rules were ------------------------------------------------------------------

def interpreter(run, _):
    """The launching thread waits 3 ms for the interpreter's lock, in sem_wait; who holds it is not recorded."""
    kernels(run, 30, 60)
    run.wait()
    osrt(run, "sem_wait", 3000)


def silence(run, _):
    """Nothing tells what the host does for 4 ms but the mark of the step."""
    kernels(run, 30, 60)
    run.wait()
    silent(run, 4000)


def marked(form, words):
    """Steps by other marks."""
    def make(run):
        for row in run.rows:
            row["name"] = row["name"].replace("ProfilerStep#", words)
        return form(run)
    return make


def shared():
    """Two processes whose kernels run beside each other: the GPU is busy, and more work than time is no mistake."""
    runs = [Program(), Program()]
    for _ in range(12):
        for run in runs:
            kernels(run, 20, 150)
        for run in runs:
            run.wait()
    for row in runs[1].rows:
        row["args"]["process"] = 200
        if row["cat"] == "cuda_runtime":
            row["pid"], row["tid"] = 200, 200
    runs[0].rows += runs[1].rows
    return nsys(runs[0])


def evictions(run, _):
    """Managed memory larger than the device's: pages leave and come while the kernels run."""
    for _ in range(6):
        run.launch("void stencil<double>(int)", 2000)
        end = run.free[7]
        for i in range(8):
            run.row("gpu_memcpy", "Memcpy UVM_DtoH (Device -> Pageable)", end - 1950 + 200 * i, 90, 0, 7, stream=0, device=0)
            run.row("gpu_memcpy", "Memcpy UVM_HtoD (Pageable -> Device)", end - 1850 + 200 * i, 90, 0, 7, stream=0, device=0)
    run.wait("cudaDeviceSynchronize")


def strangers():
    """Another process has the GPU for 900 us behind one node of a graph or another, whichever it is."""
    chance = random.Random(21)
    run = Program(ops=False)

    def step(_):
        graph_nodes(run, 40, 40, [i for i in range(40) if chance.random() < 0.2], 900)
        run.wait()
    return chrome(run.steps(step, 12).trace())


def npu_items(run, _):
    for _ in range(30):
        run.launch(duration=60)
        begin = run.now
        run.launch("MEMCPY_ASYNC", 3, "aten::_local_scalar_dense", category="gpu_memcpy", call="cudaMemcpyAsync")
        run.wait()
        run.row("cpu_op", "aten::item", begin, run.now - begin)
        silent(run, 60)


def prepares(run, _):
    """Python of the program's own, 6 ms, before each call of a compiled function."""
    run.does("user_annotation", "$train.py:30 prepare_batch", 6000)
    begin = run.now
    kernels(run, 30, 60, ("gemm_fusion_dot_1",), call="cuLaunchKernel")
    run.row("user_annotation", "PjitFunction(step)", begin, run.now - begin)
    run.wait("cuStreamSynchronize")


def warms(run, number):
    kernels(run, 30, 400 / (1 + max(0, number - 6) / 8))


def naps(run, _):
    kernels(run, 30, 60)
    run.wait()
    osrt(run, "clock_nanosleep", 5000)


def whole_graphs(run, _):
    """Graphs of one row each, one right behind the other."""
    run.call("cudaGraphLaunch", 15)
    starts = max(run.now + 8, run.free.get(7, 0) + 2)
    run.row("graph_trace", "graph", starts, 3000, 0, 7, correlation=run.calls, stream=7, device=0)
    run.free[7] = starts + 3000


# ---- a second blind set -----------------------------------------------------------------------------------------------

def exchange(run, _):
    """A halo exchange: 5 ms in MPI_Waitall, which polls. The neighbour is what the host waits for."""
    kernels(run, 30, 60, STENCIL)
    run.wait()
    begin = run.now
    osrt(run, "poll", 4900)
    silent(run, 100)
    label(run, "MPI_Waitall", begin)


def captures_again(run, _):
    """Each step captures and instantiates its graph anew, 2.5 ms."""
    run.call("cudaStreamBeginCapture", 5)
    run.call("cudaStreamEndCapture", 40)
    run.call("cudaGraphInstantiate", 2500)
    graph_nodes(run, 60, 15)
    run.wait()


def reloads(run, _):
    """Each step loads its code anew and releases it: no start, and no recording behind the warm-up is free of it."""
    run.call("cuModuleLoadData", 6000)
    kernels(run, 30, 60, ("kernel_gen",), call="cuLaunchKernel")
    run.wait()
    run.call("cuModuleUnload", 300)


def timed_waits(run, _):
    """Waits of 1 ms, again and again, for a thread that resizes images."""
    kernels(run, 30, 60)
    run.wait()
    run.row("user_annotation", "resize_images", run.now, 6000, thread=555)
    for _ in range(6):
        osrt(run, "pthread_cond_timedwait", 980)
        silent(run, 20)


def behind(run):
    """The operators are far ahead of the thread that launches, which needs 60 us for each: that thread is what counts."""
    made = ascend(run)

    def write(folder):
        made.write(folder)
        file = folder / "trace.json"
        rows = json.loads(file.read_text())
        late, launch, task = 0, {}, {}
        for row in rows:
            if row.get("name") == "Node@launch":
                late = max(late + 60, float(row["ts"]))
                launch[row["args"]["connection_id"]] = late
                row |= {"ts": f"{late:.3f}", "dur": 58}
        end = 0
        for row in rows:
            number = row.get("args", {}).get("connection_id")
            if row.get("ph") == "X" and "Task Type" in row["args"]:
                task[number] = max(end + 1.5, launch[number] + 62)
                end = task[number] + row["dur"]
                row["ts"] = f"{task[number]:.3f}"
            if row.get("cat") == "dequeue":
                row |= {"ts": f"{launch[row['args']['correlation_id']] - 1:.3f}", "dur": 60}
        for row in rows:
            if row.get("cat") == "HostToDevice":
                row["ts"] = f"{(launch if row['ph'] == 's' else task)[row['id']]:.3f}"
            if row.get("cat") == "async_task_queue" and row["ph"] == "f":
                row["ts"] = f"{launch[row['id']] - 1:.3f}"
        file.write_text(json.dumps(rows))
    return Recorded(write)


def compiles_op(run, number):
    if number == 4:
        run.call("aclopCompileAndExecute", 300_000)
    kernels(run, 30, 80)
    run.wait()


def sleeping_polls(run, _):
    """The GPU is busy; the host asks for an event and sleeps for 120 us, again and again."""
    kernels(run, 40, 250)
    while run.now < max(run.free.values()) + 3:
        run.call("cudaEventQuery", 2)
        osrt(run, "usleep", 120)
    run.call("cudaEventQuery", 2)


def trimmed(run, _):
    """A garbage collector that gives the pool's memory back in each step."""
    kernels(run, 30, 60, ("gpu_kernel_xx",), call="cuLaunchKernel")
    run.wait("cuStreamSynchronize")
    run.call("cuMemFreeAsync", 300)
    run.call("cuMemPoolTrimTo", 4500)


# The levers of a host that stands still: no faster core.
CORE = "CPU core"
# name: (program, cause, what the answer says, what it does not say)
SCENES = {
    "nsys: a simulation": (steps(simulation, nsys, ops=False), "gpu", "GPU-bound: kernels run 99.*up to Speed up",
                           r"torch|\.item|Host-bound"),
    "nsys: requests": (steps(requests, nsys, ops=False), "not_loaded", "for an external event, in recv",
                       f"not recorded|CUDA graph|{CORE}"),
    "nsys: a decoder's thread": (steps(decoder, nsys, ops=False), "host", "the host waits in pthread_cond_wait for decode_frame",
                                 f"not recorded|{CORE}|nobody asked"),
    "nsys: files": (steps(flushes, nsys, ops=False, count=16), "host", r"3 × 60\.0 ms\) while the host is in (range |system call )?fsync.*Shorten fsync",
                    f"not recorded|{CORE}"),
    "nsys: graphs of one row": (steps(one_row_graphs, nsys, ops=False), "host", r"9 × 4\.00 ms\) while sample_token.*Shorten sample_token",
                                "not recorded|one CUDA graph|Too little"),
    "nsys: tokens": (steps(serves_tokens, nsys, ops=False), "host", r"9 × 2\.50 ms\) while gpu_model_runner: _prepare_inputs",
                     "not recorded|one CUDA graph"),
    "nsys: two clients": (clients, "gpu", r"GPU-bound: kernels run 98\.5 %.*9\d\.\d % up to Speed up gemm",
                          "Host-bound|(Remove synchronization|Avoid blocking copies|Avoid waiting)|Undetermined"),
    "nsys: page faults": (steps(page_faults, nsys, ops=False), "migration", r"Migration-bound: kernels of .* which move for 91\.2 ms.*MemPrefetchAsync",
                          "Host-bound|Copy-bound"),
    "nsys: a pool that gives back": (steps(trims, nsys, ops=False), "alloc", "waiting for cudaMallocAsync.*ReleaseThreshold",
                                     "PYTORCH|expandable|allocate once"),
    "nsys: linked late": (steps(builds, nsys, ops=False), "cold_start", "Mid-run initialization.*(largest|longest): cuLinkComplete.*before the loop",
                          "torch|warmup="),
    "nsys: emit_nvtx": (steps(emitted, nsys), "host", "PyTorch dispatch and CUDA calls.*Replay each iteration as one CUDA graph", "pauses"),
    "nsys: an engine": (steps(engine, nsys, ops=False), "host", "CUDA calls to launch.*Replay each iteration as one CUDA graph", r"torch|\.item"),
    "nsys: a collector": (collects, "host", r"10 × 2\d\.\d ms\) in host stalls that no recorded event explains.*Find what", f"{CORE}|torch"),
    "nsys: sizes": (steps(sizes, nsys, ops=False), "host", "Host-bound.*(Remove synchronization|Avoid blocking copies|Avoid waiting) .*(largest|longest): cudaStreamSynchronize in libcudf:inner_join",
                    "torch|one CUDA graph"),
    "nsys: an idle server": (steps(idle_server, nsys, ops=False), "not_loaded", "for an external event, in epoll_wait",
                             "not recorded|CUDA graph"),
    "nsys: a lock": (steps(mutexes, nsys, ops=False), "host", "the host waits in pthread_mutex_lock", f"Undecided|step|{CORE}"),
    "rocpd: reads back": (steps(reads_back, rocpd, ops=False), "sync", "Synchronization-bound.*(largest|longest): hipMemcpy.*(Remove synchronization|Avoid blocking copies|Avoid waiting)", "CUDA|torch"),
    "a profiler that saw nothing": (SAW_NOTHING, "no_gpu", "ran for 77.9 s and recorded no operator and no kernel.*another process",
                                    "whole iterations"),
    "one kernel, rows unread": (ONE_KERNEL_OF_ONNX, "no_host",
                                "Not enough data: 1 GPU activity.*no CPU events; 1 event is of unsupported types", "Undetermined"),
    "silence before": (steps(silence_before, lambda run: run), "gpu", r"Before the window, 15.0 s are unrecorded", "alone works"),
    "rocprof: kernels alone": (steps(alone, lambda run: rocprof_csv(run, None), ops=False), "no_host",
                               "no CPU events were recorded.*record CPU events", "Host-bound|GPU-bound"),
    "rocprof: HSA alone": (steps(alone, lambda run: rocprof_csv(run, "HSA_CORE_API"), ops=False), "no_host",
                           "no CPU events were recorded.*record CPU events", "Host-bound|GPU-bound"),
    "rocprof json: graphs": (steps(decodes, rocprof_json, ops=False), "gpu", "GPU-bound: kernels run 9", "Host-bound|CUDA|Sync"),
    "rocpd: allocates": (steps(allocates, rocpd, ops=False), "alloc", "waiting for hipMalloc and hipFree|waiting for hipFree and hipMalloc",
                         "CUDA|torch|PYTORCH"),
    "rocprof: stages": (steps(stages, rocprof_csv, ops=False), "copy", "Copy-bound.*pin memory.*hipHostMalloc", "CUDA|(Remove synchronization|Avoid blocking copies|Avoid waiting)"),
    "rocpd: loads late": (steps(loads_late, rocpd, ops=False), "cold_start", "Mid-run initialization.*(largest|longest): hipModuleLoadData",
                          "CUDA|torch"),
    "xpu: eager": (steps(eager, xpu), "host", "PyTorch dispatch and runtime calls.*torch.compile", "CUDA|HIP"),
    "xpu: items": (steps(items, xpu), "sync", "(largest|longest): urEventWait in aten::item; skip it unless the value is needed", "CUDA|HIP|cuda"),
    "xpu: one kernel": (one_kernel, "gpu", r"99\.3 % up to Speed up.*fused_recurrent_gated_delta_rule_fwd; 1 launch", "Host-bound|Undetermined"),
    "xpu: Level Zero waits": (steps(polls_level_zero, xpu), "host", r"9 × 5\.00 ms\) while .*log_metrics runs on the host",
                              "CUDA|Synchronization-bound"),
    "mlu: waits": (steps(queue_waits, mlu), "sync", "Synchronization-bound.*(Remove synchronization|Avoid blocking copies|Avoid waiting) .*(largest|longest): cnrtQueueSync", "CUDA|HIP|Host-bound"),
    "musa: allocates": (steps(frees, musa), "alloc", "waiting for musaMalloc and musaFree|waiting for musaFree and musaMalloc", "CUDA|HIP|Undetermined"),
    "mtia: answers": (steps(mtia, as_mtia), "host", r"9 × 6\.00 ms\) while .*pack_response runs on the host", "CUDA|Synchronization-bound"),
    "npu: eager": (steps(npu_eager, ascend), "host", "Host-bound: (the GPU is idle|host stalls leave the GPU idle) 83.*PyTorch dispatch to launch.*torch.compile", "No GPU|CUDA"),
    "npu: busy": (steps(npu_busy, ascend), "gpu", r"GPU-bound: kernels run 99.*9\d\.\d % up to Speed up gemm", "No GPU|CUDA|Host-bound"),
    "xprof: busy": (steps(xla_busy, xprof, ops=False), "gpu", "GPU-bound: kernels run 99.*Speed up gemm kernels", "Host-bound|No GPU"),
    "xprof: starved": (steps(starved, xprof, ops=False), "input", r"Input-bound: the GPU is idle 7\d\.\d % .*IteratorGetNext", "torch|num_workers"),
    "onnx: busy": (steps(sessions, onnx_runtime), "gpu", "GPU-bound: kernels run 99.*launch calls are recorded for 0 %",
                   "Host-bound|No GPU"),
    "environments": (steps(environments, lambda run: chrome(run.trace())), "not_loaded",
                     r"external event, in multiprocessing/connection.py\(246\): recv.*A slow peer, data loader process",
                     f"server|nobody asked|requests|{CORE}"),
    "a graph's sampler": (steps(samples, lambda run: chrome(run.trace())), "input", "Input-bound.*dataloader.py", "CUDA graph"),
    "clocks that fall slowly": (steps(throttles, lambda run: chrome(run.trace()), count=18), "gpu",
                                r"drifts from iteration [89].*ending( +)at 2\.\d+×", "Host-bound"),
    "a kernel from before": (begun_before, "gpu", "GPU-bound.*persistent_megakernel_decode", "Host-bound|Undetermined"),
    "a denoiser": (steps(denoises, lambda run: chrome(run.trace())), "gpu", "GPU-bound.*Speed up gemm", "Synchronization-bound|(Remove synchronization|Avoid blocking copies|Avoid waiting)"),
    "host nodes of a graph": (steps(host_nodes, lambda run: chrome(run.trace()), ops=False), "unseen_device_work",
                              "graphs stall .* at the same nodes.*host functions",
                              "Another process|not the host"),
    "Numba compiles": (steps(first_calls, lambda run: chrome(run.trace()), ops=False), "cold_start",
                       "Mid-run initialization.*_compile_core, 500 ms", f"warmup=|{CORE}"),
    "nsys: the interpreter": (steps(interpreter, nsys, ops=False), "host", r"9 × 3\.00 ms\) while the host waits in sem_wait", CORE),
    "nsys: silent steps": (steps(silence, marked(nsys, "Iteration "), ops=False), "host",
                           r"9 × 4\.01 ms\) in host stalls that no recorded event explains", f"{CORE}|Iteration"),
    "rocpd: silent steps": (steps(silence, marked(rocpd, "train_step "), ops=False, hip=True), "host",
                            r"9 × 4\.01 ms\) in host stalls that no recorded event explains", f"{CORE}|train_step|CUDA"),
    "nsys: shared": (shared, "gpu", r"GPU-bound: kernels run 98\.5 %", "(Remove synchronization|Avoid blocking copies|Avoid waiting)|Host-bound|Undetermined"),
    "nsys: evictions": (steps(evictions, nsys, ops=False), "migration", r"Migration-bound: kernels of .* which move for 86\.4 ms", "Copy-bound|Host-bound"),
    "strangers within graphs": (strangers, "unseen_device_work", "Another process on this GPU", "at the same nodes"),
    "npu: items": (steps(npu_items, ascend), "sync", "aclrtSynchronizeStreamWithTimeout in aten::item; skip it unless", "CUDA|Host-bound"),
    "xprof: prepares": (steps(prepares, xprof, ops=False), "host", r"10 × 6\.00 ms\) while \$train.py:30 prepare_batch runs on the host",
                        "torch|Synchronization-bound"),
    "clocks that rise slowly": (steps(warms, lambda run: chrome(run.trace()), count=18), "gpu",
                                r"drifts from iteration [78].*ending( +)at 0\.4\d+×", "Host-bound"),
    "nsys: naps": (steps(naps, nsys, ops=False), "not_loaded", "the program sleeps.*Wait for the event instead", "server|not recorded"),
    "nsys: whole graphs": (steps(whole_graphs, nsys, ops=False, count=20), "gpu", "GPU-bound: kernels run 99", "Too little"),
    "nsys: an exchange": (steps(exchange, nsys, ops=False), "not_loaded", "for an external event, in poll, called by MPI_Waitall.*A slow peer",
                          "server|not recorded"),
    "nsys: captured again": (steps(captures_again, nsys, ops=False), "host", r"9 × 2\.50 ms\) while cudaGraphInstantiate.*Shorten cudaGraphInst",
                             "Warm-up|one CUDA graph"),
    "nsys: loaded again": (steps(reloads, nsys, ops=False), "host", r"9 × 6\.00 ms\) while cuModuleLoadData", "Warm-up|behind the warm-up"),
    "nsys: timed waits": (steps(timed_waits, nsys, ops=False), "host", "waits in pthread_cond_timedwait for resize_images",
                          f"not recorded|{CORE}"),
    "npu: behind": (steps(lambda run, _: kernels(run, 60, 10, prepares=4), behind), "host", r"Host-bound: (the GPU is idle|host stalls leave the GPU idle) 83\.\d % .*runtime calls to launch",
                    "Undetermined|not the host"),
    "npu: compiles": (steps(compiles_op, ascend), "cold_start", "Mid-run initialization.*(largest|longest): aclopCompileAndExecute", "Synchronization-bound"),
    "nsys: sleeping polls": (steps(sleeping_polls, nsys, ops=False), "gpu", r"GPU-bound.*9\d\.\d % up to Speed up gemm", "sleeps|tuning"),
    "nsys: trimmed": (steps(trimmed, nsys, ops=False), "alloc", "waiting for cuMemPoolTrimTo.*do not trim the pool", "Threshold"),
}
