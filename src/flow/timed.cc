#include "flow/timed.h"

#include <algorithm>
#include <cstddef>

namespace assay {

void sort_runs(std::vector<Timed>& rows) {
  const auto before = [](const Timed& a, const Timed& b) { return a.time_ns < b.time_ns; };
  std::vector<size_t> ends;  // of the sorted runs
  for (size_t i = 1; i < rows.size(); ++i) {
    if (before(rows[i], rows[i - 1])) ends.push_back(i);
  }
  if (ends.empty()) return;
  // Too many runs for merging to pay off.
  if (ends.size() > rows.size() / 8) {
    std::stable_sort(rows.begin(), rows.end(), before);
    return;
  }
  ends.push_back(rows.size());
  std::vector<Timed> other(rows.size());
  while (ends.size() > 1) {
    std::vector<size_t> merged;
    size_t begin = 0;
    for (size_t k = 0; k < ends.size(); k += 2) {
      const size_t middle = ends[k];
      const size_t end = k + 1 < ends.size() ? ends[k + 1] : middle;
      const auto at = [](size_t i) { return static_cast<std::ptrdiff_t>(i); };
      std::merge(rows.begin() + at(begin), rows.begin() + at(middle), rows.begin() + at(middle),
                 rows.begin() + at(end), other.begin() + at(begin), before);
      merged.push_back(end);
      begin = end;
    }
    rows.swap(other);
    ends = std::move(merged);
  }
}

}  // namespace assay
