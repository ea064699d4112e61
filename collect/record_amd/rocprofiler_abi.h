#pragma once

// The part of AMD's rocprofiler-sdk that the recorder uses. Declared here so that the build does
// not need ROCm and one build supports several versions. Sources: rocprofiler-sdk's public headers
// fwd.h, registration.h, context.h, buffer.h, buffer_tracing.h, callback_tracing.h, agent.h and
// external_correlation.h of 0.6 (ROCm 6.4) and of 1.0 and later (ROCm 7); for 0.5 (ROCm 6.3) its
// change log and the sizes in its records. The versions differ in:
//   - numbers of kinds (a kind was removed in the middle): kinds are found by name instead;
//   - correlation ids of calls and of callbacks have a third word, the ancestor, since 1.0;
//   - fields added at the end of records; the first word of a record is its size.
// tests/abi/rocprofiler_headers.cc compares this with the headers if they are installed,
// tests/abi/rocprofiler_layout.cc with a table of offsets derived from them by hand, because no
// Debian package has them.

#include <cstddef>
#include <cstdint>

namespace assay::rocprofiler {

constexpr int kSuccess = 0;

// (10000 * major) + (100 * minor) + patch.
constexpr uint32_t kOldestVersion = 500;

constexpr uint32_t kCategoryTracing = 1;
constexpr uint32_t kPhaseEnter = 1;  // also: a code object was loaded
constexpr uint32_t kPhaseExit = 2;
constexpr int kPolicyLossless = 2;  // a full buffer blocks its producer; nothing is dropped
constexpr uint32_t kAgentGpu = 2;
constexpr int kAgentInfoVersion = 1;
// hsakmttypes.h: memory banks on the GPU itself.
constexpr uint32_t kHeapFrameBufferPublic = 1;
constexpr uint32_t kHeapFrameBufferPrivate = 2;

struct Handle {
  uint64_t handle;
};
struct Dim3 {
  uint32_t x;
  uint32_t y;
  uint32_t z;
};

// ---- records of buffers -------------------------------------------------------------------------

struct RecordHeader {
  uint32_t category;
  uint32_t kind;
  void* payload;
};

// The common start of every record.
struct RecordStart {
  uint64_t size;
  uint32_t kind;
  int32_t operation;
  uint64_t correlation;
  uint64_t external;  // pushed by a tool
};

// HIP and HSA calls before 1.0.
struct ApiBefore1 {
  RecordStart head;
  uint64_t start;
  uint64_t end;
  uint64_t thread;
};
struct Api {
  RecordStart head;
  uint64_t ancestor;  // the enclosing call; 0 = none
  uint64_t start;
  uint64_t end;
  uint64_t thread;
};

struct Dispatch {
  RecordStart head;
  uint64_t thread;
  uint64_t start;
  uint64_t end;
  uint64_t info_size;
  Handle agent;
  Handle queue;
  uint64_t kernel;
  uint64_t dispatch;
  uint32_t private_bytes;
  uint32_t group_bytes;  // static and dynamic, of a workgroup
  Dim3 workgroup;        // work-items
  Dim3 grid;             // work-items, not workgroups
};

struct MemoryCopy {
  RecordStart head;
  uint64_t thread;
  uint64_t start;
  uint64_t end;
  Handle to;
  Handle from;
  uint64_t bytes;
};

struct ScratchBefore1 {
  RecordStart head;
  Handle agent;
  Handle queue;
  uint64_t thread;
  uint64_t start;
  uint64_t end;
};
struct Scratch {
  RecordStart head;
  uint64_t ancestor;
  Handle agent;
  Handle queue;
  uint64_t thread;
  uint64_t start;
  uint64_t end;
};

// ---- callbacks ----------------------------------------------------------------------------------

// Passed by value, that is on the stack. The shorter one lacks the 8 bytes of the ancestor. The
// kind distinguishes them, which the receiver knows: CallbackView.
struct CallbackRecord {
  Handle context;
  uint64_t thread;
  uint64_t correlation;
  uint64_t external;
  uint64_t ancestor;
  uint32_t kind;
  int32_t operation;
  uint32_t phase;
  uint32_t padding;
  void* payload;
};
struct CallbackRecordBefore1 {
  Handle context;
  uint64_t thread;
  uint64_t correlation;
  uint64_t external;
  uint32_t kind;
  int32_t operation;
  uint32_t phase;
  uint32_t padding;
  void* payload;
};

struct KernelSymbol {
  uint64_t size;
  uint64_t kernel;
  uint64_t code_object;
  const char* name;
  uint64_t object;
  uint32_t argument_bytes;
  uint32_t argument_alignment;
  uint32_t group_bytes;  // static
  uint32_t private_bytes;
  uint32_t scalar_registers;
  uint32_t vector_registers;
  uint32_t accumulation_registers;
};

// roctx: the only argument that the calls used here have, and their result.
struct Marker {
  uint64_t size;
  union {
    const char* message;
    uint64_t id;
  } argument;
  uint64_t second_argument;
  uint64_t returned;
};

struct HipStream {
  uint64_t size;
  Handle stream;
};

// ---- agents -------------------------------------------------------------------------------------

struct MemoryBank {
  uint32_t heap;
  uint32_t flags;
  uint32_t width;
  uint32_t clock_mhz;
  uint64_t bytes;
};

// Up to the last field used; the rest differs between versions.
struct Agent {
  uint64_t size;
  Handle id;
  uint32_t type;
  uint32_t cpu_cores;
  uint32_t simds;
  uint32_t banks_count;
  uint32_t caches_count;
  uint32_t links_count;
  uint32_t first_cpu_core;
  uint32_t first_simd;
  uint32_t waves_per_simd;
  uint32_t lds_kib;
  uint32_t gds_kib;
  uint32_t gws;
  uint32_t wave_size;
  uint32_t xccs;
  uint32_t compute_units;
  uint32_t arrays;
  uint32_t shader_banks;
  uint32_t arrays_per_engine;
  uint32_t units_per_array;
  uint32_t simds_per_unit;
  uint32_t scratch_slots;
  uint32_t gfx_version;  // 90402 = gfx942
  uint16_t vendor;
  uint16_t device;
  uint32_t location;
  uint32_t domain;
  uint32_t render_minor;
  uint32_t sdma_engines;
  uint32_t sdma_xgmi_engines;
  uint32_t sdma_queues;
  uint32_t compute_queues;
  uint32_t cpu_clock_mhz;
  uint32_t gpu_clock_mhz;
  uint32_t sdma_firmware;
  uint32_t firmware;
  uint32_t capability;
  uint32_t units_per_engine;
  uint32_t waves_per_unit;
  uint32_t family;
  uint32_t most_workgroup;
  uint32_t most_grid;
  uint64_t local_bytes;
  uint64_t hive;
  uint64_t gpu;
  Dim3 most_workgroup_sides;
  Dim3 most_grid_sides;
  const MemoryBank* banks;
  const void* caches;
  const void* links;
  const char* name;  // gfx942
  const char* vendor_name;
  const char* product;  // AMD Instinct MI300X
};

// ---- functions ----------------------------------------------------------------------------------

struct ClientId {
  const char* name;
  uint32_t handle;
};
using Finalize = void (*)(ClientId);
using ToolInitialize = int (*)(Finalize finalize, void* tool);
using ToolFinalize = void (*)(void* tool);
struct ToolConfiguration {
  size_t size;
  ToolInitialize initialize;
  ToolFinalize finalize;
  void* tool;
};
using Configure = ToolConfiguration*(uint32_t version, const char* text, uint32_t priority,
                                     ClientId* client);

// dropped: total over the lifetime of the buffer.
using BufferCallback = void (*)(Handle context, Handle buffer, RecordHeader** records, size_t count,
                                void* tool, uint64_t dropped);
using TracingCallback = void (*)(CallbackRecord record, void* user, void* tool);
using KindCallback = int (*)(int kind, void* data);
using OperationCallback = int (*)(int kind, int32_t operation, void* data);
using AgentsCallback = int (*)(int version, const void** agents, size_t count, void* data);

using KindName = int (*)(int kind, const char** name, uint64_t* length);
using OperationName = int (*)(int kind, int32_t operation, const char** name, uint64_t* length);
using IterateKinds = int (*)(KindCallback callback, void* data);
using IterateOperations = int (*)(int kind, OperationCallback callback, void* data);

struct Functions {
  int (*create_context)(Handle* context);
  int (*start_context)(Handle context);
  int (*stop_context)(Handle context);
  int (*create_buffer)(Handle context, size_t bytes, size_t watermark, int policy,
                       BufferCallback callback, void* tool, Handle* buffer);
  int (*flush_buffer)(Handle buffer);
  int (*buffer_service)(Handle context, int kind, const int32_t* operations, size_t count,
                        Handle buffer);
  int (*callback_service)(Handle context, int kind, const int32_t* operations, size_t count,
                          TracingCallback callback, void* tool);
  KindName buffer_kind_name;
  OperationName buffer_operation_name;
  IterateKinds buffer_kinds;
  IterateOperations buffer_operations;
  KindName callback_kind_name;
  OperationName callback_operation_name;
  IterateKinds callback_kinds;
  IterateOperations callback_operations;
  int (*agents)(int version, AgentsCallback callback, size_t agent_bytes, void* data);
  int (*timestamp)(uint64_t* ns);
  int (*push_external)(Handle context, uint64_t thread, uint64_t value);
  int (*pop_external)(Handle context, uint64_t thread, uint64_t* value);
  // May be missing.
  const char* (*status_text)(int status);
};

}  // namespace assay::rocprofiler
