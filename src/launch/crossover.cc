// Crossover of the latencies of two platforms (SKIP Figs. 10 and 11, "crossover point"; spec/launch
// 4).

#include <cmath>

#include "launch/sweep.h"

namespace assay {
namespace {

bool is_latency(const std::optional<double>& latency) {
  return latency && std::isfinite(*latency) && *latency > 0;
}

// log(latency A / latency B) per batch that both sweeps have: positive where B is faster.
struct LogRatio {
  double batch;
  double value;
};

std::vector<LogRatio> log_ratios(const std::vector<SweepPoint>& a,
                                 const std::vector<SweepPoint>& b) {
  std::vector<LogRatio> ratios;
  size_t j = 0;
  for (const SweepPoint& point : a) {
    while (j < b.size() && b[j].batch < point.batch) ++j;
    if (j == b.size()) break;
    if (b[j].batch != point.batch || point.batch <= 0) continue;
    if (!is_latency(point.latency_ns) || !is_latency(b[j].latency_ns)) continue;
    ratios.push_back({point.batch, std::log(*point.latency_ns / *b[j].latency_ns)});
  }
  return ratios;
}

bool increases(const std::vector<SweepPoint>& sweep) {
  for (size_t j = 1; j < sweep.size(); ++j) {
    if (!(sweep[j].batch > sweep[j - 1].batch)) return false;
  }
  return true;
}

// Batch at which the straight line through both points, in log-log, crosses 0.
double interpolate(const LogRatio& before, const LogRatio& after) {
  const double part = before.value / (before.value - after.value);
  return before.batch * std::pow(after.batch / before.batch, part);
}

}  // namespace

Result<Crossover> find_crossover(const std::vector<SweepPoint>& a,
                                 const std::vector<SweepPoint>& b) {
  if (!increases(a) || !increases(b)) {
    return Error{ErrorCode::kInvalidArgument,
                 "batch sizes must increase on both platforms; sort the rows",
                 {}};
  }
  const std::vector<LogRatio> ratios = log_ratios(a, b);
  if (ratios.size() < 2) {
    return Error{ErrorCode::kInvalidArgument,
                 "the two platforms share fewer than 2 batch sizes with a latency; measure both at "
                 "the same batches",
                 {}};
  }
  Crossover result;
  for (const LogRatio& ratio : ratios) {
    result.ratio_by_batch.emplace_back(ratio.batch, std::exp(ratio.value));
  }

  // The final sign is that of the last batch with unequal latencies. Walk back while it persists.
  size_t last = ratios.size();
  while (last > 0 && ratios[last - 1].value == 0) --last;
  if (last == 0) return result;
  const double sign = ratios[last - 1].value;
  size_t first = ratios.size();
  while (first > 0 && ratios[first - 1].value * sign >= 0) --first;
  if (first == 0) return result;

  result.found = true;
  result.batch = ratios[first].batch;
  result.previous_batch = ratios[first - 1].batch;
  result.interpolated = interpolate(ratios[first - 1], ratios[first]);
  result.a_faster_below = ratios[first - 1].value < 0;
  return result;
}

}  // namespace assay
