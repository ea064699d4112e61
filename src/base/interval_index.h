#pragma once

// Merged intervals with a prefix sum, to find the covered time of a window in O(log n). There are
// thousands of windows, and on a GPU that lags behind the host each spans the host time of many
// others; a linear scan would be quadratic.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/intervals.h"

namespace assay {

class IntervalIndex {
 public:
  IntervalIndex() = default;
  explicit IntervalIndex(std::vector<Interval> merged);

  const std::vector<Interval>& intervals() const { return merged_; }
  // Covered time inside [window.start_ns, window.end_ns), ns.
  int64_t length_in(Interval window) const;
  // Covered time inside the union of `windows`, which must be disjoint, ns.
  int64_t length_in(const std::vector<Interval>& windows) const;
  bool covers(int64_t time_ns) const;

 private:
  // Number of intervals that end at or before time_ns.
  size_t ended_by(int64_t time_ns) const;
  // Covered time before time_ns.
  int64_t length_before(int64_t time_ns) const;

  std::vector<Interval> merged_;
  std::vector<int64_t> before_;  // element i: total length of intervals [0, i); the last is the
                                 // total
};

}  // namespace assay
