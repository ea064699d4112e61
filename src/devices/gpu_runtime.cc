#include "devices/gpu_runtime.h"

#include <array>

namespace assay {
namespace {

constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING, hipStreamNonBlocking
constexpr int kNameLength = 256;

bool is_nvidia(GpuVendor vendor) { return vendor == GpuVendor::kNvidia; }

// Binds `function` to the vendor's name for it.
template <typename Function>
Status bind(const DynamicLibrary& library, GpuVendor vendor, const char* cuda, const char* hip,
            Function*& function) {
  return library.bind(is_nvidia(vendor) ? cuda : hip, function);
}

Status bind_device(const DynamicLibrary& library, GpuVendor vendor, GpuApi& api) {
  ASSAY_TRY(bind(library, vendor, "cuInit", "hipInit", api.init));
  ASSAY_TRY(bind(library, vendor, "cuDeviceGetCount", "hipGetDeviceCount", api.device_count));
  ASSAY_TRY(bind(library, vendor, "cuDeviceGet", "hipDeviceGet", api.device_get));
  ASSAY_TRY(bind(library, vendor, "cuDeviceGetName", "hipDeviceGetName", api.device_name));
  return bind(library, vendor, "cuDeviceGetPCIBusId", "hipDeviceGetPCIBusId", api.device_bus_id);
}

Status bind_queues(const DynamicLibrary& library, GpuVendor vendor, GpuApi& api) {
  ASSAY_TRY(bind(library, vendor, "cuStreamCreate", "hipStreamCreateWithFlags", api.stream_create));
  ASSAY_TRY(
      bind(library, vendor, "cuStreamSynchronize", "hipStreamSynchronize", api.stream_synchronize));
  ASSAY_TRY(bind(library, vendor, "cuEventCreate", "hipEventCreateWithFlags", api.event_create));
  ASSAY_TRY(bind(library, vendor, "cuEventDestroy_v2", "hipEventDestroy", api.event_destroy));
  ASSAY_TRY(bind(library, vendor, "cuEventRecord", "hipEventRecord", api.event_record));
  ASSAY_TRY(
      bind(library, vendor, "cuEventSynchronize", "hipEventSynchronize", api.event_synchronize));
  return bind(library, vendor, "cuEventElapsedTime", "hipEventElapsedTime", api.event_elapsed);
}

Status bind_memory(const DynamicLibrary& library, GpuVendor vendor, GpuApi& api) {
  ASSAY_TRY(bind(library, vendor, "cuMemAlloc_v2", "hipMalloc", api.allocate));
  ASSAY_TRY(bind(library, vendor, "cuMemFree_v2", "hipFree", api.release));
  ASSAY_TRY(bind(library, vendor, "cuMemcpyDtoDAsync_v2", "hipMemcpyDtoDAsync", api.copy));
  ASSAY_TRY(bind(library, vendor, "cuMemHostAlloc", "hipHostMalloc", api.host_allocate));
  ASSAY_TRY(bind(library, vendor, "cuMemFreeHost", "hipHostFree", api.host_release));
  return bind(library, vendor, "cuMemHostGetDevicePointer_v2", "hipHostGetDevicePointer",
              api.host_device_pointer);
}

Status bind_modules(const DynamicLibrary& library, GpuVendor vendor, GpuApi& api) {
  ASSAY_TRY(bind(library, vendor, "cuModuleLoadData", "hipModuleLoadData", api.module_load));
  ASSAY_TRY(
      bind(library, vendor, "cuModuleGetFunction", "hipModuleGetFunction", api.module_function));
  return bind(library, vendor, "cuLaunchKernel", "hipModuleLaunchKernel", api.launch);
}

Status bind_compiler(const DynamicLibrary& library, GpuVendor vendor, GpuCompilerApi& api) {
  ASSAY_TRY(bind(library, vendor, "nvrtcCreateProgram", "hiprtcCreateProgram", api.create));
  ASSAY_TRY(bind(library, vendor, "nvrtcCompileProgram", "hiprtcCompileProgram", api.compile));
  ASSAY_TRY(
      bind(library, vendor, "nvrtcGetProgramLogSize", "hiprtcGetProgramLogSize", api.log_size));
  ASSAY_TRY(bind(library, vendor, "nvrtcGetProgramLog", "hiprtcGetProgramLog", api.log));
  ASSAY_TRY(bind(library, vendor, "nvrtcGetPTXSize", "hiprtcGetCodeSize", api.code_size));
  ASSAY_TRY(bind(library, vendor, "nvrtcGetPTX", "hiprtcGetCode", api.code));
  return bind(library, vendor, "nvrtcDestroyProgram", "hiprtcDestroyProgram", api.destroy);
}

Error no_device(GpuVendor vendor, int ordinal, int count) {
  const std::string name = is_nvidia(vendor) ? "nvidia" : "amd";
  return Error{ErrorCode::kInvalidArgument,
               "there is no device " + name + ":" + std::to_string(ordinal) +
                   ": the driver shows " + std::to_string(count) +
                   " GPUs (are some hidden by CUDA_VISIBLE_DEVICES or "
                   "ROCR_VISIBLE_DEVICES?)",
               "", -1};
}

}  // namespace

Status GpuRuntime::check(int code, const std::string& doing) const {
  if (code == 0) return Ok{};
  const char* text = nullptr;
  if (cuda_error_ != nullptr) {
    cuda_error_(code, &text);
  } else if (hip_error_ != nullptr) {
    text = hip_error_(code);
  }
  return Error{ErrorCode::kIo,
               doing + " failed: " + (text != nullptr ? text : "error " + std::to_string(code)), "",
               -1};
}

Status GpuRuntime::make_current(const DynamicLibrary& library, int device) {
  if (!is_nvidia(vendor_)) {
    ASSAY_TRY(library.bind("hipSetDevice", hip_set_device_));
    return use();
  }
  int (*retain)(void**, int) = nullptr;
  ASSAY_TRY(library.bind("cuDevicePrimaryCtxRetain", retain));
  ASSAY_TRY(library.bind("cuCtxSetCurrent", cuda_set_current_));
  ASSAY_TRY(check(retain(&context_, device), "making a context on the GPU"));
  return use();
}

Status GpuRuntime::use() const {
  if (!is_nvidia(vendor_)) return check(hip_set_device_(ordinal_), "using the GPU");
  return check(cuda_set_current_(context_), "using the GPU's context");
}

Result<int> GpuRuntime::device_count() const {
  int count = 0;
  ASSAY_TRY(check(api_.device_count(&count), "counting GPUs"));
  return count;
}

Status GpuRuntime::launch(void* function, unsigned blocks, unsigned threads,
                          void** arguments) const {
  return check(api_.launch(function, blocks, 1, 1, threads, 1, 1, 0, stream_, arguments, nullptr),
               "launching a kernel");
}

Status GpuRuntime::synchronize() const {
  return check(api_.stream_synchronize(stream_), "waiting for the GPU");
}

Result<GpuRuntime> GpuRuntime::open(GpuVendor vendor, int ordinal,
                                    const std::vector<std::string>& libraries) {
  ASSAY_TRY_ASSIGN(
      const DynamicLibrary library,
      DynamicLibrary::open(libraries, is_nvidia(vendor) ? "no NVIDIA driver is installed here"
                                                        : "no AMD ROCm runtime is installed here"));
  GpuRuntime runtime;
  runtime.vendor_ = vendor;
  runtime.ordinal_ = ordinal;
  GpuApi& api = runtime.api_;
  ASSAY_TRY(bind_device(library, vendor, api));
  ASSAY_TRY(bind_queues(library, vendor, api));
  ASSAY_TRY(bind_memory(library, vendor, api));
  ASSAY_TRY(bind_modules(library, vendor, api));
  if (is_nvidia(vendor)) {
    ASSAY_TRY(library.bind("cuGetErrorString", runtime.cuda_error_));
  } else {
    ASSAY_TRY(library.bind("hipGetErrorString", runtime.hip_error_));
  }
  ASSAY_TRY(runtime.check(api.init(0), "starting the GPU driver"));
  ASSAY_TRY_ASSIGN(const int count, runtime.device_count());
  if (ordinal < 0 || ordinal >= count) return no_device(vendor, ordinal, count);
  int device = 0;
  ASSAY_TRY(runtime.check(api.device_get(&device, ordinal), "opening the GPU"));
  std::array<char, kNameLength> text = {};
  ASSAY_TRY(runtime.check(api.device_name(text.data(), kNameLength - 1, device), "naming the GPU"));
  runtime.name_ = text.data();
  text = {};
  ASSAY_TRY(runtime.check(api.device_bus_id(text.data(), kNameLength - 1, device),
                          "asking where the GPU is"));
  runtime.bus_id_ = text.data();
  ASSAY_TRY(runtime.make_current(library, device));
  ASSAY_TRY(runtime.check(api.stream_create(&runtime.stream_, kNonBlocking), "making a stream"));
  return runtime;
}

Result<std::string> compile_gpu_source(GpuVendor vendor, const std::vector<std::string>& libraries,
                                       const std::string& source, const std::string& name) {
  const std::string compiler = is_nvidia(vendor) ? "NVRTC" : "hiprtc";
  ASSAY_TRY_ASSIGN(const DynamicLibrary library,
                   DynamicLibrary::open(libraries, compiler + ", which compiles kernels at run "
                                                              "time, is not installed here"));
  GpuCompilerApi api = {};
  ASSAY_TRY(bind_compiler(library, vendor, api));
  void* program = nullptr;
  if (api.create(&program, source.c_str(), name.c_str(), 0, nullptr, nullptr) != 0) {
    return Error{ErrorCode::kInternal, compiler + " takes no program", name, -1};
  }
  const int compiled = api.compile(program, 0, nullptr);
  size_t bytes = 0;
  std::string text;
  if (compiled != 0) {
    if (api.log_size(program, &bytes) == 0 && bytes > 0) {
      text.resize(bytes);
      api.log(program, text.data());
    }
    api.destroy(&program);
    return Error{ErrorCode::kFormat, compiler + " does not compile it: " + text.c_str(), name, -1};
  }
  const bool sized = api.code_size(program, &bytes) == 0 && bytes > 0;
  text.resize(sized ? bytes : 0);
  const bool got = sized && api.code(program, text.data()) == 0;
  api.destroy(&program);
  if (!got) return Error{ErrorCode::kInternal, compiler + " gives no code back", name, -1};
  return text;
}

}  // namespace assay
