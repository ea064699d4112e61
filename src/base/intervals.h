#pragma once

// Half-open intervals [start, end) in integer nanoseconds. Sums of durations double-count what ran
// at the same time; the union does not. Every "busy" and "idle" of Assay goes through here.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay {

struct Interval {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

// Sorted, disjoint, non-empty intervals covering the same points. Empty inputs vanish.
std::vector<Interval> merge_intervals(std::vector<Interval> intervals);
// The one of sorted, disjoint intervals that holds time_ns; their number where none does.
size_t interval_at(const std::vector<Interval>& merged, int64_t time_ns);
// Total length of the union.
int64_t union_ns(std::vector<Interval> intervals);
// Total length of already merged intervals.
int64_t length_ns(const std::vector<Interval>& merged);
// Points in both; a and b merged.
std::vector<Interval> intersect(const std::vector<Interval>& a, const std::vector<Interval>& b);
// Points in a and not in b; a and b merged.
std::vector<Interval> subtract(const std::vector<Interval>& a, const std::vector<Interval>& b);
// The part of merged `intervals` inside [window.start_ns, window.end_ns).
std::vector<Interval> clip(const std::vector<Interval>& intervals, Interval window);
// The length of that.
int64_t length_in(const std::vector<Interval>& merged, Interval window);

}  // namespace assay
