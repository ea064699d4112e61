#pragma once

// Page faults of managed memory, as Nsight Systems keeps them: rows of Trace::other_events of one
// category, in no thread. The host causes those of the CPU, kernels those of the GPU.

#include <string_view>

namespace assay {

inline constexpr std::string_view kPageFaultCategory = "page_fault";
inline constexpr std::string_view kCpuPageFault = "CPU page fault";
inline constexpr std::string_view kGpuPageFault = "GPU page fault";

}  // namespace assay
