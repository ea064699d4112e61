#pragma once

// The schema of a Trace, declared once. Each row macro lists COL(type, name, unit, doc). The
// storage (trace/table.h), the row structs, the CSV/JSON names and docs/schema.md come from it.
// Column name = C++ field = CSV header = JSON key. Times are int64 nanoseconds, in epoch time if
// the file has it. "0 = none" marks the columns with a zero that means absent.

#include <cstdint>
#include <string_view>

#include "base/ids.h"

namespace assay {

// The column with a text in every row of its table, possibly the empty one. Other texts may have no
// id, which means unknown. TraceBuilder::finish and the reader of .assay files ensure it.
constexpr std::string_view kNameColumn = "name";

enum class ApiKind : uint8_t { kRuntime, kDriver };

enum class ActivityKind : uint8_t {
  kKernel,
  kMemcpy,
  kMemset,
  kSync,   // cuda_sync / cuda_event rows: waiting on the device, never busy time
  kOther,  // GPU activity other than a kernel (e.g. MTIA command packets)
};
// Activities of every vendor's devices: kernels, copies and fills.
constexpr bool is_plain_work(ActivityKind kind) {
  return kind == ActivityKind::kKernel || kind == ActivityKind::kMemcpy ||
         kind == ActivityKind::kMemset;
}

// Object of the wait in a synchronization row, in the order of CUPTI's own numbers.
enum class WaitKind : uint8_t {
  kUnknown,
  kEventSync,        // the host for an event
  kStreamWaitEvent,  // a stream for an event of another one: an edge between device work
  kStreamSync,       // the host for a stream
  kContextSync,      // the host for everything on a device
};

// clang-format off: tables read best as tables

// Host operators (cpu_op): aten::mm, autograd nodes, user ops.
#define ASSAY_OPS(COL)                                                                \
  COL(int64_t, start_ns, "ns", "start of the operator")                               \
  COL(int64_t, dur_ns, "ns", "duration, never negative")                              \
  COL(StringId, name, "string", "operator name")                                      \
  COL(ThreadId, thread, "thread", "host thread it ran on")                            \
  COL(uint32_t, external_id, "id", "profiler's id of the operator call; 0 = none")

// Python frames and nn.Module calls (python_function), present with with_stack=True.
#define ASSAY_FRAMES(COL)                                                             \
  COL(int64_t, start_ns, "ns", "start of the frame")                                  \
  COL(int64_t, dur_ns, "ns", "duration, never negative")                              \
  COL(StringId, name, "string", "file(line): function, or nn.Module: Class_k")        \
  COL(ThreadId, thread, "thread", "host thread it ran on")

// Runtime and driver API calls (cuda_runtime, cuda_driver, their HIP and XPU kin).
#define ASSAY_API_CALLS(COL)                                                          \
  COL(int64_t, start_ns, "ns", "start of the call on the host, ts_b(l) of SKIP Eq. 1") \
  COL(int64_t, dur_ns, "ns", "duration of the call on the host, never negative")      \
  COL(StringId, name, "string", "API name without _vNNNN suffix")                     \
  COL(ThreadId, thread, "thread", "calling host thread")                              \
  COL(uint32_t, correlation, "id", "joins the call to device work; 0 = none")         \
  COL(uint32_t, external_id, "id", "id of the operator that made the call; 0 = none") \
  COL(ApiKind, kind, "enum", "runtime or driver")

// Kernels named in launch calls (HIP: the argument `kernel`). A launch captured into a graph runs
// nothing, so only this shows the kernel of its node.
#define ASSAY_LAUNCH_NAMES(COL)                                                       \
  COL(ApiCallId, call, "row", "the launch call")                                      \
  COL(StringId, kernel, "string", "kernel that it launches, as recorded")

// GPU activities: kernels, copies, fills, synchronization rows.
#define ASSAY_ACTIVITIES(COL)                                                         \
  COL(int64_t, start_ns, "ns", "start on the device, ts_b(k) of SKIP Eq. 1")          \
  COL(int64_t, dur_ns, "ns", "duration on the device, t_k of SKIP Eq. 3")             \
  COL(StringId, name, "string", "kernel name as recorded (demangled), or copy kind")  \
  COL(StreamId, stream, "stream", "device and stream it ran on")                      \
  COL(uint32_t, correlation, "id", "joins it to the API call; 0 = none")              \
  COL(uint32_t, external_id, "id", "id of the operator that caused it; 0 = none")     \
  COL(ActivityKind, kind, "enum", "kernel, memcpy, memset, sync, other")

// Labelled host spans (user_annotation, NVTX): record_function, ProfilerStep#n, optimizer steps.
#define ASSAY_ANNOTATIONS(COL)                                                        \
  COL(int64_t, start_ns, "ns", "start of the span")                                   \
  COL(int64_t, dur_ns, "ns", "duration, never negative")                              \
  COL(StringId, name, "string", "label")                                              \
  COL(ThreadId, thread, "thread", "host thread it was made on")                       \
  COL(uint32_t, external_id, "id", "profiler's id of the span; 0 = none")

// Projections of host annotations on a stream (gpu_user_annotation): never busy time.
#define ASSAY_GPU_ANNOTATIONS(COL)                                                    \
  COL(int64_t, start_ns, "ns", "start of the span on the device")                     \
  COL(int64_t, dur_ns, "ns", "duration, never negative")                              \
  COL(StringId, name, "string", "label")                                              \
  COL(StreamId, stream, "stream", "device and stream it was projected on")

// Profiler overhead rows (overhead): buffer flushes, lazy loading, instrumentation.
#define ASSAY_OVERHEADS(COL)                                                          \
  COL(int64_t, start_ns, "ns", "start")                                               \
  COL(int64_t, dur_ns, "ns", "duration, never negative")                              \
  COL(StringId, name, "string", "what the profiler was doing")

// Duration events of a category that Assay has no table for; kept, in no number.
#define ASSAY_OTHER_EVENTS(COL)                                                       \
  COL(int64_t, start_ns, "ns", "start")                                               \
  COL(int64_t, dur_ns, "ns", "duration, never negative")                              \
  COL(StringId, name, "string", "event name")                                         \
  COL(StringId, category, "string", "category as written in the file")                \
  COL(ThreadId, thread, "thread", "pid and tid as written in the file")

// Counter samples (ph C); a value holds until the next sample of its series.
#define ASSAY_COUNTERS(COL)                                                           \
  COL(int64_t, time_ns, "ns", "sample time")                                          \
  COL(StringId, name, "string", "counter track name")                                 \
  COL(StringId, series, "string", "key inside the track; may be empty")               \
  COL(ThreadId, thread, "thread", "pid and tid the sample was filed under")           \
  COL(double, value, "as named", "sample value")

// Allocator events ([memory] instants).
#define ASSAY_MEMORY_EVENTS(COL)                                                      \
  COL(int64_t, time_ns, "ns", "event time")                                           \
  COL(int64_t, bytes, "bytes", "allocated (+) or freed (-)")                          \
  COL(int64_t, total_allocated_bytes, "bytes", "allocator total after it; -1 = unknown") \
  COL(int64_t, total_reserved_bytes, "bytes", "reserved total after it; -1 = unknown") \
  COL(uint64_t, addr, "address", "block address")                                     \
  COL(int32_t, device_type, "enum", "c10::DeviceType: 0 CPU, 1 CUDA")                 \
  COL(int32_t, device, "id", "device index; -1 = host")

// Launch shape of an activity; only if the file has it.
#define ASSAY_KERNEL_SHAPES(COL)                                                      \
  COL(ActivityId, activity, "row", "the kernel")                                      \
  COL(uint32_t, grid_x, "blocks", "grid size")                                        \
  COL(uint32_t, grid_y, "blocks", "grid size")                                        \
  COL(uint32_t, grid_z, "blocks", "grid size")                                        \
  COL(uint32_t, block_x, "threads", "block size")                                     \
  COL(uint32_t, block_y, "threads", "block size")                                     \
  COL(uint32_t, block_z, "threads", "block size")                                     \
  COL(uint32_t, registers, "count", "registers per thread; 0 = unknown")             \
  COL(uint32_t, shared_memory_bytes, "bytes", "shared memory per block; 0 = unknown") \
  COL(uint64_t, graph_id, "id", "CUDA graph; 0 = none")                               \
  COL(uint64_t, graph_node_id, "id", "node in that graph; 0 = none")

// Bytes moved by a copy or fill.
#define ASSAY_TRANSFERS(COL)                                                          \
  COL(ActivityId, activity, "row", "the memcpy or memset")                            \
  COL(int64_t, bytes, "bytes", "bytes moved or set")

// Message of a collective kernel (record_param_comms arguments).
#define ASSAY_COLLECTIVES(COL)                                                        \
  COL(ActivityId, activity, "row", "the communication kernel")                        \
  COL(StringId, collective, "string", "allreduce, _allgather_base, ...")              \
  COL(StringId, dtype, "string", "element type as written")                           \
  COL(StringId, process_group, "string", "process group name")                        \
  COL(StringId, ranks, "string", "ranks of the group as written")                     \
  COL(int64_t, in_elements, "count", "In msg nelems; -1 = unknown")                  \
  COL(int64_t, out_elements, "count", "Out msg nelems; -1 = unknown")                \
  COL(int64_t, group_size, "ranks", "size of the group; -1 = unknown")               \
  COL(int64_t, seq, "id", "sequence number in the group; -1 = unknown")              \
  COL(int64_t, peer, "rank", "of a send where it goes, of a receive where it comes from; -1 = unknown")

// Object of the wait of a synchronization row (kSync activities). The correlation id is that of the
// call that waits or makes the stream wait. The stream is the one that waits (-1 = the host).
#define ASSAY_WAITS(COL)                                                              \
  COL(ActivityId, activity, "row", "the synchronisation row")                         \
  COL(WaitKind, kind, "enum", "who waits for what")                                   \
  COL(int64_t, waited_stream, "id", "stream waited for, on the same device; -1 = unknown or all streams") \
  COL(uint32_t, record_correlation, "id", "call that recorded the event; 0 = unknown")

// Autograd sequence numbers of an operator: what joins a backward op to its forward op.
#define ASSAY_OP_SEQUENCES(COL)                                                       \
  COL(OpId, op, "row", "the operator")                                                \
  COL(int64_t, sequence, "id", "autograd sequence number")                            \
  COL(int64_t, forward_thread, "id", "RecordFunction thread id of the forward op; 0 = this is it")

// Arguments of an operator (record_shapes=True), stored only if an analysis needs them. Each is the
// JSON text of the file without white space between its tokens.
#define ASSAY_OP_INPUTS(COL)                                                          \
  COL(OpId, op, "row", "the operator")                                                \
  COL(StringId, dims, "string", "Input Dims, e.g. [[8,128],[]]; empty = unknown")    \
  COL(StringId, types, "string", "Input type, e.g. [\"float\",\"Scalar\"]; empty = unknown") \
  COL(StringId, strides, "string", "Input Strides; empty = unknown")                 \
  COL(StringId, concrete, "string", "Concrete Inputs: values of scalars, \"\" for tensors; empty = unknown")

// fwdbwd flow ends: the start lies on the forward operator, the end on the backward one.
#define ASSAY_FORWARD_BACKWARD_FLOWS(COL)                                             \
  COL(int64_t, time_ns, "ns", "time of the flow end")                                 \
  COL(uint64_t, flow_id, "id", "joins the two ends")                                  \
  COL(ThreadId, thread, "thread", "thread of the operator it lies on")                \
  COL(uint8_t, is_end, "bool", "0 = forward side, 1 = backward side")

// X(member, RowName, COLUMNS, doc)
#define ASSAY_TABLES(X)                                                               \
  X(ops, Op, ASSAY_OPS, "host operators")                                             \
  X(frames, Frame, ASSAY_FRAMES, "Python frames")                                     \
  X(api_calls, ApiCall, ASSAY_API_CALLS, "runtime and driver API calls")              \
  X(launch_names, LaunchName, ASSAY_LAUNCH_NAMES, "kernels that launch calls name")    \
  X(activities, Activity, ASSAY_ACTIVITIES, "work on devices")                        \
  X(annotations, Annotation, ASSAY_ANNOTATIONS, "labelled host spans")                \
  X(gpu_annotations, GpuAnnotation, ASSAY_GPU_ANNOTATIONS, "labelled spans projected on streams") \
  X(overheads, Overhead, ASSAY_OVERHEADS, "profiler overhead")                        \
  X(other_events, OtherEvent, ASSAY_OTHER_EVENTS, "events of unknown category")       \
  X(counters, Counter, ASSAY_COUNTERS, "counter samples")                             \
  X(memory_events, MemoryEvent, ASSAY_MEMORY_EVENTS, "allocator events")              \
  X(kernel_shapes, KernelShape, ASSAY_KERNEL_SHAPES, "launch shapes")                 \
  X(transfers, Transfer, ASSAY_TRANSFERS, "bytes of copies and fills")                \
  X(collectives, Collective, ASSAY_COLLECTIVES, "collective communication arguments") \
  X(waits, Wait, ASSAY_WAITS, "what synchronisation rows waited for")                 \
  X(op_sequences, OpSequence, ASSAY_OP_SEQUENCES, "autograd sequence numbers")        \
  X(op_inputs, OpInput, ASSAY_OP_INPUTS, "shapes and values that operators were called with") \
  X(forward_backward_flows, ForwardBackwardFlow, ASSAY_FORWARD_BACKWARD_FLOWS, "fwdbwd flow ends")
// clang-format on

}  // namespace assay
