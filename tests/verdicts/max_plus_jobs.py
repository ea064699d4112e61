"""Jobs of known truth as Kineto traces: one max-plus graph over host threads, streams and collectives of all ranks.
What a fault costs is the same draws without it. Times in µs."""
import gzip, json, math, os, random
K = dict(all_gather=('ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)', '_allgather_base'),
         reduce_scatter=('ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)', '_reduce_scatter_base'),
         all_reduce=('ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)', 'allreduce'),
         all_to_all=('ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)', 'all_to_allv'),
         send=('ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)', 'send'), recv=('ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)', 'recv'))
LAYER = [('aten::rms_norm', 'rms_norm_kernel', 14), ('aten::linear', 'sm90_gemm_qkv', 140), ('aten::attention', 'flash_fwd_kernel', 210),
         ('aten::linear', 'sm90_gemm_out', 95), ('aten::add', 'elementwise_add', 9), ('aten::linear', 'sm90_gemm_gate', 300), ('aten::silu', 'elementwise_silu', 22), ('aten::linear', 'sm90_gemm_down', 170)]

class Job:
    """Ops of each rank in the order of their launches; ids are (rank, place)."""
    def __init__(self, n, node, seed, gap=1.0, ev=1.8, noise=.012, net=.04):
        self.n, self.node, self.r, self.number = n, node, random.Random(seed), seed; self.ops = [[] for _ in range(n)]; self.gap, self.ev, self.noise, self.net = gap, ev, noise, net; self.groups = {}; self.it = -1; self.seq = {}
    def add(self, v, **o): o['it'] = self.it; self.ops[v].append(o); return len(self.ops[v]) - 1
    def host(self, v, name, us, sd=.15): self.add(v, t='h', name=name, h=us * math.exp(self.r.gauss(0, sd)))
    def kernel(self, v, op, name, us, stream=7, wait=(), h=13): return self.add(v, t='k', op=op, name=name, d=us * math.exp(self.r.gauss(0, self.noise)), h=h * math.exp(self.r.gauss(0, .12)), s=stream, wait=tuple(w for w in wait if w is not None))
    def comm(self, v, g, kind, us, stream, wait=(), members=None, size=1 << 24):
        desc, m = self.groups[g]; m = members or m; key = (g, kind if kind not in ('send', 'recv') else 'p2p', m); q = self.seq.get((v, key), 0); self.seq[(v, key)] = q + 1
        x = us * math.exp(random.Random('%s %s %s %d %d' % (g, key[1], m, q, self.number)).gauss(0, self.net))
        return self.add(v, t='c', key=(key, q), g=g, desc=desc, kind=kind, m=m, d=x, h=26 * math.exp(self.r.gauss(0, .1)), s=stream, wait=tuple(w for w in wait if w is not None), seq=q, size=size)
    def sync(self, v, stream=7): self.add(v, t='s', h=3, s=stream)
    def layer(self, v, k, bwd=False, wait=(), only=None):
        last = None
        for j, (op, name, us) in enumerate(LAYER if only is None else [LAYER[q] for q in only]): last = self.kernel(v, op + ('_backward' if bwd else ''), name + ('_bwd' if bwd else ''), us * k * (2 if bwd else 1), wait=wait if j == 0 else ())
        return last

def evaluate(job, fault):
    """fault(rank, op, what) -> us. Returns begin and end of every op (host: of the call), in place."""
    n = job.n; B = [[0.0] * len(o) for o in job.ops]; E = [[0.0] * len(o) for o in job.ops]; H = [[(0.0, 0.0)] * len(o) for o in job.ops]
    meet = {}; ptr = [0] * n; now = [0.0] * n; tail = [{} for _ in range(n)]; open_ = [[] for _ in range(n)]; known = [set() for _ in range(n)]; R = random.Random(5)
    tailjit = {}
    def settle(v):
        moved = False; blocked = set(); rest = []
        for i in open_[v]:
            o = job.ops[v][i]; p = o['prev']
            if o['s'] in blocked or (p is not None and p not in known[v]) or any(w not in known[v] for w in o['wait']): blocked.add(o['s']); rest.append(i); continue
            b = max([H[v][i][0] + (H[v][i][1] - H[v][i][0]) * .6 + 5.5] + ([E[v][p] + o['gap']] if p is not None else []) + [E[v][w] + job.ev * (.8 + .4 * o['j']) for w in o['wait']])
            B[v][i] = b
            if o['t'] == 'c':
                m = meet.setdefault(o['key'], {}); m[v] = (b, fault(v, o, 'd'))
                if len(m) < len(o['m']): blocked.add(o['s']); rest.append(i); continue
                E[v][i] = max(x for x, _ in m.values()) + max(d for _, d in m.values()) + 1.5 * o['j']
            else: E[v][i] = b + fault(v, o, 'd')
            known[v].add(i); moved = True
        open_[v] = rest; return moved
    while True:
        moved = False
        for v in range(n):
            moved |= settle(v)
            while ptr[v] < len(job.ops[v]):
                i = ptr[v]; o = job.ops[v][i]
                if o['t'] == 's':
                    last = [k for k in open_[v] if job.ops[v][k]['s'] == o['s']]
                    if last: break
                    z = max([now[v]] + [E[v][k] for k in tail[v].values() if job.ops[v][k]['s'] == o['s']]); H[v][i] = (now[v], z + o['h']); now[v] = z + o['h']
                else:
                    h = fault(v, o, 'h'); H[v][i] = (now[v], now[v] + h); now[v] += h
                    if o['t'] in 'kc': o['prev'] = tail[v].get(o['s']); tail[v][o['s']] = i; open_[v].append(i); settle(v)
                ptr[v] += 1; moved = True
        if not moved: break
    assert all(p == len(o) for p, o in zip(ptr, job.ops)) and not any(open_), 'deadlock'
    return B, E, H, max(max(E[v]) for v in range(n))

def build(kind, n, seed, **o):
    node = o.get('node', 8); job = Job(n, node, seed, o.get('gap', 1.0), o.get('ev', 1.8)); L, its, k = o.get('layers', 4), o.get('iters', 4), o.get('scale', 1.0); tp = min(node, n)
    job.groups['0'] = ('default_pg', tuple(range(n)))
    for q in range(n // tp): job.groups['tp%d' % q] = ('tp', tuple(range(q * tp, q * tp + tp)))
    for q in range(tp): job.groups['dp%d' % q] = ('dp', tuple(range(q, n, tp)))
    st = o.get('stages', 4); dp = max(1, n // st)
    if kind == 'pp':
        for q in range(dp): job.groups['pp%d' % q] = ('pp', tuple(q + s * dp for s in range(st)))
        for s in range(st): job.groups['st%d' % s] = ('dp', tuple(range(s * dp, s * dp + dp)))
    for it in range(its):
        job.it = it + 1
        for v in range(n):
            job.add(v, t='m'); job.host(v, 'enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__', 150)
            if kind in ('fsdp', 'hsdp'):
                g = '0' if kind == 'fsdp' else 'tp%d' % (v // tp); depth = o.get('prefetch', 1); ag = lambda w=None: job.comm(v, g, 'all_gather', 380, 20, (w,)); q = [ag() for _ in range(depth)]; last = None; rs = None
                for l in range(L):
                    if l + depth < L: q.append(ag())
                    last = job.layer(v, k, wait=(q.pop(0),))
                q = [ag(last) for _ in range(depth)]
                for l in range(L):
                    if l + depth < L: q.append(ag())
                    last = job.layer(v, k, True, wait=(q.pop(0),)); rs = job.comm(v, g, 'reduce_scatter', 420, 24, (last,), size=1 << 25)
                    if kind == 'hsdp': rs = job.comm(v, 'dp%d' % (v % tp), 'all_reduce', 240, 28, (rs,))
                job.kernel(v, 'Optimizer.step#AdamW.step', 'multi_tensor_apply_kernel', 250, wait=(rs,))
            elif kind == 'ddp':
                for l in range(L): last = job.layer(v, k)
                for l in range(L): last = job.layer(v, k, True); ar = job.comm(v, '0', 'all_reduce', 900, 20, (last,), size=1 << 26)
                job.kernel(v, 'Optimizer.step#AdamW.step', 'multi_tensor_apply_kernel', 250, wait=(ar,))
            elif kind == 'tp':
                w = ()
                for bwd in (False, True):
                    for l in range(L):
                        w = (job.comm(v, 'tp%d' % (v // tp), 'all_reduce', 120, 20, (job.layer(v, k, bwd, w, range(4)),)),); w = (job.comm(v, 'tp%d' % (v // tp), 'all_reduce', 120, 20, (job.layer(v, k, bwd, w, range(4, 8)),)),)
                ar = job.comm(v, 'dp%d' % (v % tp), 'all_reduce', 1900, 28, w, size=1 << 28); job.kernel(v, 'Optimizer.step#AdamW.step', 'multi_tensor_apply_kernel', 250, wait=(ar,))
            elif kind == 'moe':
                w = (); hot = o.get('hot', {}).get(v, 1.0); g = 'tp%d' % (v // tp)
                for bwd in (False, True):
                    for l in range(L):
                        a = job.layer(v, k, bwd, w, range(5)); w = (job.comm(v, g, 'all_to_all', 150, 20, (a,)),)
                        for nm in ('up', 'down'): a = job.kernel(v, 'fused_moe::grouped_gemm' + ('_backward' if bwd else ''), 'GroupedGemm_' + nm, 330 * k * hot * (2 if bwd else 1), wait=w); w = ()
                        w = (job.comm(v, g, 'all_to_all', 150, 20, (a,)),)
                        if bwd: ar = job.comm(v, '0', 'all_reduce', 300, 28, (a,), size=1 << 25)
                job.kernel(v, 'Optimizer.step#AdamW.step', 'multi_tensor_apply_kernel', 250, wait=(ar,) + w)
            elif kind == 'pp':
                s, q = v // dp, v % dp; g = 'pp%d' % q; mul = o.get('imb', {}).get(s, 1.0); mb = o.get('mb', 8); LL = 2 + o.get('more', {}).get(s, 0)
                def p2p(kd, a, b, st_, w=()): return job.comm(v, g, kd, 85, st_, w, members=(a, b))
                def f():
                    w = (p2p('recv', v - dp, v, 34),) if s else (); x = None
                    for l in range(LL): x = job.layer(v, k * mul, wait=w if l == 0 else ())
                    if s < st - 1: p2p('send', v, v + dp, 32, (x,))
                def b():
                    w = (p2p('recv', v + dp, v, 38),) if s < st - 1 else (); x = None
                    for l in range(LL): x = job.layer(v, k * mul, True, wait=w if l == 0 else ())
                    if s: p2p('send', v, v - dp, 36, (x,))
                    return x
                warm = min(st - 1 - s, mb); [f() for _ in range(warm)]
                for _ in range(mb - warm): f(); x = b()
                for _ in range(warm): x = b()
                ar = job.comm(v, 'st%d' % s, 'all_reduce', 800, 28, (x,), size=1 << 27) if dp > 1 else x; job.kernel(v, 'Optimizer.step#AdamW.step', 'multi_tensor_apply_kernel', 250, wait=(ar,))
            job.sync(v)
    R = random.Random(seed + 1)
    for v in range(n):
        for x in job.ops[v]: x['j'] = R.random(); x['gap'] = job.gap * (.8 + .4 * R.random())
    return job

def cost(job, faults):
    first = {}
    for v in range(job.n):
        for o in job.ops[v]:
            if o['t'] == 'k': first.setdefault((v, o['it']), id(o))
    def fn(v, o, what):
        x = o['d'] if what == 'd' else o.get('h', 0.0)
        for f in faults:
            if f[0] == 'gpu' and what == 'd' and o['t'] == 'k' and v in f[1]: x *= f[2]
            elif f[0] == 'host' and what == 'h' and v in f[1]: x *= f[2]
            elif f[0] == 'link' and what == 'd' and o['t'] == 'c' and o['g'] in f[1]: x *= f[2]
            elif f[0] == 'nic' and what == 'd' and o['t'] == 'c' and any(m // job.node == f[1] for m in o['m']) and any(m // job.node != f[1] for m in o['m']): x *= f[2]
            elif f[0] == 'loader' and what == 'h' and o['t'] == 'h' and v in f[1]: x += f[2]
            elif f[0] == 'pause' and what == 'h' and v in f[1] and o['it'] in f[3] and first.get((v, o['it'])) == id(o): x += f[2]
            elif f[0] == 'move' and what == 'd' and o['t'] == 'k': x *= f[1][(v, o['it'])]
        return x
    return fn

def trace(job, v, B, E, H, T0, skew, rows=False):
    ev, corr, marks, start = [], 1, {}, {}; pid, dev = 4000 + v, v % job.node; T = lambda x: round(T0 + x + skew, 3)
    need = {w for o in job.ops[v] for w in o.get('wait', ())}; ends = {}
    X = lambda cat, name, t, d, tid, **a: ev.append(dict(ph='X', cat=cat, name=name, pid=dev if cat == 'kernel' else pid, tid=tid, ts=T(t), dur=round(d, 3), args=a))
    for i, o in enumerate(job.ops[v]):
        a, z = H[v][i]
        if o['t'] == 'm': start[o['it']] = a; continue
        ends[o['it']] = z; d = z - a
        if o['t'] == 'h': X('user_annotation', o['name'], a, d, pid); continue
        if o['t'] == 's': X('cuda_runtime', 'cudaStreamSynchronize', a, d, pid, correlation=corr); corr += 1; continue
        for q, w in enumerate(o['wait']):
            X('cuda_runtime', 'cudaStreamWaitEvent', a + d * .1 + q * .5, .4, pid, correlation=corr)
            if rows: X('cuda_sync', 'Stream Wait Event', a + d * .1 + q * .5, .2, o['s'], correlation=corr, wait_on_stream=job.ops[v][w]['s'], wait_on_cuda_event_record_corr_id=marks[w])
            corr += 1
        extra = {}
        if o['t'] == 'c':
            name, cn = K[o['kind']]; X('cpu_op', 'c10d::' + cn, a, d * .98, pid, **{'External id': corr})
            extra = {'Collective name': cn, 'In msg nelems': o['size'] // 2, 'Out msg nelems': o['size'] // 2, 'Group size': len(o['m']), 'dtype': 'BFloat16', 'Process Group Name': o['g'], 'Process Group Description': o['desc'], 'Process Group Ranks': str(list(o['m'])), 'Seq': o['seq']}
            X('cpu_op', 'record_param_comms', a + d * .1, d * .8, pid, **{'External id': corr + 500000, **extra})
        else: name = o['name']; X('cpu_op', o['op'], a, d * .98, pid, **{'External id': corr})
        ld = min(4.0, d * .25); X('cuda_runtime', 'cudaLaunchKernel', a + d * .6 - ld / 2, ld, pid, correlation=corr, **{'External id': corr})
        X('kernel', name, B[v][i], E[v][i] - B[v][i], o['s'], correlation=corr, device=dev, stream=o['s'], context=1, **{'External id': corr, 'grid': [264, 1, 1], 'block': [256, 1, 1], **extra})
        ev.append(dict(ph='s', id=corr, pid=pid, tid=pid, ts=T(a + d * .6), cat='ac2g', name='ac2g')); ev.append(dict(ph='f', id=corr, pid=dev, tid=o['s'], ts=T(B[v][i]), cat='ac2g', name='ac2g', bp='e')); corr += 1
        if i in need or o['t'] == 'c': X('cuda_runtime', 'cudaEventRecord', a + d * .85, .5, pid, correlation=corr); marks[i] = corr; corr += 1
    for it in start: X('user_annotation', 'ProfilerStep#%d' % it, start[it], ends[it] - start[it], pid)
    return dict(schemaVersion=1, deviceProperties=[dict(id=q, name='NVIDIA H100 80GB HBM3', numSms=132) for q in range(job.node)], distributedInfo=dict(backend='nccl', rank=v, world_size=job.n, pg_count=len(job.groups),
                pg_config=[dict(pg_name=g, pg_desc=d, pg_size=len(m), ranks=list(m)) for g, (d, m) in job.groups.items() if v in m]), traceEvents=ev)


def write(folder, kind, ranks, seed, options, faults, different=()):
    """The traces of a job. Returns how long it takes, and how long without its faults and what `different` makes of it."""
    job = build(kind, ranks, seed, **options)
    begins, ends, calls, total = evaluate(job, cost(job, faults))
    plain = build(kind, ranks, seed, **{key: value for key, value in options.items() if key not in different})
    base = evaluate(plain, cost(plain, []))[3]
    os.makedirs(folder, exist_ok=True)
    skew = random.Random(seed)
    for rank in range(ranks):
        with gzip.open(f'{folder}/rank{rank}.json.gz', 'wt', compresslevel=1) as file:
            json.dump(trace(job, rank, begins, ends, calls, 1.764e12, skew.uniform(-3000, 3000)), file)
    return total * 1000, base * 1000
