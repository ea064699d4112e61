#pragma once

// Page faults of managed memory, as recorded by Nsight Systems: rows of Trace::other_events with
// one category and no thread. CPU faults are caused by the host, GPU faults by kernels.

#include <string_view>

namespace assay {

inline constexpr std::string_view kPageFaultCategory = "page_fault";
inline constexpr std::string_view kCpuPageFault = "CPU page fault";
inline constexpr std::string_view kGpuPageFault = "GPU page fault";

}  // namespace assay
