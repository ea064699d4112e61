// Launches an empty kernel again and again, each followed by a synchronisation, on one GPU or on
// all: what `assay null-kernel` runs under Assay's recorder, which takes the times.
//
//   assay_null_kernel DEVICE|all WARMUPS RUNS
//
// The driver is opened at run time (ASSAY_CUDA_DRIVER names another one, for tests). Exit code 2
// and a sentence on stderr when it cannot be done.

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

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
  int (*context_release)(int device);
  int (*set_current)(void* context);
  int (*synchronize)();
  int (*module_load)(void** module, const void* image);
  int (*module_function)(void** function, void* module, const char* name);
  int (*launch)(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                unsigned bz, unsigned shared, void* stream, void** arguments, void** extra);
  int (*error_text)(int code, const char** text);
};

template <typename Function>
bool bind(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  if (function == nullptr) std::fprintf(stderr, "the NVIDIA driver has no function %s\n", name);
  return function != nullptr;
}

bool open_driver(Driver& driver) {
  const char* other = std::getenv("ASSAY_CUDA_DRIVER");
  const char* name = other != nullptr && *other != '\0' ? other : "libcuda.so.1";
  void* library = ::dlopen(name, RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "no NVIDIA driver is installed here: %s\n", ::dlerror());
    return false;
  }
  return bind(library, "cuInit", driver.init) &&
         bind(library, "cuDeviceGetCount", driver.device_count) &&
         bind(library, "cuDeviceGet", driver.device_get) &&
         bind(library, "cuDevicePrimaryCtxRetain", driver.context_retain) &&
         bind(library, "cuDevicePrimaryCtxRelease_v2", driver.context_release) &&
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
  const bool ready =
      check(driver, driver.device_get(&device, ordinal), "opening the GPU") &&
      check(driver, driver.context_retain(&context, device), "making a context on the GPU") &&
      check(driver, driver.set_current(context), "using the GPU's context") &&
      check(driver, driver.module_load(&module, kEmptyKernel), "compiling the empty kernel") &&
      check(driver, driver.module_function(&function, module, "assay_null_kernel"),
            "finding the empty kernel");
  if (!ready) return false;
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

int main(int argc, char** argv) {
  constexpr int kError = 2;
  if (argc != 4) {
    std::fprintf(stderr, "usage: assay_null_kernel DEVICE|all WARMUPS RUNS\n");
    return kError;
  }
  const long launches = std::atol(argv[2]) + std::atol(argv[3]);
  Driver driver = {};
  if (!open_driver(driver) || !check(driver, driver.init(0), "starting the NVIDIA driver")) {
    return kError;
  }
  int count = 0;
  if (!check(driver, driver.device_count(&count), "counting GPUs")) return kError;
  const bool all = std::strcmp(argv[1], "all") == 0;
  const int first = all ? 0 : std::atoi(argv[1]);
  const int last = all ? count - 1 : first;
  if (count == 0 || last >= count || first < 0) {
    std::fprintf(stderr,
                 "there is no GPU %s: the driver shows %d (does CUDA_VISIBLE_DEVICES hide some?)\n",
                 argv[1], count);
    return kError;
  }
  for (int ordinal = first; ordinal <= last; ++ordinal) {
    if (!measure(driver, ordinal, launches)) return kError;
  }
  return 0;
}
