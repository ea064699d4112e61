#pragma once

// Calls that say nothing and come often: questions about state, and the making of events. PyTorch's
// profiler leaves out the same (kineto, CuptiActivityApi.cpp and CuptiCbidRegistry.cpp), so that a
// recording has the calls that its trace has. What tells which work waits for which stays:
// cudaEventRecord, cudaStreamWaitEvent, cudaEventQuery, cudaEventSynchronize.

#include <array>
#include <string_view>

namespace assay::record {

// Without the version that CUPTI writes behind a name (cudaGetDevice_v3020).
constexpr std::array<std::string_view, 6> kQuietRuntimeCalls = {"cudaGetDevice",
                                                                "cudaSetDevice",
                                                                "cudaGetLastError",
                                                                "cudaEventCreate",
                                                                "cudaEventCreateWithFlags",
                                                                "cudaEventDestroy"};
constexpr std::array<std::string_view, 3> kQuietDriverCalls = {
    "cuKernelGetAttribute", "cuDevicePrimaryCtxGetState", "cuCtxGetCurrent"};

}  // namespace assay::record
