#include "power/sse_error.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/numbers.h"
#include "base/random.h"
#include "base/stats.h"

namespace assay {
namespace {

constexpr size_t kFewestRuns = 6;

struct RunPoints {
  std::vector<LoiPoint> ssp;
  std::vector<LoiPoint> sse;
};

std::vector<RunPoints> by_run(const std::vector<LoiPoint>& ssp, const std::vector<LoiPoint>& sse) {
  std::map<uint32_t, RunPoints> runs;
  for (const LoiPoint& point : ssp) runs[point.run].ssp.push_back(point);
  for (const LoiPoint& point : sse) runs[point.run].sse.push_back(point);
  std::vector<RunPoints> all;
  for (auto& [run, points] : runs) all.push_back(std::move(points));
  return all;
}

size_t distinct_times(const std::vector<LoiPoint>& points) {
  std::vector<double> times;
  for (const LoiPoint& point : points) times.push_back(point.toi_ns);
  std::sort(times.begin(), times.end());
  return static_cast<size_t>(std::unique(times.begin(), times.end()) - times.begin());
}

// (SSP - SSE) / SSP; nullopt if the points do not support the curves or SSP is not above 0.
std::optional<double> difference(const std::vector<LoiPoint>& ssp, uint32_t ssp_degree,
                                 const std::vector<LoiPoint>& sse, uint32_t sse_degree,
                                 double span_ns) {
  if (distinct_times(ssp) <= ssp_degree || distinct_times(sse) <= sse_degree) return std::nullopt;
  const double settled = fit_curve(ssp, span_ns, ssp_degree).mean();
  if (settled <= 0) return std::nullopt;
  return (settled - fit_curve(sse, span_ns, sse_degree).mean()) / settled;
}

}  // namespace

Interval95 sse_error_interval(const std::vector<LoiPoint>& ssp, uint32_t ssp_degree,
                              const std::vector<LoiPoint>& sse, uint32_t sse_degree, double span_ns,
                              uint32_t resamples, uint64_t seed) {
  const std::vector<RunPoints> runs = by_run(ssp, sse);
  const auto found = difference(ssp, ssp_degree, sse, sse_degree, span_ns);
  if (runs.size() < kFewestRuns || !found) return {kNan, kNan};
  SplitMix64 random(seed);
  std::vector<double> spread;
  for (uint32_t i = 0; i < resamples; ++i) {
    RunPoints drawn;
    for (size_t r = 0; r < runs.size(); ++r) {
      const RunPoints& run =
          runs[static_cast<size_t>(random.below(static_cast<int64_t>(runs.size())))];
      drawn.ssp.insert(drawn.ssp.end(), run.ssp.begin(), run.ssp.end());
      drawn.sse.insert(drawn.sse.end(), run.sse.begin(), run.sse.end());
    }
    const auto one = difference(drawn.ssp, ssp_degree, drawn.sse, sse_degree, span_ns);
    if (one) spread.push_back(*one - *found);
  }
  if (2 * spread.size() < resamples || spread.empty()) return {kNan, kNan};
  std::sort(spread.begin(), spread.end());
  const double wider = student_t95(runs.size() - 1) / kNormal95;
  const double low = *found - wider * quantile_sorted(spread, 0.975);
  const double high = *found - wider * quantile_sorted(spread, 0.025);
  const double farthest = std::max(std::fabs(low), std::fabs(high));
  const bool none = low <= 0 && high >= 0;  // the two may be equal
  return {none ? 0 : std::min(std::fabs(low), std::fabs(high)), farthest};
}

}  // namespace assay
