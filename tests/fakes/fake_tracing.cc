// libcuda.so.1 and libcupti of a GPU that does not exist, as one shared object: enough to record a
// program without a GPU. As the real driver does, cuInit loads the library that
// CUDA_INJECTION64_PATH names. Launch k (from 0) starts at 20 us * k after cuInit on the tracer's
// clock, its call takes 5 us, its kernel starts 7 us after the call does and runs 4 us; copies and
// fills likewise. A graph launch has three kernels of 4 us, 1 us apart, or as many as launches were
// captured between cudaStreamBeginCapture and cudaStreamEndCapture, which run nothing. FAKE_TRACING
// names faults, separated by commas: no_permission, old_driver, subscribed, no_callback, old_cupti,
// drop, keep_buffers (until they are asked for), half (behind the last record stands the beginning
// of one more, which has no end yet), and stolen and step, which begin as soon as there is a file
// of the name in FAKE_TRACING_BEGIN. FAKE_DRIVER_VERSION is what the driver says it is (13000),
// FAKE_CUPTI_VERSION what CUPTI says (130001): below 27 it dies of a buffer that is NULL, as CUPTI
// before 12.9 does. Records are laid out as CUDA 13.0's. FAKE_LEDGER is a file of 64 numbers of 8
// bytes: how many records of each kind are whole in a buffer, without those of cuDriverGetVersion,
// also when the process dies. FAKE_DIE_AT_RECORD=N ends it by SIGKILL when the N-th record is read
// out of a buffer.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "collect/record/cupti_abi.h"

namespace {

namespace cupti = assay::cupti;

std::mutex mutex;
uint64_t base_ns = 0;    // tracer time of cuInit
uint64_t script_ns = 0;  // from there on
uint32_t correlation = 0;
uint64_t (*clock_callback)() = nullptr;
cupti::BufferRequested requested = nullptr;
cupti::BufferCompleted completed = nullptr;
void* subscriber = nullptr;
cupti::Callback callback = nullptr;
bool tells_unloads = false;
std::set<uint32_t> enabled;
std::set<std::pair<uint32_t, uint32_t>> calls_off;  // kind and function
uint8_t* buffer = nullptr;
size_t buffer_size = 0;
size_t buffer_used = 0;
struct Full {
  uint8_t* data;
  size_t size;
  size_t used;
};
std::vector<Full> kept;
size_t dropped = 0;
bool started = false;

uint32_t version() {
  static const char* const set = std::getenv("FAKE_CUPTI_VERSION");
  return set != nullptr ? static_cast<uint32_t>(std::atoi(set)) : 130001;
}

bool faulty(const char* fault) {
  const char* set = std::getenv("FAKE_TRACING");
  if (set == nullptr) return false;
  const std::string all = std::string(",") + set + ",";
  return all.find(std::string(",") + fault + ",") != std::string::npos;
}

bool begun() {
  const char* file = std::getenv("FAKE_TRACING_BEGIN");
  return file != nullptr && ::access(file, F_OK) == 0;
}

uint64_t read_clock(clockid_t id) {
  timespec time = {};
  ::clock_gettime(id, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}

uint64_t tracer_now() {
  if (clock_callback != nullptr) return clock_callback();
  uint64_t now = read_clock(CLOCK_REALTIME);
  // The system's clock is set forward by an hour.
  if (faulty("step") && begun()) now += 3'600'000'000'000u;
  return now;
}

// Sizes of CUDA 13.0's records.
size_t size_of(uint32_t kind) {
  switch (kind) {
    case cupti::kDriver:
    case cupti::kRuntime:
      return 40;
    case cupti::kConcurrentKernel:
      return 208;
    case cupti::kMemcpy:
      return 104;
    case cupti::kMemset:
      return 88;
    case cupti::kSynchronization:
      return 56;
    case cupti::kOverhead:
      return 56;
    case cupti::kContext:
      return 40;
    default:
      return 40;
  }
}

uint32_t this_thread() { return static_cast<uint32_t>(::syscall(SYS_gettid)); }

// As a GPU with CUDA 13.0 does it: switching a kind on forgets which of its calls were off.
int switch_call(uint32_t kind, uint32_t function, bool on) {
  const std::lock_guard lock(mutex);
  if (version() < 24) return 27;
  if (on) {
    calls_off.erase({kind, function});
  } else if (enabled.count(kind) != 0) {
    calls_off.insert({kind, function});
  }
  return 0;
}

constexpr uint32_t kVersionId = 2;

uint64_t* open_ledger() {
  const char* path = std::getenv("FAKE_LEDGER");
  const int fd = path != nullptr ? ::open(path, O_RDWR) : -1;
  void* map =
      fd >= 0 ? ::mmap(nullptr, 512, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  if (fd >= 0) ::close(fd);
  return map != MAP_FAILED ? static_cast<uint64_t*>(map) : nullptr;
}

template <typename Record>
void note_in_ledger(const Record& record) {
  static uint64_t* const ledger = open_ledger();
  if (ledger == nullptr) return;
  if constexpr (std::is_same_v<Record, cupti::Api>) {
    if (record.function == kVersionId) return;
  }
  __atomic_fetch_add(ledger + record.kind, 1, __ATOMIC_RELEASE);
}

// The driver has a place for the next kernel, which is running.
void begin_half_a_record(uint8_t* at, size_t room) {
  if (room < size_of(cupti::kConcurrentKernel)) return;
  cupti::Kernel half = {};
  half.kind = cupti::kConcurrentKernel;
  half.start = base_ns + script_ns;
  half.correlation = correlation + 1;
  std::memcpy(at, &half, sizeof(half));
}

template <typename Record>
void put(Record record) {
  if (enabled.count(record.kind) == 0 || requested == nullptr) return;
  const size_t size = size_of(record.kind);
  if (buffer != nullptr && buffer_used + size > buffer_size) {
    if (faulty("keep_buffers")) {
      kept.push_back({buffer, buffer_size, buffer_used});
    } else {
      completed(nullptr, 0, buffer, buffer_size, buffer_used);
    }
    buffer = nullptr;
  }
  if (buffer == nullptr) {
    size_t most = 0;
    requested(&buffer, &buffer_size, &most);
    buffer_used = 0;
    if (buffer == nullptr && version() < 27) std::abort();
  }
  if (buffer == nullptr || (faulty("drop") && record.correlation % 2 == 0)) {
    ++dropped;
    return;
  }
  std::memset(buffer + buffer_used, 0xEE, size);  // what is behind the known fields is not read
  std::memcpy(buffer + buffer_used, &record, sizeof(record));
  buffer_used += size;
  note_in_ledger(record);
  static const bool half = faulty("half");
  if (half) begin_half_a_record(buffer + buffer_used, buffer_size - buffer_used);
}

constexpr char kKernelName[] = "_Z9saxpy_oneIfEvPKT_PS0_i";
constexpr uint32_t kLaunchId = 307;  // CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel
constexpr uint32_t kGraphId = 514;
constexpr uint32_t kCopyId = 276;
constexpr uint32_t kFillId = 285;
constexpr uint32_t kSyncId = 17;
constexpr uint32_t kRuntimeLaunchId = 211;

constexpr uint32_t kGetDeviceId = 17;
constexpr uint32_t kGetCurrentId = 304;
constexpr uint32_t kEventRecordId = 135;
constexpr uint32_t kBeginCaptureId = 316;
constexpr uint32_t kEndCaptureId = 317;
bool capturing = false;
uint32_t captured = 0;  // launches of the one graph
struct Named {
  uint32_t function;
  const char* name;
};
// Gaps as CUPTI has them, of calls that are gone; the numbers between are those of other calls.
constexpr Named kRuntimeNames[] = {{kGetDeviceId, "cudaGetDevice_v3020"},
                                   {60, "cudaMalloc_v3020"},
                                   {100, "cudaFree_v3020"},
                                   {kEventRecordId, "cudaEventRecord_v3020"},
                                   {170, "cudaStreamQuery_v3020"},
                                   {kRuntimeLaunchId, "cudaLaunchKernel_v7000"},
                                   {260, "cudaGraphCreate_v10000"},
                                   {kBeginCaptureId, "cudaStreamBeginCapture_v10000"},
                                   {kEndCaptureId, "cudaStreamEndCapture_v10000"}};
constexpr Named kDriverNames[] = {{kVersionId, "cuDriverGetVersion"},
                                  {kSyncId, "cuCtxSynchronize"},
                                  {60, "cuMemAlloc"},
                                  {110, "cuMemFree"},
                                  {160, "cuEventQuery"},
                                  {220, "cuStreamQuery"},
                                  {kCopyId, "cuMemcpyHtoDAsync_v2"},
                                  {kFillId, "cuMemsetD8Async"},
                                  {kGetCurrentId, "cuCtxGetCurrent"},
                                  {kLaunchId, "cuLaunchKernel"},
                                  {350, "cuStreamSynchronize"},
                                  {400, "cuMemcpy"},
                                  {450, "cuMemsetD2D8"},
                                  {kGraphId, "cuGraphLaunch"}};

cupti::Api call(uint32_t kind, uint32_t function, uint64_t start, uint64_t ns) {
  cupti::Api api = {};
  api.kind = kind;
  api.function = function;
  api.start = start;
  api.end = start + ns;
  api.thread = this_thread();
  api.correlation = correlation;
  return api;
}

cupti::Kernel kernel(uint64_t start, uint64_t ns, const char* name) {
  cupti::Kernel record = {};
  record.kind = cupti::kConcurrentKernel;
  record.registers = 24;
  record.start = start;
  record.end = start + ns;
  record.context = 1;
  record.stream = 7;
  for (int i = 0; i < 3; ++i) record.grid[i] = record.block[i] = 1;
  record.grid[0] = 4;
  record.block[0] = 128;
  record.static_shared = 16;
  record.dynamic_shared = 32;
  record.correlation = correlation;
  record.name = name;
  return record;
}

void put_call(const cupti::Api& record) {
  if (calls_off.count({record.kind, record.function}) == 0) put(record);
}

// With FAKE_LAUNCH_NOW calls start when they are made.
uint64_t next_start() {
  static const bool now = std::getenv("FAKE_LAUNCH_NOW") != nullptr;
  const uint64_t start = now ? tracer_now() : base_ns + script_ns;
  script_ns += 20'000;
  ++correlation;
  return start;
}

}  // namespace

extern "C" {

// ---- the driver ---------------------------------------------------------------------------------

int cuInit(unsigned) {
  if (started) return 0;
  started = true;
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (path != nullptr && *path != '\0') {
    if (void* library = ::dlopen(path, RTLD_NOW)) {
      auto* inject = reinterpret_cast<int (*)()>(::dlsym(library, "InitializeInjection"));
      if (inject != nullptr) inject();
    } else {
      std::fprintf(stderr, "fake driver: %s\n", ::dlerror());
    }
  }
  const std::lock_guard lock(mutex);
  base_ns = tracer_now();
  return 0;
}
int cuDriverGetVersion(int* version) {
  const char* told = std::getenv("FAKE_DRIVER_VERSION");
  *version = told != nullptr ? std::atoi(told) : 13000;
  const std::lock_guard lock(mutex);
  if (!started || base_ns == 0) return 0;
  put(call(cupti::kDriver, kVersionId, tracer_now(), 100));
  return 0;
}
int cuDeviceGetCount(int* count) {
  const char* set = std::getenv("FAKE_GPUS");
  return *count = set != nullptr ? std::atoi(set) : 1, 0;
}
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }
int cuDeviceGetName(char* name, int length, int) {
  return std::strncpy(name, "Fake H200", static_cast<size_t>(length)), 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int) { return *bytes = size_t{141} << 30, 0; }
int cuDeviceGetUuid(uint8_t* uuid, int device) {
  for (int i = 0; i < 16; ++i) uuid[i] = static_cast<uint8_t>(i + device);
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 10 ? 32 : attribute == 16 ? 132 : attribute == 75 ? 9 : 0;
  return 0;
}
static int current = 0;
int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = reinterpret_cast<void*>(static_cast<intptr_t>(device + 1));
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(void* context) {
  current = static_cast<int>(reinterpret_cast<intptr_t>(context)) - 1;
  return 0;
}
int cuCtxSynchronize() {
  const std::lock_guard lock(mutex);
  ++correlation;
  const uint64_t start = base_ns + script_ns - 10'000;
  put(call(cupti::kDriver, kSyncId, start, 2'000));
  cupti::Synchronization wait = {};
  wait.kind = cupti::kSynchronization;
  wait.type = 4;
  wait.start = start;
  wait.end = start + 2'000;
  wait.correlation = correlation;
  wait.context = static_cast<uint32_t>(current) + 1;
  wait.stream = UINT32_MAX;
  put(wait);
  return 0;
}
int cuModuleLoadData(void** module, const void* image) {
  *module = &base_ns;
  return std::strstr(static_cast<const char*>(image), ".entry") != nullptr ? 0 : 218;
}
int cuModuleGetFunction(void** function, void*, const char* name) {
  *function = const_cast<char*>(std::strcmp(name, "assay_null_kernel") == 0 ? "assay_null_kernel"
                                                                            : kKernelName);
  return 0;
}
int cuModuleUnload(void*) {
  if (callback != nullptr && tells_unloads) {
    callback(nullptr, cupti::kCallbackResource, cupti::kModuleUnload, nullptr);
  }
  return 0;
}
int cuLaunchKernel(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned, void*, void**, void**) {
  const std::lock_guard lock(mutex);
  const uint64_t start = next_start();
  put(call(cupti::kDriver, kLaunchId, start, 5'000));
  cupti::Kernel record = kernel(start + 7'000, 4'000, static_cast<const char*>(function));
  record.device = static_cast<uint32_t>(current);
  record.context = record.device + 1;
  put(record);
  return 0;
}
// The runtime's launch, with the driver's record of the same launch inside it. With
// FAKE_RUNTIME_LAUNCH_NS it takes other than 7 us to the kernel.
int cudaLaunchKernel(const void* function) {
  static const char* const told = std::getenv("FAKE_RUNTIME_LAUNCH_NS");
  const std::lock_guard lock(mutex);
  const uint64_t start = next_start();
  put(call(cupti::kDriver, kLaunchId, start + 1'000, 3'000));
  put(call(cupti::kRuntime, kRuntimeLaunchId, start, 5'000));
  if (capturing) return ++captured, 0;
  const uint64_t wait = told != nullptr ? std::strtoull(told, nullptr, 10) : 7'000;
  cupti::Kernel record = kernel(
      start + wait, 4'000, function != nullptr ? static_cast<const char*>(function) : kKernelName);
  record.device = static_cast<uint32_t>(current);
  record.context = record.device + 1;
  put(record);
  return 0;
}
int cudaSetDevice(int device) { return current = device, 0; }
int cudaDeviceSynchronize() { return cuCtxSynchronize(); }
const char* cudaGetErrorString(int) { return "fake error"; }
int cudaLibraryLoadData(void** library, const void* image, void*, void*, unsigned, void*, void*,
                        unsigned) {
  return cuModuleLoadData(library, image);
}
int cudaLibraryGetKernel(void** kernel, void* library, const char* name) {
  return cuModuleGetFunction(kernel, library, name);
}
int cuDeviceGetPCIBusId(char* id, int length, int) {
  return std::strncpy(id, "0000:3B:00.0", static_cast<size_t>(length)), 0;
}
// What a framework asks before every launch, and an event behind it.
int cudaGetDevice(int* device) {
  const std::lock_guard lock(mutex);
  const uint64_t start = next_start();
  put_call(call(cupti::kDriver, kGetCurrentId, start + 100, 100));
  put_call(call(cupti::kRuntime, kGetDeviceId, start, 300));
  return *device = 0, 0;
}
int cudaEventRecord(void*, void*) {
  const std::lock_guard lock(mutex);
  put_call(call(cupti::kRuntime, kEventRecordId, next_start(), 300));
  return 0;
}
int cudaStreamBeginCapture(void*, int) {
  const std::lock_guard lock(mutex);
  capturing = true;
  captured = 0;
  put(call(cupti::kRuntime, kBeginCaptureId, next_start(), 1'000));
  return 0;
}
int cudaStreamEndCapture(void*, void**) {
  const std::lock_guard lock(mutex);
  capturing = false;
  put(call(cupti::kRuntime, kEndCaptureId, next_start(), 1'000));
  return 0;
}
int cuGraphLaunch(void*, void*) {
  const std::lock_guard lock(mutex);
  const uint64_t start = next_start();
  put(call(cupti::kDriver, kGraphId, start, 5'000));
  for (uint64_t i = 0; i < (captured > 0 ? captured : 3); ++i) {
    cupti::Kernel record = kernel(start + 7'000 + i * 5'000, 4'000, kKernelName);
    record.graph_id = 11;
    record.graph_node = (uint64_t{11} << 32) + i + 1;
    put(record);
  }
  return 0;
}
int cuMemcpyHtoDAsync_v2(uint64_t, const void*, size_t bytes, void*) {
  const std::lock_guard lock(mutex);
  const uint64_t start = next_start();
  put(call(cupti::kDriver, kCopyId, start, 5'000));
  cupti::Memcpy record = {};
  record.kind = cupti::kMemcpy;
  record.direction = 1;
  record.from = 2;
  record.to = 3;
  record.flags = 1;
  record.bytes = bytes;
  record.start = start + 7'000;
  record.end = start + 11'000;
  record.context = 1;
  record.stream = 7;
  record.correlation = correlation;
  put(record);
  return 0;
}
int cuMemsetD8Async(uint64_t, unsigned char value, size_t bytes, void*) {
  const std::lock_guard lock(mutex);
  const uint64_t start = next_start();
  put(call(cupti::kDriver, kFillId, start, 5'000));
  cupti::Memset record = {};
  record.kind = cupti::kMemset;
  record.value = value;
  record.bytes = bytes;
  record.start = start + 7'000;
  record.end = start + 11'000;
  record.context = 1;
  record.stream = 7;
  record.correlation = correlation;
  record.memory = 3;
  put(record);
  return 0;
}
int cuGetErrorString(int, const char** text) { return *text = "fake error", 0; }

// ---- CUPTI --------------------------------------------------------------------------------------

int cuptiGetVersion(uint32_t* told) { return *told = faulty("old_cupti") ? 12 : version(), 0; }
int cuptiGetResultString(int result, const char** text) {
  *text = result == 35   ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
          : result == 39 ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
          : result == 14 ? "CUPTI_ERROR_NOT_COMPATIBLE"
                         : "CUPTI_ERROR";
  return 0;
}
int cuptiSubscribe(void** handle, cupti::Callback told, void*) {
  if (faulty("subscribed") || subscriber != nullptr) return 39;
  callback = told;
  return *handle = subscriber = &subscriber, 0;
}
int cuptiEnableCallback(uint32_t on, void*, int domain, uint32_t which) {
  if (domain == cupti::kCallbackResource && which == cupti::kModuleUnload) tells_unloads = on != 0;
  return 0;
}
int cuptiUnsubscribe(void*) { return subscriber = nullptr, 0; }
int cuptiActivityRegisterCallbacks(cupti::BufferRequested ask, cupti::BufferCompleted give) {
  requested = ask;
  completed = give;
  return 0;
}
int cuptiActivityEnable(uint32_t kind) {
  if (faulty("no_permission") && kind == cupti::kConcurrentKernel) return 35;
  if (faulty("old_driver")) return 14;
  const std::lock_guard lock(mutex);
  enabled.insert(kind);
  calls_off.erase(calls_off.lower_bound({kind, 0}), calls_off.lower_bound({kind + 1, 0}));
  return 0;
}
int cuptiActivityDisable(uint32_t kind) {
  const std::lock_guard lock(mutex);
  enabled.erase(kind);
  return 0;
}
int cuptiActivityEnableRuntimeApi(uint32_t function, uint8_t on) {
  return switch_call(cupti::kRuntime, function, on != 0);
}
int cuptiActivityEnableDriverApi(uint32_t function, uint8_t on) {
  return switch_call(cupti::kDriver, function, on != 0);
}
int cuptiActivityFlushAll(uint32_t) {
  uint8_t* data = nullptr;
  size_t used = 0;
  size_t size = 0;
  std::vector<Full> full;
  {
    const std::lock_guard lock(mutex);
    full.swap(kept);
    std::swap(data, buffer);
    std::swap(used, buffer_used);
    size = buffer_size;
    // Another profiler took the buffers.
    if (faulty("stolen") && begun()) used = 0;
  }
  for (const Full& one : full) completed(nullptr, 0, one.data, one.size, one.used);
  if (data != nullptr) completed(nullptr, 0, data, size, used);
  return 0;
}
int cuptiActivityGetNextRecord(uint8_t* from, size_t valid, void** record) {
  auto* at = static_cast<uint8_t*>(*record);
  if (at == nullptr) {
    at = from;
  } else {
    uint32_t kind = 0;
    std::memcpy(&kind, at, sizeof(kind));
    at += size_of(kind);
  }
  if (at >= from + valid) return cupti::kMaxLimitReached;
  static const char* const last = std::getenv("FAKE_DIE_AT_RECORD");
  static long read = 0;
  if (last != nullptr && base_ns != 0 && ++read == std::atol(last)) ::raise(SIGKILL);
  *record = at;
  return 0;
}
int cuptiActivityGetNumDroppedRecords(void*, uint32_t, size_t* count) {
  *count = dropped;
  dropped = 0;
  return 0;
}
int cuptiGetTimestamp(uint64_t* ns) { return *ns = tracer_now(), 0; }
int cuptiGetCallbackName(int domain, uint32_t function, const char** name) {
  const std::span<const Named> names =
      domain == 2 ? std::span<const Named>(kRuntimeNames) : kDriverNames;
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const Named& call) { return call.function == function; });
  if (found == names.end()) return cupti::kInvalidParameter;
  return *name = found->name, 0;
}
int cuptiSetThreadIdType(int) { return 0; }
int cuptiActivityRegisterTimestampCallback(uint64_t (*now)()) {
  if (faulty("no_callback") || faulty("step")) return 27;
  clock_callback = now;
  return 0;
}

}  // extern "C"
