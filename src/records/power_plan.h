#pragma once

// State of a power measurement run before its first recorded run. Together with the recording, it
// suffices to resume after an interrupt.

#include <cstdint>

namespace assay {

struct PowerPlan {
  int64_t t_exec_ns = 0;            // settled execution time: first of five timings, then of the
                                    // runs of step 4
  uint32_t warm_ups = 0;            // executions before the time settles
  uint32_t executions_per_run = 0;  // of the profiled kernel, the profiled one included
  uint32_t runs = 0;                // before further rounds
  uint32_t loi_target = 0;
  uint32_t fills_window = 0;  // executions after which they fill the sensor's window
  bool throttles = false;     // power or time fell later; executions_per_run covers that
  bool mean_only = false;     // the sensor samples too rarely for a curve
  // Maximum executions between two timestamps of a run; above 1, each has the mean time of its
  // block.
  uint32_t timed_together = 1;
};

}  // namespace assay
