// HIP, hiprtc, ROCm-SMI, rocBLAS and RCCL of a GPU that does not exist, as one shared object:
// enough of them to run Assay's AMD path without a GPU. A matrix product takes 200 us of a stream's
// time, during which power is 500 W instead of 100 W. The energy accumulator counts in 15.259 uJ
// and is read anew every millisecond. FAKE_GPU names a fault: none, no_device, no_smi_device,
// no_counter, no_permission, launch_fails, no_compile, hangs, killed, two_kinds, no_architecture,
// hostile_name; wraps (the accumulator has 32 bits and is about to wrap) and restarts (it begins
// anew 20 ms after the first read). FAKE_GPUS is how many there are, of one by default. A launch
// call takes 5 us, its kernel's first store is seen 20 us after it began; a timed kernel takes 2
// us. FAKE_ROCM5 builds it with what ROCm 5 names and lays out otherwise.

#include <csignal>
#include <cstring>
#include <list>
#include <map>

#include "collect/null_kernel/hip_abi.h"
#include "fake_gpu.h"
#include "fake_peers.h"

const clockid_t fake::kClock = CLOCK_BOOTTIME;

using namespace fake;

namespace {

constexpr char kStore[] = "assay_first_store";
bool begun = false;  // a kernel was launched

void spin_until(int64_t t) {
  while (now() < t) continue;
}

void put_architecture(void* properties, size_t at) {
  if (!faulty("no_architecture")) {
    std::strcpy(static_cast<char*>(properties) + at, "gfx942:sramecc+:xnack-");
  }
}

int timed_launch(void* start, void* stop) {
  static_cast<Event*>(start)->at = now();
  static_cast<Event*>(stop)->at = static_cast<Event*>(start)->at + 2000;
  return 0;
}

}  // namespace

extern "C" {

int hipInit(unsigned) { return 0; }
int hipGetDeviceCount(int* count) {
  *count = faulty("no_device") ? 0 : gpus();
  return *count == 0 ? 100 : 0;
}
int hipRuntimeGetVersion(int* version) { return *version = 60443484, 0; }
int hipDeviceGetUuid(assay::hip::Uuid* uuid, int device) {
  std::memcpy(uuid->text, "0123456789abcdef", sizeof(uuid->text));
  return uuid->text[0] = static_cast<char>('0' + device), 0;
}
int hipDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }
int hipDeviceGetName(char* name, int length, int device) {
  const char* kind = device > 0 && faulty("two_kinds") ? "Fake MI250" : "Fake MI300X";
  if (faulty("hostile_name")) kind = "MI \"\\\t\x7f\xff\xe2\x80\xa8";
  return std::strncpy(name, kind, static_cast<size_t>(length)), 0;
}
int hipDeviceGetPCIBusId(char* id, int length, int) {
  return std::strncpy(id, "0000:c1:00.0", static_cast<size_t>(length)), 0;
}
int hipSetDevice(int gpu) { return in_use = gpu, 0; }
#ifdef FAKE_ROCM5
int hipGetDeviceProperties(void* properties, int) { return put_architecture(properties, 396), 0; }
}  // extern "C": ROCm 5 has this one with C++ linkage
struct ihipModuleSymbol_t;
struct ihipStream_t;
struct ihipEvent_t;
int hipExtModuleLaunchKernel(ihipModuleSymbol_t*, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                             uint32_t, size_t, ihipStream_t*, void**, void**, ihipEvent_t* start,
                             ihipEvent_t* stop, uint32_t) {
  return timed_launch(start, stop);
}
extern "C" {
#else
int hipGetDevicePropertiesR0600(void* properties, int) {
  return put_architecture(properties, 1160), 0;
}
int hipGetDeviceProperties(void* properties, int) { return put_architecture(properties, 396), 0; }
int hipExtModuleLaunchKernel(void*, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
                             size_t, void*, void**, void**, void* start, void* stop, uint32_t) {
  return timed_launch(start, stop);
}
#endif
// A driver knows its events and its memory: what a program leaves to its end is not lost.
int hipEventCreate(void** event) {
  static auto& events = *new std::list<Event>;
  return *event = &events.emplace_back(), 0;
}
int hipStreamCreateWithFlags(void** stream, unsigned) { return *stream = own_stream(), 0; }
int hipStreamSynchronize(void*) {
  while (begun && faulty("hangs")) std::this_thread::sleep_for(std::chrono::seconds(1));
  return wait_until(free_at), 0;
}
int hipEventCreateWithFlags(void** event, unsigned) { return *event = new Event, 0; }
int hipEventDestroy(void* event) { return delete static_cast<Event*>(event), 0; }
int hipEventRecord(void* event, void*) {
  std::lock_guard lock(mutex);
  static_cast<Event*>(event)->at = std::max(now(), free_at);
  return 0;
}
int hipEventSynchronize(void* event) { return wait_until(static_cast<Event*>(event)->at), 0; }
int hipEventElapsedTime(float* ms, void* start, void* end) {
  const auto* from = static_cast<Event*>(start);
  return *ms = static_cast<float>(static_cast<Event*>(end)->at - from->at) * 1e-6F, 0;
}
int hipMalloc(void** address, size_t bytes) { return allocate(address, bytes); }
int hipFree(void* address) { return release(address); }
int hipMemcpyDtoDAsync(void*, void*, size_t, void*) { return take(50'000, false), 0; }
int hipHostMalloc(void** address, size_t bytes, unsigned) {
  static auto& known = *new std::list<void*>;
  return *address = known.emplace_back(std::malloc(bytes)), 0;
}
int hipHostFree(void* address) { return std::free(address), 0; }
int hipHostGetDevicePointer(void** device, void* host, unsigned) { return *device = host, 0; }
int hipModuleLoadData(void** module, const void* image) {
  *module = const_cast<char*>(kOther);
  return std::strstr(static_cast<const char*>(image), "compiled") != nullptr ? 0 : 209;
}
int hipModuleGetFunction(void** function, void*, const char* name) {
  const bool store = std::strcmp(name, kStore) == 0;
  *function = const_cast<char*>(std::strcmp(name, kStamp) == 0 ? kStamp : store ? kStore : kOther);
  return 0;
}
int hipModuleLaunchKernel(void* function, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, unsigned, void*, void** arguments, void**) {
  if (faulty("launch_fails")) return 719;
  if (faulty("killed")) ::raise(SIGKILL);
  begun = true;
  const int64_t start = now();
  if (function == kStore) {
    spin_until(start + 20'000);
    uint32_t* const seen = *static_cast<uint32_t**>(arguments[0]);
    __atomic_store_n(seen, *static_cast<uint32_t*>(arguments[1]), __ATOMIC_RELEASE);
    return 0;
  }
  if (function == kStamp) {
    *static_cast<uint64_t*>(*static_cast<void**>(arguments[0])) = static_cast<uint64_t>(now());
  }
  return 0;
}
const char* hipGetErrorName(int code);
const char* hipGetErrorString(int code) {
#ifdef FAKE_ROCM5
  return hipGetErrorName(code);  // up to ROCm 5 the sentence is the name
#endif
  if (code == 100) return "no ROCm-capable device is detected";
  return code == 719 ? "unspecified launch failure" : "fake error";
}
const char* hipGetErrorName(int code) {
  if (code == 100) return "hipErrorNoDevice";
  return code == 719 ? "hipErrorLaunchFailure" : "hipErrorUnknown";
}
const char* hiprtcGetErrorString(int code) {
  return code == 6 ? "HIPRTC_ERROR_COMPILATION" : "HIPRTC_ERROR_INTERNAL_ERROR";
}

int hiprtcCreateProgram(void** program, const char*, const char*, int, const char* const*,
                        const char* const*) {
  return *program = &busy, 0;
}
// FAKE_ARCHITECTURE is the only one that it compiles for, when set; "" is no option at all.
int hiprtcCompileProgram(void*, int count, const char* const* options) {
  const char* only = std::getenv("FAKE_ARCHITECTURE");
  const std::string option = count > 0 ? options[0] : "";
  if (only != nullptr && option != (*only != '\0' ? std::string("--offload-arch=") + only : "")) {
    return 6;
  }
  return faulty("no_compile") ? 6 : 0;
}
int hiprtcGetProgramLogSize(void*, size_t* bytes) { return *bytes = 12, 0; }
int hiprtcGetProgramLog(void*, char* text) { return std::strcpy(text, "bad source."), 0; }
int hiprtcGetCodeSize(void*, size_t* bytes) { return *bytes = 9, 0; }
int hiprtcGetCode(void*, char* code) { return std::strcpy(code, "compiled"), 0; }
int hiprtcDestroyProgram(void**) { return 0; }

int rsmi_init(uint64_t) { return 0; }
int rsmi_status_string(int code, const char** text) {
  return *text = code == 4 ? "PERMISSION" : code == 2 ? "NOT_SUPPORTED" : "fake SMI error", 0;
}
int rsmi_num_monitor_devices(uint32_t* count) {
  return *count = faulty("no_smi_device") ? 0 : 2, 0;
}
int rsmi_dev_pci_id_get(uint32_t device, uint64_t* bdf) {
  return *bdf = device == 1 ? 0xc100 : 0x0500, 0;
}
int rsmi_dev_unique_id_get(uint32_t, uint64_t* id) { return *id = 0x1234, 0; }
int rsmi_dev_energy_count_get(uint32_t device, uint64_t* count, float* resolution, uint64_t* t_ns) {
  if (faulty("no_counter")) return 2;
  if (faulty("no_permission")) return 4;
  if (device != 1) return 1;
  static const int64_t start = now() / 1'000'000 * 1'000'000;
  const int64_t t = now() / 1'000'000 * 1'000'000;
  std::lock_guard lock(mutex);
  double joules = static_cast<double>(t - start) * 100e-9;
  for (const auto& [from, to] : busy) {
    joules += static_cast<double>(std::max<int64_t>(0, std::min(to, t) - from)) * 400e-9;
  }
  *resolution = 15.259F;
  *t_ns = static_cast<uint64_t>(t);
  *count = 5'000'000'000 + static_cast<uint64_t>(joules / 15.259e-6);
  if (!faulty("wraps") && !faulty("restarts")) return 0;
  // 256 units, 40 us at 100 W, before the end of 32 bits when first asked; or back to 1000 units
  // after 20 ms.
  struct Start {
    uint64_t count;
    int64_t t;
  };
  static std::map<std::string, Start> starts;  // by fault
  const auto [first, asked] =
      starts.try_emplace(std::getenv("FAKE_GPU"), Start{*count, t}).first->second;
  if (faulty("wraps")) {
    *count = (*count - first + 0xffff'ff00) & 0xffff'ffff;
  } else if (t > asked + 20'000'000) {
    *count = *count - first + 1000;
  }
  return 0;
}
int rsmi_dev_power_cap_get(uint32_t, uint32_t, uint64_t* microwatts) {
  return *microwatts = 750'000'000, 0;
}
// Three levels of a clock, the second in use, in the layout of ROCm 6.
int rsmi_dev_gpu_clk_freq_get(uint32_t, int type, void* frequencies) {
  struct {
    bool deep_sleep = true;
    uint32_t levels = 3;
    uint32_t current = 1;
    uint64_t hz[33] = {};
  } clock;
  clock.hz[0] = 500'000'000;
  clock.hz[1] = type == 0 ? 1'700'000'000 : 1'300'000'000;
  clock.hz[2] = 2'100'000'000;
  return std::memcpy(frequencies, &clock, sizeof(clock)), 0;
}
int rsmi_version_str_get(int, char* text, uint32_t length) {
  return std::strncpy(text, "6.1.0", length), 0;
}

int rocblas_create_handle(void** handle) { return *handle = &busy, 0; }
int rocblas_set_stream(void*, void*) { return 0; }
int rocblas_gemm_ex(void*, int, int, int, int, int, const void*, const void*, int, int, const void*,
                    int, int, const void*, const void*, int, int, void*, int, int, int, int,
                    int32_t, uint32_t) {
  return take(200'000, true), 0;
}

}  // extern "C"
