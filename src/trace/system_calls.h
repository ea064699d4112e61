#pragma once

// Calls of the operating system's library, as Nsight Systems keeps them (OSRT_API): rows of
// Trace::other_events of one category.

#include <cstddef>
#include <string_view>

#include "trace/trace.h"

namespace assay {

inline constexpr std::string_view kSystemCallCategory = "osrt";

inline bool is_system_call(const Trace& trace, size_t other_event) {
  return trace.text(trace.other_events.category[other_event]) == kSystemCallCategory;
}

}  // namespace assay
