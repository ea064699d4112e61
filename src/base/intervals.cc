#include "base/intervals.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace assay {

std::vector<Interval> merge_intervals(std::vector<Interval> intervals) {
  std::erase_if(intervals, [](const Interval& i) { return i.end_ns <= i.start_ns; });
  const auto before = [](const Interval& a, const Interval& b) { return a.start_ns < b.start_ns; };
  if (!std::is_sorted(intervals.begin(), intervals.end(), before)) {
    std::sort(intervals.begin(), intervals.end(), before);
  }
  size_t kept = 0;
  for (const Interval& next : intervals) {
    // Join touching intervals: there is no gap between them.
    if (kept > 0 && next.start_ns <= intervals[kept - 1].end_ns) {
      intervals[kept - 1].end_ns = std::max(intervals[kept - 1].end_ns, next.end_ns);
    } else {
      intervals[kept++] = next;
    }
  }
  intervals.resize(kept);
  return intervals;
}

size_t interval_at(const std::vector<Interval>& merged, int64_t time_ns) {
  const auto after = std::partition_point(
      merged.begin(), merged.end(),
      [time_ns](const Interval& interval) { return interval.start_ns <= time_ns; });
  const bool inside = after != merged.begin() && time_ns < (after - 1)->end_ns;
  return inside ? static_cast<size_t>(after - 1 - merged.begin()) : merged.size();
}

int64_t union_ns(std::vector<Interval> intervals) {
  return length_ns(merge_intervals(std::move(intervals)));
}

int64_t length_ns(const std::vector<Interval>& merged) {
  int64_t total_ns = 0;
  for (const Interval& i : merged) total_ns += i.end_ns - i.start_ns;
  return total_ns;
}

std::vector<Interval> intersect(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  std::vector<Interval> common;
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const int64_t start_ns = std::max(a[i].start_ns, b[j].start_ns);
    const int64_t end_ns = std::min(a[i].end_ns, b[j].end_ns);
    if (start_ns < end_ns) common.push_back({start_ns, end_ns});
    if (a[i].end_ns < b[j].end_ns) {
      ++i;
    } else {
      ++j;
    }
  }
  return common;
}

std::vector<Interval> subtract(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  std::vector<Interval> rest;
  size_t j = 0;
  for (Interval left : a) {
    while (j < b.size() && b[j].end_ns <= left.start_ns) ++j;
    // An interval of b may extend into the next interval of a, so j is not advanced.
    for (size_t k = j; k < b.size() && b[k].start_ns < left.end_ns; ++k) {
      if (left.start_ns < b[k].start_ns) rest.push_back({left.start_ns, b[k].start_ns});
      left.start_ns = b[k].end_ns;
      j = k;
    }
    if (left.start_ns < left.end_ns) rest.push_back(left);
  }
  return rest;
}

std::vector<Interval> clip(const std::vector<Interval>& intervals, Interval window) {
  std::vector<Interval> inside;
  if (window.end_ns <= window.start_ns) return inside;
  auto it = std::partition_point(intervals.begin(), intervals.end(),
                                 [&](const Interval& i) { return i.end_ns <= window.start_ns; });
  for (; it != intervals.end() && it->start_ns < window.end_ns; ++it) {
    inside.push_back(
        {std::max(it->start_ns, window.start_ns), std::min(it->end_ns, window.end_ns)});
  }
  return inside;
}

int64_t length_in(const std::vector<Interval>& merged, Interval window) {
  const auto first = std::partition_point(
      merged.begin(), merged.end(),
      [window](const Interval& interval) { return interval.end_ns <= window.start_ns; });
  int64_t sum_ns = 0;
  for (auto at = first; at != merged.end() && at->start_ns < window.end_ns; ++at) {
    sum_ns += std::min(at->end_ns, window.end_ns) - std::max(at->start_ns, window.start_ns);
  }
  return sum_ns;
}

}  // namespace assay
