#pragma once

// What names tell: the role of a runtime or driver call (CUDA, HIP, XPU, MTIA), and a kernel's name
// in a form that fits a table. Decided once per name, not per row.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/string_pool.h"

namespace assay {

enum class ApiRole : uint8_t {
  kOther,
  kKernelLaunch,  // cudaLaunchKernel*, cuLaunchKernel*, hipLaunchKernel, hipExtModuleLaunchKernel,
                  // ...
  kGraphLaunch,   // cudaGraphLaunch, cuGraphLaunch, hipGraphLaunch: one call, many kernels
  kMemcpyAsync,   // returns before the copy is done
  kMemcpySync,    // cudaMemcpy and kin, hipMemcpyWithStream: blocks the host
  kMemset,
  kSynchronize,  // *Synchronize*: blocks the host
  kAllocate,     // of device, pinned or managed memory, or of address space for it
  kFree,         // its release; most of these also wait for the device
  kLoad,         // code and contexts: modules, libraries, programs, run-time compilation, cuInit
  kCreate,       // streams and executable graphs
  kEventRecord,
  kStreamWait,  // a stream waits for an event or a value, the host goes on
  kEventQuery,  // asks without waiting
};

ApiRole classify_api(std::string_view name);
// API names of one function carry the CUDA version they were introduced in, cudaLaunchKernel_v7000:
// the name without it. Shorter suffixes (_v2) tell functions apart and stay.
std::string_view without_api_version(std::string_view name);
// Blocks the host until the device is done: kSynchronize and kMemcpySync.
bool is_blocking(ApiRole role);

// Role of every string of the pool when read as an API name: index by StringId.
std::vector<ApiRole> api_roles(const StringPool& strings);

// "void at::native::foo<float, (int)4>(args...)" -> "at::native::foo". Return type, template
// arguments and parameters cut; names without such parts, and copies and fills ("Memcpy HtoD
// (Pinned
// -> Device)"), unchanged. A view into `name`. Idempotent.
std::string_view short_kernel_name(std::string_view name);

// The short name, and for generic wrappers what they wrap: "vectorized_elementwise_kernel" alone
// says nothing, so "vectorized_elementwise_kernel[CUDAFunctor_add]". For display: two kernels that
// differ only in element type, vector width or launch policy get the same text.
std::string describe_kernel(std::string_view name);

}  // namespace assay
