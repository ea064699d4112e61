#pragma once

// Classifies runtime and driver calls (CUDA, HIP, XPU, MTIA, CANN) by name. Computed once per name,
// not per row.

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
  kAllocate,     // device, pinned or managed memory, or address space for it
  kFree,         // releases memory; most of these calls also wait for the device
  kLoad,         // loads code or contexts: modules, libraries, programs, run-time compilation,
                 // cuInit
  kCreate,       // creates streams and executable graphs
  kEventRecord,
  kStreamWait,  // a stream waits for an event or a value; the host continues
  kEventQuery,  // does not wait
};

ApiRole classify_api(std::string_view name);
// Removes the CUDA version in which a function was introduced, as in cudaLaunchKernel_v7000.
// Shorter suffixes (_v2) distinguish functions and stay.
std::string_view without_api_version(std::string_view name);
// True if the call blocks the host until the device is done: kSynchronize and kMemcpySync.
bool is_blocking(ApiRole role);

// Role of every string of the pool as an API name, indexed by StringId.
std::vector<ApiRole> api_roles(const StringPool& strings);

}  // namespace assay
