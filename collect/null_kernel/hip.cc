// Launches the empty kernel through HIP, compiled by hiprtc for the installed GPU. No tracer runs,
// so the start of a kernel is unknown on the host's clock. Each series has W + R launches on an
// idle stream of its own. Times are CLOCK_MONOTONIC unless noted:
//
//   call        the launch call of the empty kernel
//   round_trip  start of that call to the end of the synchronization after it
//   launch      start of the launch call of a kernel with one store, until the host sees the store:
//               an upper bound of launch call to kernel start
//   duration    end less start of the empty kernel, both by the GPU
//
// OUTPUT has one value per line: "runtime VERSION", then "gpu", "architecture", "uuid" and "bus"
// per GPU, then the four series in ns, without warm-ups.

#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "collect/null_kernel/hip_abi.h"
#include "collect/null_kernel/program.h"

namespace assay::null_kernel {
namespace {

constexpr const char* kKernels = R"hip(
extern "C" __global__ void assay_null_kernel() {}
extern "C" __global__ void assay_first_store(unsigned* seen, unsigned value) {
  __hip_atomic_store(seen, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}
)hip";

constexpr int kNameLength = 256;

int64_t now_ns() {
  timespec time = {};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// A driver that shows no GPU gives no reason.
const char* why_no_gpu() {
  const char* other = std::getenv("ASSAY_KFD_DEVICE");
  const char* device = other != nullptr && *other != '\0' ? other : "/dev/kfd";
  if (::access(device, R_OK | W_OK) == 0) {
    return "; is the GPU hidden by HIP_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES, or one that ROCm "
           "does not support?";
  }
  return errno == EACCES
             ? "; this user may not open /dev/kfd: add it to the groups render and video"
             : "; there is no /dev/kfd: the amdgpu driver is not loaded, or the container is not "
               "given the device";
}

struct Runtime {
  hip::Api api = {};
  size_t architecture_at = 0;

  bool check(int code, const char* doing) const {
    if (code == 0) return true;
    const char* name = api.error_name(code);
    const char* text = api.error_text(code);
    std::string what = text != nullptr ? text : "unknown error";
    // Up to ROCm 5 the text is the name.
    if (name == nullptr) {
      what += " (" + std::to_string(code) + ")";
    } else if (what.find(name) == std::string::npos) {
      what += " (" + std::string(name) + ")";
    }
    std::fprintf(stderr, "%s failed: %s%s\n", doing, what.c_str(),
                 code == hip::kNoDevice || code == hip::kInvalidDevice ? why_no_gpu() : "");
    return false;
  }
};

bool bind_device(void* library, Runtime& runtime) {
  hip::Api& api = runtime.api;
  runtime.architecture_at = hip::kArchitectureAt;
  api.properties =
      reinterpret_cast<decltype(api.properties)>(::dlsym(library, hip::kPropertiesName));
  if (api.properties == nullptr) {
    runtime.architecture_at = hip::kOldArchitectureAt;
    if (!bind(library, hip::kOldPropertiesName, api.properties)) return false;
  }
  return bind(library, "hipInit", api.init) &&
         bind(library, "hipRuntimeGetVersion", api.runtime_version) &&
         bind(library, "hipGetDeviceCount", api.device_count) &&
         bind(library, "hipSetDevice", api.set_device) &&
         bind(library, "hipDeviceGetName", api.device_name) &&
         bind(library, "hipDeviceGetPCIBusId", api.device_bus_id) &&
         bind(library, "hipDeviceGetUuid", api.device_uuid) &&
         bind(library, "hipGetErrorName", api.error_name) &&
         bind(library, "hipGetErrorString", api.error_text);
}

bool bind_work(void* library, hip::Api& api) {
  api.timed_launch =
      reinterpret_cast<decltype(api.timed_launch)>(::dlsym(library, hip::kOldTimedLaunchName));
  return (api.timed_launch != nullptr || bind(library, hip::kTimedLaunchName, api.timed_launch)) &&
         bind(library, "hipStreamCreateWithFlags", api.stream_create) &&
         bind(library, "hipStreamSynchronize", api.stream_synchronize) &&
         bind(library, "hipEventCreate", api.event_create) &&
         bind(library, "hipEventElapsedTime", api.event_elapsed) &&
         bind(library, "hipHostMalloc", api.host_allocate) &&
         bind(library, "hipHostGetDevicePointer", api.host_device_pointer) &&
         bind(library, "hipModuleLoadData", api.module_load) &&
         bind(library, "hipModuleGetFunction", api.module_function) &&
         bind(library, "hipModuleLaunchKernel", api.launch);
}

bool bind_compiler(void* library, hip::CompilerApi& api) {
  return bind(library, "hiprtcCreateProgram", api.create) &&
         bind(library, "hiprtcCompileProgram", api.compile) &&
         bind(library, "hiprtcGetProgramLogSize", api.log_size) &&
         bind(library, "hiprtcGetProgramLog", api.log) &&
         bind(library, "hiprtcGetCodeSize", api.code_size) &&
         bind(library, "hiprtcGetCode", api.code) &&
         bind(library, "hiprtcGetErrorString", api.error_text);
}

// "gfx", then letters, digits and feature signs. Anything else means that the layout of the
// properties is unknown.
bool is_architecture(const std::string& text) {
  if (text.compare(0, 3, "gfx") != 0 || text.size() < 6) return false;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && std::strchr(":+-_", c) == nullptr) {
      return false;
    }
  }
  return true;
}

struct Gpu {
  std::string name;
  std::string architecture;  // empty: unknown
  std::string uuid;
  std::string bus;
};

bool identify(const Runtime& runtime, int ordinal, Gpu& gpu) {
  const hip::Api& api = runtime.api;
  std::array<char, kNameLength> text = {};
  if (!runtime.check(api.device_name(text.data(), kNameLength - 1, ordinal), "naming the GPU")) {
    return false;
  }
  gpu.name = text.data();
  text = {};
  if (api.device_bus_id(text.data(), kNameLength - 1, ordinal) == 0) gpu.bus = text.data();
  hip::Uuid uuid = {};
  if (api.device_uuid(&uuid, ordinal) == 0 && uuid.text[0] != '\0') {
    gpu.uuid = "GPU-" + std::string(uuid.text, ::strnlen(uuid.text, sizeof(uuid.text)));
  }
  std::vector<char> properties(hip::kPropertiesBytes, '\0');
  if (!runtime.check(api.properties(properties.data(), ordinal), "asking for the GPU's kind")) {
    return false;
  }
  const char* at = properties.data() + runtime.architecture_at;
  gpu.architecture.assign(at, ::strnlen(at, hip::kArchitectureBytes));
  if (!is_architecture(gpu.architecture)) gpu.architecture.clear();
  return true;
}

bool fail_compile(const hip::CompilerApi& api, void* program, int code, const char* doing) {
  size_t bytes = 0;
  std::string log;
  if (program != nullptr && api.log_size(program, &bytes) == 0 && bytes > 1) {
    log.resize(bytes);
    api.log(program, log.data());
  }
  const char* text = api.error_text(code);
  std::fprintf(stderr, "%s failed: %s\n%s\n", doing, text != nullptr ? text : "unknown error",
               log.c_str());
  return false;
}

// Compiles for the given architecture. Without one, hiprtc uses that of the current device.
bool compile(const hip::CompilerApi& api, const std::string& architecture, std::string& image) {
  tell_step("compiling the empty kernel with hiprtc");
  constexpr const char* kDoing = "compiling the empty kernel";
  void* program = nullptr;
  const int created = api.create(&program, kKernels, "assay_null_kernel.hip", 0, nullptr, nullptr);
  if (created != 0) return fail_compile(api, nullptr, created, kDoing);
  const std::string option = "--offload-arch=" + architecture;
  const char* options[] = {option.c_str()};
  const int compiled = api.compile(program, architecture.empty() ? 0 : 1, options);
  if (compiled != 0) return fail_compile(api, program, compiled, kDoing);
  size_t bytes = 0;
  int got = api.code_size(program, &bytes);
  image.assign(bytes, '\0');
  if (got == 0) got = api.code(program, image.data());
  return got == 0 && bytes > 0 ? true : fail_compile(api, program, got, kDoing);
}

// A GPU with its kernels loaded, and the four series.
class Bench {
 public:
  Bench(const Runtime& runtime, const Request& request, std::FILE* output)
      : runtime_(runtime), api_(runtime.api), request_(request), output_(output) {}

  bool prepare(const std::string& image) {
    tell_step("loading the empty kernel");
    void* module = nullptr;
    void* seen = nullptr;
    const bool ready =
        check(api_.stream_create(&stream_, hip::kNonBlocking), "making a stream") &&
        check(api_.module_load(&module, image.data()), "loading the empty kernel") &&
        check(api_.module_function(&empty_, module, "assay_null_kernel"),
              "finding the empty kernel") &&
        check(api_.module_function(&store_, module, "assay_first_store"),
              "finding the storing kernel") &&
        check(api_.event_create(&start_), "making an event") &&
        check(api_.event_create(&stop_), "making an event") &&
        check(api_.host_allocate(&seen, sizeof(uint32_t), hip::kMappedCoherent),
              "allocating memory that the GPU can see") &&
        check(api_.host_device_pointer(&seen_by_gpu_, seen, 0), "mapping memory into the GPU");
    seen_ = static_cast<volatile uint32_t*>(seen);
    return ready;
  }

  bool measure() {
    tell_step("running the empty kernel");
    return each(&Bench::call_and_round_trip) && each(&Bench::first_store) && each(&Bench::duration);
  }

 private:
  using Sample = bool (Bench::*)(long run);

  bool check(int code, const char* doing) const { return runtime_.check(code, doing); }

  // Negative runs are warm-ups.
  bool each(Sample sample) {
    for (long run = -request_.warmups; run < request_.runs; ++run) {
      if (!(this->*sample)(run)) return false;
    }
    return true;
  }

  void keep(long run, const char* name, int64_t ns) const {
    if (run >= 0) std::fprintf(output_, "%s %lld\n", name, static_cast<long long>(ns));
  }

  bool wait() const { return check(api_.stream_synchronize(stream_), "waiting for the kernel"); }

  bool call_and_round_trip(long run) {
    const int64_t start = now_ns();
    const int code = api_.launch(empty_, 1, 1, 1, 1, 1, 1, 0, stream_, nullptr, nullptr);
    const int64_t called = now_ns();
    if (!check(code, "launching the empty kernel") || !wait()) return false;
    const int64_t end = now_ns();
    keep(run, "call", called - start);
    keep(run, "round_trip", end - start);
    return true;
  }

  bool first_store(long run) {
    auto value = static_cast<uint32_t>(run + request_.warmups + 1);
    void* arguments[] = {static_cast<void*>(&seen_by_gpu_), &value};
    const int64_t start = now_ns();
    if (!check(api_.launch(store_, 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr),
               "launching the storing kernel")) {
      return false;
    }
    while (*seen_ != value) continue;
    const int64_t seen = now_ns();
    keep(run, "launch", seen - start);
    return wait();
  }

  bool duration(long run) {
    float ms = 0;
    const bool timed = check(api_.timed_launch(empty_, 1, 1, 1, 1, 1, 1, 0, stream_, nullptr,
                                               nullptr, start_, stop_, 0),
                             "launching the timed kernel") &&
                       wait() &&
                       check(api_.event_elapsed(&ms, start_, stop_), "reading the kernel's time");
    keep(run, "duration", std::llround(static_cast<double>(ms) * 1e6));
    return timed;
  }

  const Runtime& runtime_;
  const hip::Api& api_;
  Request request_;
  std::FILE* output_;
  void* stream_ = nullptr;
  void* empty_ = nullptr;
  void* store_ = nullptr;
  void* start_ = nullptr;
  void* stop_ = nullptr;
  volatile uint32_t* seen_ = nullptr;
  void* seen_by_gpu_ = nullptr;
};

bool measure_gpu(const Runtime& runtime, const hip::CompilerApi& compiler, int ordinal,
                 const Request& request, std::FILE* output) {
  Gpu gpu;
  std::string image;
  if (!runtime.check(runtime.api.set_device(ordinal), "using the GPU") ||
      !identify(runtime, ordinal, gpu) || !compile(compiler, gpu.architecture, image)) {
    return false;
  }
  std::fprintf(output, "gpu %s\narchitecture %s\nuuid %s\nbus %s\n", gpu.name.c_str(),
               gpu.architecture.c_str(), gpu.uuid.c_str(), gpu.bus.c_str());
  Bench bench(runtime, request, output);
  return bench.prepare(image) && bench.measure();
}

bool measure_all(const Runtime& runtime, const hip::CompilerApi& compiler, const Request& request,
                 std::FILE* output) {
  int count = 0;
  int first = 0;
  int last = 0;
  int version = 0;
  tell_step("starting HIP");
  const bool open = runtime.check(runtime.api.init(0), "starting HIP") &&
                    runtime.check(runtime.api.device_count(&count), "counting GPUs") &&
                    choose_devices(request.device, count,
                                   "HIP_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES", first, last);
  if (!open) return false;
  if (runtime.api.runtime_version(&version) == 0) std::fprintf(output, "runtime %d\n", version);
  for (int ordinal = first; ordinal <= last; ++ordinal) {
    if (!measure_gpu(runtime, compiler, ordinal, request, output)) return false;
  }
  return true;
}

}  // namespace

bool run_hip(const Request& request, const char* runtimes, const char* compilers,
             const char* output) {
  Runtime runtime;
  hip::CompilerApi compiler = {};
  tell_step("opening the HIP runtime");
  void* library = open_library(runtimes, "no AMD ROCm runtime is installed here");
  if (library == nullptr || !bind_device(library, runtime) || !bind_work(library, runtime.api)) {
    return false;
  }
  library =
      open_library(compilers, "hiprtc, which compiles kernels at run time, is not installed here");
  if (library == nullptr || !bind_compiler(library, compiler)) return false;
  std::FILE* file = std::fopen(output, "w");
  if (file == nullptr) {
    std::fprintf(stderr, "%s cannot be written: %s\n", output, std::strerror(errno));
    return false;
  }
  const bool measured = measure_all(runtime, compiler, request, file);
  const bool kept = std::fclose(file) == 0;
  if (!kept) std::fprintf(stderr, "%s cannot be written: %s\n", output, std::strerror(errno));
  return measured && kept;
}

}  // namespace assay::null_kernel
