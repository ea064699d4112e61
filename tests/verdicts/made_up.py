"""What made-up runs are made of: a host that launches, streams that work, ranks that meet.

A program is a clock that moves on: operators launch kernels on streams that work one after the other, waits end behind
them, and whatever else the host does takes its time. Names are such that no table of the tool has them."""

GEMM, ADD = "ampere_sgemm_128x64_nn", "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor>"


class Program:
    """Times in microseconds."""

    def __init__(self, ops=True, hip=False):
        self.now = 1000.0
        self.rows = []
        self.free = {}
        self.calls = 0
        self.ops = ops
        self.hip = hip

    def row(self, category, name, begin, duration, process=100, thread=100, **args):
        self.rows.append({"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread, "ts": round(begin, 3),
                          "dur": round(duration, 3), "args": args})

    def call(self, name, duration, **args):
        self.calls += 1
        self.row("cuda_runtime", name, self.now, duration, correlation=self.calls, **args)
        self.now += duration

    def launch(self, kernel=GEMM, duration=200, op="aten::mm", prepares=8, blocks=False, device=0, stream=7,
               category="kernel", call=None, **inputs):
        """An operator that prepares for a while, launches, and goes on at once, or when the kernel has ended. inputs: as
        recorded with shapes."""
        begin = self.now
        self.now += prepares
        starts = max(self.now + 7, self.free.get(stream, 0) + 1.5)
        self.free[stream] = starts + duration
        name = call or ("hipLaunchKernel" if self.hip else "cudaLaunchKernel")
        self.call(name, starts + duration + 10 - self.now if blocks else 5)
        self.row(category, kernel, starts, duration, device, stream, correlation=self.calls, stream=stream, device=device)
        self.now += 2
        if self.ops:
            self.row("cpu_op", op, begin, self.now - begin, **inputs)

    def layers(self, count=40, **launch):
        for layer in range(count):
            self.launch(GEMM if layer % 2 else ADD, op="aten::mm" if layer % 2 else "aten::add", **launch)

    def wait(self, name="cudaStreamSynchronize"):
        self.call(name, max(3, max(self.free.values(), default=0) + 4 - self.now))

    def does(self, category, name, duration):
        """The host does one thing; no name: nothing of it is recorded."""
        if name:
            self.row(category, name, self.now, duration)
        self.now += duration

    def steps(self, step, count=8):
        for number in range(count):
            begin = self.now
            step(number)
            self.row("user_annotation", f"ProfilerStep#{number}", begin, self.now - begin)
        self.wait("hipDeviceSynchronize" if self.hip else "cudaDeviceSynchronize")
        return self

    def trace(self):
        name = "AMD Instinct MI300X" if self.hip else "NVIDIA H100"
        return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": name}], "traceEvents": self.rows}


def transfer(run, group, begins, ends):
    run.call("cudaLaunchKernelExC", 6)
    run.row("kernel", "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", begins, ends - begins, 0, 7,
            correlation=run.calls, stream=7, device=0,
            **{"Collective name": "sendrecv", "Process Group Name": group, "In msg nelems": 1000000, "Group size": 2})
    run.free[7] = ends


def job(delays_us, collective="ncclDevKernel_AllReduce_Sum_bf16_RING_LL", ranks=8, count=20, stream=7, slow=None, held=("", ""),
        transfer_us=lambda step: 500, others=()):
    """Ranks that meet in an all-reduce at the end of each step; delays_us(rank, step) of a host before it, which is `held`
    then (kind of row, name). slow: a rank whose kernels take longer; others: ranks that run other, longer kernels."""
    programs = [Program() for _ in range(ranks)]
    for step in range(count):
        begins = []
        for rank, run in enumerate(programs):
            begins.append(run.now)
            if rank in others:
                for number in range(20):
                    run.launch(f"acme_rollout_{number}", 250)
            else:
                run.layers(20, duration=150 if rank == slow else 100)
            run.does(*held, delays_us(rank, step))
        ends = max(max(run.now + 12, run.free[7] + 1.5) for run in programs) + transfer_us(step)
        for rank, run in enumerate(programs):
            starts = max(run.now + 12, run.free[7] + 1.5)
            run.call("cudaLaunchKernelExC", 6)
            run.row("kernel", collective, starts, ends - starts, 0, stream, correlation=run.calls, stream=stream, device=0,
                    **{"Collective name": "allreduce", "Process Group Name": "0", "In msg nelems": 1000000, "dtype": "BFloat16",
                       "Group size": ranks})
            run.free[7] = ends
            run.wait("cudaDeviceSynchronize")
            run.row("user_annotation", f"ProfilerStep#{step}", begins[rank], run.now - begins[rank])
    return of_ranks(programs)


def of_ranks(programs):
    """The traces of a job, a rank each."""
    for program in programs:
        program.wait("cudaDeviceSynchronize")
    traces = [program.trace() for program in programs]
    for rank, trace in enumerate(traces):
        trace["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": len(traces)}
    return traces


def meet(programs, kernel, collective, transfer_us, waits=False, **told):
    """All of them in one collective, which ends so long after the last has come."""
    begins = [max(program.now + 12, program.free.get(7, 0) + 1.5) for program in programs]
    for program, begin in zip(programs, begins):
        program.call("cudaLaunchKernelExC", 6)
        program.row("kernel", kernel, begin, max(begins) + transfer_us - begin, 0, 7, correlation=program.calls, stream=7, device=0,
                    **{"Collective name": collective, "Process Group Name": "0", "In msg nelems": 1000000, "dtype": "BFloat16",
                       "Group size": len(programs), **told})
        program.free[7] = max(begins) + transfer_us
        if waits:
            program.wait("cudaDeviceSynchronize")


def job_of(ranks, count, step):
    """Ranks that go through steps together: step(programs, number)."""
    programs = [Program() for _ in range(ranks)]
    for number in range(count):
        begins = [program.now for program in programs]
        step(programs, number)
        for program, begin in zip(programs, begins):
            program.row("user_annotation", f"ProfilerStep#{number}", begin, program.now - begin)
    return of_ranks(programs)
