#include "power/coverage.h"

#include <algorithm>
#include <cmath>

#include "base/stats.h"

namespace assay {

namespace {
constexpr int64_t kStandsForPeriods = 4;  // a longer step is a gap in the log
}

Coverage::Coverage(const std::vector<PowerReading>& readings, int64_t longest_ns) {
  for (size_t i = 1; i < readings.size(); ++i) {
    const int64_t begin_ns = readings[i - 1].t_ns;
    const int64_t length = readings[i].t_ns - begin_ns;
    if (length > longest_ns) {
      ++gaps_;
      gaps_ns_ += length;
      continue;
    }
    joules_ += readings[i].power_w * static_cast<double>(length) * 1e-9;
    if (stretches_.empty() || stretches_.back().end_ns != begin_ns) {
      before_.push_back(covered_ns_);
      stretches_.push_back({begin_ns, begin_ns});
    }
    stretches_.back().end_ns = readings[i].t_ns;
    covered_ns_ += length;
  }
}

int64_t Coverage::until(int64_t t_ns) const {
  const auto next =
      std::upper_bound(stretches_.begin(), stretches_.end(), t_ns,
                       [](int64_t t, const Stretch& one) { return t < one.begin_ns; });
  if (next == stretches_.begin()) return 0;
  const auto at = static_cast<size_t>(next - stretches_.begin()) - 1;
  return before_[at] + std::min(t_ns, stretches_[at].end_ns) - stretches_[at].begin_ns;
}

int64_t typical_step_ns(const std::vector<PowerReading>& readings) {
  std::vector<int64_t> steps;
  for (size_t i = 1; i < readings.size(); ++i) {
    steps.push_back(readings[i].t_ns - readings[i - 1].t_ns);
  }
  std::sort(steps.begin(), steps.end());
  return steps.empty() ? 0 : std::llround(quantile_sorted(steps, 0.5));
}

int64_t longest_stand_ns(const std::vector<PowerReading>& readings, int64_t period_ns) {
  return kStandsForPeriods * std::max(typical_step_ns(readings), period_ns);
}

}  // namespace assay
