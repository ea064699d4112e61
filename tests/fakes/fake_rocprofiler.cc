// A rocprofiler-sdk that pretends, written from its public headers alone (nothing of
// collect/record_amd is included): version 1.1, or with FAKE_BEFORE_1 version 0.6, whose records
// have no ancestor, whose kinds have other numbers and which knows no streams of HIP.
//
// Its clock is CLOCK_MONOTONIC and 5,000 s. Calls of HIP, of all threads together, start every 20
// us from the time of the first and last 3 us; correlation ids count them (and HSA's) up from 1.
// Dispatches start 7, 12 and 17 us after their call and last 4 us, 2 groups of 64 work-items with
// 512 bytes of shared memory, 384 of them static, and 24 registers; copies start 7 us after it and
// last 5 us, and are made by a call of HSA inside, 1 us later and 1 us long. Scratch memory is
// allocated 1 us after the call, in 2 us. Two GPUs lie between two CPUs; queue = the GPU's one of
// stream % 2.
//
// FAKE_ROCPROFILER, words with commas: drops (of every third dispatch the record finds no room),
// late (buffers come 200 ms late), refused (no dispatches for this tool), unnamed (no symbols).
// FAKE_ROCPROFILER_VERSION: another version told. FAKE_LAUNCH_NOW: calls start when they are made.

#include "fakes/fake_rocprofiler.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

#ifdef FAKE_BEFORE_1
constexpr bool kBefore1 = true;
constexpr uint32_t kVersion = 600;
#else
constexpr bool kBefore1 = false;
constexpr uint32_t kVersion = 10100;
#endif
constexpr uint64_t kClockOffset = 5'000'000'000'000;

// Names in the order of their numbers, from 1 on.
const std::vector<std::string>& buffer_kinds() {
  static const std::vector<std::string> before = {
      "HSA_CORE_API",         "HSA_AMD_EXT_API",          "HSA_IMAGE_EXT_API",
      "HSA_FINALIZE_EXT_API", "HIP_RUNTIME_API",          "HIP_COMPILER_API",
      "MARKER_CORE_API",      "MARKER_CONTROL_API",       "MARKER_NAME_API",
      "MEMORY_COPY",          "KERNEL_DISPATCH",          "PAGE_MIGRATION",
      "SCRATCH_MEMORY",       "CORRELATION_ID_RETIREMENT"};
  static const std::vector<std::string> now = {"HSA_CORE_API",
                                               "HSA_AMD_EXT_API",
                                               "HSA_IMAGE_EXT_API",
                                               "HSA_FINALIZE_EXT_API",
                                               "HIP_RUNTIME_API",
                                               "HIP_COMPILER_API",
                                               "MARKER_CORE_API",
                                               "MARKER_CONTROL_API",
                                               "MARKER_NAME_API",
                                               "MEMORY_COPY",
                                               "KERNEL_DISPATCH",
                                               "SCRATCH_MEMORY",
                                               "CORRELATION_ID_RETIREMENT"};
  return kBefore1 ? before : now;
}
const std::vector<std::string>& callback_kinds() {
  static const std::vector<std::string> before = {
      "HSA_CORE_API",    "HSA_AMD_EXT_API",  "HSA_IMAGE_EXT_API", "HSA_FINALIZE_EXT_API",
      "HIP_RUNTIME_API", "HIP_COMPILER_API", "MARKER_CORE_API",   "MARKER_CONTROL_API",
      "MARKER_NAME_API", "CODE_OBJECT",      "SCRATCH_MEMORY",    "KERNEL_DISPATCH"};
  static const std::vector<std::string> now = {
      "HSA_CORE_API",    "HSA_AMD_EXT_API",  "HSA_IMAGE_EXT_API", "HSA_FINALIZE_EXT_API",
      "HIP_RUNTIME_API", "HIP_COMPILER_API", "MARKER_CORE_API",   "MARKER_CONTROL_API",
      "MARKER_NAME_API", "CODE_OBJECT",      "SCRATCH_MEMORY",    "KERNEL_DISPATCH",
      "MEMORY_COPY",     "HIP_STREAM"};
  return kBefore1 ? before : now;
}
// Operations from their first number on.
struct Operations {
  int32_t first;
  std::vector<std::string> names;
};
const Operations& operations_of(const std::string& kind) {
  static const std::map<std::string, Operations> all = {
      {"HIP_RUNTIME_API",
       {0,
        {"hipGetDevice", "hipSetDevice", "hipLaunchKernel", "hipGraphLaunch", "hipMemcpyAsync",
         "hipMemsetAsync", "hipDeviceSynchronize", "hipEventRecord", "hipMalloc"}}},
      {"HIP_COMPILER_API", {0, {"__hipPushCallConfiguration"}}},
      {"HSA_CORE_API", {0, {"hsa_init"}}},
      {"HSA_AMD_EXT_API", {0, {"hsa_amd_memory_async_copy_on_engine"}}},
      {"KERNEL_DISPATCH", {1, {"KERNEL_DISPATCH_ENQUEUE", "KERNEL_DISPATCH_COMPLETE"}}},
      {"MEMORY_COPY",
       {1,
        {"MEMORY_COPY_HOST_TO_HOST", "MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST",
         "MEMORY_COPY_DEVICE_TO_DEVICE"}}},
      {"SCRATCH_MEMORY",
       {1, {"SCRATCH_MEMORY_ALLOC", "SCRATCH_MEMORY_FREE", "SCRATCH_MEMORY_ASYNC_RECLAIM"}}},
      {"CODE_OBJECT", {1, {"CODE_OBJECT_LOAD", "CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER"}}},
      {"MARKER_CORE_API",
       {0,
        {"roctxMarkA", "roctxRangePushA", "roctxRangePop", "roctxRangeStartA", "roctxRangeStop",
         "roctxGetThreadId"}}},
      {"MARKER_NAME_API", {0, {"roctxNameOsThread"}}},
      {"HIP_STREAM", {1, {"HIP_STREAM_CREATE", "HIP_STREAM_DESTROY", "HIP_STREAM_SET"}}}};
  static const Operations none = {0, {}};
  const auto found = all.find(kind);
  return found != all.end() ? found->second : none;
}
int number_of(const std::vector<std::string>& kinds, const std::string& name) {
  const auto found = std::find(kinds.begin(), kinds.end(), name);
  return found == kinds.end() ? -1 : static_cast<int>(found - kinds.begin()) + 1;
}
int32_t operation_number(const std::string& kind, const std::string& name) {
  const Operations& operations = operations_of(kind);
  const auto found = std::find(operations.names.begin(), operations.names.end(), name);
  return found == operations.names.end()
             ? -1
             : operations.first + static_cast<int32_t>(found - operations.names.begin());
}

bool fault(const char* word) {
  const char* set = std::getenv("FAKE_ROCPROFILER");
  return set != nullptr &&
         ("," + std::string(set) + ",").find("," + std::string(word) + ",") != std::string::npos;
}

uint64_t clock_now() {
  timespec time = {};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec) +
         kClockOffset;
}
uint64_t thread_id() { return static_cast<uint64_t>(::syscall(SYS_gettid)); }

// ---- the interface's types ----------------------------------------------------------------------

struct Id {
  uint64_t handle;
};
struct Header {
  uint32_t category;
  uint32_t kind;
  void* payload;
};
using BufferCallback = void (*)(Id, Id, Header**, size_t, void*, uint64_t);
// Passed by value: in the older version 8 bytes shorter.
struct CallbackRecord {
  Id context;
  uint64_t thread;
  uint64_t internal;
  uint64_t external;
#ifndef FAKE_BEFORE_1
  uint64_t ancestor;
#endif
  int kind;
  int32_t operation;
  int phase;
  void* payload;
};
using TracingCallback = void (*)(CallbackRecord, void*, void*);

// Bytes of a record, word by word.
class Bytes {
 public:
  Bytes& u64(uint64_t value) { return add(&value, 8); }
  Bytes& u32(uint32_t value) { return add(&value, 4); }
  // What the first word is for.
  std::vector<uint8_t> sized() {
    while (bytes_.size() % 8 != 0) bytes_.push_back(0);
    const uint64_t size = bytes_.size();
    std::memcpy(bytes_.data(), &size, 8);
    return bytes_;
  }

 private:
  Bytes& add(const void* value, size_t count) {
    const auto* at = static_cast<const uint8_t*>(value);
    bytes_.insert(bytes_.end(), at, at + count);
    return *this;
  }
  std::vector<uint8_t> bytes_;
};

// ---- what a tool asked for ----------------------------------------------------------------------

struct Buffer {
  size_t watermark = 0;
  BufferCallback callback = nullptr;
  void* data = nullptr;
  uint64_t context = 0;
  uint64_t dropped = 0;
  size_t bytes = 0;
  std::vector<std::pair<uint32_t, std::vector<uint8_t>>> records;
};
struct BufferService {
  uint64_t context;
  uint64_t buffer;
  std::vector<int32_t> operations;  // empty = all
};
struct CallbackService {
  uint64_t context;
  TracingCallback callback;
  void* data;
};

// Never destroyed: the thread that delivers outlives everything at exit.
std::mutex& mutex = *new std::mutex;  // of all below
std::condition_variable& changed = *new std::condition_variable;
auto& contexts = *new std::vector<bool>{false};  // by handle: started
auto& buffers = *new std::vector<Buffer>(1);
auto& buffer_services = *new std::map<int, std::vector<BufferService>>;
auto& callback_services = *new std::map<int, std::vector<CallbackService>>;
// By context and thread.
auto& external_ids = *new std::map<std::pair<uint64_t, uint64_t>, std::vector<uint64_t>>;
struct Delivery {
  uint64_t buffer;
  std::vector<std::pair<uint32_t, std::vector<uint8_t>>> records;
  uint64_t dropped;
};
auto& deliveries = *new std::deque<Delivery>;
int delivering = 0;
bool locked = false;  // services can no longer be asked for
bool finalized = false;
uint64_t first_call = 0;
uint64_t calls = 0;
uint64_t next_correlation = 1;
uint64_t dispatches = 0;

constexpr const char* kKernels[] = {"_Z9saxpy_oneIfEvPKT_PS0_i.kd", "_Z9saxpy_twoIfEvPKT_PS0_i.kd",
                                    "_Z11saxpy_threeIfEvPKT_PS0_i.kd",
                                    "__amd_rocclr_fillBufferAligned.kd"};
constexpr uint64_t kFirstKernel = 41;

// CPU, GPU, CPU, GPU.
constexpr uint64_t kAgents[] = {1001, 1002, 1003, 1004};
uint64_t gpu_handle(int32_t number) { return number < 0 ? kAgents[0] : kAgents[1 + 2 * number]; }

void start_delivery(std::unique_lock<std::mutex>&, uint64_t number) {
  Buffer& buffer = buffers[number];
  if (buffer.records.empty() && buffer.dropped == 0) return;
  deliveries.push_back({number, std::move(buffer.records), buffer.dropped});
  buffer.records.clear();
  buffer.bytes = 0;
  changed.notify_all();
}

void deliver_forever() {
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [] { return !deliveries.empty(); });
    Delivery delivery = std::move(deliveries.front());
    deliveries.pop_front();
    ++delivering;
    const BufferCallback callback = buffers[delivery.buffer].callback;
    void* data = buffers[delivery.buffer].data;
    const Id context = {buffers[delivery.buffer].context};
    lock.unlock();
    if (fault("late")) ::usleep(200'000);
    std::vector<Header> headers;
    for (auto& [kind, bytes] : delivery.records) headers.push_back({1, kind, bytes.data()});
    std::vector<Header*> pointers;
    for (Header& header : headers) pointers.push_back(&header);
    callback(context, {delivery.buffer}, pointers.data(), pointers.size(), data, delivery.dropped);
    lock.lock();
    --delivering;
    changed.notify_all();
  }
}

void put(std::unique_lock<std::mutex>& lock, const char* kind_name, int32_t operation,
         const std::vector<uint8_t>& bytes, bool no_room = false) {
  const int kind = number_of(buffer_kinds(), kind_name);
  for (const BufferService& service : buffer_services[kind]) {
    const std::vector<int32_t>& wanted = service.operations;
    const bool asked =
        wanted.empty() || std::find(wanted.begin(), wanted.end(), operation) != wanted.end();
    if (!contexts[service.context] || !asked) continue;
    Buffer& buffer = buffers[service.buffer];
    if (no_room) {
      ++buffer.dropped;
      continue;
    }
    buffer.records.emplace_back(kind, bytes);
    buffer.bytes += bytes.size();
    if (buffer.bytes >= buffer.watermark) start_delivery(lock, service.buffer);
  }
}

uint64_t external_of(const char* kind_name) {
  const int kind = number_of(buffer_kinds(), kind_name);
  for (const BufferService& service : buffer_services[kind]) {
    const std::vector<uint64_t>& stack = external_ids[{service.context, thread_id()}];
    if (!stack.empty()) return stack.back();
  }
  return 0;
}

// Without the lock: tools call back.
void call_back(const char* kind_name, const char* operation, int phase, void* payload) {
  std::vector<CallbackService> services;
  const int kind = number_of(callback_kinds(), kind_name);
  {
    const std::lock_guard lock(mutex);
    services = callback_services[kind];
  }
  for (const CallbackService& service : services) {
    {
      const std::lock_guard lock(mutex);
      if (!contexts[service.context]) continue;
    }
    CallbackRecord record = {};
    record.context.handle = service.context;
    record.thread = thread_id();
    record.kind = kind;
    record.operation = operation_number(kind_name, operation);
    record.phase = phase;
    record.payload = payload;
    uint64_t user = 0;
    service.callback(record, &user, service.data);
  }
}

void put_call(std::unique_lock<std::mutex>& lock, const char* kind, const char* name,
              uint64_t correlation, uint64_t ancestor, uint64_t start, uint64_t end) {
  const int32_t operation = operation_number(kind, name);
  Bytes bytes;
  bytes.u64(0).u32(static_cast<uint32_t>(number_of(buffer_kinds(), kind)));
  bytes.u32(static_cast<uint32_t>(operation)).u64(correlation).u64(0);
  if (!kBefore1) bytes.u64(ancestor);
  bytes.u64(start).u64(end).u64(thread_id());
  put(lock, kind, operation, bytes.sized());
}

void put_dispatch(std::unique_lock<std::mutex>& lock, const FakeHipCall& call, uint32_t which,
                  uint64_t correlation, uint64_t start) {
  uint64_t kernel = kFirstKernel + which;
  if (call.kernel != nullptr) kernel = kFirstKernel + 3;
  Bytes bytes;
  bytes.u64(0).u32(static_cast<uint32_t>(number_of(buffer_kinds(), "KERNEL_DISPATCH"))).u32(2);
  bytes.u64(correlation).u64(external_of("KERNEL_DISPATCH")).u64(thread_id());
  bytes.u64(start).u64(start + 4000).u64(72).u64(gpu_handle(static_cast<int32_t>(call.gpu)));
  bytes.u64(7000 + 10 * call.gpu + call.stream % 2).u64(kernel).u64(++dispatches).u32(0).u32(512);
  bytes.u32(64).u32(1).u32(1).u32(100).u32(1).u32(1);
  for (int i = 0; i < 7; ++i) bytes.u64(0);
  const bool no_room = fault("drops") && dispatches % 3 == 0;
  put(lock, "KERNEL_DISPATCH", 2, bytes.sized(), no_room);
}

void put_copy(std::unique_lock<std::mutex>& lock, const FakeHipCall& call, uint64_t outer,
              uint64_t call_start) {
  uint64_t correlation = outer;
  // A call of HSA has an id of its own only where it is traced.
  if (!buffer_services[number_of(buffer_kinds(), "HSA_AMD_EXT_API")].empty()) {
    correlation = next_correlation++;
    put_call(lock, "HSA_AMD_EXT_API", "hsa_amd_memory_async_copy_on_engine", correlation, outer,
             call_start + 1000, call_start + 2000);
  }
  const int32_t operation =
      call.copy_from < 0 ? (call.copy_to < 0 ? 1 : 2) : (call.copy_to < 0 ? 3 : 4);
  Bytes bytes;
  bytes.u64(0).u32(static_cast<uint32_t>(number_of(buffer_kinds(), "MEMORY_COPY")));
  bytes.u32(static_cast<uint32_t>(operation)).u64(correlation).u64(external_of("MEMORY_COPY"));
  bytes.u64(thread_id()).u64(call_start + 7000).u64(call_start + 12000);
  bytes.u64(gpu_handle(call.copy_to)).u64(gpu_handle(call.copy_from)).u64(call.copy_bytes);
  bytes.u64(0x1000).u64(0x2000);
  put(lock, "MEMORY_COPY", operation, bytes.sized());
}

void put_scratch(std::unique_lock<std::mutex>& lock, const FakeHipCall& call, uint64_t correlation,
                 uint64_t call_start) {
  Bytes bytes;
  bytes.u64(0).u32(static_cast<uint32_t>(number_of(buffer_kinds(), "SCRATCH_MEMORY"))).u32(1);
  bytes.u64(correlation).u64(0);
  if (!kBefore1) bytes.u64(0);
  bytes.u64(gpu_handle(static_cast<int32_t>(call.gpu))).u64(7000).u64(thread_id());
  bytes.u64(call_start + 1000).u64(call_start + 3000).u32(1);
  put(lock, "SCRATCH_MEMORY", 1, bytes.sized());
}

void tell_symbols() {
  for (uint64_t i = 0; i < std::size(kKernels); ++i) {
    Bytes bytes;
    bytes.u64(0).u64(kFirstKernel + i).u64(1).u64(reinterpret_cast<uint64_t>(kKernels[i])).u64(0);
    bytes.u32(64).u32(16).u32(384).u32(0).u32(16).u32(24).u32(0).u32(0).u64(0).u64(0);
    std::vector<uint8_t> symbol = bytes.sized();
    if (!fault("unnamed")) {
      call_back("CODE_OBJECT", "CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER", 1, symbol.data());
    }
  }
}

struct Tool {
  size_t size;
  int (*initialize)(void (*)(Id), void*);
  void (*finalize)(void*);
  void* data;
};
struct Client {
  const char* name;
  uint32_t handle;
};
auto& tools = *new std::vector<Tool>;

void finalize_tools() {
  for (const Tool& tool : tools) {
    if (tool.finalize != nullptr) tool.finalize(tool.data);
  }
  const std::lock_guard lock(mutex);
  finalized = true;
}

uint32_t version_told() {
  const char* set = std::getenv("FAKE_ROCPROFILER_VERSION");
  return set != nullptr ? static_cast<uint32_t>(std::atoi(set)) : kVersion;
}

void start_tools() {
  std::atexit(finalize_tools);
  std::string names = std::getenv("ROCP_TOOL_LIBRARIES") ? std::getenv("ROCP_TOOL_LIBRARIES") : "";
  names += ":";
  uint32_t priority = 0;
  for (size_t at = 0; at < names.size();) {
    const size_t end = names.find(':', at);
    const std::string name = names.substr(at, end - at);
    at = end + 1;
    if (name.empty()) continue;
    void* library = ::dlopen(name.c_str(), RTLD_GLOBAL | RTLD_LAZY);
    if (library == nullptr) continue;
    auto* configure = reinterpret_cast<Tool* (*)(uint32_t, const char*, uint32_t, Client*)>(
        ::dlsym(library, "rocprofiler_configure"));
    Client client = {nullptr, 100 + priority};
    const Tool* tool =
        configure == nullptr ? nullptr : configure(version_told(), "fake", priority++, &client);
    if (tool != nullptr) tools.push_back(*tool);
  }
  for (const Tool& tool : tools) {
    if (tool.initialize != nullptr) tool.initialize(nullptr, tool.data);
  }
  {
    const std::lock_guard lock(mutex);
    locked = true;
  }
  std::thread(deliver_forever).detach();
  tell_symbols();
}

}  // namespace

extern "C" {

// ---- for the fake HIP ---------------------------------------------------------------------------

void fake_rocprofiler_start() {
  static std::once_flag once;
  std::call_once(once, start_tools);
}

void fake_hip_called(const FakeHipCall* call) {
  Bytes stream_bytes;
  std::vector<uint8_t> stream = stream_bytes.u64(0).u64(call->stream).u64(0).sized();
  if (!kBefore1) call_back("HIP_STREAM", "HIP_STREAM_SET", 1, stream.data());
  {
    std::unique_lock lock(mutex);
    if (first_call == 0) first_call = clock_now();
    const bool now = std::getenv("FAKE_LAUNCH_NOW") != nullptr;
    const uint64_t start = now ? clock_now() : first_call + 20'000 * calls++;
    const uint64_t correlation = next_correlation++;
    put_call(lock, "HIP_RUNTIME_API", call->name, correlation, 0, start, start + 3000);
    for (uint32_t i = 0; i < call->kernels; ++i) {
      put_dispatch(lock, *call, i, correlation, start + 7000 + 5000 * i);
    }
    if (call->copy_bytes > 0) put_copy(lock, *call, correlation, start);
    if (call->scratch != 0) put_scratch(lock, *call, correlation, start);
  }
  if (!kBefore1) call_back("HIP_STREAM", "HIP_STREAM_SET", 2, stream.data());
}

void fake_marker_called(const FakeMarkerCall* call) {
  const std::string name = call->name;
  const char* kind = name == "roctxNameOsThread" ? "MARKER_NAME_API" : "MARKER_CORE_API";
  const uint64_t argument =
      name == "roctxRangeStop" ? call->id : reinterpret_cast<uint64_t>(call->text);
  for (const int phase : {1, 2}) {
    Bytes bytes;
    bytes.u64(0).u64(argument).u64(0).u64(phase == 2 ? call->returned : 0);
    std::vector<uint8_t> payload = bytes.sized();
    call_back(kind, call->name, phase, payload.data());
  }
}

// ---- the interface ------------------------------------------------------------------------------

int rocprofiler_create_context(Id* context) {
  const std::lock_guard lock(mutex);
  if (locked) return 16;
  if (context->handle != 0) return 13;
  contexts.push_back(false);
  context->handle = contexts.size() - 1;
  return 0;
}
int rocprofiler_start_context(Id context) {
  const std::lock_guard lock(mutex);
  if (context.handle == 0 || context.handle >= contexts.size()) return 2;
  contexts[context.handle] = true;
  return 0;
}
int rocprofiler_stop_context(Id context) {
  const std::lock_guard lock(mutex);
  if (context.handle == 0 || context.handle >= contexts.size()) return 2;
  contexts[context.handle] = false;
  return 0;
}
int rocprofiler_create_buffer(Id context, size_t, size_t watermark, int, BufferCallback callback,
                              void* data, Id* buffer) {
  const std::lock_guard lock(mutex);
  if (locked) return 16;
  Buffer made;
  made.watermark = watermark;
  made.callback = callback;
  made.data = data;
  made.context = context.handle;
  buffers.push_back(std::move(made));
  buffer->handle = buffers.size() - 1;
  return 0;
}
int rocprofiler_flush_buffer(Id buffer) {
  std::unique_lock lock(mutex);
  if (finalized) return 21;
  if (buffer.handle == 0 || buffer.handle >= buffers.size()) return 3;
  start_delivery(lock, buffer.handle);
  changed.wait(lock, [] { return deliveries.empty() && delivering == 0; });
  return 0;
}
int rocprofiler_configure_buffer_tracing_service(Id context, int kind, const int32_t* operations,
                                                 size_t count, Id buffer) {
  const std::lock_guard lock(mutex);
  if (locked) return 16;
  if (kind < 1 || kind > static_cast<int>(buffer_kinds().size())) return 4;
  if (fault("refused") && buffer_kinds()[kind - 1] == "KERNEL_DISPATCH") return 15;
  std::vector<int32_t> wanted;
  if (operations != nullptr) wanted.assign(operations, operations + count);
  buffer_services[kind].push_back({context.handle, buffer.handle, wanted});
  return 0;
}
int rocprofiler_configure_callback_tracing_service(Id context, int kind, const int32_t*, size_t,
                                                   TracingCallback callback, void* data) {
  const std::lock_guard lock(mutex);
  if (locked) return 16;
  if (kind < 1 || kind > static_cast<int>(callback_kinds().size())) return 4;
  callback_services[kind].push_back({context.handle, callback, data});
  return 0;
}

static int kind_name(const std::vector<std::string>& kinds, int kind, const char** name,
                     uint64_t* length) {
  if (kind < 1 || kind > static_cast<int>(kinds.size())) return 4;
  *name = kinds[kind - 1].c_str();
  *length = kinds[kind - 1].size();
  return 0;
}
static int operation_name(const std::vector<std::string>& kinds, int kind, int32_t operation,
                          const char** name, uint64_t* length) {
  if (kind < 1 || kind > static_cast<int>(kinds.size())) return 4;
  const Operations& operations = operations_of(kinds[kind - 1]);
  const int32_t place = operation - operations.first;
  if (place < 0 || place >= static_cast<int32_t>(operations.names.size())) return 5;
  *name = operations.names[place].c_str();
  *length = operations.names[place].size();
  return 0;
}
static int each_operation(const std::vector<std::string>& kinds, int kind,
                          int (*callback)(int, int32_t, void*), void* data) {
  if (kind < 1 || kind > static_cast<int>(kinds.size())) return 4;
  const Operations& operations = operations_of(kinds[kind - 1]);
  for (size_t i = 0; i < operations.names.size(); ++i) {
    callback(kind, operations.first + static_cast<int32_t>(i), data);
  }
  return 0;
}
int rocprofiler_query_buffer_tracing_kind_name(int kind, const char** name, uint64_t* length) {
  return kind_name(buffer_kinds(), kind, name, length);
}
int rocprofiler_query_callback_tracing_kind_name(int kind, const char** name, uint64_t* length) {
  return kind_name(callback_kinds(), kind, name, length);
}
int rocprofiler_query_buffer_tracing_kind_operation_name(int kind, int32_t operation,
                                                         const char** name, uint64_t* length) {
  return operation_name(buffer_kinds(), kind, operation, name, length);
}
int rocprofiler_query_callback_tracing_kind_operation_name(int kind, int32_t operation,
                                                           const char** name, uint64_t* length) {
  return operation_name(callback_kinds(), kind, operation, name, length);
}
int rocprofiler_iterate_buffer_tracing_kinds(int (*callback)(int, void*), void* data) {
  for (size_t i = 1; i <= buffer_kinds().size(); ++i) callback(static_cast<int>(i), data);
  return 0;
}
int rocprofiler_iterate_callback_tracing_kinds(int (*callback)(int, void*), void* data) {
  for (size_t i = 1; i <= callback_kinds().size(); ++i) callback(static_cast<int>(i), data);
  return 0;
}
int rocprofiler_iterate_buffer_tracing_kind_operations(int kind,
                                                       int (*callback)(int, int32_t, void*),
                                                       void* data) {
  return each_operation(buffer_kinds(), kind, callback, data);
}
int rocprofiler_iterate_callback_tracing_kind_operations(int kind,
                                                         int (*callback)(int, int32_t, void*),
                                                         void* data) {
  return each_operation(callback_kinds(), kind, callback, data);
}

// agent.h: words in their order, up to the names.
int rocprofiler_query_available_agents(int version,
                                       int (*callback)(int, const void**, size_t, void*), size_t,
                                       void* data) {
  if (version != 1) return 19;
  struct Bank {
    uint32_t heap, flags, width, clock;
    uint64_t bytes;
  };
  static const Bank banks[] = {{0, 0, 0, 0, 1}, {1, 0, 8192, 2600, 192ull << 30}};
  static std::vector<std::vector<uint8_t>> agents;
  std::vector<const void*> pointers;
  agents.clear();
  for (int i = 0; i < 4; ++i) {
    const bool gpu = i % 2 == 1;
    const char* name = gpu ? "gfx942" : "EPYC";
    const char* product = gpu ? (i == 1 ? "Fake MI300X" : "Fake MI300X second") : "Fake EPYC";
    Bytes b;
    b.u64(0).u64(kAgents[i]).u32(gpu ? 2 : 1).u32(gpu ? 0 : 96).u32(gpu ? 1216 : 0);
    b.u32(2).u32(0).u32(0).u32(0).u32(0).u32(8).u32(64).u32(0).u32(0);
    b.u32(64).u32(8).u32(304).u32(32).u32(32).u32(1).u32(10).u32(4).u32(32).u32(90402);
    b.u32(0x74a11002).u32(1).u32(0).u32(128 + i).u32(2).u32(14).u32(8).u32(24);
    b.u32(0).u32(2100).u32(0).u32(0).u32(0).u32(10).u32(32).u32(141).u32(1024).u32(0);
    b.u64(0).u64(0).u64(0).u32(1024).u32(1024).u32(1024).u32(0).u32(0).u32(0);
    b.u64(reinterpret_cast<uint64_t>(banks)).u64(0).u64(0);
    b.u64(reinterpret_cast<uint64_t>(name)).u64(reinterpret_cast<uint64_t>("AMD"));
    b.u64(reinterpret_cast<uint64_t>(product)).u64(0).u32(static_cast<uint32_t>(i)).u32(0);
    agents.push_back(b.sized());
  }
  for (const auto& agent : agents) pointers.push_back(agent.data());
  return callback(version, pointers.data(), pointers.size(), data);
}
int rocprofiler_get_timestamp(uint64_t* ns) {
  *ns = clock_now();
  return 0;
}
int rocprofiler_push_external_correlation_id(Id context, uint64_t thread, uint64_t value) {
  const std::lock_guard lock(mutex);
  external_ids[{context.handle, thread}].push_back(value);
  return 0;
}
int rocprofiler_pop_external_correlation_id(Id context, uint64_t thread, uint64_t* value) {
  const std::lock_guard lock(mutex);
  auto& stack = external_ids[{context.handle, thread}];
  if (stack.empty()) return 19;
  *value = stack.back();
  stack.pop_back();
  return 0;
}
const char* rocprofiler_get_status_string(int status) {
  return status == 15 ? "Service has already been configured" : "Generalized error";
}

}  // extern "C"
