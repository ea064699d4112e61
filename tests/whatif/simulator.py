"""Random programs and a discrete-event simulator of their host threads, streams and device: the truth that
assay's replays are measured by. It knows nothing of how assay works, and shares no code with it: an edit changes
the program, and the program runs again.

A program is a list of atoms per thread:
  ("open", category, name)  ("close",)       an operator, frame or label begins or ends
  ("host", ns)                               host time in what is open
  ("call", id, kind, {...})                  launch, copy, fetch (a copy that blocks), sync, alloc, record, wait
  ("signal", key)  ("await", key)            one thread starts another, and waits for it
  ("step", number)  ("step_end",)            marks of an iteration
"""

import collections
import heapq
import json
import random


class Device:
    """What everything costs, in ns: constants of one program."""

    def __init__(self, rng):
        self.launch = rng.randrange(2500, 7000)      # handed over -> begins, on a free stream
        self.stream = rng.randrange(1000, 2500)      # end of the work before -> begins
        self.event = rng.randrange(1200, 4000)       # end of what an event waits for -> begins
        self.back = rng.randrange(2000, 9000)        # end of what a call waits for -> it returns
        self.queue = None                            # unstarted work at which launch calls block


# ---- programs ------------------------------------------------------------------------------------


class Writer:
    """Writes one thread's atoms."""

    def __init__(self, program, thread):
        self.program, self.atoms = program, program.threads[thread]

    def call(self, kind, **what):
        self.program.calls += 1
        what.setdefault("ns", self.program.rng.randrange(1500, 9000))
        self.atoms.append(("call", self.program.calls, kind, what))

    def host(self, low, high):
        self.atoms.append(("host", self.program.rng.randrange(low, high)))

    def inside(self, category, name, body):
        self.atoms.append(("open", category, name))
        body()
        self.atoms.append(("close",))


class Program:
    def __init__(self, seed):
        self.rng = rng = random.Random(seed)
        self.seed, self.calls = seed, 0
        self.device = Device(rng)
        self.two_threads = rng.random() < 0.2
        self.threads = [[], []] if self.two_threads else [[]]
        self.streams = rng.choice([1, 1, 1, 2, 3])
        self.has_steps = rng.random() < 0.8
        steps = rng.randrange(3, 9) if self.has_steps else 1
        self.shape = self.choose_shape()
        # What is before the first launch is before the window, and no edit's.
        Writer(self, 0).call("launch", stream=0, name="first", work=1_000)
        for step in range(steps):
            self.add_step(step)

    def choose_shape(self):
        rng = self.rng
        shape = {
            "pieces": rng.randrange(8, 40),
            "kernel": rng.choice([3_000, 8_000, 20_000, 60_000]),   # typical duration
            "host": rng.choice([2_000, 6_000, 15_000]),             # before a launch
            "sync": rng.choice([0, 0, 0.05, 0.15]),
            "fetch": rng.choice([0, 0, 0.08]),
            "alloc": rng.choice([0, 0, 0.05]),
            "input": rng.choice([0, 0, 30_000, 400_000]),
            "copy": rng.choice([0, 0.1]),
            "events": rng.choice([0, 0.2]) if self.streams > 1 else 0,
            "pair": rng.choice([0, 0.2]),
            "varies": rng.random() < 0.15,
        }
        if rng.random() < 0.04:                       # a queue that fills
            self.device.queue = rng.choice([256, 512])
            shape.update(pieces=self.device.queue + 150, kernel=240_000, host=2_000, sync=0, fetch=0,
                         alloc=0, copy=0, pair=0, events=0)
        return shape

    def add_step(self, step):
        rng, shape = self.rng, self.shape
        main = Writer(self, 0)
        if self.has_steps:
            main.atoms.append(("step", step))
        if shape["input"]:
            main.inside("op", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                        lambda: main.host(shape["input"] // 2, shape["input"] * 3 // 2))
        plan = random.Random(self.seed * 1000 + (step if shape["varies"] else 0))
        kinds = [self.draw(plan) for _ in range(shape["pieces"])]
        cut = len(kinds) // 2 if self.two_threads else len(kinds)
        for index, kind in enumerate(kinds[:cut]):
            self.add_piece(main, index, kind)
        if self.two_threads:
            main.atoms.append(("signal", ("go", step)))
            helper = Writer(self, 1)
            helper.atoms.append(("await", ("go", step)))
            for index, kind in enumerate(kinds[cut:]):
                self.add_piece(helper, cut + index, kind)
            helper.atoms.append(("signal", ("done", step)))
            main.atoms.append(("await", ("done", step)))
            main.host(1_000, 3_000)
        if rng.random() < 0.5 or step == 0:
            main.inside("frame", f"train.py({rng.randrange(9)}): log", lambda: main.host(1_000, 12_000))
        if self.has_steps:
            main.atoms.append(("step_end",))

    def draw(self, plan):
        """What a piece does: the same in each step, unless steps vary."""
        shape = self.shape
        kind, at = "launch", plan.random()
        for name in ("sync", "fetch", "alloc", "copy", "pair"):
            if at < shape[name]:
                kind = name
                break
            at -= shape[name]
        stream = plan.randrange(self.streams) if plan.random() < 0.4 else 0
        return kind, stream, plan.randrange(6), plan.random() < shape["events"]

    def add_piece(self, writer, index, drawn):
        kind, stream, which, waits = drawn
        rng, shape = self.rng, self.shape
        category, name = rng.choice([("op", f"aten::op{which}"), ("op", f"aten::op{which}"), ("frame", f"model.py({which}): f")])

        def body():
            writer.host(shape["host"] // 2, shape["host"] * 3 // 2)
            if waits and stream:
                self.events = getattr(self, "events", 0) + 1
                writer.call("record", stream=0, event=self.events, ns=rng.randrange(300, 900))
                writer.call("wait", stream=stream, event=self.events, ns=rng.randrange(300, 900))
            if kind == "launch":
                ns = rng.randrange(shape["kernel"] // 2, shape["kernel"] * 3 // 2)
                writer.call("launch", stream=stream, name=f"kernel_{which}", work=ns)
            elif kind == "pair":                      # two kernels that always follow each other
                for name in ("head", "tail"):
                    writer.call("launch", stream=0, name=name, work=rng.randrange(1_000, shape["kernel"]))
                    writer.host(300, 2_500)
            elif kind == "copy":
                writer.call("copy", stream=stream, name="Memcpy DtoD (Device -> Device)", work=rng.randrange(1_000, 20_000))
            elif kind == "fetch":
                writer.call("fetch", stream=0, name="Memcpy DtoH (Device -> Pageable)", work=rng.randrange(20_000, 40_000))
            elif kind == "sync":
                writer.call("sync", stream=rng.choice([None, stream]), ns=rng.randrange(2_000, 6_000))
            else:
                writer.call("alloc", ns=rng.randrange(20_000, 150_000))
            writer.host(300, 1_500)

        writer.inside(category, name, body)
        if rng.random() < 0.3:
            writer.host(500, 4_000)                   # nothing recorded


# ---- edits ---------------------------------------------------------------------------------------

PLAIN = {"launch", "copy", "record", "wait"}          # calls that do not wait


class Change:
    """An edit as the program feels it. Built from the recorded run where it needs to know what came after what."""

    def __init__(self, edits, program, recorded):
        self.edits = edits
        self.free, self.short, self.joined, self.joined_ns = set(), set(), set(), {}
        for edit in edits:
            if edit == "cuda_graph":
                self.add_graphs(program, recorded)
            elif edit.startswith("fuse:"):
                self.add_chain(edit[5:].split("+"), recorded)

    # Times as the program would take them.
    def factor(self, kinds, rows):
        left = 1.0
        for edit in self.edits:
            name, _, value = edit.rpartition("=") if "=" in edit else (edit, "", "")
            number = float(value) if value else 0.0
            if edit == "input" and "input" in kinds or edit == "alloc" and "alloc" in kinds:
                left = 0.0
            elif name == "faster_cpu" and not kinds & {"waits", "alloc", "input"}:
                left = min(left, 1 / number)
            elif name.startswith("op:") and name[3:] in rows and "waits" not in kinds:
                left = min(left, number)
        return left

    def host_ns(self, ns, kinds, rows, next_call):
        return 0 if next_call in self.free and ns < 300_000 else int(ns * self.factor(kinds, rows))

    def call_ns(self, call, kind, ns, rows):
        if call in self.free or kind in ("sync", "fetch") and "sync" in self.edits:
            return 0
        kinds = {"alloc"} if kind == "alloc" else {"waits"} if kind in ("sync", "fetch") else {"call"}
        ns = int(ns * self.factor(kinds, rows))
        return min(ns, 10_000) if call in self.short else ns

    def waits(self):
        return "sync" not in self.edits

    def work_ns(self, kind, name, ns):
        for edit in self.edits:
            if edit.startswith("kernel:") and edit[7:].rpartition("=")[0] == name:
                ns = int(ns * float(edit.rpartition("=")[2]))
            if edit == "copies" and kind in ("copy", "fetch"):
                ns = 0
        return ns

    def gap_ns(self, call, ns):
        return min(ns, self.joined_ns.get(call, ns))

    # What repeats in steps becomes a graph: of each step the calls between two that wait or allocate that launch most.
    def add_graphs(self, program, recorded):
        for stretch in graph_stretches(recorded):
            self.short.add(stretch[0])
            self.free.update(stretch[1:])
            for call in stretch:
                self.joined_ns[call] = 1_000

    def add_chain(self, names, recorded):
        for works in chains(names, recorded):
            for call in works[1:]:
                self.free.add(call)
                self.joined_ns[call] = 0


def graph_stretches(recorded):
    """Per step with one: ids of the calls from after a break to the last launch, where they launch most kernels."""
    stretches = []
    for begin, end in recorded.steps:
        calls = sorted((c["begin"], i) for i, c in recorded.calls.items() if begin <= c["begin"] < end)
        best, best_n, now, now_n, length = [], 0, [], 0, 0
        for _, i in calls:
            kind = recorded.calls[i]["kind"]
            if kind in ("sync", "fetch", "alloc"):
                now, now_n, length = [], 0, 0
                continue
            now.append(i)
            if kind == "launch":
                now_n, length = now_n + 1, len(now)
            if now_n > best_n:
                best, best_n = now[:length], now_n
        if len(best) > 2:
            stretches.append(best)
    return stretches


def same_kernels(recorded):
    """Share of the steps whose stretch runs what that of the last one runs."""
    seen = [[recorded.works[i]["name"] for i in s if i in recorded.works] for s in graph_stretches(recorded)]
    return (sum(s == seen[-1] for s in seen) / len(seen)) if len(seen) > 1 else 0


def chains(names, recorded):
    """Launches whose kernels follow each other on a stream, within a step."""
    streams = collections.defaultdict(list)
    for i, work in sorted(recorded.works.items(), key=lambda item: item[1]["begin"]):
        if recorded.calls[i]["kind"] == "launch":
            streams[work["stream"]].append(i)
    step_of = lambda i: next((n for n, (b, e) in enumerate(recorded.steps) if b <= recorded.calls[i]["begin"] < e), -1)
    found = []
    for ids in streams.values():
        k = 0
        while k + len(names) <= len(ids):
            part = ids[k:k + len(names)]
            if [recorded.works[i]["name"] for i in part] == names:
                if step_of(part[0]) == step_of(part[-1]):
                    found.append(part)
                    k += len(names)
                    continue
            k += 1
    return found


def chain_is_sure(names, recorded):
    first = sum(w["name"] == names[0] for i, w in recorded.works.items() if recorded.calls[i]["kind"] == "launch")
    return 0 < first == len(chains(names, recorded))


# ---- simulator -----------------------------------------------------------------------------------


class Stream:
    def __init__(self, sim, number):
        self.sim, self.number, self.queue = sim, number, collections.deque()
        self.last_end, self.running, self.after = None, False, []

    def put(self, item):
        self.queue.append(item)
        self.pump()

    def pump(self):
        sim = self.sim
        while self.queue and not self.running:
            item = self.queue[0]
            if item["what"] == "wait":
                target = item["target"]
                if target is not None and target["end"] is None:
                    if not item.get("asked"):
                        item["asked"] = True
                        target["then"].append(self.pump)
                    return
                if target is not None:
                    self.after.append(target["end"])
                self.queue.popleft()
                continue
            gap = sim.change.gap_ns(item["call"], sim.device.stream) if sim.change else sim.device.stream
            start = item["handed"] + sim.device.launch
            if self.last_end is not None:
                start = max(start, self.last_end + gap)
            for end in self.after:
                start = max(start, end + sim.device.event)
            self.after, self.running = [], True
            self.queue.popleft()
            sim.at(max(start, sim.now), lambda item=item: self.begin(item))
            return

    def begin(self, item):
        sim = self.sim
        item["begin"] = sim.now
        sim.unstarted -= 1
        sim.wake(("room",))
        sim.at(sim.now + item["ns"], lambda: self.end(item))

    def end(self, item):
        item["end"] = self.last_end = self.sim.now
        self.running = False
        for then in item["then"]:
            then()
        self.sim.wake(("end", id(item)))
        self.pump()


class Run:
    """Runs a program and keeps all that a tracer would record."""

    def __init__(self, program, edits=(), recorded=None):
        self.program, self.device = program, program.device
        self.change = Change(list(edits), program, recorded) if edits else None
        self.now, self.order, self.heap = 0, 0, []
        self.unstarted, self.waiters = 0, collections.defaultdict(list)
        self.signals, self.last, self.events = set(), {}, {}
        self.streams = [Stream(self, n) for n in range(program.streams)]
        self.calls, self.works, self.rows, self.steps = {}, {}, [], []
        self.handed_over = {}
        for number, atoms in enumerate(program.threads):
            self.resume(self.thread(number, atoms))
        while self.heap:
            self.now, _, act = heapq.heappop(self.heap)
            act()
        self.work_end = max(w["end"] for w in self.works.values())
        self.makespan = max([c["end"] for c in self.calls.values()] + [w["end"] for w in self.works.values()])

    def at(self, time, act):
        self.order += 1
        heapq.heappush(self.heap, (time, self.order, act))

    def wake(self, key):
        for thread in self.waiters.pop(key, []):
            self.at(self.now, lambda thread=thread: self.resume(thread))

    def resume(self, thread):
        """A thread says ("until", time) or ("on", key): when it goes on."""
        try:
            what, value = next(thread)
        except StopIteration:
            return
        if what == "until":
            self.at(value, lambda: self.resume(thread))
        else:
            self.waiters[value].append(thread)

    def thread(self, number, atoms):
        ahead = next_calls(atoms)
        open_rows = []
        for place, atom in enumerate(atoms):
            if atom[0] == "open":
                open_rows.append((atom[1], atom[2], self.now))
            elif atom[0] == "close":
                category, name, begin = open_rows.pop()
                self.rows.append((category, name, number, begin, self.now))
            elif atom[0] == "host":
                ns = atom[1]
                if self.change:
                    kinds = {"input"} if any("DataLoader" in row[1] for row in open_rows) else {"host"}
                    ns = self.change.host_ns(ns, kinds, {row[1] for row in open_rows}, ahead[place])
                yield "until", self.now + ns
            elif atom[0] == "signal":
                self.signals.add(atom[1])
                self.wake(atom[1])
            elif atom[0] == "await":
                while atom[1] not in self.signals:
                    yield "on", atom[1]
            elif atom[0] == "step":
                step_begin, step_name = self.now, f"ProfilerStep#{atom[1]}"
            elif atom[0] == "step_end":
                self.steps.append((step_begin, self.now))
                self.rows.append(("step", step_name, number, step_begin, self.now))
            else:
                yield from self.call(number, atom, {row[1] for row in open_rows})

    def call(self, number, atom, rows):
        _, i, kind, what = atom
        begin, ns = self.now, what["ns"]
        if self.change:
            ns = self.change.call_ns(i, kind, ns, rows)
        waits = self.change is None or self.change.waits()
        if kind in ("launch", "copy", "fetch"):
            limit = self.device.queue if i not in (self.change.free if self.change else ()) else None
            while limit and self.unstarted >= limit:
                yield "on", ("room",)
        yield "until", self.now + ns
        if kind in ("launch", "copy", "fetch"):
            item = self.hand_over(i, kind, what)
            if kind == "fetch" and waits:
                while item["end"] is None:
                    yield "on", ("end", id(item))
                yield "until", max(self.now, item["end"] + self.device.back)
        elif kind == "record":
            self.events[what["event"]] = (self.last.get(what["stream"]), i)
        elif kind == "wait":
            target, recorded = self.events[what["event"]]
            self.streams[what["stream"]].put({"what": "wait", "target": target})
            what = dict(what, record=recorded)
        elif kind == "sync" and waits:
            yield from self.wait_for([self.last.get(s) for s in self.synced(what["stream"])], begin)
        self.calls[i] = dict(what, kind=kind, thread=number, begin=begin, end=self.now)

    def synced(self, stream):
        return range(len(self.streams)) if stream is None else [stream]

    def wait_for(self, items, begin):
        latest = None
        for item in items:
            if item is None:
                continue
            while item["end"] is None:
                yield "on", ("end", id(item))
            latest = item["end"] if latest is None else max(latest, item["end"])
        if latest is not None and latest > begin:
            yield "until", max(self.now, latest + self.device.back)

    def hand_over(self, i, kind, what):
        ns = self.change.work_ns(kind, what["name"], what["work"]) if self.change else what["work"]
        item = {"what": "work", "call": i, "handed": self.now, "ns": ns, "begin": None, "end": None, "then": [],
                "stream": what["stream"], "name": what["name"]}
        self.works[i] = item
        self.last[what["stream"]] = item
        self.unstarted += 1
        self.streams[what["stream"]].put(item)
        return item


def next_calls(atoms):
    """Per atom the id of the thread's next call, or None."""
    ahead, following = [None] * len(atoms), None
    for place in range(len(atoms) - 1, -1, -1):
        if atoms[place][0] == "call":
            following = atoms[place][1]
        ahead[place] = following
    return ahead


# ---- traces --------------------------------------------------------------------------------------

NAMES = {"launch": "cudaLaunchKernel", "copy": "cudaMemcpyAsync", "fetch": "cudaMemcpyAsync", "alloc": "cudaMalloc",
         "record": "cudaEventRecord", "wait": "cudaStreamWaitEvent"}
CATEGORIES = {"op": "cpu_op", "frame": "python_function", "step": "user_annotation"}


def trace_of(run, hide=lambda kind, i: False):
    """The run as PyTorch's profiler writes it. hide(kind, id): rows that are withheld, of kinds call, work, wait."""
    rows = []

    def add(category, name, pid, tid, begin, end, **args):
        rows.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": begin / 1000,
                     "dur": (end - begin) / 1000, "args": args})

    for category, name, thread, begin, end in run.rows:
        add(CATEGORIES[category], name, 1, 1 + thread, begin, end)
    for i, c in run.calls.items():
        name = NAMES.get(c["kind"]) or ("cudaDeviceSynchronize" if c["stream"] is None else "cudaStreamSynchronize")
        if not hide("call", i):
            add("cuda_runtime", name, 1, 1 + c["thread"], c["begin"], c["end"], correlation=i)
        if c["kind"] == "wait" and not hide("wait", i):
            add("cuda_sync", "Stream Wait Event", 0, 7 + c["stream"], c["begin"], c["end"], correlation=i, device=0,
                cuda_sync_kind="Stream Wait Event", stream=7 + c["stream"], wait_on_stream=7,
                wait_on_cuda_event_record_corr_id=c["record"], context=1)
        if c["kind"] == "sync" and not hide("wait", i):
            kind = "Context Sync" if c["stream"] is None else "Stream Sync"
            add("cuda_sync", kind, 0, 7 + (c["stream"] or 0), c["begin"], c["end"], correlation=i, device=0,
                cuda_sync_kind=kind, stream=4294967295 if c["stream"] is None else 7 + c["stream"], context=1)
    for i, w in run.works.items():
        if not hide("work", i):
            category = "kernel" if run.calls[i]["kind"] == "launch" else "gpu_memcpy"
            add(category, w["name"], 0, 7 + w["stream"], w["begin"], w["end"], correlation=i, device=0,
                stream=7 + w["stream"], context=1)
    rows.sort(key=lambda row: (row["ts"], -row["dur"]))
    return json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "simulated"}], "traceEvents": rows})
