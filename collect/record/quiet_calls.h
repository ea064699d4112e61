#pragma once

// Frequent calls without information: state queries and event creation. PyTorch's profiler omits
// the same calls (kineto, CuptiActivityApi.cpp and CuptiCbidRegistry.cpp), so a recording has the
// calls of its trace. Calls that show dependencies stay: cudaEventRecord, cudaStreamWaitEvent,
// cudaEventQuery, cudaEventSynchronize.

#include <array>
#include <string_view>

namespace assay::record {

// Without the version suffix of CUPTI's names (cudaGetDevice_v3020).
constexpr std::array<std::string_view, 6> kQuietRuntimeCalls = {"cudaGetDevice",
                                                                "cudaSetDevice",
                                                                "cudaGetLastError",
                                                                "cudaEventCreate",
                                                                "cudaEventCreateWithFlags",
                                                                "cudaEventDestroy"};
constexpr std::array<std::string_view, 3> kQuietDriverCalls = {
    "cuKernelGetAttribute", "cuDevicePrimaryCtxGetState", "cuCtxGetCurrent"};

}  // namespace assay::record
