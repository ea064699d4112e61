#pragma once

// The time before and after the analyzed window in which only the host is active.

#include <cstdint>
#include <string>

#include "flow/answer.h"

namespace assay {

struct HostOnly {
  int64_t ns = 0;         // 0: less than 50 ms, or less than half of the window
  int64_t silent_ns = 0;  // its longest part without any row
  int64_t call_ns = 0;    // in calls of `name` on one thread, where these are most of it
  std::string name;       // of the row that takes most of it; empty where none takes half
};

struct OutsideWindow {
  HostOnly before;
  HostOnly after;
};
// Nothing where the window was given by the user.
OutsideWindow outside_window(const FlowAnswer& answer);

}  // namespace assay
