#pragma once

// The time before and after the analyzed window in which only the host is active.

#include <cstdint>
#include <string>

#include "flow/answer.h"

namespace assay {

struct HostOnly {
  int64_t ns = 0;         // host-only time; 0 if under 50 ms or under half of the window
  int64_t silent_ns = 0;  // its longest interval without any event
  int64_t call_ns = 0;    // time in calls of `name` on one thread, if they take most of it
  std::string name;       // event that takes most of it; empty if none takes half
};

struct OutsideWindow {
  HostOnly before;
  HostOnly after;
};
// All zero if the user gave the window or it has no work. Reads the whole trace.
OutsideWindow outside_window(const FlowAnswer& answer);

}  // namespace assay
