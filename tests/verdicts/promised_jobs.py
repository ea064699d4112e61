"""Jobs of known truth for `assay job`, by a simulator that shares nothing with max_plus_jobs.py: each host is a coroutine, each
stream a chain of promises, and a collective keeps its promises when its last member has come. Times in µs.

What a fault costs is the same draws without it: each draw depends on the seed and on what is drawn, not on what was before."""

import gzip
import hashlib
import json
import math
import os
import random
import statistics

NORMAL = statistics.NormalDist()
COLLECTIVES = {  # of the kernel, of the operator
    "all_gather": ("AllGather_RING_LL", "_allgather_base"),
    "reduce_scatter": ("ReduceScatter_Sum_bf16_RING_LL", "_reduce_scatter_base"),
    "all_reduce": ("AllReduce_Sum_bf16_RING_LL", "allreduce"),
    "all_to_all": ("SendRecv", "all_to_allv"),
    "send": ("SendRecv", "send"),
    "recv": ("SendRecv", "recv"),
    "ring": ("SendRecv", "coalesced"),
}
ATTENTION = [("aten::native_layer_norm", "layer_norm_fwd", 17), ("aten::mm", "nvjet_tst_qkv", 130),
             ("flash_attn::_flash_attn_forward", "flash_fwd", 175), ("aten::mm", "nvjet_tst_out", 70)]
MLP = [("aten::native_layer_norm", "layer_norm_fwd", 17), ("aten::mm", "nvjet_tst_fc1", 230), ("aten::gelu", "gelu_kernel", 25),
       ("aten::mm", "nvjet_tst_fc2", 225), ("aten::add", "add_kernel", 10)]


class Work:
    """Device work. It begins when all that it waits for is known."""

    def __init__(self, rank):
        self.rank, self.missing, self.ready, self.begin, self.end = rank, 0, -1e18, None, None
        self.dur, self.meeting, self.leaves_later, self.then, self.row = 0.0, None, 0.0, [], None

    def known(self, at):
        self.ready = max(self.ready, at)
        self.missing -= 1
        if self.missing:
            return
        self.begin = self.ready
        if self.meeting is None:
            self.finish(self.begin + self.dur)
        else:
            self.meeting.come(self)

    def finish(self, end):
        self.end = end
        todo, self.then = self.then, []
        for call in todo:
            call()

    def after(self, call):
        if self.end is None:
            self.then.append(call)
        else:
            call()


class Meeting:
    """ring: each member meets its two neighbours, not all."""

    def __init__(self, members, transfer, ring=False):
        self.members, self.transfer, self.ring, self.came = members, transfer, ring, {}

    def come(self, work):
        self.came[work.rank] = work
        for k, rank in enumerate(self.members):
            with_whom = self.members
            if self.ring:
                with_whom = {self.members[k - 1], rank, self.members[(k + 1) % len(self.members)]}
            if all(r in self.came for r in with_whom) and self.came[rank].end is None:
                last = max(self.came[r].begin for r in with_whom)
                self.came[rank].finish(last + self.transfer + self.came[rank].leaves_later)


class Job:
    def __init__(self, shape, seed, faults=()):
        self.shape, self.seed, self.faults, self.ranks = shape, seed, faults, shape["ranks"]
        self.groups, self.meetings = process_groups(shape), {}
        self.rows, self.tails = [[] for _ in range(self.ranks)], [{} for _ in range(self.ranks)]
        self.now, self.iteration, self.thread = [0.0] * self.ranks, [0] * self.ranks, [0] * self.ranks
        self.counts = [{} for _ in range(self.ranks)]
        self.run()

    def gauss(self, *what):
        drawn = hashlib.blake2b(repr((self.seed, *what)).encode(), digest_size=6).digest()
        return NORMAL.inv_cdf((int.from_bytes(drawn, "big") + 0.5) / 2**48)

    def next(self, rank, key):
        self.counts[rank][key] = self.counts[rank].get(key, -1) + 1
        return self.counts[rank][key]

    def of(self, kind, rank):
        return [f for f in self.faults if f["kind"] == kind and rank in f["ranks"]]

    # ---- the host ----

    def call(self, rank, name, us, spread=0.1, category="cpu_op"):
        nth = self.next(rank, ("call", self.iteration[rank], name))
        us *= math.exp(spread * self.gauss(rank, self.iteration[rank], name, nth))
        for fault in self.of("host", rank):
            us *= fault["factor"]
        for fault in self.of("input", rank):
            us += fault["us"] if "DataLoader" in name else 0
        for fault in self.of("pause", rank):
            us += fault["us"] if name == "aten::mm" and nth == 2 and self.iteration[rank] in fault["iterations"] else 0
        begin = self.now[rank]
        self.now[rank] += us
        if category:
            self.rows[rank].append(("host", category, name, begin, self.now[rank], self.thread[rank]))
        return begin, self.now[rank]

    def wait(self, rank, work):
        begin = self.now[rank]
        if work.end is None:
            yield work
        self.now[rank] = max(begin, work.end) + 4
        self.rows[rank].append(("sync", begin, self.now[rank], self.thread[rank]))

    # ---- the device ----

    def put(self, work, stream, call, waits, **row):
        rank, (begin, end) = work.rank, call
        varied = 1 + 0.1 * self.gauss(rank, self.iteration[rank], "lag", len(self.rows[rank]))
        before = [(w, self.shape["event"] * varied) for w in waits]
        if stream in self.tails[rank]:
            before.append((self.tails[rank][stream], self.shape["gap"] * varied))
        self.tails[rank][stream] = work
        work.row = dict(row, work=work, stream=stream, call=call, waits=list(waits), thread=self.thread[rank])
        self.rows[rank].append(work.row)
        work.missing = len(before) + 1
        work.known(begin + 0.6 * (end - begin) + 5)
        for other, lag in before:
            other.after(lambda other=other, lag=lag: work.known(max(other.end + lag, other.begin)))
        return work

    def kernel(self, rank, op, name, us, stream=7, waits=()):
        work = Work(rank)
        nth = self.next(rank, ("kernel", self.iteration[rank], name))
        work.dur = us * math.exp(self.shape["noise"] * self.gauss(rank, self.iteration[rank], name, nth, "device"))
        for fault in self.of("gpu", rank):
            work.dur *= fault["factor"]
        for fault in self.of("work", rank):
            work.dur *= fault["factor"] if fault["op"] in name else 1
        for fault in self.faults:
            if rank in fault.get("less", ()) and fault["op"] in name:
                work.dur *= fault["less_factor"]
        return self.put(work, stream, self.call(rank, op, 11, 0.12, None), waits, op=op, name=name)

    def collective(self, rank, group, kind, us, stream, waits=(), elements=1 << 24, peer=None):
        description, members = self.groups[group]
        way = {"send": (rank, peer), "recv": (peer, rank)}.get(kind)
        meets, key, count = members, (group, kind), (group, "collective")
        if way:
            meets, key = way, (group, way)
            # A process group counts its transfers; a pair counts both ways, or each.
            count = (group, "transfers") if self.shape["told"] == "peer" else (group, way)
            if self.shape["told"] == "pair":
                key = count = (group, tuple(sorted(way)))
        place, seq = (*key, self.next(rank, ("place", key))), self.next(rank, ("seq", count))
        if place not in self.meetings:
            transfer = us * math.exp(self.shape["net"] * self.gauss("transfer", place))
            for fault in self.faults:
                slow = group in fault.get("groups", ()) or way and set(way) == set(fault.get("pair", ()))
                transfer *= fault["factor"] if fault["kind"] == "link" and slow else 1
            self.meetings[place] = Meeting(meets, transfer, kind == "ring" and len(members) > 2)
        work = Work(rank)
        work.meeting = self.meetings[place]
        work.leaves_later = 1.2 * abs(self.gauss(rank, place, "leaves"))
        told = {"Collective name": COLLECTIVES[kind][1], "In msg nelems": elements, "Out msg nelems": elements,
                "Group size": len(members), "dtype": "BFloat16", "Process Group Name": group,
                "Process Group Description": description, "Process Group Ranks": str(list(members)), "Seq": seq}
        if way and self.shape["told"] == "peer":
            told["Dst Rank" if kind == "send" else "Src Rank"] = peer
        elif way:
            told.update({"Group size": 2, "Process Group Ranks": str(sorted(way))})
        return self.put(work, stream, self.call(rank, "nccl", 24, 0.12, None), waits, kind=kind, told=told)

    def run(self):
        hosts = {rank: PROGRAMS[self.shape["kind"]](self, rank) for rank in range(self.ranks)}
        ready = list(hosts)
        while ready:
            rank = ready.pop()
            waits_for = next(hosts[rank], None)
            if waits_for is None:
                del hosts[rank]
            else:
                waits_for.after(lambda rank=rank: ready.append(rank))
        assert not hosts, f"ranks {sorted(hosts)} wait for ever"
        self.span = max(row["work"].end for rows in self.rows for row in rows if isinstance(row, dict))


# ---- what ranks run ------------------------------------------------------------------------------


def process_groups(shape):
    ranks, made = shape["ranks"], {"world": ("default_pg", tuple(range(shape["ranks"])))}

    def neighbours(name, size):
        made.update({f"{name}{k}": (name, tuple(range(k * size, k * size + size))) for k in range(ranks // size)})

    def apart(name, size):
        made.update({f"{name}{k}": (name, tuple(range(k, ranks, size))) for k in range(size)})

    if shape["kind"] == "hsdp":
        neighbours("shard", shape["inner"])
        apart("replicate", shape["inner"])
    elif shape["kind"] in ("tp", "moe", "cp"):
        neighbours(shape["kind"], shape["inner"])
        apart("dp", shape["inner"])
    elif shape["kind"] == "pipe":
        inner, stage = shape["inner"], ranks // shape["stages"]
        if inner > 1:
            neighbours("tp", inner)
        apart("pp", stage)
        for k in range(0, ranks, stage):
            for j in range(inner):
                made[f"dp{k // stage}_{j}"] = ("dp", tuple(range(k + j, k + stage, inner)))
    return made


def block(job, rank, kernels, bwd=False, waits=()):
    for op, name, us in kernels:
        suffix = ("Backward", "_bwd") if bwd else ("", "")
        work = job.kernel(rank, op + suffix[0], name + suffix[1], us * job.shape["scale"] * (1 + bwd), 7, waits)
        waits = ()
    return work


def begin(job, rank, iteration):
    job.iteration[rank], job.thread[rank] = iteration, 0
    job.rows[rank].append(("begin", iteration, job.now[rank]))
    job.call(rank, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 120, category="user_annotation")


def finish(job, rank, waits):
    job.thread[rank] = 0
    job.call(rank, "Optimizer.step#AdamW.step", 40)
    yield from job.wait(rank, job.kernel(rank, "aten::_fused_adamw_", "multi_tensor_apply_kernel", 210, 7, waits))
    job.rows[rank].append(("end", job.iteration[rank], job.now[rank]))


def fsdp(job, rank):
    shape, layers = job.shape, job.shape["layers"]
    group = f"shard{rank // shape['inner']}" if shape["kind"] == "hsdp" else "world"

    def gather(waits):
        copy = job.kernel(rank, "fsdp::all_gather_copy_in", "copy_in_kernel", 14, 21, waits)
        return job.collective(rank, group, "all_gather", shape["gather_us"], 22, (copy,))

    for iteration in range(1, shape["iterations"] + 1):
        begin(job, rank, iteration)
        done = []
        for bwd in (False, True):
            job.thread[rank] = int(bwd)
            gathered = [gather(done[-1:]) for _ in range(min(shape["prefetch"], layers))]
            for layer in range(layers):
                if layer + shape["prefetch"] < layers:
                    gathered.append(gather(done[-1:]))
                job.kernel(rank, "fsdp::split_with_sizes_copy", "split_copy", 18, 7, (gathered[layer],))
                done.append(block(job, rank, ATTENTION + MLP, bwd))
                if bwd:
                    last = job.kernel(rank, "fsdp::chunk_cat", "chunk_cat", 16)
                    last = job.collective(rank, group, "reduce_scatter", shape["gather_us"] * 1.1, 23, (last,), 1 << 25)
                    if shape["kind"] == "hsdp":
                        last = job.collective(rank, f"replicate{rank % shape['inner']}", "all_reduce", shape["gather_us"] * 0.6, 24, (last,))
        yield from finish(job, rank, (last,))


def ddp(job, rank):
    shape = job.shape
    for iteration in range(1, shape["iterations"] + 1):
        begin(job, rank, iteration)
        for _ in range(shape["layers"]):
            block(job, rank, ATTENTION + MLP)
        job.thread[rank], filled = 1, 0
        for layer in range(shape["layers"]):
            last, filled = block(job, rank, ATTENTION + MLP, True), filled + 1
            if filled == shape["bucket"] or layer in (0, shape["layers"] - 1):
                reduced = job.collective(rank, "world", "all_reduce", shape["reduce_us"] * filled, 20, (last,), (1 << 23) * filled)
                filled = 0
        yield from finish(job, rank, (reduced,))


def tp(job, rank):
    """Tensor and sequence parallel, data parallel between."""
    shape, group = job.shape, f"tp{rank // job.shape['inner']}"
    for iteration in range(1, shape["iterations"] + 1):
        begin(job, rank, iteration)
        waits = ()
        for bwd in (False, True):
            job.thread[rank] = int(bwd)
            for _ in range(shape["layers"]):
                for part in (ATTENTION, MLP):
                    gathered = job.collective(rank, group, "all_gather", shape["gather_us"] / 2, 20, waits)
                    last = block(job, rank, part, bwd, (gathered,))
                    waits = (job.collective(rank, group, "reduce_scatter", shape["gather_us"] / 2, 20, (last,)),)
                if bwd:
                    reduced = job.collective(rank, f"dp{rank % shape['inner']}", "all_reduce", shape["reduce_us"], 28, (last,), 1 << 26)
        yield from finish(job, rank, (*waits, reduced))


def moe(job, rank):
    """Experts: what one rank gets of the tokens others do not, each time anew."""
    shape, inner = job.shape, job.shape["inner"]
    group = rank // inner
    for iteration in range(1, shape["iterations"] + 1):
        begin(job, rank, iteration)
        waits = ()
        for bwd in (False, True):
            job.thread[rank] = int(bwd)
            for layer in range(shape["layers"]):
                block(job, rank, ATTENTION, bwd, waits)
                last = job.kernel(rank, "moe::router", "topk_gating", 20 * shape["scale"])
                sent = job.collective(rank, f"moe{group}", "all_to_all", shape["gather_us"] * 0.6, 20, (last,))
                tokens = [math.exp(shape["tokens"] * job.gauss("tokens", group, iteration, layer, k)) for k in range(inner)]
                us = 240 * tokens[rank % inner] / sum(tokens) * inner
                last = block(job, rank, [("moe::grouped_gemm", "grouped_gemm_fc1", us), ("moe::grouped_gemm", "grouped_gemm_fc2", us)], bwd, (sent,))
                waits = (job.collective(rank, f"moe{group}", "all_to_all", shape["gather_us"] * 0.6, 20, (last,)),)
                if bwd:
                    reduced = job.collective(rank, "world", "all_reduce", shape["reduce_us"] / 2, 28, (last,), 1 << 25)
        yield from finish(job, rank, (*waits, reduced))


def cp(job, rank):
    """Context parallel: keys and values go round a ring while attention runs on those that are here."""
    shape, inner = job.shape, job.shape["inner"]
    first = rank // inner * inner
    group, after, before = f"cp{rank // inner}", first + (rank - first + 1) % inner, first + (rank - first - 1) % inner

    def pass_on(step, had):
        if shape["ring"] == "batch":
            return [job.collective(rank, group, "ring", shape["p2p_us"], 30, had)]
        if shape["ring"] == "gather":
            return [job.collective(rank, group, "all_gather", shape["p2p_us"] * inner, 30, had)] if step == 0 else had
        ways = [("send", 30, after), ("recv", 31, before)]
        if (rank - first) % 2:
            ways.reverse()
        return [job.collective(rank, group, kind, shape["p2p_us"], stream, had, peer=peer) for kind, stream, peer in ways]

    for iteration in range(1, shape["iterations"] + 1):
        begin(job, rank, iteration)
        for bwd in (False, True):
            job.thread[rank] = int(bwd)
            for _ in range(shape["layers"]):
                here = [block(job, rank, ATTENTION[:2], bwd)]
                for step in range(inner):
                    comes = pass_on(step, here) if step < inner - 1 else here
                    block(job, rank, [("flash_attn::_flash_attn_forward", "flash_fwd", 300 / inner)], bwd, here if step else ())
                    if step:
                        job.kernel(rank, "te::softmax_lse_correction", "lse_correct", 6)
                    here = comes
                last = block(job, rank, ATTENTION[3:] + MLP, bwd)
                if bwd:
                    reduced = job.collective(rank, "world", "all_reduce", shape["reduce_us"], 28, (last,), 1 << 26)
        yield from finish(job, rank, (reduced,))


def pipe(job, rank):
    """One forward, one backward; interleaved if a stage has several chunks of the model."""
    shape, inner, stages, chunks = job.shape, job.shape["inner"], job.shape["stages"], job.shape["chunks"]
    size = job.ranks // stages
    stage, column = rank // size, rank % size
    steps = shape["micro_batches"] * chunks

    def transfer(kind, stream, stage_of_peer, waits=()):
        return job.collective(rank, f"pp{column}", kind, shape["p2p_us"], stream, waits, peer=stage_of_peer % stages * size + column)

    def compute(bwd, waits):
        for _ in range(shape["layers"]):
            for part in (ATTENTION, MLP) if inner > 1 else (ATTENTION + MLP,):
                last = block(job, rank, part, bwd, waits)
                waits = ()
                if inner > 1:
                    last = job.collective(rank, f"tp{rank // inner}", "all_reduce", shape["gather_us"] * 0.4, 20, (last,))
                    waits = (last,)
        return last

    def step(chunk, bwd):
        job.thread[rank] = int(bwd)
        place = chunk * stages + stage  # of the model's chunks
        first, last, onward = (stages * chunks - 1, 0, -1) if bwd else (0, stages * chunks - 1, 1)
        waits = () if place == first else (transfer("recv", 38 if bwd else 34, stage - onward),)
        work = compute(bwd, waits)
        if place != last:
            transfer("send", 36 if bwd else 32, stage + onward, (work,))
        elif not bwd:
            job.kernel(rank, "aten::cross_entropy_loss", "vocab_loss", 60 * shape["scale"])
        return work

    def chunk(k):
        return k // stages % chunks

    ahead = stages - 1 - stage if chunks == 1 else (stages - stage - 1) * 2 + (chunks - 1) * stages
    ahead = min(ahead, steps)
    for iteration in range(1, shape["iterations"] + 1):
        begin(job, rank, iteration)
        for k in range(ahead):
            step(chunk(k), False)
        for k in range(steps):
            if ahead + k < steps:
                step(chunk(ahead + k), False)
            last = step(chunks - 1 - chunk(k), True)
        if size > inner:
            last = job.collective(rank, f"dp{stage}_{rank % inner}", "all_reduce", shape["reduce_us"] * 2, 28, (last,), 1 << 27)
        yield from finish(job, rank, (last,))


PROGRAMS = {"fsdp": fsdp, "hsdp": fsdp, "ddp": ddp, "tp": tp, "moe": moe, "cp": cp, "pipe": pipe}


# ---- as Kineto writes it -------------------------------------------------------------------------


def trace(job, rank, shift, drift):
    shape, events, process, device = job.shape, [], 7000 + rank, rank % job.shape["node"]
    threads = (process, process + 40)

    def at(us):
        return round(5e11 + us * (1 + drift) + shift, 3)

    def row(category, name, begin, length, thread, pid=process, **args):
        events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": thread, "ts": at(begin), "dur": round(length, 3), "args": args})

    waited_for = {id(work) for one in job.rows[rank] if isinstance(one, dict) for work in one["waits"]}
    recorded, begins, number = {}, {}, 100
    for one in job.rows[rank]:
        number += 10
        if isinstance(one, tuple):
            if one[0] == "begin":
                begins[one[1]] = one[2]
            elif one[0] == "end":
                row("user_annotation", f"ProfilerStep#{one[1] + 4}", begins[one[1]], one[2] - begins[one[1]], threads[0])
            elif one[0] == "host":
                row(one[1], one[2], one[3], one[4] - one[3], threads[one[5]], **{"External id": number})
            else:
                row("cuda_runtime", "cudaStreamSynchronize", one[1], one[2] - one[1], threads[one[3]], correlation=number)
            continue
        (begin, end), thread, work, stream = one["call"], threads[one["thread"]], one["work"], one["stream"]
        length = end - begin
        for k, other in enumerate(one["waits"]):
            when, call = begin + 0.05 * length + 0.6 * k, number + 1 + k
            row("cuda_runtime", "cudaStreamWaitEvent", when, 0.4, thread, correlation=call)
            if shape["rows"]:
                row("cuda_sync", "Stream Wait Event", when, 0.1, stream, device, correlation=call, stream=stream,
                    wait_on_stream=other.row["stream"], wait_on_cuda_event_record_corr_id=recorded[id(other)])
        told, op = one.get("told", {}), one.get("op", "c10d::" + one.get("told", {}).get("Collective name", ""))
        name = one.get("name") or f"ncclDevKernel_{COLLECTIVES[one['kind']][0]}(ncclDevKernelArgsStorage<4096ul>)"
        row("cpu_op", op, begin, 0.97 * length, thread, **{"External id": number})
        if told:
            row("cpu_op", "record_param_comms", begin + 0.1 * length, 0.8 * length, thread, **{"External id": number}, **told)
        row("cuda_runtime", "cudaLaunchKernel", begin + 0.5 * length, min(4, 0.1 * length), thread, correlation=number, **{"External id": number})
        row("kernel", name, work.begin, work.end - work.begin, stream, device, correlation=number, device=device, stream=stream,
            context=1, grid=[132, 1, 1], block=[384, 1, 1], **{"External id": number}, **told)
        flow = {"id": number, "cat": "ac2g", "name": "ac2g"}
        events.append({"ph": "s", "pid": process, "tid": thread, "ts": at(begin + 0.5 * length), **flow})
        events.append({"ph": "f", "pid": device, "tid": stream, "ts": at(work.begin), "bp": "e", **flow})
        if told or id(work) in waited_for:
            recorded[id(work)] = number + 9
            row("cuda_runtime", "cudaEventRecord", begin + 0.85 * length, 0.4, thread, correlation=number + 9)
    groups = [{"pg_name": name, "pg_desc": told, "pg_size": len(members), "ranks": list(members)}
              for name, (told, members) in job.groups.items() if rank in members]
    devices = [{"id": k, "name": "NVIDIA H100 80GB HBM3", "numSms": 132} for k in range(shape["node"])]
    return {"schemaVersion": 1, "deviceProperties": devices, "traceEvents": events,
            "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": job.ranks, "pg_count": len(groups), "pg_config": groups}}


def write(job, folder, absent=()):
    """One file a rank, clocks as far apart and as fast as the shape says."""
    os.makedirs(folder, exist_ok=True)
    clock = random.Random(job.seed)
    for rank in range(job.ranks):
        shift, drift = clock.uniform(-1, 1) * job.shape["skew"], clock.uniform(-1, 1) * job.shape["drift"] * 1e-6
        if rank in absent:
            continue
        with gzip.open(f"{folder}/rank{rank}.json.gz", "wt", compresslevel=1) as file:
            json.dump(trace(job, rank, shift, drift), file)
