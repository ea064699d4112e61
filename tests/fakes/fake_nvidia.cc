// libcuda, NVML, cuBLAS and NCCL of GPUs that do not exist, as one shared object: enough of them to
// run Assay's NVIDIA path without a GPU. A matrix product takes 200 us of a stream's time, or
// FAKE_GEMM_NS, during which power is 500 W instead of 100 W; a triad takes its bytes over
// 4.8 TB/s and as much power. FAKE_GPU names a fault: none, no_device, mig,
// no_permission, no_instant, no_samples, launch_fails. Average power is always 300 W, or with
// FAKE_AVERAGE the mean over the second before, anew every 100 ms; the driver buffers a sample of
// power every 5 ms.

#include <cstring>

#include "fake_gpu.h"
#include "fake_peers.h"

const clockid_t fake::kClock = CLOCK_REALTIME;

namespace {

using namespace fake;

struct FieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency;
  int type;
  int result;
  unsigned long long value;
};

struct Sample {
  unsigned long long timestamp_us;
  unsigned long long value;
};
constexpr char kTriad[] = "assay_triad";
int64_t product_ns() {
  static const char* const set = std::getenv("FAKE_GEMM_NS");
  return set != nullptr ? std::atoll(set) : 200'000;
}
int64_t triad_ns(void** arguments) {
  constexpr double kBytesPerNs = 4800;
  return static_cast<int64_t>(static_cast<double>(*static_cast<uint64_t*>(arguments[3])) * 12 /
                              kBytesPerNs);
}
unsigned average_mw() {
  constexpr int64_t kWindow = 1'000'000'000;
  static const bool measured = std::getenv("FAKE_AVERAGE") != nullptr;
  if (!measured) return 300'000;
  static int64_t told_at = 0;
  static unsigned told = 0;
  const int64_t period = now() / (kWindow / 10);
  if (period == told_at) return told;
  const int64_t end = period * (kWindow / 10);
  told_at = period;
  return told = 100'000 + static_cast<unsigned>(busy_between(end - kWindow, end) * 4 / 10'000);
}
constexpr int64_t kBuffered = 5'000'000;  // ns between samples in the driver's buffer
constexpr int64_t kMostBuffered = 2000;   // 10 s: none is lost to a logger that gets no time

}  // namespace

extern "C" {

int cuInit(unsigned) { return 0; }
int cuDeviceGetCount(int* count) { return *count = faulty("no_device") ? 0 : gpus(), 0; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }
int cuDeviceGetName(char* name, int length, int) {
  return std::strncpy(name, "Fake H200", static_cast<size_t>(length)), 0;
}
int cuDeviceGetPCIBusId(char* id, int length, int) {
  return std::strncpy(id, "0000:3B:00.0", static_cast<size_t>(length)), 0;
}
// A context is the place of its GPU's stream.
int cuDevicePrimaryCtxRetain(void** context, int gpu) { return *context = &streams[gpu], 0; }
int cuCtxSetCurrent(void* context) {
  return in_use = static_cast<int>(static_cast<char*>(context) - streams), 0;
}
int cuStreamCreate(void** stream, unsigned) { return *stream = own_stream(), 0; }
int cuStreamSynchronize(void* stream) {
  return is_elsewhere(stream) ? kWrongGpu : (wait_until(free_at), 0);
}
int cuEventCreate(void** event, unsigned) { return *event = new Event, 0; }
int cuEventDestroy_v2(void* event) { return delete static_cast<Event*>(event), 0; }
int cuEventRecord(void* event, void* stream) {
  if (is_elsewhere(stream)) return kWrongGpu;
  std::lock_guard lock(mutex);
  static_cast<Event*>(event)->at = std::max(now(), free_at);
  return 0;
}
int cuEventSynchronize(void* event) { return wait_until(static_cast<Event*>(event)->at), 0; }
int cuEventElapsedTime(float* ms, void* start, void* end) {
  const auto* from = static_cast<Event*>(start);
  return *ms = static_cast<float>(static_cast<Event*>(end)->at - from->at) * 1e-6F, 0;
}
int cuMemAlloc_v2(void** address, size_t bytes) { return allocate(address, bytes); }
int cuMemFree_v2(void* address) { return release(address); }
int cuMemcpyDtoDAsync_v2(void*, void*, size_t, void*) { return take(50'000, false), 0; }
int cuMemHostAlloc(void** address, size_t bytes, unsigned) {
  return *address = std::malloc(bytes), 0;
}
int cuMemFreeHost(void* address) { return std::free(address), 0; }
int cuMemHostGetDevicePointer_v2(void** device, void* host, unsigned) { return *device = host, 0; }
int cuModuleLoadData(void** module, const void* image) {
  *module = const_cast<char*>(kOther);
  return std::strstr(static_cast<const char*>(image), ".entry") != nullptr ? 0 : 218;
}
int cuModuleGetFunction(void** function, void*, const char* name) {
  const char* known = std::strcmp(name, kTriad) == 0 ? kTriad : kOther;
  *function = const_cast<char*>(std::strcmp(name, kStamp) == 0 ? kStamp : known);
  return 0;
}
int cuLaunchKernel(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned, void* stream, void** arguments, void**) {
  if (faulty("launch_fails")) return 719;
  if (is_elsewhere(stream)) return kWrongGpu;
  if (function == kStamp) {
    *static_cast<uint64_t*>(*static_cast<void**>(arguments[0])) = static_cast<uint64_t>(now());
  }
  if (function == kTriad) take(triad_ns(arguments), true);
  return 0;
}
int cuGetErrorString(int code, const char** text) {
  return *text = code == 719 ? "unspecified launch failure" : "fake error", 0;
}

int nvmlInit_v2() { return 0; }
const char* nvmlErrorString(int code) {
  return code == 4 ? "Insufficient Permissions" : "fake NVML error";
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  *device = &busy;
  return std::strcmp(id, "0000:3B:00.0") == 0 ? 0 : 6;
}
int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  return std::strncpy(text, "999.1", length), 0;
}
int nvmlDeviceGetUUID(void*, char* text, unsigned length) {
  return std::strncpy(text, "GPU-fake", length), 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* mw) {
  if (faulty("no_permission")) return 4;
  return *mw = is_busy(now()) ? 500'000 : 100'000, 0;
}
int nvmlDeviceGetFieldValues(void* device, int, FieldValue* value) {
  value->result = 3;
  if (faulty("no_permission")) return 0;
  if (value->field == 185 && !faulty("no_average")) {
    value->result = 0;
    value->value = average_mw();
    return 0;
  }
  if (faulty("no_instant") || value->field != 186) return 0;
  unsigned mw = 0;
  value->result = nvmlDeviceGetPowerUsage(device, &mw);
  value->value = mw;
  return 0;
}
int nvmlDeviceGetSamples(void*, int type, unsigned long long since_us, int* value_type,
                         unsigned* count, Sample* samples) {
  if (type != 0 || faulty("no_samples")) return 3;
  *value_type = 1;
  const int64_t newest = now() / kBuffered;
  const int64_t seen = static_cast<int64_t>(since_us) * 1000 / kBuffered;
  const int64_t oldest = std::max(newest - kMostBuffered + 1, seen + 1);
  if (samples == nullptr) return *count = kMostBuffered, 0;
  if (oldest > newest) return 6;
  *count = static_cast<unsigned>(newest - oldest + 1);
  for (int64_t i = oldest; i <= newest; ++i) {
    const int64_t t = i * kBuffered;
    samples[i - oldest] = {static_cast<unsigned long long>(t / 1000),
                           is_busy(t) ? 500'000ULL : 100'000ULL};
  }
  return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* mj) {
  static const int64_t start = now();
  std::lock_guard lock(mutex);
  *mj = static_cast<unsigned long long>((static_cast<double>(now() - start) * 100 + busy_ns * 400) *
                                        1e-6);
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) { return *count = faulty("no_device") ? 0 : 1, 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned, void** device) { return *device = &busy, 0; }
int nvmlDeviceGetName(void*, char* text, unsigned length) {
  return std::strncpy(text, "Fake H200", length), 0;
}
int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) {
  if (type != 1 && type != 2) return 2;
  return *mhz = type == 1 ? 1980 : 3201, 0;
}
int nvmlDeviceGetUtilizationRates(void*, unsigned* percent) {
  return percent[0] = 90, percent[1] = 40, 0;
}
int nvmlDeviceGetMemoryInfo(void*, unsigned long long* bytes) {
  constexpr unsigned long long kGiB = 1ULL << 30;
  return bytes[0] = 141 * kGiB, bytes[1] = 129 * kGiB, bytes[2] = 12 * kGiB, 0;
}
int nvmlDeviceGetTemperature(void*, int sensor, unsigned* celsius) {
  return *celsius = 61, sensor == 0 ? 0 : 2;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  return *reasons = 0x4, 0;  // software power cap
}
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* mw) { return *mw = 700'000, 0; }
int nvmlDeviceGetMigMode(void*, unsigned* current, unsigned* pending) {
  return *pending = *current = faulty("mig") ? 1 : 0, 0;
}

int cublasCreate_v2(void** handle) { return *handle = &busy, 0; }
int cublasSetStream_v2(void*, void*) { return 0; }
int cublasGemmEx(void*, int, int, int, int, int, const void*, const void*, int, int, const void*,
                 int, int, const void*, void*, int, int, int, int) {
  return take(product_ns(), true), 0;
}

// The truth: when product number i of this process began and ended.
int fake_product(size_t i, int64_t* start_ns, int64_t* end_ns) {
  std::lock_guard lock(mutex);
  if (i >= busy.size()) return 1;
  *start_ns = busy[i].first;
  *end_ns = busy[i].second;
  return 0;
}

}  // extern "C"
