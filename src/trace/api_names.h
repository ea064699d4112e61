#pragma once

// Properties of a runtime or driver call (CUDA, HIP, XPU, MTIA) from its name. Computed once per
// name, not per row.

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
// Removes the CUDA version in which a function was introduced, as in cudaLaunchKernel_v7000.
// Shorter suffixes (_v2) distinguish functions and stay.
std::string_view without_api_version(std::string_view name);
// Blocks the host until the device is done: kSynchronize and kMemcpySync.
bool is_blocking(ApiRole role);

// Role of every string of the pool when read as an API name: index by StringId.
std::vector<ApiRole> api_roles(const StringPool& strings);

}  // namespace assay
