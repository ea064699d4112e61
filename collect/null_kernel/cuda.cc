// The empty kernel through the CUDA driver. ASSAY_CUDA_DRIVER names another driver, for tests.

#include <cstdio>
#include <cstdlib>

#include "collect/null_kernel/program.h"

namespace assay::null_kernel {
namespace {

// ISA 6.0 and sm_50: what every driver since CUDA 9 compiles for the GPU at hand.
constexpr const char* kEmptyKernel = R"ptx(
.version 6.0
.target sm_50
.address_size 64
.visible .entry assay_null_kernel()
{
  ret;
}
)ptx";

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
};

bool open_driver(Driver& driver) {
  const char* other = std::getenv("ASSAY_CUDA_DRIVER");
  const char* name = other != nullptr && *other != '\0' ? other : "libcuda.so.1";
  void* library = open_library(name, "no NVIDIA driver is installed here");
  return library != nullptr && bind(library, "cuInit", driver.init) &&
         bind(library, "cuDeviceGetCount", driver.device_count) &&
         bind(library, "cuDeviceGet", driver.device_get) &&
         bind(library, "cuDevicePrimaryCtxRetain", driver.context_retain) &&
         bind(library, "cuCtxSetCurrent", driver.set_current) &&
         bind(library, "cuCtxSynchronize", driver.synchronize) &&
         bind(library, "cuModuleLoadData", driver.module_load) &&
         bind(library, "cuModuleGetFunction", driver.module_function) &&
         bind(library, "cuLaunchKernel", driver.launch) &&
         bind(library, "cuGetErrorString", driver.error_text);
}

bool check(const Driver& driver, int code, const char* doing) {
  if (code == 0) return true;
  const char* text = nullptr;
  if (driver.error_text(code, &text) != 0 || text == nullptr) text = "unknown error";
  std::fprintf(stderr, "%s failed: %s\n", doing, text);
  return false;
}

bool measure(const Driver& driver, int ordinal, long launches) {
  int device = 0;
  void* context = nullptr;
  void* module = nullptr;
  void* function = nullptr;
  tell_step("preparing the empty kernel");
  const bool ready =
      check(driver, driver.device_get(&device, ordinal), "opening the GPU") &&
      check(driver, driver.context_retain(&context, device), "making a context on the GPU") &&
      check(driver, driver.set_current(context), "using the GPU's context") &&
      check(driver, driver.module_load(&module, kEmptyKernel), "compiling the empty kernel") &&
      check(driver, driver.module_function(&function, module, "assay_null_kernel"),
            "finding the empty kernel");
  if (!ready) return false;
  tell_step("running the empty kernel");
  for (long i = 0; i < launches; ++i) {
    const bool ran =
        check(driver, driver.launch(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
              "launching the empty kernel") &&
        check(driver, driver.synchronize(), "waiting for the empty kernel");
    if (!ran) return false;
  }
  return true;
}

}  // namespace

bool run_cuda(const Request& request) {
  Driver driver = {};
  int count = 0;
  int first = 0;
  int last = 0;
  tell_step("starting the NVIDIA driver");
  const bool open = open_driver(driver) &&
                    check(driver, driver.init(0), "starting the NVIDIA driver") &&
                    check(driver, driver.device_count(&count), "counting GPUs") &&
                    choose_devices(request.device, count, "CUDA_VISIBLE_DEVICES", first, last);
  if (!open) return false;
  for (int ordinal = first; ordinal <= last; ++ordinal) {
    if (!measure(driver, ordinal, request.warmups + request.runs)) return false;
  }
  return true;
}

}  // namespace assay::null_kernel
