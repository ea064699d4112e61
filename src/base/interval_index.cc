#include "base/interval_index.h"

#include <algorithm>
#include <utility>

namespace assay {

IntervalIndex::IntervalIndex(std::vector<Interval> merged) : merged_(std::move(merged)) {
  before_.reserve(merged_.size() + 1);
  before_.push_back(0);
  for (const Interval& interval : merged_) {
    before_.push_back(before_.back() + interval.end_ns - interval.start_ns);
  }
}

size_t IntervalIndex::ended_by(int64_t time_ns) const {
  const auto first_open =
      std::partition_point(merged_.begin(), merged_.end(),
                           [&](const Interval& interval) { return interval.end_ns <= time_ns; });
  return static_cast<size_t>(first_open - merged_.begin());
}

int64_t IntervalIndex::length_before(int64_t time_ns) const {
  if (merged_.empty()) return 0;
  const size_t ended = ended_by(time_ns);
  const bool inside = ended < merged_.size() && merged_[ended].start_ns < time_ns;
  return before_[ended] + (inside ? time_ns - merged_[ended].start_ns : 0);
}

int64_t IntervalIndex::length_in(Interval window) const {
  if (window.start_ns >= window.end_ns) return 0;
  return length_before(window.end_ns) - length_before(window.start_ns);
}

int64_t IntervalIndex::length_in(const std::vector<Interval>& windows) const {
  int64_t total = 0;
  for (const Interval& window : windows) total += length_in(window);
  return total;
}

bool IntervalIndex::covers(int64_t time_ns) const {
  const size_t ended = ended_by(time_ns);
  return ended < merged_.size() && merged_[ended].start_ns <= time_ns;
}

}  // namespace assay
