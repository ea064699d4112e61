#pragma once

// Merged intervals that give the covered time of a window by bisection. There are thousands of
// windows, and on a GPU that runs late each spans the host time of many others. A linear walk would
// be quadratic.

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
  // Covered time inside all of `windows` together, which are disjoint.
  int64_t length_in(const std::vector<Interval>& windows) const;
  bool covers(int64_t time_ns) const;

 private:
  // Intervals that end at or before time_ns.
  size_t ended_by(int64_t time_ns) const;
  // Covered time before time_ns.
  int64_t length_before(int64_t time_ns) const;

  std::vector<Interval> merged_;
  std::vector<int64_t> before_;  // per interval: summed length of those before it; the total at the
                                 // end
};

}  // namespace assay
