"""Small synthetic exports of Nsight Systems in which a program uses managed memory, in its schema 3.16."""

import sqlite3

US = 1000
MS = 1000 * US
PROCESS = 4242 << 24
TABLES = {
    "StringIds": "id, value",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start, end, eventClass, globalTid, correlationId, nameId, returnValue",
    "CUPTI_ACTIVITY_KIND_KERNEL":
        "start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName, shortName",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind, "
                                  "srcKind, dstKind, migrationCause, virtualAddress",
    "CUDA_UM_CPU_PAGE_FAULT_EVENTS": "start, globalPid, address, CpuInstruction",
    "CUDA_UM_GPU_PAGE_FAULT_EVENTS": "start, end, globalPid, deviceId, address, numberOfPageFaults, faultAccessType",
}
TO_DEVICE, TO_HOST = 11, 12  # copyKind


class Program:
    """Rows of a program, in the order in which it runs. Times in nanoseconds."""

    def __init__(self):
        self.now = MS
        self.names = []
        self.rows = {table: [] for table in TABLES}
        self.correlation = 0

    def name(self, text):
        if text not in self.names:
            self.names.append(text)
        return self.names.index(text) + 1

    def call(self, name, end):
        self.correlation += 1
        self.rows["CUPTI_ACTIVITY_KIND_RUNTIME"].append(
            (self.now, end, 0, PROCESS | 4242, self.correlation, self.name(name), 0))
        self.now = end
        return self.correlation

    def move(self, start, kind):
        sides = (0, 2) if kind == TO_DEVICE else (2, 0)
        self.rows["CUPTI_ACTIVITY_KIND_MEMCPY"].append((start, start + 30 * US, 0, 1, 7, 0, PROCESS, 65536, kind, *sides, 2, 0))

    def kernel(self, dur, faults, fault_dur=10 * US, moves=True):
        """A launch, the kernel, its page faults with or without migration records, and a wait for the kernel."""
        correlation = self.call("cudaLaunchKernel_v7000", self.now + 10 * US)
        start = self.now + 5 * US
        name = self.name("step(float*)")
        self.rows["CUPTI_ACTIVITY_KIND_KERNEL"].append((start, start + dur, 0, 1, 7, correlation, PROCESS, name, name))
        for i in range(faults):
            at = start + i * dur // faults
            self.rows["CUDA_UM_GPU_PAGE_FAULT_EVENTS"].append((at, at + fault_dur, PROCESS, 0, 0, 12, 1))
            if moves:
                self.move(at + 20 * US, TO_DEVICE)
        self.call("cudaDeviceSynchronize_v3020", start + dur + 5 * US)

    def touch(self, pages, moved=True):
        """The host reads pages one by one; pages on the device migrate."""
        for _ in range(pages):
            self.rows["CUDA_UM_CPU_PAGE_FAULT_EVENTS"].append((self.now, PROCESS, 0, self.name("main")))
            if moved:
                self.move(self.now + 20 * US, TO_HOST)
            self.now += 100 * US

    def write(self, path):
        with sqlite3.connect(path) as file:
            for table, columns in TABLES.items():
                file.execute(f"CREATE TABLE {table} ({columns})")
                rows = self.rows[table] if table != "StringIds" else list(enumerate(self.names, 1))
                file.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns.split(',')))})", rows)
        file.close()
        return path


def steps(moved):
    """Five kernels, each followed by a host access to its result."""
    program = Program()
    for _ in range(5):
        program.kernel(2 * MS, 12)
        program.touch(40, moved)
    return program


def result_read_last():
    """One kernel, then only the host, which reads its result."""
    program = Program()
    program.kernel(10 * MS, 60)
    program.touch(400)
    return program


def few_faults():
    """The host stalls without records, and touches one page in each stall."""
    program = Program()
    for _ in range(5):
        program.kernel(2 * MS, 0)
        program.touch(1, False)
        program.now += 4 * MS
    return program


def faults_without_moves():
    """Kernels fault during two fifths of their time, and page migrations are unrecorded."""
    program = Program()
    for _ in range(8):
        program.kernel(4 * MS, 20, 80 * US, moves=False)
    return program


def exports(folder):
    """Paths, bottleneck, headline, and a required detail. Host accesses to host pages migrate none."""
    return {faults_without_moves().write(folder / "gpu_faults.sqlite"): ("gpu", "gpu_bound.compute", "managed_memory.faults"),
            steps(True).write(folder / "pages_move.sqlite"): ("migration", "migration_bound.host"),
            steps(False).write(folder / "pages_stay.sqlite"): ("host", "host_bound.stalls_page_faults"),
            few_faults().write(folder / "few_faults.sqlite"): ("host", "host_bound.stalls_unrecorded"),
            result_read_last().write(folder / "result_read_last.sqlite"): ("migration", "migration_bound.host")}


def faults(path):
    """How many page faults an export has."""
    with sqlite3.connect(path) as file:
        count = sum(file.execute(f"SELECT COUNT(*) FROM CUDA_UM_{side}_PAGE_FAULT_EVENTS").fetchone()[0] for side in ("CPU", "GPU"))
    file.close()
    return count
