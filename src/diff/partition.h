#pragma once

// Every instant of an iteration given to the one activity that answers for it, so that what
// activities cost sums to the iteration's time exactly, however they overlap. The device computes,
// else it communicates, else it copies, else it is idle; idle time belongs to the activity that
// ends it. Ties within a class go to the activity that started first.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/intervals.h"

namespace assay {

// In falling priority: an activity that overlaps a higher class costs no time.
enum class WorkClass : uint8_t { kCompute, kCollective, kCopy };
constexpr size_t kWorkClasses = 3;

constexpr int64_t kLaunchNotTold = std::numeric_limits<int64_t>::min();

struct DeviceWork {
  int64_t gpu = 0;
  int32_t window = -1;  // iteration it belongs to; -1 = none
  WorkClass work_class = WorkClass::kCompute;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t launch_ns = kLaunchNotTold;  // start of its launch call; no time is shared out by it
};

struct WorkShare {
  int64_t busy_ns = 0;  // of its duration, what nothing else answers for
  Interval idle;        // idle time that ended with it; flow/ reports the cause
  int64_t idle_ns() const { return idle.end_ns - idle.start_ns; }
};

// Idle time of an iteration after its last work: up to where the next one begins on the host.
struct WindowTail {
  int64_t gpu = 0;
  int32_t window = 0;
  std::vector<Interval> idle;  // merged
  int64_t tail_ns() const { return length_ns(idle); }
};

struct Partition {
  std::vector<WorkShare> shares;  // per work
  std::vector<WindowTail> tails;  // by (gpu, window); only of windows with work on that GPU
};

// `works` in order of (gpu, start). `windows`: host time of each iteration, ordered, disjoint. An
// idle interval between the activities of two iterations is split where the second begins on the
// host. Idle time outside all iterations is not assigned.
Partition partition_time(const std::vector<DeviceWork>& works,
                         const std::vector<Interval>& windows);

}  // namespace assay
