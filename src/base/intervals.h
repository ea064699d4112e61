#pragma once

// Half-open intervals [start, end) in integer nanoseconds. Summing durations counts overlapping
// time twice; the union does not. All busy and idle times are computed here.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay {

struct Interval {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

// Sorted, disjoint, non-empty intervals that cover the same points. Empty input intervals are
// dropped.
std::vector<Interval> merge_intervals(std::vector<Interval> intervals);
// Index of the interval that contains time_ns; merged.size() if there is none.
size_t interval_at(const std::vector<Interval>& merged, int64_t time_ns);
// Total length of the union.
int64_t union_ns(std::vector<Interval> intervals);
// Total length of merged intervals.
int64_t length_ns(const std::vector<Interval>& merged);
// Points in both a and b, which must be merged.
std::vector<Interval> intersect(const std::vector<Interval>& a, const std::vector<Interval>& b);
// Points in a but not in b, which must be merged.
std::vector<Interval> subtract(const std::vector<Interval>& a, const std::vector<Interval>& b);
// The parts of merged `intervals` inside [window.start_ns, window.end_ns).
std::vector<Interval> clip(const std::vector<Interval>& intervals, Interval window);
// Total length of those parts.
int64_t length_in(const std::vector<Interval>& merged, Interval window);

}  // namespace assay
