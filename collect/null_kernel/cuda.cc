// Launches the empty kernel through the CUDA runtime (cudaLaunchKernel, as frameworks do) and the
// driver (cuLaunchKernel, as Triton does): each launch path has its own launch-overhead floor.
// Tests name other libraries in ASSAY_CUDA_DRIVER, ASSAY_CUDA_RUNTIME and ASSAY_NVML.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "collect/null_kernel/program.h"

namespace assay::null_kernel {
namespace {

// ISA 6.0 and sm_50: every driver since CUDA 9 compiles this for the installed GPU.
constexpr const char* kEmptyKernel = R"ptx(
.version 6.0
.target sm_50
.address_size 64
.visible .entry assay_null_kernel()
{
  ret;
}
)ptx";

// An idle GPU runs at a fifth of its clock and takes time to ramp up.
constexpr auto kWarmUp = std::chrono::milliseconds(300);

struct Driver {
  int (*init)(unsigned flags);
  int (*device_count)(int* count);
  int (*device_get)(int* device, int ordinal);
  int (*context_retain)(void** context, int device);
  int (*set_current)(void* context);
  int (*synchronize)();
  int (*module_load)(void** module, const void* image);
  int (*module_function)(void** function, void* module, const char* name);
  int (*launch)(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                unsigned bz, unsigned shared, void* stream, void** arguments, void** extra);
  int (*error_text)(int code, const char** text);
  int (*bus_id)(char* id, int length, int device);
};

struct Dim3 {
  unsigned x, y, z;
};

// CUDA 12 and 13. A runtime before 12.8 has no library functions; the driver's kernel handle is
// equivalent there (CUkernel, cudaKernel_t).
struct CudaRuntime {
  int (*set_device)(int device);
  int (*synchronize)();
  int (*launch)(const void* function, Dim3 grid, Dim3 block, void** arguments, size_t shared,
                void* stream);
  int (*load)(void** library, const void* image, void*, void*, unsigned, void*, void*, unsigned);
  int (*kernel)(void** kernel, void* library, const char* name);
  const char* (*error_text)(int code);
};

// SM clocks; null without NVML.
struct Clocks {
  int (*handle)(const char* bus_id, void** device);
  int (*clock)(void* device, int type, unsigned* mhz);
};

const char* library_names(const char* variable, const char* usual) {
  const char* other = std::getenv(variable);
  return other != nullptr && *other != '\0' ? other : usual;
}

bool open_driver(Driver& driver) {
  void* library = open_library(library_names("ASSAY_CUDA_DRIVER", "libcuda.so.1"),
                               "no NVIDIA driver is installed here");
  return library != nullptr && bind(library, "cuInit", driver.init) &&
         bind(library, "cuDeviceGetCount", driver.device_count) &&
         bind(library, "cuDeviceGet", driver.device_get) &&
         bind(library, "cuDevicePrimaryCtxRetain", driver.context_retain) &&
         bind(library, "cuCtxSetCurrent", driver.set_current) &&
         bind(library, "cuCtxSynchronize", driver.synchronize) &&
         bind(library, "cuModuleLoadData", driver.module_load) &&
         bind(library, "cuModuleGetFunction", driver.module_function) &&
         bind(library, "cuLaunchKernel", driver.launch) &&
         bind(library, "cuDeviceGetPCIBusId", driver.bus_id) &&
         bind(library, "cuGetErrorString", driver.error_text);
}

// Called before the driver starts, because the recorder detects the loaded runtime then. Returns
// false and prints the reason if cudaLaunchKernel cannot be measured.
bool open_runtime(CudaRuntime& runtime) {
  void* library =
      open_library(library_names("ASSAY_CUDA_RUNTIME", "libcudart.so.13:libcudart.so.12"),
                   "cudaLaunchKernel is not measured: there is no CUDA runtime here");
  if (library == nullptr || !bind(library, "cudaSetDevice", runtime.set_device) ||
      !bind(library, "cudaDeviceSynchronize", runtime.synchronize) ||
      !bind(library, "cudaLaunchKernel", runtime.launch) ||
      !bind(library, "cudaGetErrorString", runtime.error_text)) {
    return false;
  }
  runtime.load = reinterpret_cast<decltype(runtime.load)>(::dlsym(library, "cudaLibraryLoadData"));
  runtime.kernel =
      reinterpret_cast<decltype(runtime.kernel)>(::dlsym(library, "cudaLibraryGetKernel"));
  if (runtime.load != nullptr && runtime.kernel != nullptr) return true;
  void* driver = ::dlopen(library_names("ASSAY_CUDA_DRIVER", "libcuda.so.1"), RTLD_NOW);
  if (driver == nullptr) return false;
  runtime.load = reinterpret_cast<decltype(runtime.load)>(::dlsym(driver, "cuLibraryLoadData"));
  runtime.kernel =
      reinterpret_cast<decltype(runtime.kernel)>(::dlsym(driver, "cuLibraryGetKernel"));
  if (runtime.load != nullptr && runtime.kernel != nullptr) return true;
  std::fputs("cudaLaunchKernel is not measured: this needs CUDA 12 or newer\n", stderr);
  return false;
}

Clocks open_clocks() {
  Clocks clocks = {};
  void* library = ::dlopen(library_names("ASSAY_NVML", "libnvidia-ml.so.1"), RTLD_NOW);
  if (library == nullptr) return clocks;
  auto* init = reinterpret_cast<int (*)()>(::dlsym(library, "nvmlInit_v2"));
  if (init == nullptr || init() != 0) return clocks;
  clocks.handle = reinterpret_cast<decltype(clocks.handle)>(
      ::dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2"));
  clocks.clock =
      reinterpret_cast<decltype(clocks.clock)>(::dlsym(library, "nvmlDeviceGetClockInfo"));
  return clocks;
}

// MHz; 0 = unknown.
unsigned sm_clock(const Clocks& clocks, void* device) {
  constexpr int kSm = 1;  // NVML_CLOCK_SM
  unsigned mhz = 0;
  if (device == nullptr || clocks.clock == nullptr || clocks.clock(device, kSm, &mhz) != 0)
    return 0;
  return mhz;
}

bool check(const Driver& driver, int code, const char* doing) {
  if (code == 0) return true;
  const char* text = nullptr;
  if (driver.error_text(code, &text) != 0 || text == nullptr) text = "unknown error";
  std::fprintf(stderr, "%s failed: %s\n", doing, text);
  return false;
}

// Launches until the GPU is warm. Returns false if a launch fails.
bool launch_all(const Request& request, const std::function<bool()>& launch) {
  tell_step("running the empty kernel");
  const auto warm_at = std::chrono::steady_clock::now() + kWarmUp;
  for (long i = 0; i < request.warmups || std::chrono::steady_clock::now() < warm_at; ++i) {
    if (!launch()) return false;
  }
  return true;
}

// A GPU that is ready for launches.
struct Ready {
  const Driver& driver;
  const Clocks& clocks;
  const Request& request;
  std::FILE* output;
  void* monitored = nullptr;  // NVML's handle; null without NVML
};

// Writes a line "clock PATH BEFORE AFTER" per launch path, in MHz.
bool measure_path(const Ready& gpu, const char* path, const std::function<bool()>& launch) {
  if (!launch_all(gpu.request, launch)) return false;
  const unsigned before = sm_clock(gpu.clocks, gpu.monitored);
  for (long i = 0; i < gpu.request.runs; ++i) {
    if (!launch()) return false;
  }
  const unsigned after = sm_clock(gpu.clocks, gpu.monitored);
  std::fprintf(gpu.output, "clock %s %u %u\n", path, before, after);
  return true;
}

bool measure_driver(const Ready& gpu) {
  const Driver& driver = gpu.driver;
  void* module = nullptr;
  void* function = nullptr;
  tell_step("preparing the empty kernel");
  if (!check(driver, driver.module_load(&module, kEmptyKernel), "compiling the empty kernel") ||
      !check(driver, driver.module_function(&function, module, "assay_null_kernel"),
             "finding the empty kernel")) {
    return false;
  }
  return measure_path(gpu, "cuLaunchKernel", [&] {
    return check(driver, driver.launch(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
                 "launching the empty kernel") &&
           check(driver, driver.synchronize(), "waiting for the empty kernel");
  });
}

bool measure_runtime(const Ready& gpu, const CudaRuntime& runtime, int ordinal) {
  const auto check_runtime = [&](int code, const char* doing) {
    if (code != 0) std::fprintf(stderr, "%s failed: %s\n", doing, runtime.error_text(code));
    return code == 0;
  };
  void* library = nullptr;
  void* function = nullptr;
  tell_step("preparing the empty kernel for the CUDA runtime");
  if (!check_runtime(runtime.set_device(ordinal), "choosing the GPU in the CUDA runtime") ||
      !check_runtime(runtime.load(&library, kEmptyKernel, nullptr, nullptr, 0, nullptr, nullptr, 0),
                     "compiling the empty kernel for the CUDA runtime") ||
      !check_runtime(runtime.kernel(&function, library, "assay_null_kernel"),
                     "finding the empty kernel in the CUDA runtime")) {
    std::fputs("cudaLaunchKernel is not measured\n", stderr);
    return true;
  }
  return measure_path(gpu, "cudaLaunchKernel", [&] {
    return check_runtime(runtime.launch(function, {1, 1, 1}, {1, 1, 1}, nullptr, 0, nullptr),
                         "launching the empty kernel by cudaLaunchKernel") &&
           check_runtime(runtime.synchronize(), "waiting for the empty kernel");
  });
}

bool measure(Ready gpu, const CudaRuntime* runtime, int ordinal) {
  const Driver& driver = gpu.driver;
  int device = 0;
  void* context = nullptr;
  char bus_id[64] = {};
  tell_step("making a context on the GPU");
  const bool ready =
      check(driver, driver.device_get(&device, ordinal), "opening the GPU") &&
      check(driver, driver.context_retain(&context, device), "making a context on the GPU") &&
      check(driver, driver.set_current(context), "using the GPU's context");
  if (!ready) return false;
  if (gpu.clocks.handle != nullptr && (driver.bus_id(bus_id, sizeof(bus_id) - 1, device) != 0 ||
                                       gpu.clocks.handle(bus_id, &gpu.monitored) != 0)) {
    gpu.monitored = nullptr;
  }
  std::fprintf(gpu.output, "gpu %d\n", ordinal);
  if (runtime != nullptr && !measure_runtime(gpu, *runtime, ordinal)) return false;
  return measure_driver(gpu);
}

}  // namespace

bool run_cuda(const Request& request, const char* output) {
  Driver driver = {};
  CudaRuntime runtime = {};
  int count = 0;
  int first = 0;
  int last = 0;
  tell_step("starting the NVIDIA driver");
  if (!open_driver(driver)) return false;
  const bool has_runtime = open_runtime(runtime);
  if (!check(driver, driver.init(0), "starting the NVIDIA driver") ||
      !check(driver, driver.device_count(&count), "counting GPUs") ||
      !choose_devices(request.device, count, "CUDA_VISIBLE_DEVICES", first, last)) {
    return false;
  }
  const Clocks clocks = open_clocks();
  std::FILE* file = std::fopen(output, "w");
  if (file == nullptr) {
    std::perror(output);
    return false;
  }
  bool fine = true;
  for (int ordinal = first; fine && ordinal <= last; ++ordinal) {
    fine = measure({driver, clocks, request, file}, has_runtime ? &runtime : nullptr, ordinal);
  }
  return std::fclose(file) == 0 && fine;
}

}  // namespace assay::null_kernel
