// Aligns the GPU's (or the logger's) clock with the CPU's (spec/power 3). Counters are near 1e15
// and more, so differences are taken as integers before conversion to double.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/stats.h"
#include "power/profile.h"

namespace assay {
namespace {

constexpr size_t kFewestProbes = 10;
constexpr double kRttTolerance = 1.3;         // above the minimum: kept
constexpr int64_t kFilterSpan = 100'000'000;  // in each such span at least ...
constexpr double kFilterShare = 0.1;          // ... this share of the probes is kept
constexpr double kWildestDriftPpm = 2000;     // crystals stay under 100, NTP slews 500
constexpr size_t kExactSlopes = 1500;         // probes up to which all pairs are compared
constexpr int64_t kClusterGap = 2'000'000;    // probes further apart belong to different reads
constexpr size_t kFewestClusters = 4;         // for a clock that is not a straight line

// One probe with its counter in ns, relative to the first probe.
struct Pair {
  double cpu = 0;  // middle of the read
  double gpu = 0;
  int64_t rtt = 0;
  int64_t at = 0;  // c0, for the filter's spans
};

Error clock_error(std::string message) {
  return Error{ErrorCode::kFormat, std::move(message), "", -1};
}

Status check_order(const std::vector<ClockProbe>& probes) {
  for (size_t i = 0; i < probes.size(); ++i) {
    const std::string which = "clock probe " + std::to_string(i + 1) + ": ";
    if (probes[i].c1_ns < probes[i].c0_ns) {
      return clock_error(which +
                         "it ends before it begins, so the CPU's clock jumped back; use a "
                         "monotonic clock");
    }
    if (i == 0) continue;
    if (probes[i].c0_ns < probes[i - 1].c0_ns) {
      return clock_error(which + "the CPU's clock jumps back by " +
                         std::to_string(probes[i - 1].c0_ns - probes[i].c0_ns) +
                         " ns; use a monotonic clock, and one file per measurement run");
    }
    if (probes[i].gpu_ticks < probes[i - 1].gpu_ticks) {
      return clock_error(which + "the GPU's counter jumps back by " +
                         std::to_string(probes[i - 1].gpu_ticks - probes[i].gpu_ticks) +
                         " ticks: the device was reset, or rows are out of order");
    }
  }
  return Ok{};
}

std::vector<Pair> centre(const std::vector<ClockProbe>& probes, double tick_hz) {
  const ClockProbe& origin = probes.front();
  const double ns_per_tick = 1e9 / tick_hz;
  std::vector<Pair> pairs;
  pairs.reserve(probes.size());
  for (const ClockProbe& probe : probes) {
    const int64_t rtt = probe.c1_ns - probe.c0_ns;
    pairs.push_back({static_cast<double>(probe.c0_ns - origin.c0_ns) + static_cast<double>(rtt) / 2,
                     static_cast<double>(probe.gpu_ticks - origin.gpu_ticks) * ns_per_tick, rtt,
                     probe.c0_ns});
  }
  return pairs;
}

// Keeps round trips near the minimum, and in every span of kFilterSpan the best share of them in
// any case.
std::vector<Pair> filter(const std::vector<Pair>& pairs, int64_t floor_ns) {
  const double limit = kRttTolerance * static_cast<double>(floor_ns);
  std::vector<Pair> kept;
  for (size_t first = 0; first < pairs.size();) {
    size_t end = first;
    std::vector<int64_t> rtts;
    for (; end < pairs.size() && pairs[end].at - pairs[first].at < kFilterSpan; ++end) {
      rtts.push_back(pairs[end].rtt);
    }
    const size_t best =
        static_cast<size_t>(std::ceil(kFilterShare * static_cast<double>(rtts.size())));
    std::sort(rtts.begin(), rtts.end());
    const double allowed = std::max(limit, static_cast<double>(rtts[best - 1]));
    for (size_t i = first; i < end; ++i) {
      if (static_cast<double>(pairs[i].rtt) <= allowed) kept.push_back(pairs[i]);
    }
    first = end;
  }
  return kept;
}

// With more than kExactSlopes probes, keeps the fastest read of each of kExactSlopes groups in time
// order.
std::vector<Pair> thin(const std::vector<Pair>& pairs) {
  if (pairs.size() <= kExactSlopes) return pairs;
  std::vector<Pair> chosen;
  for (size_t group = 0; group < kExactSlopes; ++group) {
    const auto at = [&](size_t g) {
      return pairs.begin() + static_cast<std::ptrdiff_t>(g * pairs.size() / kExactSlopes);
    };
    chosen.push_back(*std::min_element(at(group), at(group + 1),
                                       [](const Pair& a, const Pair& b) { return a.rtt < b.rtt; }));
  }
  return chosen;
}

double median_in_place(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// Theil-Sen: the median slope over all pairs of probes, robust against a third of bad ones. Returns
// the deviation from 1, so that ppm keep their precision.
double median_rate_deviation(const std::vector<Pair>& pairs) {
  std::vector<double> slopes;
  slopes.reserve(pairs.size() * (pairs.size() - 1) / 2);
  for (size_t i = 0; i < pairs.size(); ++i) {
    for (size_t j = i + 1; j < pairs.size(); ++j) {
      const double cpu = pairs[j].cpu - pairs[i].cpu;
      if (cpu > 0) slopes.push_back((pairs[j].gpu - pairs[i].gpu - cpu) / cpu);
    }
  }
  return slopes.empty() ? 0 : median_in_place(slopes);
}

// Residuals of gpu - cpu from the line.
std::vector<double> residuals(const std::vector<Pair>& pairs, double deviation, double offset) {
  std::vector<double> left;
  left.reserve(pairs.size());
  for (const Pair& pair : pairs) {
    left.push_back(pair.gpu - pair.cpu - deviation * pair.cpu - offset);
  }
  return left;
}

double p95_of_absolute(std::vector<double> values) {
  for (double& value : values) value = std::fabs(value);
  std::sort(values.begin(), values.end());
  return quantile_sorted(values, 0.95);
}

// Reads in quick succession, as before and after a run, combined into one.
struct Cluster {
  double cpu = 0;
  double residual = 0;  // median, from the line through everything
};

std::vector<Cluster> cluster(const std::vector<Pair>& pairs, const std::vector<double>& left) {
  std::vector<Cluster> clusters;
  for (size_t first = 0; first < pairs.size();) {
    size_t end = first + 1;
    while (end < pairs.size() && pairs[end].at - pairs[end - 1].at < kClusterGap) ++end;
    std::vector<double> values(left.begin() + static_cast<std::ptrdiff_t>(first),
                               left.begin() + static_cast<std::ptrdiff_t>(end));
    clusters.push_back({(pairs[first].cpu + pairs[end - 1].cpu) / 2, median(std::move(values))});
    first = end;
  }
  return clusters;
}

double interpolate(const Cluster& a, const Cluster& b, double cpu) {
  return a.residual + (b.residual - a.residual) * (cpu - a.cpu) / (b.cpu - a.cpu);
}

// 95th percentile of the deviation of each cluster from the line between its neighbours. It
// estimates the error of piecewise alignment, at twice the distance of actual use.
double left_out_p95(const std::vector<Cluster>& clusters) {
  std::vector<double> errors;
  for (size_t i = 1; i + 1 < clusters.size(); ++i) {
    errors.push_back(clusters[i].residual -
                     interpolate(clusters[i - 1], clusters[i + 1], clusters[i].cpu));
  }
  return p95_of_absolute(std::move(errors));
}

ClockSegment segment_at(const ClockProbe& origin, int64_t gpu_origin_ns, double cpu, double gpu,
                        double rate) {
  const int64_t cpu_ns = std::llround(cpu);
  // The origin is an integer; its rounding error is corrected along the line.
  const double gpu_there = gpu + rate * (static_cast<double>(cpu_ns) - cpu);
  return {origin.c0_ns + cpu_ns, gpu_origin_ns + std::llround(gpu_there), rate};
}

}  // namespace

int64_t ticks_to_ns(int64_t ticks, double tick_hz) {
  const int64_t hz = std::llround(tick_hz);
  if (static_cast<double>(hz) != tick_hz || hz > 1'000'000'000) {
    return static_cast<int64_t>(
        std::llround(static_cast<long double>(ticks) * (1e9L / static_cast<long double>(tick_hz))));
  }
  const int64_t seconds = ticks / hz;
  const int64_t rest = ticks % hz;  // under 1e9, so that its ns fit
  return seconds * 1'000'000'000 + (rest * 1'000'000'000 + hz / 2) / hz;
}

int64_t ClockModel::to_cpu_ns(int64_t gpu_ns) const {
  if (segments.empty()) return gpu_ns;
  auto after = std::upper_bound(
      segments.begin(), segments.end(), gpu_ns,
      [](int64_t gpu, const ClockSegment& segment) { return gpu < segment.gpu_origin_ns; });
  const ClockSegment& segment = after == segments.begin() ? *after : *std::prev(after);
  const double since = static_cast<double>(gpu_ns - segment.gpu_origin_ns);
  // since / rate = since - since (rate - 1) / rate: the large part stays an integer.
  const double correction = since * (segment.rate - 1) / segment.rate;
  return segment.cpu_origin_ns + (gpu_ns - segment.gpu_origin_ns) - std::llround(correction);
}

Result<ClockModel> fit_clock(const std::vector<ClockProbe>& probes, double tick_hz) {
  if (!std::isfinite(tick_hz) || tick_hz <= 0) {
    return clock_error("tick_hz must be the positive frequency of the counter");
  }
  if (probes.size() < kFewestProbes) {
    return clock_error("only " + std::to_string(probes.size()) +
                       " clock probes, at least 10 are needed: the clocks of samples and "
                       "executions cannot be laid over each other");
  }
  ASSAY_TRY(check_order(probes));
  const std::vector<Pair> pairs = centre(probes, tick_hz);
  ClockModel model;
  model.probes = probes.size();
  model.rtt_floor_ns =
      std::min_element(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
        return a.rtt < b.rtt;
      })->rtt;
  const std::vector<Pair> kept = filter(pairs, model.rtt_floor_ns);
  model.probes_kept = kept.size();
  if (kept.size() < kFewestProbes) {
    return clock_error("only " + std::to_string(kept.size()) +
                       " usable clock probes, at least 10 are needed: most reads of the GPU's "
                       "clock took far longer than the fastest");
  }
  const double deviation = median_rate_deviation(thin(kept));
  if (std::fabs(deviation) * 1e6 > kWildestDriftPpm) {
    return clock_error("the GPU's counter runs " + std::to_string(deviation * 100) +
                       " % off the CPU's clock, more than any crystal: tick_hz is wrong");
  }
  const double offset = median(residuals(kept, deviation, 0));
  const std::vector<double> left = residuals(kept, deviation, offset);
  model.drift_ppm = deviation * 1e6;
  model.residual_p95_ns = p95_of_absolute(left);

  const int64_t gpu_origin_ns = ticks_to_ns(probes.front().gpu_ticks, tick_hz);
  const std::vector<Cluster> clusters = cluster(kept, left);
  const double piecewise = clusters.size() >= kFewestClusters
                               ? left_out_p95(clusters)
                               : std::numeric_limits<double>::infinity();
  // A crystal that warms up does not give a straight line. Pieces replace the line only if they are
  // clearly better, because a line averages over the noise of all probes.
  if (piecewise < model.residual_p95_ns / 2) {
    model.residual_p95_ns = piecewise;
    for (size_t i = 0; i + 1 < clusters.size(); ++i) {
      const Cluster& a = clusters[i];
      const Cluster& b = clusters[i + 1];
      const double rate = 1 + deviation + (b.residual - a.residual) / (b.cpu - a.cpu);
      model.segments.push_back(segment_at(probes.front(), gpu_origin_ns, a.cpu,
                                          a.cpu + deviation * a.cpu + offset + a.residual, rate));
    }
    return model;
  }
  model.segments.push_back(segment_at(probes.front(), gpu_origin_ns, 0, offset, 1 + deviation));
  return model;
}

}  // namespace assay
