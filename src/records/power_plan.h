#pragma once

// What a power campaign settled before its first recorded run; with the recording, enough to go on
// with it after an interrupt.

#include <cstdint>

namespace assay {

struct PowerPlan {
  int64_t t_exec_ns = 0;            // settled; first five timings, then the runs of step 4
  uint32_t warm_ups = 0;            // executions before the time settles
  uint32_t executions_per_run = 0;  // of the profiled kernel, the profiled one included
  uint32_t runs = 0;                // before any further round
  uint32_t loi_target = 0;
  uint32_t fills_window = 0;  // executions by which the window holds nothing else
  bool throttles = false;     // power or time fell after that: executions_per_run outlasts it
  bool mean_only = false;     // the sensor reports too rarely for a curve
  // Most executions of a run between two time stamps; above 1, each is told as a block's mean.
  uint32_t timed_together = 1;
};

}  // namespace assay
