#pragma once

// Idle in the log before the first and after the last device activity of a trace. It separates the
// base power from what kernels add, even if the trace was recorded only while kernels ran.

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

// From the start of the first device activity to the end of the last.
struct WorkSpan {
  double begin_s = 0;
  double end_s = 0;
};

// Utilisation at a time, on the clock of the updates.
struct TimedUse {
  double t_s = 0;
  double percent = 0;
};

// updates: in order of time. A side is idle if its samples are level from the edge of the log up to
// the work and well below those of the work, and no sample of the work is lower. Unrecorded work is
// not level, or not lower than the recorded work. If the log has utilisation, a busy one rules out
// idle, and a zero one confirms it even if the two powers are close.
LogIdle find_log_idle(const std::vector<TimedPower>& updates, WorkSpan work,
                      const ResponsePrior& prior, double period_s,
                      const std::vector<TimedUse>& use = {});

}  // namespace assay
