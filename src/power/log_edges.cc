#include "power/log_edges.h"

#include <algorithm>

namespace assay {
namespace {

// A sample and the time that it represents.
struct Step {
  double seconds = 0;
  double watts = 0;
};

std::vector<Step> steps_between(const std::vector<PowerReading>& samples, int64_t longest_ns,
                                int64_t begin_ns, int64_t end_ns) {
  std::vector<Step> steps;
  for (size_t i = 1; i < samples.size(); ++i) {
    const int64_t from_ns = samples[i - 1].t_ns;
    const int64_t to_ns = samples[i].t_ns;
    const int64_t inside_ns = std::min(to_ns, end_ns) - std::max(from_ns, begin_ns);
    if (to_ns - from_ns > longest_ns || inside_ns <= 0) continue;
    steps.push_back({static_cast<double>(inside_ns) * 1e-9, samples[i].power_w});
  }
  return steps;
}

struct Sum {
  double seconds = 0;
  double joules = 0;
  void add(const Step& step) {
    seconds += step.seconds;
    joules += step.seconds * step.watts;
  }
};

// Extends `range` by the deficit of the first samples against the mean of the later ones, for every
// number of first samples up to `latest_s`. The later ones must last at least a third as long, or
// their level is unknown.
void extend(const std::vector<Step>& steps, double latest_s, double sign, Span95& range) {
  constexpr double kLeastAfter = 1.0 / 3;
  constexpr size_t kFewestAfter = 3;
  Sum after;
  for (const Step& step : steps) after.add(step);
  Sum first;
  for (size_t i = 0; i + kFewestAfter < steps.size(); ++i) {
    first.add(steps[i]);
    after.seconds -= steps[i].seconds;
    after.joules -= steps[i].seconds * steps[i].watts;
    if (first.seconds > latest_s || after.seconds < kLeastAfter * first.seconds) return;
    const double below_j = sign * (after.joules / after.seconds * first.seconds - first.joules);
    range.low = std::min(range.low, below_j);
    range.high = std::max(range.high, below_j);
  }
}

}  // namespace

double joules_between(const std::vector<PowerReading>& samples, int64_t longest_ns,
                      int64_t begin_ns, int64_t end_ns) {
  Sum sum;
  for (const Step& step : steps_between(samples, longest_ns, begin_ns, end_ns)) sum.add(step);
  return sum.joules;
}

Span95 left_out_j(const std::vector<PowerReading>& samples, int64_t longest_ns, int64_t begin_ns,
                  int64_t end_ns, int64_t latest_ns) {
  Span95 range;
  const double latest_s = static_cast<double>(latest_ns) * 1e-9;
  extend(steps_between(samples, longest_ns, begin_ns, end_ns), latest_s, 1, range);
  const int64_t as_long_ns = latest_ns + latest_ns / 2;
  extend(steps_between(samples, longest_ns, end_ns, end_ns + as_long_ns), latest_s, -1, range);
  return range;
}

}  // namespace assay
