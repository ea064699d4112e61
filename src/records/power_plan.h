#pragma once

// State of a power measurement run before its first recorded run. With the recording it is enough
// to resume after an interrupt.

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
  // Maximum executions of a run between two timestamps; above 1, each has the mean of its block.
  uint32_t timed_together = 1;
};

}  // namespace assay
