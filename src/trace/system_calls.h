#pragma once

// Calls of operating system libraries, as recorded by Nsight Systems (OSRT_API): rows of
// Trace::other_events with one category.

#include <cstddef>
#include <string_view>

#include "trace/trace.h"

namespace assay {

inline constexpr std::string_view kSystemCallCategory = "osrt";

inline bool is_system_call(const Trace& trace, size_t other_event) {
  return trace.text(trace.other_events.category[other_event]) == kSystemCallCategory;
}

}  // namespace assay
