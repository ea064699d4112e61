#pragma once

// Idle that the log itself shows, before the first and after the last device work of a trace. It
// separates what the device draws anyway from what kernels add, whether or not the trace was
// recorded for longer than its work.

#include <optional>
#include <vector>

#include "power/joint/fit.h"
#include "power/joint/update_grid.h"

namespace assay {

struct IdleStretch {
  double begin_s = 0;
  double end_s = 0;
  double level_w = 0;
};

struct LogIdle {
  std::optional<IdleStretch> before;
  std::optional<IdleStretch> after;

  bool any() const { return before || after; }
  // The levels of both sides if they differ by more than 1 %: GPUs stay in a higher state for a
  // while after work. Else empty.
  std::vector<double> levels() const;
};

// First and last moment of device work.
struct WorkSpan {
  double begin_s = 0;
  double end_s = 0;
};

// Utilisation at a time, as the updates have it.
struct TimedUse {
  double t_s = 0;
  double percent = 0;
};

// updates: in order. A side is idle if its samples are level from the edge of the log up to the
// work, and well below those of the work. No sample of the work may be lower. Unrecorded
// work is not level, or not lower than the recorded. A utilisation in the log decides against idle,
// or for it if the two powers are close.
LogIdle find_log_idle(const std::vector<TimedPower>& updates, WorkSpan work,
                      const ResponsePrior& prior, double period_s,
                      const std::vector<TimedUse>& use = {});

}  // namespace assay
