#pragma once

// Attributes every instant of an iteration to one activity, so that costs sum to the iteration's
// time exactly, however activities overlap. Compute has priority over communication, and that over
// copies; idle time belongs to the activity that ends it. Within a class, the activity that started
// first has priority.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/intervals.h"

namespace assay {

// In descending priority: an activity costs no time while a higher class runs.
enum class WorkClass : uint8_t { kCompute, kCollective, kCopy };
constexpr size_t kWorkClasses = 3;

constexpr int64_t kLaunchNotTold = std::numeric_limits<int64_t>::min();

struct DeviceWork {
  int64_t gpu = 0;
  int32_t window = -1;  // iteration it belongs to; -1 = none
  WorkClass work_class = WorkClass::kCompute;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t launch_ns = kLaunchNotTold;  // start of its launch call; not used by partition_time
};

struct WorkShare {
  int64_t busy_ns = 0;  // part of its duration that is not attributed to another activity
  Interval idle;        // idle time that it ended; flow/ reports the cause
  int64_t idle_ns() const { return idle.end_ns - idle.start_ns; }
};

// Idle time in the host interval of an iteration that no activity of the iteration ends.
struct WindowTail {
  int64_t gpu = 0;
  int32_t window = 0;
  std::vector<Interval> idle;  // merged
  int64_t tail_ns() const { return length_ns(idle); }
};

struct Partition {
  std::vector<WorkShare> shares;  // parallel to `works`
  std::vector<WindowTail> tails;  // by (gpu, window); only of windows with activities on that GPU
};

// `works` in order of (gpu, start). `windows`: host time of each iteration, ordered, disjoint. An
// idle interval between the activities of two iterations is split where the second begins on the
// host. Idle time outside all iterations is not assigned.
Partition partition_time(const std::vector<DeviceWork>& works,
                         const std::vector<Interval>& windows);

}  // namespace assay
