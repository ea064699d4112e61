#pragma once

// The functions and records of CUPTI that the recorder uses, CUDA 11.6 to 13. A record is declared
// up to its last field with the same layout in every version: newer versions append fields, and
// CUPTI reports the length. tests/abi/cupti_headers.cc compares this with NVIDIA's headers if they
// are installed. Sources: cupti_activity.h, cupti_activity_deprecated.h, cupti_callbacks.h,
// cupti_result.h, cuda.h.

#include <cstddef>
#include <cstdint>

namespace assay::cupti {

enum Result : int {
  kSuccess = 0,
  kInvalidParameter = 1,
  kInvalidKind = 21,
  kMaxLimitReached = 12,
  kNotCompatible = 14,
  kNotInitialized = 15,
  kInvalidOperation = 7,
  kNotSupported = 27,
  kVirtualDeviceNotSupported = 33,
  kInsufficientPrivileges = 35,
  kOldProfilerInitialized = 36,
  kMultipleSubscribers = 39,
  kVirtualDevicePrivileges = 40,
  kConfidentialComputing = 41,
  kCmpDevice = 42,
  kMigDevice = 43,
  kSliDevice = 44,
  kWslDevice = 45,
};

// CUpti_ActivityKind
enum ActivityKind : uint32_t {
  kMemcpy = 1,
  kMemset = 2,
  kKernel = 3,
  kDriver = 4,
  kRuntime = 5,
  kContext = 9,
  kConcurrentKernel = 10,
  kOverhead = 17,
  kMemcpy2 = 22,
  kSynchronization = 38,
  kExternalCorrelation = 39,
  kGraphTrace = 51,
};

// CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER: the recorder zeroes buffers, outside the
// program's threads.
constexpr int kAttributeZeroedBuffers = 5;
constexpr uint32_t kFlushForced = 1;     // CUPTI_ACTIVITY_FLAG_FLUSH_FORCED
constexpr int kThreadIdSystem = 1;       // CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
constexpr int kCallbackDriverApi = 1;    // CUPTI_CB_DOMAIN_DRIVER_API
constexpr int kCallbackRuntimeApi = 2;   // CUPTI_CB_DOMAIN_RUNTIME_API
constexpr int kCallbackResource = 3;     // CUPTI_CB_DOMAIN_RESOURCE
constexpr uint32_t kModuleUnload = 7;    // CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING
constexpr uint8_t kMemcpyIsAsync = 1;    // CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC
constexpr uint32_t kOldestVersion = 17;  // CUDA 11.6
constexpr uint32_t kTakesNoBuffer = 27;  // CUDA 12.9: the first version that accepts a NULL buffer

// CUpti_Activity... records are packed, and aligned to 8.
#pragma pack(push, 1)
struct Api {  // CUpti_ActivityAPI
  uint32_t kind;
  uint32_t function;
  uint64_t start;
  uint64_t end;
  uint32_t process;
  uint32_t thread;
  uint32_t correlation;
  uint32_t result;
};

struct Kernel {  // CUpti_ActivityKernel7 to 10
  uint32_t kind;
  uint8_t cache;
  uint8_t shared_config;
  uint16_t registers;
  uint32_t partitioned_requested;
  uint32_t partitioned_executed;
  uint64_t start;
  uint64_t end;
  uint64_t completed;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  int32_t grid[3];
  int32_t block[3];
  int32_t static_shared;
  int32_t dynamic_shared;
  uint32_t local_per_thread;
  uint32_t local_total;
  uint32_t correlation;
  int64_t grid_id;
  const char* name;
  void* reserved0;
  uint64_t queued;
  uint64_t submitted;
  uint8_t launch_type;
  uint8_t carveout_requested;
  uint8_t carveout;
  uint8_t padding;
  uint32_t shared_executed;
  uint64_t graph_node;
  uint32_t shared_limit;
  uint32_t graph_id;
};

struct Memcpy {  // CUpti_ActivityMemcpy4 to 6
  uint32_t kind;
  uint8_t direction;
  uint8_t from;
  uint8_t to;
  uint8_t flags;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t correlation;
  uint32_t runtime_correlation;
  uint32_t pad;
  void* reserved0;
  uint64_t graph_node;
  uint32_t graph_id;
};

struct MemcpyPeer {  // CUpti_ActivityMemcpyPtoP3 and 4
  uint32_t kind;
  uint8_t direction;
  uint8_t from;
  uint8_t to;
  uint8_t flags;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t from_device;
  uint32_t from_context;
  uint32_t to_device;
  uint32_t to_context;
  uint32_t correlation;
  void* reserved0;
  uint64_t graph_node;
  uint32_t graph_id;
};

struct Memset {  // CUpti_ActivityMemset3 and 4
  uint32_t kind;
  uint32_t value;
  uint64_t bytes;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t correlation;
  uint16_t flags;
  uint16_t memory;
  uint32_t pad;
  void* reserved0;
  uint64_t graph_node;
  uint32_t graph_id;
};

struct Synchronization {  // CUpti_ActivitySynchronization and 2
  uint32_t kind;
  uint32_t type;
  uint64_t start;
  uint64_t end;
  uint32_t correlation;
  uint32_t context;
  uint32_t stream;
  uint32_t event;
};

struct Overhead {  // CUpti_ActivityOverhead to 3
  uint32_t kind;
  uint32_t type;
  uint32_t object;  // CUpti_ActivityObjectKind: 1 process, 2 thread
  uint32_t process;
  uint32_t thread;
  uint32_t object_rest;
  uint64_t start;
  uint64_t end;
};

struct External {  // CUpti_ActivityExternalCorrelation
  uint32_t kind;
  uint32_t type;
  uint64_t id;
  uint32_t correlation;
};

struct GraphTrace {  // CUpti_ActivityGraphTrace and 2
  uint32_t kind;
  uint32_t correlation;
  uint64_t start;
  uint64_t end;
  uint32_t device;
  uint32_t graph_id;
  uint32_t context;
  uint32_t stream;
};

struct ContextRecord {  // CUpti_ActivityContext to 3
  uint32_t kind;
  uint32_t context;
  uint32_t device;
  uint16_t compute_api;
  uint16_t null_stream;
};
#pragma pack(pop)

using BufferRequested = void (*)(uint8_t** buffer, size_t* size, size_t* most_records);
using BufferCompleted = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t size,
                                 size_t valid);
using Callback = void (*)(void* user, int domain, uint32_t function, const void* info);

// Every supported version has the first group; functions after the blank line may be missing.
struct Functions {
  int (*get_version)(uint32_t* version);
  int (*get_result_string)(int result, const char** text);
  int (*subscribe)(void** subscriber, Callback callback, void* user);
  int (*unsubscribe)(void* subscriber);
  int (*register_callbacks)(BufferRequested requested, BufferCompleted completed);
  int (*enable)(uint32_t kind);
  int (*disable)(uint32_t kind);
  int (*flush_all)(uint32_t flags);
  int (*next_record)(uint8_t* buffer, size_t valid, void** record);
  int (*dropped)(void* context, uint32_t stream, size_t* count);
  int (*timestamp)(uint64_t* ns);
  int (*callback_name)(int domain, uint32_t function, const char** name);
  int (*set_thread_id_type)(int type);

  int (*register_timestamp)(uint64_t (*now)());
  int (*set_attribute)(int attribute, size_t* size, void* value);
  int (*enable_callback)(uint32_t on, void* subscriber, int domain, uint32_t callback);
  // CUDA 12.5 and later. Switches single functions of an enabled kind; enabling the kind resets
  // them.
  int (*enable_runtime_call)(uint32_t function, uint8_t on);
  int (*enable_driver_call)(uint32_t function, uint8_t on);
};

}  // namespace assay::cupti
