#include "launch/sweep.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <span>

#include "base/numbers.h"
#include "base/stats.h"

namespace assay {
namespace {

constexpr size_t kMinBatches = 3;
// MAD x 1.4826 estimates the standard deviation of normal noise; three of them as the tolerance.
constexpr double kNoiseFactor = 3 * 1.4826;
// A plateau of this many null-kernel launch times or more is queueing, not launch cost.
constexpr double kQueueingPlateau = 3;

Error invalid(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message), {}}; }

std::string batch_text(double batch) {
  const auto whole = static_cast<int64_t>(batch);
  return static_cast<double>(whole) == batch ? std::to_string(whole) : std::to_string(batch);
}

bool is_amount(double value) { return std::isfinite(value) && value >= 0; }

Status check_point(const SweepPoint& point) {
  const std::string where = "batch " + batch_text(point.batch) + ": ";
  if (!std::isfinite(point.batch) || point.batch <= 0) {
    return invalid("batch sizes must be positive numbers; correct or drop this row");
  }
  if (point.tklqt_ns.empty()) return invalid(where + "no TKLQT given; drop the row or measure it");
  if (point.launches.size() != 1 && point.launches.size() != point.tklqt_ns.size()) {
    return invalid(where + "give one launch count for all repeats, or one per repeat");
  }
  for (double value : point.tklqt_ns) {
    if (!is_amount(value)) return invalid(where + "TKLQT must be a finite number, 0 or more");
  }
  for (double value : point.launches) {
    if (!is_amount(value)) return invalid(where + "launches must be a finite number");
    if (value == 0) {
      return invalid(where +
                     "zero launches, so there is no launch time to speak of; check that "
                     "the trace has kernels with launch calls, or drop the row");
    }
  }
  return Ok{};
}

Status check_sweep(const std::vector<SweepPoint>& sweep, const BoundOptions& options) {
  if (sweep.size() < kMinBatches) {
    return invalid("a sweep needs at least 3 batch sizes to show where a plateau ends, got " +
                   std::to_string(sweep.size()) +
                   "; add batches (typically powers of two), or analyze one trace");
  }
  for (const SweepPoint& point : sweep) ASSAY_TRY(check_point(point));
  for (size_t j = 1; j < sweep.size(); ++j) {
    if (sweep[j].batch > sweep[j - 1].batch) continue;
    return invalid("batch sizes must increase, but " + batch_text(sweep[j].batch) + " follows " +
                   batch_text(sweep[j - 1].batch) +
                   "; sort the rows and give repeats of one batch as one row");
  }
  if (!std::isfinite(options.tau) || options.tau <= 1) {
    return invalid("tau must be above 1 (2 = queueing outweighs launching)");
  }
  if (!is_amount(options.rho)) return invalid("rho must be a finite number, 0 or more");
  if (options.floor_ns && (!is_amount(*options.floor_ns) || *options.floor_ns == 0)) {
    return invalid("the launch-overhead floor must be a positive number of nanoseconds");
  }
  return Ok{};
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double launches_of(const SweepPoint& point, size_t repeat) {
  return point.launches.size() == 1 ? point.launches[0] : point.launches[repeat];
}

// Per-launch TKLQT of each repeat.
std::vector<double> repeats_of(const SweepPoint& point) {
  std::vector<double> q(point.tklqt_ns.size());
  for (size_t r = 0; r < q.size(); ++r) q[r] = point.tklqt_ns[r] / launches_of(point, r);
  return q;
}

// Median of the batches' relative MADs, so that one noisy batch does not raise the tolerance of
// all.
double noise_of(const std::vector<SweepPoint>& sweep) {
  std::vector<double> relative;
  for (const SweepPoint& point : sweep) {
    if (point.tklqt_ns.size() < 2) continue;
    const std::vector<double> q = repeats_of(point);
    const double middle = median(q);
    if (middle > 0) relative.push_back(median_abs_deviation(q) / middle);
  }
  return relative.empty() ? 0 : median(relative);
}

// Result of the algorithm of spec/launch 4 for one set of per-launch times.
struct Knee {
  BoundVerdict verdict = BoundVerdict::kTransition;
  std::string reason;
  double plateau = kNan;
  size_t plateau_points = 0;
  size_t gpu_index = 0;  // of b_g in the sweep; valid for a transition
  double inflection = kNan;
  bool coarse = false;
};

struct KneeRule {
  double tau;
  double rho;
  std::optional<double> floor_ns;
};

size_t plateau_length(std::span<const double> q, double rho) {
  double low = q[0];
  double high = q[0];
  size_t m = 0;
  for (size_t j = 1; j < q.size(); ++j) {
    low = std::min(low, q[j]);
    high = std::max(high, q[j]);
    if (high > (1 + rho) * low) break;
    m = j + 1;
  }
  return m;
}

Knee gpu_bound_at_min(Knee knee, std::string reason) {
  knee.verdict = BoundVerdict::kGpuBoundAtMin;
  knee.reason = std::move(reason);
  return knee;
}

// b* of a transition at batch index g > 0 (spec/launch 4, step 4).
void place_inflection(std::span<const double> batch, std::span<const double> q, Knee& knee) {
  const size_t g = knee.gpu_index;
  const double slope = g + 1 < q.size() ? (q[g + 1] - q[g]) / (batch[g + 1] - batch[g]) : 0;
  knee.coarse = slope <= 0;
  knee.inflection =
      knee.coarse ? std::sqrt(batch[g - 1] * batch[g])
                  : std::clamp(batch[g] - (q[g] - knee.plateau) / slope, batch[g - 1], batch[g]);
}

Knee find_knee(std::span<const double> batch, std::span<const double> q, const KneeRule& rule) {
  Knee knee;
  knee.plateau_points = plateau_length(q, rule.rho);
  if (knee.plateau_points >= 2) {
    knee.plateau = median(std::vector<double>(
        q.begin(), q.begin() + static_cast<std::ptrdiff_t>(knee.plateau_points)));
  } else if (rule.floor_ns) {
    knee.plateau = *rule.floor_ns;
  } else {
    return gpu_bound_at_min(knee, "time per launch grows from the smallest batch on: no plateau");
  }
  if (knee.plateau_points >= 2 && rule.floor_ns &&
      knee.plateau > kQueueingPlateau * *rule.floor_ns) {
    return gpu_bound_at_min(
        knee, "the plateau is more than 3 times the launch-overhead floor: kernels already queue");
  }

  size_t first = q.size();
  while (first > 0 && q[first - 1] > rule.tau * knee.plateau) --first;
  if (first == q.size()) {
    knee.verdict = BoundVerdict::kCpuBoundThroughout;
    knee.reason = "time per launch never stays above tau times the plateau";
    return knee;
  }
  if (first == 0) {
    return gpu_bound_at_min(knee, "every batch is above tau times the launch-overhead floor");
  }
  knee.gpu_index = first;
  knee.reason = "time per launch stays above tau times the plateau from batch " +
                batch_text(batch[first]) + " on";
  place_inflection(batch, q, knee);
  return knee;
}

// 5 % and 95 % quantiles of b* over resampled repeats. A resample without a transition counts as
// the smallest or largest batch, according to its result.
void bootstrap(const std::vector<SweepPoint>& sweep, std::span<const double> batch,
               const KneeRule& rule, const BoundOptions& options, BoundReport& report) {
  std::mt19937_64 rng(options.seed);
  std::vector<double> found;
  found.reserve(options.bootstrap_samples);
  size_t transitions = 0;
  std::vector<double> q(sweep.size());
  for (size_t sample = 0; sample < options.bootstrap_samples; ++sample) {
    for (size_t j = 0; j < sweep.size(); ++j) {
      const size_t repeats = sweep[j].tklqt_ns.size();
      double tklqt = 0;
      double launches = 0;
      for (size_t r = 0; r < repeats; ++r) {
        const size_t pick = rng() % repeats;
        tklqt += sweep[j].tklqt_ns[pick];
        launches += launches_of(sweep[j], pick);
      }
      q[j] = tklqt / launches;
    }
    const Knee knee = find_knee(batch, std::span(q).subspan(report.skipped_points), rule);
    const bool transition = knee.verdict == BoundVerdict::kTransition;
    transitions += transition ? 1 : 0;
    const double end = knee.verdict == BoundVerdict::kGpuBoundAtMin ? batch.front() : batch.back();
    found.push_back(transition ? knee.inflection : end);
  }
  std::sort(found.begin(), found.end());
  report.interval_source = IntervalSource::kBootstrap;
  report.low_batch = quantile_sorted(found, 0.05);
  report.high_batch = quantile_sorted(found, 0.95);
  report.bootstrap_transition_share =
      static_cast<double>(transitions) / static_cast<double>(found.size());
}

std::vector<BoundPoint> describe_points(const std::vector<SweepPoint>& sweep,
                                        double balanced_share) {
  std::vector<BoundPoint> points;
  for (const SweepPoint& input : sweep) {
    BoundPoint point;
    point.batch = input.batch;
    point.tklqt_ns = mean(input.tklqt_ns);
    point.launches = mean(input.launches);
    point.q_ns = point.tklqt_ns / point.launches;
    point.latency_ns = input.latency_ns;
    point.gpu_idle_share = input.gpu_idle_share;
    point.cpu_idle_share = input.cpu_idle_share;
    point.balanced = input.gpu_idle_share && input.cpu_idle_share &&
                     *input.gpu_idle_share < balanced_share &&
                     *input.cpu_idle_share < balanced_share;
    points.push_back(point);
  }
  return points;
}

std::vector<BatchRange> balanced_regions(const std::vector<BoundPoint>& points) {
  std::vector<BatchRange> regions;
  bool inside = false;
  for (const BoundPoint& point : points) {
    if (point.balanced && !inside) regions.push_back({point.batch, point.batch});
    if (point.balanced) regions.back().to = point.batch;
    inside = point.balanced;
  }
  return regions;
}

// Leading batches that are warm-up: the first traces of a session, in which q falls by more than
// rho.
size_t warm_up_points(const std::vector<BoundPoint>& points, double rho) {
  size_t skipped = 0;
  while (skipped + 1 < points.size() &&
         points[skipped].q_ns > (1 + rho) * points[skipped + 1].q_ns) {
    ++skipped;
  }
  return skipped;
}

void fill_report(const Knee& knee, std::span<const double> batch, BoundReport& report) {
  report.verdict = knee.verdict;
  report.reason = knee.reason;
  report.plateau_ns = knee.plateau;
  report.plateau_points = knee.plateau_points;
  report.coarse = knee.coarse;
  report.inflection_batch = knee.inflection;
  const size_t n = batch.size();
  const bool transition = knee.verdict == BoundVerdict::kTransition;
  const bool at_min = knee.verdict == BoundVerdict::kGpuBoundAtMin;
  const size_t first_gpu = transition ? knee.gpu_index : (at_min ? 0 : n);
  report.last_cpu_batch = first_gpu > 0 ? batch[first_gpu - 1] : kNan;
  report.first_gpu_batch = first_gpu < n ? batch[first_gpu] : kNan;
  report.low_batch = transition ? report.last_cpu_batch : kNan;
  report.high_batch = transition ? report.first_gpu_batch : kNan;
  report.interval_source = transition ? IntervalSource::kBracket : IntervalSource::kNone;
  report.bootstrap_transition_share = kNan;

  const double floor = report.floor_ns.value_or(knee.plateau);
  for (size_t j = 0; j < report.points.size(); ++j) {
    BoundPoint& point = report.points[j];
    point.gpu_bound = at_min || j >= report.skipped_points + first_gpu;
    point.queue_share =
        std::isnan(floor) || point.q_ns == 0 ? kNan : std::max(0.0, 1 - floor / point.q_ns);
  }
}

}  // namespace

std::string_view bound_verdict_name(BoundVerdict verdict) {
  switch (verdict) {
    case BoundVerdict::kCpuBoundThroughout:
      return "CPU_BOUND_THROUGHOUT";
    case BoundVerdict::kGpuBoundAtMin:
      return "GPU_BOUND_AT_MIN";
    case BoundVerdict::kTransition:
      return "TRANSITION";
  }
  return "";
}

std::string_view interval_source_name(IntervalSource source) {
  switch (source) {
    case IntervalSource::kNone:
      return "none";
    case IntervalSource::kBracket:
      return "bracket";
    case IntervalSource::kBootstrap:
      return "bootstrap";
  }
  return "";
}

Result<BoundReport> analyze_bound(const std::vector<SweepPoint>& sweep,
                                  const BoundOptions& options) {
  ASSAY_TRY(check_sweep(sweep, options));
  BoundReport report;
  report.tau = options.tau;
  report.rho = std::max(options.rho, kNoiseFactor * noise_of(sweep));
  report.floor_ns = options.floor_ns;
  report.balanced_share = options.balanced_share;
  report.points = describe_points(sweep, options.balanced_share);
  report.balanced_regions = balanced_regions(report.points);
  report.skipped_points = warm_up_points(report.points, report.rho);
  if (sweep.size() - report.skipped_points < kMinBatches) {
    return invalid(
        "time per launch falls as the batch grows, so the sweep shows no plateau; "
        "check that every trace is of the same program, warmed up");
  }

  std::vector<double> batch;
  std::vector<double> q;
  for (size_t j = report.skipped_points; j < sweep.size(); ++j) {
    batch.push_back(report.points[j].batch);
    q.push_back(report.points[j].q_ns);
  }
  const KneeRule rule{report.tau, report.rho, options.floor_ns};
  fill_report(find_knee(batch, q, rule), batch, report);
  const bool repeated = std::all_of(sweep.begin(), sweep.end(), [](const SweepPoint& point) {
    return point.tklqt_ns.size() >= 2;
  });
  if (report.verdict == BoundVerdict::kTransition && repeated && options.bootstrap_samples > 0) {
    bootstrap(sweep, batch, rule, options, report);
  }
  return report;
}

}  // namespace assay
