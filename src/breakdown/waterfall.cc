#include "breakdown/waterfall.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace assay {
namespace {

constexpr double kLowOverlap = 0.05;
constexpr double kHalf = 0.5;

// Durations relative to the shortest of the same GPU; drops samples without a valid duration.
std::vector<OverlapSample> normalised(std::vector<OverlapSample> samples) {
  std::erase_if(samples, [](const OverlapSample& s) {
    return !(s.dur_ns > 0) || !std::isfinite(s.dur_ns) || !std::isfinite(s.overlap);
  });
  std::map<int64_t, double> shortest;
  for (const OverlapSample& sample : samples) {
    const auto [found, is_new] = shortest.try_emplace(sample.gpu, sample.dur_ns);
    if (!is_new) found->second = std::min(found->second, sample.dur_ns);
  }
  for (OverlapSample& sample : samples) sample.dur_ns /= shortest[sample.gpu];
  std::sort(samples.begin(), samples.end(), [](const OverlapSample& a, const OverlapSample& b) {
    return std::pair(a.overlap, a.dur_ns) < std::pair(b.overlap, b.dur_ns);
  });
  return samples;
}

// Isotonic regression by pool-adjacent-violators: the non-decreasing least-squares fit to
// `samples`, with one point (overlap, fitted duration) per distinct overlap.
struct CurvePoint {
  double x = 0;
  double y = 0;
};
std::vector<CurvePoint> isotonic(const std::vector<OverlapSample>& samples) {
  struct Pool {
    double sum = 0;
    double weight = 0;
    size_t points = 0;
    double mean() const { return sum / weight; }
  };
  std::vector<double> xs;
  std::vector<Pool> pools;
  for (const OverlapSample& sample : samples) {
    const bool same = !xs.empty() && xs.back() == sample.overlap;
    if (!same) {
      xs.push_back(sample.overlap);
      pools.push_back({sample.dur_ns, 1, 1});
    } else {
      pools.back().sum += sample.dur_ns;
      pools.back().weight += 1;
    }
  }
  std::vector<Pool> merged;
  for (const Pool& pool : pools) {
    merged.push_back(pool);
    while (merged.size() > 1 && merged[merged.size() - 2].mean() > merged.back().mean()) {
      Pool& before = merged[merged.size() - 2];
      before.sum += merged.back().sum;
      before.weight += merged.back().weight;
      before.points += merged.back().points;
      merged.pop_back();
    }
  }
  std::vector<CurvePoint> curve;
  for (const Pool& pool : merged) {
    for (size_t i = 0; i < pool.points; ++i) curve.push_back({xs[curve.size()], pool.mean()});
  }
  return curve;
}

double evaluate(const std::vector<CurvePoint>& curve, double x) {
  if (x <= curve.front().x) return curve.front().y;
  if (x >= curve.back().x) return curve.back().y;
  const auto above =
      std::lower_bound(curve.begin(), curve.end(), x,
                       [](const CurvePoint& point, double value) { return point.x < value; });
  const CurvePoint& right = *above;
  const CurvePoint& left = *(above - 1);
  return left.y + (right.y - left.y) * (x - left.x) / (right.x - left.x);
}

void read_curve(const std::vector<OverlapSample>& samples, OverlapFactor& factor) {
  const std::vector<CurvePoint> curve = isotonic(samples);
  factor.d0 = evaluate(curve, 0);
  factor.d50 = evaluate(curve, kHalf);
}

void read_cumulative(std::vector<OverlapSample> samples, OverlapFactor& factor) {
  std::sort(samples.begin(), samples.end(), [](const OverlapSample& a, const OverlapSample& b) {
    return std::pair(a.dur_ns, a.overlap) < std::pair(b.dur_ns, b.overlap);
  });
  double total = 0;
  for (const OverlapSample& sample : samples) total += sample.overlap;
  factor.d0 = samples.front().dur_ns;
  factor.d50 = samples.back().dur_ns;
  double passed = 0;
  for (const OverlapSample& sample : samples) {
    passed += sample.overlap;
    if (passed >= kHalf * total) {
      factor.d50 = sample.dur_ns;
      return;
    }
  }
}

void read_quantile(const std::vector<OverlapSample>& samples, OverlapFactor& factor) {
  std::vector<CurvePoint> pairs;
  std::vector<double> durations;
  for (const OverlapSample& sample : samples) durations.push_back(sample.dur_ns);
  std::sort(durations.begin(), durations.end());
  // Equal overlaps share the mean of their paired durations.
  for (size_t begin = 0, end = 0; begin < samples.size(); begin = end) {
    double sum = 0;
    while (end < samples.size() && samples[end].overlap == samples[begin].overlap) {
      sum += durations[end++];
    }
    pairs.push_back({samples[begin].overlap, sum / static_cast<double>(end - begin)});
  }
  factor.d0 = evaluate(pairs, 0);
  factor.d50 = evaluate(pairs, kHalf);
}

double pearson_of(const std::vector<OverlapSample>& samples) {
  double mean_x = 0;
  double mean_y = 0;
  const auto n = static_cast<double>(samples.size());
  for (const OverlapSample& sample : samples) {
    mean_x += sample.overlap / n;
    mean_y += sample.dur_ns / n;
  }
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (const OverlapSample& sample : samples) {
    xx += (sample.overlap - mean_x) * (sample.overlap - mean_x);
    yy += (sample.dur_ns - mean_y) * (sample.dur_ns - mean_y);
    xy += (sample.overlap - mean_x) * (sample.dur_ns - mean_y);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : kNan;
}

Error refuse(std::string message) {
  return Error{ErrorCode::kInvalidArgument, std::move(message), "", -1};
}

bool positive(double value) { return std::isfinite(value) && value > 0; }

Status check_inputs(const WaterfallInput& input, const WaterfallPeaks& peaks) {
  if (!positive(peaks.flop_per_s)) return refuse("the device's peak throughput is not known");
  if (!positive(peaks.clock_hz)) return refuse("the device's peak clock is not known");
  if (!positive(input.d_act_ns)) return refuse("no time was measured");
  if (!positive(input.flop_counted)) return refuse("no matrix instruction was counted");
  if (!positive(input.matrix_busy)) return refuse("the matrix units were never busy");
  if (input.matrix_busy > 1 + kResidualTolerance) {
    return refuse(
        "the matrix units were busy for more cycles than there are: wrong counter, or "
        "wrong number of units");
  }
  if (!positive(input.cycles)) return refuse("no cycles were counted");
  if (!positive(input.overlap_factor)) return refuse("no overlap factor");
  return Ok{};
}

// (b - a) / ln(b / a), and its limit for a = b.
double logarithmic_mean(double a, double b) {
  const double t = b / a - 1;
  if (std::abs(t) < 1e-8) return a * (1 + t / 2);
  return (b - a) / std::log(b / a);
}

// Sets the bars as integer nanoseconds that sum to the measured time: each ends at the rounded
// running sum, and the residual is the rest, which corresponds to the factor 1 / rho.
void fill_bars(Waterfall& made) {
  const double unit = logarithmic_mean(made.d_thr_ns, made.d_act_ns);
  const std::array<double, kWaterfallBars - 1> lengths = {
      made.d_thr_ns, unit * std::log(made.instruction), unit * std::log(made.utilisation),
      unit * std::log(made.overlap), unit * std::log(made.frequency)};
  double running = 0;
  int64_t told = 0;
  for (size_t i = 0; i < lengths.size(); ++i) {
    running += lengths[i];
    const int64_t end = std::llround(running);
    made.bars_ns[i] = end - told;
    told = end;
  }
  made.bars_ns.back() = std::llround(made.d_act_ns) - told;
}

}  // namespace

std::string_view overlap_reading_name(OverlapReading reading) {
  constexpr std::string_view kNames[] = {"curve", "cumulative", "quantile"};
  return kNames[static_cast<size_t>(reading)];
}

std::string_view waterfall_bar_name(WaterfallBar bar) {
  constexpr std::string_view kNames[] = {"theoretical", "instruction", "utilisation",
                                         "overlap",     "frequency",   "residual"};
  return kNames[static_cast<size_t>(bar)];
}

OverlapFactor overlap_factor(std::vector<OverlapSample> samples, OverlapReading reading) {
  OverlapFactor factor;
  samples = normalised(std::move(samples));
  factor.samples = samples.size();
  factor.constant = samples.empty() || samples.front().overlap == samples.back().overlap;
  if (factor.constant) return factor;
  factor.pearson = pearson_of(samples);
  factor.extrapolated = samples.front().overlap > kLowOverlap || samples.back().overlap < kHalf;
  switch (reading) {
    case OverlapReading::kCurve:
      read_curve(samples, factor);
      break;
    case OverlapReading::kCumulative:
      read_cumulative(samples, factor);
      break;
    case OverlapReading::kQuantile:
      read_quantile(samples, factor);
      break;
  }
  factor.factor = factor.d50 / factor.d0;
  return factor;
}

Result<Waterfall> make_waterfall(const WaterfallInput& input, const WaterfallPeaks& peaks) {
  ASSAY_TRY(check_inputs(input, peaks));
  Waterfall made;
  made.flop_counted = !positive(input.flop);
  const double flop = made.flop_counted ? input.flop_counted : input.flop;
  made.d_act_ns = input.d_act_ns;
  made.d_thr_ns = flop / peaks.flop_per_s * 1e9;
  made.instruction = input.flop_counted / flop;
  made.utilisation = 1 / input.matrix_busy;
  made.overlap = input.overlap_factor;
  made.d_peak_ns = input.cycles / peaks.clock_hz * 1e9;
  made.frequency = made.d_act_ns / made.d_peak_ns / made.overlap;
  made.residual =
      input.flop_counted / (peaks.flop_per_s * input.matrix_busy * made.d_peak_ns / 1e9);
  if (made.residual > 1 + kResidualTolerance) {
    return refuse(
        "the counted matrix FLOP exceed what the busy cycles can retire (rho = " +
        std::to_string(made.residual) +
        "): the peak is not this device's or not this data type's, or a counter is wrong");
  }
  fill_bars(made);
  return made;
}

}  // namespace assay
