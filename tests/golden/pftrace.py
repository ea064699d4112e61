"""Writes Perfetto traces in protobuf, by the public definitions in google/perfetto (protos/perfetto/trace): packets of
several sequences, interned names, incremental state, clocks. Independent of the reader in src/ingest/pftrace."""

import struct
import zlib

from xplane import message, number

BOOTTIME, OWN_CLOCK = 6, 64
CLEARED, NEEDS = 1, 2
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def fixed64(field, value):
    return bytes([field << 3 | 1]) if field < 16 else (
        bytes([(field << 3 | 1) & 127 | 128, (field << 3 | 1) >> 7])) + struct.pack("<Q", value)


def double(field, value):
    return fixed64(field, 0)[:-8] + struct.pack("<d", value)


class Sequence:
    """One writer: a packet sequence with its own tables of names and its own clock."""

    def __init__(self, ident, unit=1, interned=True):
        self.ident, self.unit, self.interned = ident, unit, interned
        self.tables, self.last, self.default_track = {}, None, 0
        self.out = []

    def packet(self, content, flags=NEEDS):
        self.out.append(message(1, number(10, self.ident) + number(13, flags) + content))

    def start(self, at, default_track=0):
        """Clears the state and sets the clock of the following timestamps: differences in units."""
        self.tables, self.last, self.default_track = {}, at // self.unit * self.unit, default_track
        clocks = message(1, number(1, BOOTTIME) + number(2, self.last))
        clocks += message(1, number(1, OWN_CLOCK) + number(2, self.last // self.unit) + number(3, 1) + number(4, self.unit))
        defaults = number(58, OWN_CLOCK) + message(11, number(11, default_track))
        self.packet(number(8, at) + number(58, BOOTTIME) + message(59, defaults) + message(6, clocks), CLEARED)

    def time(self, at):
        """A difference if time increases, else the absolute time with its clock."""
        if at < self.last or (at - self.last) % self.unit:
            return number(8, at) + number(58, BOOTTIME)
        step, self.last = (at - self.last) // self.unit, at
        return number(8, step)

    def iid(self, table, value, new):
        entries = self.tables.setdefault(table, {})
        if value not in entries:
            entries[value] = len(entries) + 1
            new.append(message(table, number(1, entries[value]) + message(2, value)))
        return entries[value]

    def annotation(self, key, value, new):
        content = number(1, self.iid(3, key, new)) if self.interned else message(10, key)
        if isinstance(value, bool):
            content += number(2, value)
        elif isinstance(value, float):
            content += double(5, value)
        elif isinstance(value, int):
            content += number(3, value) if value >= 0 else number(4, value)
        elif self.interned:
            content += number(17, self.iid(29, value, new))
        else:
            content += message(6, value)
        return message(4, content)

    def event(self, kind, at, track=None, name="", category="", annotations=(), flow=0, value=None):
        new, content = [], number(9, kind)
        if track is not None and track != self.default_track:
            content += number(11, track)
        if category:
            content += number(3, self.iid(1, category, new)) if self.interned else message(22, category)
        if name:
            content += number(10, self.iid(2, name, new)) if self.interned else message(23, name)
        for key, one in dict(annotations).items():
            content += self.annotation(key, one, new)
        if flow:
            content += fixed64(47, flow)
        if value is not None:
            content += double(44, value) if isinstance(value, float) else number(30, value)
        interned = message(12, b"".join(new)) if new else b""
        self.packet(self.time(at) + interned + message(11, content))

    def slice(self, begin, end, track, name, category, annotations=(), flow=0):
        self.event(BEGIN, begin, track, name, category, annotations, flow)
        self.event(END, end, track)


def track(uuid, name="", parent=0, process=None, thread=None, counter=False):
    """A descriptor. process: (pid, name); thread: (pid, tid, name)."""
    content = number(1, uuid) + (message(2, name) if name else b"") + (number(5, parent) if parent else b"")
    if process:
        content += message(3, number(1, process[0]) + message(6, process[1]))
    if thread:
        content += message(4, number(1, thread[0]) + number(2, thread[1]) + (message(5, thread[2]) if thread[2] else b""))
    if counter:
        content += message(8, number(3, 3) + number(4, 1024))
    return message(1, number(10, 1) + message(60, content))


def compressed(packets):
    return message(1, message(50, zlib.compress(b"".join(packets))))


COMPUTE, COPIES, THREADS, PROCESS = 1 << 40, 2 << 40, 3 << 40, 77


def rocprofv3(run, gpu=lambda agent: "Agent-1", unit=1, interned=True):
    """The packets of rocprofv3 for a run: (pid, kernels, copies, calls), rows as in its JSON; generatePerfetto.cpp in
    rocprofiler-sdk. Copies, calls and kernels have a sequence each, as if several threads had written them."""
    pid = run["pid"]
    head = [track(PROCESS, process=(pid, ""))]
    kernels, copies, calls = (Sequence(i, unit, interned) for i in (2, 3, 4))
    for sequence in (kernels, copies, calls):
        sequence.start(1000)
    for tid in sorted({row["tid"] for row in run["calls"]}):
        head.append(track(THREADS + tid, f"THREAD {tid} ({tid})", PROCESS))
    for stream in sorted({row["stream"] for row in run["kernels"] + run["copies"]}):
        head.append(track(COMPUTE + stream, f"COMPUTE AGENT [1] STREAM [{stream}] (GPU)", PROCESS))
        head.append(track(COPIES + stream, f"COPY to AGENT [1] STREAM [{stream}] (GPU)", PROCESS))
    for row in run["calls"]:
        times = {"begin_ns": row["start"], "end_ns": row["end"], "delta_ns": row["end"] - row["start"]}
        calls.slice(row["start"], row["end"], THREADS + row["tid"], row["name"], row["category"],
                    {**times, "tid": row["tid"], "kind": 3, "operation": 5, "corr_id": row["corr"]}, row["corr"] ^ 0xABCDEF0123456789)
    for row in run["copies"]:
        times = {"begin_ns": row["start"], "end_ns": row["end"], "delta_ns": row["end"] - row["start"]}
        host = "CPU-0" if gpu(1).startswith("GPU") else "Agent-0"
        ends = (host, gpu(1)) if "HOST_TO" in row["name"] else (gpu(1), host)
        copies.slice(row["start"], row["end"], COPIES + row["stream"], row["name"], "memory_copy",
                     {**times, "kind": 12, "operation": 2, "src_agent": ends[0], "dst_agent": ends[1], "copy_bytes": row["bytes"],
                      "corr_id": row["corr"], "tid": row["tid"]}, row["corr"] ^ 0xABCDEF0123456789)
    for row in run["kernels"]:
        times = {"begin_ns": row["start"], "end_ns": row["end"], "delta_ns": row["end"] - row["start"]}
        kernels.slice(row["start"], row["end"], COMPUTE + row["stream"], row["name"], "kernel_dispatch",
                      {**times, "kind": 11, "agent": gpu(1), "corr_id": row["corr"], "queue": row["queue"], "tid": row["tid"],
                       "kernel_id": 7, "private_segment_size": 0, "group_segment_size": row["shared"],
                       "workgroup_size": row["group"], "grid_size": row["grid"]}, row["corr"] ^ 0xABCDEF0123456789)
    return head, [kernels.out, copies.out, calls.out]


def systems(run, annotated=True):
    """The same run from rocprofiler-systems (perfetto_processor.cpp): other names, ends of calls without an annotation.
    annotated = False: its setting without annotations."""
    flow = 0x1234567800000000
    head = [track(PROCESS, process=(run["pid"], "train"))]
    for tid in sorted({row["tid"] for row in run["calls"]}):
        head.append(track(THREADS + tid, thread=(run["pid"], tid, ""), parent=PROCESS))
    writer = Sequence(9)
    writer.start(1000)
    for stream in sorted({row["queue"] for row in run["kernels"]}):
        head.append(track(COMPUTE + stream, f"GPU Kernel Dispatch [0] Queue {stream}", PROCESS))
    head.append(track(COPIES, "GPU Memory Copy to Agent [4] Thread 0", PROCESS))
    keep = (lambda notes: notes) if annotated else (lambda notes: {})
    for row in run["kernels"]:
        writer.slice(row["start"], row["end"], COMPUTE + row["queue"], row["name"], "rocm_kernel_dispatch",
                     keep({"begin_ns": row["start"], "end_ns": row["end"], "corr_id": row["corr"], "stream_id": row["stream"],
                           "queue": row["queue"], "dispatch_id": row["corr"], "kernel_id": 7, "private_segment_size": 0,
                           "group_segment_size": row["shared"], "workgroup_size": f"({row['group']},1,1)",
                           "grid_size": f"({row['grid']},1,1)"}), flow + row["corr"])
    for row in run["copies"]:
        ends = (0, 4) if "HOST_TO" in row["name"] else (4, 0)
        writer.slice(row["start"], row["end"], COPIES, row["name"], "rocm_memory_copy",
                     keep({"begin_ns": row["start"], "end_ns": row["end"], "corr_id": row["corr"], "stream_id": row["stream"],
                           "bytes": row["bytes"], "src_agent_id": ends[0], "dst_agent_id": ends[1], "operation": row["name"]}),
                     flow + row["corr"])
    # Calls nest: each begin and end in order of time.
    marks = []
    for at, row in enumerate(run["calls"]):
        marks.append((row["start"], 1, -row["end"], at))
        marks.append((row["end"], 0, -row["start"], at))
    for when, is_begin, _, at in sorted(marks):
        row = run["calls"][at]
        if is_begin:
            writer.event(BEGIN, when, THREADS + row["tid"], row["name"], "rocm_" + row["category"],
                         keep({"begin_ns": row["start"], "corr_id": row["corr"], "stream": "0x7f00"}), flow + row["corr"])
        else:
            writer.event(END, when, THREADS + row["tid"])
    return head, [writer.out]


def joined(head, parts, interleaved=False):
    """The file. interleaved: packets of the sequences alternate, as in a buffer with several writers."""
    if not interleaved:
        return b"".join(head) + b"".join(b"".join(part) for part in parts)
    out, longest = [], max(len(part) for part in parts)
    for i in range(longest):
        out += [part[i] for part in parts if i < len(part)]
    return b"".join(head) + b"".join(out)
