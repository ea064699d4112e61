// A HIP and a roctx that pretend. As rocprofiler-register does, the first call loads
// rocprofiler-sdk where ROCPROFILER_REGISTER_FORCE_LOAD is set, by the name in
// ROCPROFILER_REGISTER_LIBRARY or its own, and ends the program where that is not there.

#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>

#include "fakes/fake_rocprofiler.h"

namespace {

FakeHipCalled hip_called = nullptr;
FakeMarkerCalled marker_called = nullptr;
thread_local uint32_t gpu = 0;

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

void start_once() {
  if (!is_set("ROCPROFILER_REGISTER_FORCE_LOAD")) return;
  const bool named = is_set("ROCPROFILER_REGISTER_LIBRARY");
  void* library =
      ::dlopen(named ? std::getenv("ROCPROFILER_REGISTER_LIBRARY") : "librocprofiler-sdk.so.0",
               RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) std::abort();
  reinterpret_cast<void (*)()>(::dlsym(library, "fake_rocprofiler_start"))();
  hip_called = reinterpret_cast<FakeHipCalled>(::dlsym(library, "fake_hip_called"));
  marker_called = reinterpret_cast<FakeMarkerCalled>(::dlsym(library, "fake_marker_called"));
}
void start() {
  static std::once_flag once;
  std::call_once(once, start_once);
}

int call(FakeHipCall made) {
  start();
  made.gpu = gpu;
  if (hip_called != nullptr) hip_called(&made);
  return 0;
}

void mark(FakeMarkerCall made) {
  start();
  if (marker_called != nullptr) marker_called(&made);
}

}  // namespace

extern "C" {

int hipInit(unsigned) {
  start();
  return 0;
}
int hipGetDevice(int* device) {
  *device = static_cast<int>(gpu);
  return call({.name = "hipGetDevice"});
}
int hipSetDevice(int device) {
  gpu = static_cast<uint32_t>(device);
  return call({.name = "hipSetDevice"});
}
int hipEventRecord(void*, void*) { return call({.name = "hipEventRecord"}); }
int hipDeviceSynchronize() { return call({.name = "hipDeviceSynchronize"}); }
// The streams of this HIP are numbers.
int fake_hip_launch(uint64_t stream, int with_scratch) {
  return call({.name = "hipLaunchKernel",
               .stream = stream,
               .kernels = 1,
               .scratch = static_cast<uint32_t>(with_scratch)});
}
int fake_hip_graph(uint64_t stream) {
  return call({.name = "hipGraphLaunch", .stream = stream, .kernels = 3});
}
int fake_hip_fill(uint64_t stream) {
  return call({.name = "hipMemsetAsync", .stream = stream, .kernels = 1, .kernel = "fill"});
}
int fake_hip_copy(uint64_t stream, int from, int to, uint64_t bytes) {
  return call({.name = "hipMemcpyAsync",
               .stream = stream,
               .copy_bytes = bytes,
               .copy_from = from,
               .copy_to = to});
}

void roctxMarkA(const char* text) { mark({"roctxMarkA", text, 0, 0}); }
int roctxRangePushA(const char* text) {
  mark({"roctxRangePushA", text, 0, 0});
  return 0;
}
int roctxRangePop() {
  mark({"roctxRangePop", nullptr, 0, 0});
  return 0;
}
uint64_t roctxRangeStartA(const char* text) {
  static std::atomic<uint64_t> next = 900;
  const uint64_t id = next++;
  mark({"roctxRangeStartA", text, 0, id});
  return id;
}
void roctxRangeStop(uint64_t id) { mark({"roctxRangeStop", nullptr, id, 0}); }
void roctxNameOsThread(const char* name) { mark({"roctxNameOsThread", name, 0, 0}); }

}  // extern "C"
