"""Made-up runs as other recorders write them: Nsight Systems, rocprofv3 in its three shapes, and Chrome traces of other
vendors and frameworks. Each takes a Program (made_up.py) and writes what that recorder would have kept of it."""

import csv
import json
import sqlite3


class Recorded:
    """A run as one recorder keeps it: write(folder) makes the files."""

    def __init__(self, write):
        self.write = write


def ns(microseconds):
    return round(microseconds * 1000)


# ---- Nsight Systems ---------------------------------------------------------------------------------------------------

NSYS = """
CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.16.1');
CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_GPU(id INTEGER, name TEXT, cuDevice INTEGER);
INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA A100-SXM4-80GB', 0);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER, returnValue INTEGER, callchainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
  correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, gridX INTEGER, gridY INTEGER,
  gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER, registersPerThread INTEGER, graphId INTEGER, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
  correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
  correlationId INTEGER, globalPid INTEGER, value INTEGER, bytes INTEGER, memKind INTEGER);
"""
NVTX = """CREATE TABLE NVTX_EVENTS(start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER, globalTid INTEGER,
  domainId INTEGER);"""
OSRT = """CREATE TABLE OSRT_API(start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, nameId INTEGER,
  returnValue INTEGER, nestingLevel INTEGER, callchainId INTEGER);"""
GRAPHS = """CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
  streamId INTEGER, correlationId INTEGER, globalPid INTEGER, graphId INTEGER, graphExecId INTEGER);"""
MEMORY = {"Pageable": 0, "Pinned": 1, "Device": 2, "Managed": 4}
COPY_KINDS = {"HtoD": 1, "DtoH": 2, "DtoD": 8, "UVM_HtoD": 11, "UVM_DtoH": 12}


def copy_of(name):
    """(kind, from, to) of "Memcpy HtoD (Pageable -> Device)"."""
    direction, memory = name.removeprefix("Memcpy ").split(" (")
    source, target = memory.rstrip(")").split(" -> ")
    return COPY_KINDS[direction], MEMORY[source], MEMORY[target]


class NsysFile:
    def __init__(self, path):
        self.file = sqlite3.connect(path)
        self.file.executescript(NSYS)
        self.texts = {}

    def text(self, value):
        if value not in self.texts:
            self.texts[value] = len(self.texts) + 1
            self.file.execute("INSERT INTO StringIds VALUES (?, ?)", (self.texts[value], value))
        return self.texts[value]

    def add(self, table, *cells):
        self.file.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(cells))})", cells)

    def row(self, row, nvtx):
        begin, end, args = ns(row["ts"]), ns(row["ts"] + row["dur"]), row["args"]
        thread = row["pid"] << 24 | row["tid"] if isinstance(row["tid"], int) else 0
        lane = (args.get("device", 0), 1, args.get("stream", 7), args.get("correlation"), args.get("process", 100) << 24)
        kind, name = row["cat"], row["name"]
        if kind in ("cuda_runtime", "cuda_driver"):
            runtime = name.startswith("cuda")
            self.add("CUPTI_ACTIVITY_KIND_RUNTIME", begin, end, 0 if runtime else 1, thread, args["correlation"],
                     self.text(name + "_v7000" if runtime else name), 0, None)
        elif kind == "kernel":
            node = args.get("graph node id")
            self.add("CUPTI_ACTIVITY_KIND_KERNEL", begin, end, *lane, self.text(name), self.text(name.split("<")[0]), 108, 1, 1,
                     256, 1, 1, 32, 1 if node else None, node)
        elif kind == "gpu_memcpy":
            self.add("CUPTI_ACTIVITY_KIND_MEMCPY", begin, end, *lane, args.get("bytes", ns(row["dur"]) * 20), *copy_of(name))
        elif kind == "gpu_memset":
            self.add("CUPTI_ACTIVITY_KIND_MEMSET", begin, end, *lane, 0, ns(row["dur"]) * 200, 2)
        elif kind == "graph_trace":
            self.add("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", begin, end, *lane, 1, 1)
        elif kind == "osrt":
            self.add("OSRT_API", begin, end, 27, thread, self.text(name), 0, 0, 0)
        elif kind in ("user_annotation", "cpu_op") and nvtx:
            text = f"{name}, seq = 12, op_id = 40" if kind == "cpu_op" else name.replace("ProfilerStep#", "step ")
            self.add("NVTX_EVENTS", begin, end, 59, text, None, thread, 0)


def nsys(run, nvtx=True):
    """An export of Nsight Systems; rows of kind osrt are calls of the operating system's library."""
    def write(folder):
        made = NsysFile(folder / "report.sqlite")
        kinds = {row["cat"] for row in run.rows}
        made.file.executescript((NVTX if nvtx else "") + (OSRT if "osrt" in kinds else "") +
                                (GRAPHS if "graph_trace" in kinds else ""))
        for row in run.rows:
            made.row(row, nvtx)
        made.file.commit()
        made.file.close()
    return Recorded(write)


# ---- rocprofv3 --------------------------------------------------------------------------------------------------------

AGENTS = {"HtoD": (0, 1), "DtoH": (1, 0), "DtoD": (1, 1)}
DIRECTIONS = {"HtoD": "HOST_TO_DEVICE", "DtoH": "DEVICE_TO_HOST", "DtoD": "DEVICE_TO_DEVICE"}


def direction(name):
    return name.split()[1]


def of_kinds(run, *kinds):
    return sorted((row for row in run.rows if row["cat"] in kinds), key=lambda row: row["ts"])


def span(row):
    return ns(row["ts"]), ns(row["ts"] + row["dur"])


def rocprof_csv(run, calls="HIP_RUNTIME_API", markers=True):
    """The tables of rocprofv3 --output-format csv; calls: their domain, none where they were not recorded."""
    def table(folder, name, header, rows):
        with open(folder / f"4711_{name}.csv", "w", newline="") as file:
            csv.writer(file, quoting=csv.QUOTE_NONNUMERIC).writerows([header, *rows])

    def write(folder):
        table(folder, "agent_info", ["Node_Id", "Logical_Node_Id", "Agent_Type", "Cpu_Cores_Count", "Simd_Count", "Num_Xcc",
                                     "Cu_Count", "Simd_Per_Cu", "Max_Engine_Clk_Fcompute", "Name", "Product_Name"],
              [[0, 0, "CPU", 64, 0, 1, 64, 0, 0, "EPYC", "AMD EPYC 9654"],
               [1, 1, "GPU", 0, 1216, 8, 304, 4, 2100, "gfx942", "AMD Instinct MI300X"]])
        table(folder, "kernel_trace", ["Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id",
                                       "Kernel_Name", "Correlation_Id", "Start_Timestamp", "End_Timestamp", "LDS_Block_Size",
                                       "Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z", "Grid_Size_X", "Grid_Size_Y",
                                       "Grid_Size_Z"],
              [["KERNEL_DISPATCH", "Agent 1", 1, row["args"]["stream"], 100, i, 5, row["name"], row["args"]["correlation"],
                *span(row), 0, 256, 1, 1, 65536, 1, 1] for i, row in enumerate(of_kinds(run, "kernel"))])
        if copies := of_kinds(run, "gpu_memcpy"):
            table(folder, "memory_copy_trace", ["Kind", "Direction", "Stream_Id", "Source_Agent_Id", "Destination_Agent_Id",
                                                "Correlation_Id", "Start_Timestamp", "End_Timestamp"],
                  [["MEMORY_COPY", f"MEMORY_COPY_{DIRECTIONS[direction(row['name'])]}", row["args"]["stream"],
                    *(f"Agent {agent}" for agent in AGENTS[direction(row["name"])]), row["args"]["correlation"], *span(row)]
                   for row in copies])
        header = ["Domain", "Function", "Process_Id", "Thread_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp"]
        name = {"HIP_RUNTIME_API": "hip_api_trace", "HSA_CORE_API": "hsa_api_trace"}.get(calls)
        if name:
            table(folder, name, header, [[calls, row["name"], 100, row["tid"], row["args"]["correlation"], *span(row)]
                                         for row in of_kinds(run, "cuda_runtime")])
        if markers and (labels := of_kinds(run, "user_annotation")):
            table(folder, "marker_api_trace", header, [["MARKER_CORE_RANGE_API", row["name"], 100, row["tid"], 900_000 + i,
                                                        *span(row)] for i, row in enumerate(labels)])
    return Recorded(write)


def rocprof_json(run):
    """The results.json of rocprofv3."""
    def write(folder):
        operations = sorted({row["name"] for row in of_kinds(run, "cuda_runtime")})
        names = sorted({row["name"] for row in of_kinds(run, "kernel")})
        labels = of_kinds(run, "user_annotation")
        tool = {
            "metadata": {"pid": 100},
            "agents": [{"id": {"handle": 1}, "type": 1, "logical_node_type_id": 0, "product_name": "AMD EPYC 9654", "name": "EPYC"},
                       {"id": {"handle": 2}, "type": 2, "logical_node_type_id": 0, "product_name": "AMD Instinct MI300X",
                        "name": "gfx942", "cu_count": 304, "simd_per_cu": 4, "num_xcc": 8, "max_engine_clk_fcompute": 2100}],
            "kernel_symbols": [{"kernel_id": i, "formatted_kernel_name": name} for i, name in enumerate(names)],
            "counters": [],
            "strings": {"buffer_records": [{"kind": "NONE", "operations": []}, {"kind": "HIP_RUNTIME_API", "operations": operations},
                                           {"kind": "MARKER_CORE_RANGE_API", "operations": ["roctxThreadRangeA"]},
                                           {"kind": "MEMORY_COPY", "operations": ["MEMORY_COPY_NONE", *(
                                               f"MEMORY_COPY_{way}" for way in DIRECTIONS.values())]}],
                        "marker_api": [{"key": 900_000 + i, "value": row["name"]} for i, row in enumerate(labels)]},
            "buffer_records": {
                "kernel_dispatch": [
                    {"correlation_id": {"internal": row["args"]["correlation"], "external": 0}, "start_timestamp": span(row)[0],
                     "end_timestamp": span(row)[1], "thread_id": 100, "stream_id": {"handle": row["args"]["stream"]},
                     "dispatch_info": {"agent_id": {"handle": 2}, "queue_id": {"handle": 1}, "kernel_id": names.index(row["name"]),
                                       "dispatch_id": i, "grid_size": {"x": 65536, "y": 1, "z": 1},
                                       "workgroup_size": {"x": 256, "y": 1, "z": 1}, "group_segment_size": 0}}
                    for i, row in enumerate(of_kinds(run, "kernel"))],
                "hip_api": [{"kind": 1, "operation": operations.index(row["name"]), "start_timestamp": span(row)[0],
                             "correlation_id": {"internal": row["args"]["correlation"], "external": 0},
                             "end_timestamp": span(row)[1], "thread_id": row["tid"]} for row in of_kinds(run, "cuda_runtime")],
                "marker_api": [{"kind": 2, "operation": 0, "start_timestamp": span(row)[0], "end_timestamp": span(row)[1],
                                "correlation_id": {"internal": 900_000 + i, "external": 0}, "thread_id": row["tid"]}
                               for i, row in enumerate(labels)],
                "memory_copy": [{"kind": 3, "operation": 1 + list(DIRECTIONS).index(direction(row["name"])),
                                 "start_timestamp": span(row)[0], "end_timestamp": span(row)[1],
                                 "correlation_id": {"internal": row["args"]["correlation"], "external": 0},
                                 "src_agent_id": {"handle": 1 + AGENTS[direction(row["name"])][0]},
                                 "dst_agent_id": {"handle": 1 + AGENTS[direction(row["name"])][1]}, "bytes": ns(row["dur"]) * 20,
                                 "stream_id": {"handle": row["args"]["stream"]}} for row in of_kinds(run, "gpu_memcpy")],
            },
        }
        (folder / "4711_results.json").write_text(json.dumps({"rocprofiler-sdk-tool": [tool]}))
    return Recorded(write)


ROCPD = """
CREATE TABLE rocpd_metadata_0(id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
INSERT INTO rocpd_metadata_0(tag, value) VALUES ('schema_version', '3');
CREATE TABLE rocpd_string_0(id INTEGER PRIMARY KEY, guid TEXT, string TEXT);
CREATE TABLE rocpd_info_process_0(id INTEGER, guid TEXT, nid INTEGER, pid INTEGER);
INSERT INTO rocpd_info_process_0 VALUES (100, '0', 1, 100);
CREATE TABLE rocpd_info_thread_0(id INTEGER, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, name TEXT);
CREATE TABLE rocpd_info_agent_0(id INTEGER, guid TEXT, type TEXT, absolute_index INTEGER, type_index INTEGER, name TEXT,
  product_name TEXT, extdata TEXT);
INSERT INTO rocpd_info_agent_0 VALUES (0, '0', 'CPU', 0, 0, 'EPYC', 'AMD EPYC 9654', '{}'), (1, '0', 'GPU', 1, 0, 'gfx942',
  'AMD Instinct MI300X', '{}');
CREATE TABLE rocpd_info_kernel_symbol_0(id INTEGER, guid TEXT, kernel_name TEXT, display_name TEXT);
CREATE TABLE rocpd_info_queue_0(id INTEGER, guid TEXT, name TEXT);
CREATE TABLE rocpd_info_stream_0(id INTEGER, guid TEXT, name TEXT);
CREATE TABLE rocpd_event_0(id INTEGER PRIMARY KEY, guid TEXT, category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER,
  correlation_id INTEGER);
CREATE TABLE rocpd_region_0(id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, start INTEGER, end INTEGER,
  name_id INTEGER, event_id INTEGER, extdata TEXT);
CREATE TABLE rocpd_kernel_dispatch_0(id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, agent_id INTEGER,
  kernel_id INTEGER, dispatch_id INTEGER, queue_id INTEGER, stream_id INTEGER, start INTEGER, end INTEGER,
  group_segment_size INTEGER, workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER,
  grid_size_y INTEGER, grid_size_z INTEGER, region_name_id INTEGER, event_id INTEGER);
CREATE TABLE rocpd_memory_copy_0(id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, start INTEGER,
  end INTEGER, name_id INTEGER, dst_agent_id INTEGER, src_agent_id INTEGER, size INTEGER, queue_id INTEGER, stream_id INTEGER,
  region_name_id INTEGER, event_id INTEGER);
CREATE TABLE rocpd_info_pmc_0(id INTEGER, guid TEXT, name TEXT, symbol TEXT);
CREATE TABLE rocpd_pmc_event_0(id INTEGER, guid TEXT, event_id INTEGER, pmc_id INTEGER, value REAL);
"""


def rocpd(run):
    """The database of rocprofv3."""
    def write(folder):
        file = sqlite3.connect(folder / "4711_results.db")
        file.executescript(ROCPD)
        texts = {}
        events = [0]

        def add(table, *cells):
            file.execute(f"INSERT INTO rocpd_{table}_0 VALUES ({','.join('?' * len(cells))})", cells)

        def text(value):
            if value not in texts:
                texts[value] = len(texts) + 1
                add("string", texts[value], "0", value)
            return texts[value]

        def event(category, stack):
            events[0] += 1
            add("event", events[0], "0", text(category), stack, 0, 0)
            return events[0]

        symbols = sorted({row["name"] for row in of_kinds(run, "kernel")})
        for i, name in enumerate(symbols):
            add("info_kernel_symbol", i, "0", name + ".kd", name)
        for i, row in enumerate(of_kinds(run, "cuda_runtime")):
            add("region", None, "0", 1, 100, row["tid"], *span(row), text(row["name"]),
                event("HIP_RUNTIME_API_EXT", row["args"]["correlation"]), "{}")
        for i, row in enumerate(of_kinds(run, "user_annotation")):
            add("region", None, "0", 1, 100, row["tid"], *span(row), text(row["name"]), event("MARKER_CORE_RANGE_API", 900_000 + i), "{}")
        for i, row in enumerate(of_kinds(run, "kernel")):
            add("kernel_dispatch", None, "0", 1, 100, 100, 1, symbols.index(row["name"]), i, 1, row["args"]["stream"], *span(row), 0,
                256, 1, 1, 65536, 1, 1, None, event("KERNEL_DISPATCH", row["args"]["correlation"]))
        for row in of_kinds(run, "gpu_memcpy"):
            source, target = AGENTS[direction(row["name"])]
            add("memory_copy", None, "0", 1, 100, 100, *span(row), text("MEMORY_COPY_" + DIRECTIONS[direction(row["name"])]), target,
                source, ns(row["dur"]) * 20, 1, row["args"]["stream"], None, event("MEMORY_COPY", row["args"]["correlation"]))
        file.commit()
        file.close()
    return Recorded(write)


# ---- Chrome traces ----------------------------------------------------------------------------------------------------

def chrome(made):
    return Recorded(lambda folder: (folder / "trace.json").write_text(json.dumps(made)))


def renamed(run, names, categories, device):
    """The profile of PyTorch on another vendor's device: calls by their names there, kinds of rows by theirs."""
    for row in run.rows:
        if row["cat"] in ("cuda_runtime", "cuda_driver"):
            row["name"] = names.get(row["name"], row["name"])
        row["cat"] = categories.get(row["cat"], row["cat"])
    return chrome({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": device}], "traceEvents": run.rows})


def xpu(run):
    return renamed(run, {"cudaLaunchKernel": "urEnqueueKernelLaunch", "cudaMemcpyAsync": "urEnqueueUSMMemcpy",
                         "cudaStreamSynchronize": "urQueueFinish", "cudaDeviceSynchronize": "urQueueFinish",
                         "cudaEventSynchronize": "urEventWait"}, {"cuda_runtime": "xpu_runtime", "cuda_driver": "xpu_driver"},
                   "Intel(R) Data Center GPU Max 1550")


def mlu(run):
    return renamed(run, {"cudaLaunchKernel": "cnInvokeKernel", "cudaStreamSynchronize": "cnrtQueueSync",
                         "cudaDeviceSynchronize": "cnrtSyncDevice", "cudaMemcpyAsync": "cnrtMemcpyAsync_V2"},
                   {"cuda_runtime": "privateuse1_runtime", "cuda_driver": "privateuse1_driver"}, "MLU370-X8")


def musa(run):
    return renamed(run, {"cudaLaunchKernel": "musaLaunchKernel", "cudaStreamSynchronize": "musaStreamSynchronize",
                         "cudaDeviceSynchronize": "musaDeviceSynchronize", "cudaMemcpyAsync": "musaMemcpyAsync",
                         "cudaMalloc": "musaMalloc", "cudaFree": "musaFree"},
                   {"cuda_runtime": "musa_runtime", "cuda_driver": "musa_driver"}, "MTT S4000")


def named(process, name, thread=None, lane=None):
    rows = [{"ph": "M", "name": "process_name", "pid": process, "tid": thread or 0, "args": {"name": name}}]
    if lane:
        rows.append({"ph": "M", "name": "thread_name", "pid": process, "tid": thread, "args": {"name": lane}})
    return rows


def ascend(run):
    """The trace_view.json of torch_npu: operators in PyTorch's words, a task queue, the rows of CANN below it, and the
    hardware's, joined to them by arrows; no row but the operators has a kind."""
    python, cann, hardware, queue = 100, 2301, 2302, 555
    rows = [*named(python, "Python", 100, "Thread 100"), *named(cann, "CANN", queue, "Thread 555"),
            *named(hardware, "Ascend Hardware", 2, "Stream 2")]

    def add(kind, name, begin, duration, process, thread, **args):
        row = {"ph": "X", "name": name, "pid": process, "tid": thread, "ts": f"{begin:.3f}", "dur": duration, "args": args}
        rows.append(row | ({"cat": kind} if kind else {}))

    def arrow(kind, number, begin, end):
        for phase, (process, thread, at) in (("s", begin), ("f", end)):
            rows.append({"ph": phase, "bp": "e", "name": kind, "id": number, "pid": process, "tid": thread, "ts": f"{at:.3f}",
                         "cat": kind})

    work = {row["args"]["correlation"]: row for row in run.rows if row["cat"] in ("kernel", "gpu_memcpy")}
    for row in run.rows:
        begin, duration, args = row["ts"], row["dur"], row["args"]
        if row["cat"] in ("cpu_op", "user_annotation", "python_function"):
            add(row["cat"], row["name"], begin, duration, python, 100)
        elif row["cat"] == "cuda_runtime" and args["correlation"] in work:
            number, task = args["correlation"], work[args["correlation"]]
            add("enqueue", "Enqueue", begin, 1, python, 100, correlation_id=number)
            add("dequeue", "Dequeue@aclnnMatmul", begin + 1, 4, python, queue, correlation_id=number)
            add(None, "Node@launch", begin + 2, 3, cann, queue, connection_id=number)
            arrow("async_task_queue", number, (python, 100, begin), (python, queue, begin + 1))
            arrow("HostToDevice", number, (cann, queue, begin + 2), (hardware, 2, task["ts"]))
            arrow("async_npu", 100_000 + number, (python, 100, begin), (hardware, 2, task["ts"]))
        elif row["cat"] == "cuda_runtime":
            waits = "Synchronize" in row["name"]
            add(None, "AscendCL@aclrtSynchronizeStreamWithTimeout" if waits else row["name"], begin, duration, cann, 100)
        else:
            add(None, "aclnnMatmul_MatMulCommon_MatMulV2", begin, duration, hardware, 2, **{
                "Model Id": 4294967295, "Task Type": "AI_CORE", "Physic Stream Id": 2, "Task Id": args["correlation"] % 65536,
                "Batch Id": 0, "Subtask Id": 4294967295, "connection_id": args["correlation"]})
    return chrome(rows)


def xprof(run):
    """The trace.json of JAX's and TensorFlow's profiler: rows without kinds, in lanes named after devices and threads."""
    device, host = 1, 701
    rows = [*named(device, "/device:GPU:0 (NVIDIA H100)", 13, "Stream #13(Compute)"), *named(device, "/device:GPU:0 (NVIDIA H100)", 1000, "XLA Ops"),
            *named(host, "/host:CPU", 100, "python"), *named(host, "/host:CPU", 300, "tf_XLAEigen/300")]
    for row in run.rows:
        kernel = row["cat"] in ("kernel", "gpu_memcpy")
        call = row["cat"] == "cuda_runtime"
        made = {"ph": "X", "name": row["name"], "pid": device if kernel else host, "tid": 13 if kernel else 100, "ts": row["ts"],
                "dur": row["dur"], "args": {"correlation_id": str(row["args"]["correlation"])} if kernel or call else {}}
        rows.append(made)
        if row["cat"] == "kernel":
            rows.append(made | {"tid": 1000, "name": row["name"].split("(")[0], "args": {"hlo_op": row["name"], "hlo_module": "jit_step"}})
    return chrome({"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": rows})


def onnx_runtime(run):
    """What ONNX Runtime's profiler writes: nodes on the host, and kernels without a number that joins them to a call."""
    rows = []
    for row in run.rows:
        kind = {"cpu_op": "Node", "kernel": "Kernel", "cuda_runtime": "Api", "user_annotation": "Session"}[row["cat"]]
        args = {"stream": "7", "grid_x": "108", "block_x": "256"} if kind == "Kernel" else (
            {"provider": "CUDAExecutionProvider", "op_name": "MatMul"} if kind == "Node" else {})
        rows.append({"cat": kind, "pid": -1 if kind in ("Kernel", "Api") else 100, "tid": -1 if kind in ("Kernel", "Api") else 100,
                     "dur": round(row["dur"]), "ts": round(row["ts"]), "ph": "X", "args": args,
                     "name": row["name"] + ("_kernel_time" if kind == "Node" else "")})
    return chrome(rows)
