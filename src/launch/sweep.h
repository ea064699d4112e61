#pragma once

// CPU-bound or GPU-bound, from a sweep over batch sizes: the batch at which queueing exceeds
// launching (SKIP section V-B; spec/launch 4 defines the algorithm, which the paper does not
// print). From two sweeps, the crossover of two platforms (SKIP Figs. 10 and 11). For one trace,
// flow/ determines the bottleneck.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "launch/metrics.h"

namespace assay {

// One batch size of a sweep, with one or more repeats.
struct SweepPoint {
  double batch = 0;
  std::vector<double> tklqt_ns;          // one per repeat
  std::vector<double> launches;          // one per repeat, or one for all
  std::optional<double> latency_ns;      // IL or TTFT
  std::optional<double> gpu_idle_share;  // 0 to 1
  std::optional<double> cpu_idle_share;  // 0 to 1
};

struct BoundOptions {
  double tau = 2;  // GPU-bound above tau x plateau; 2 = queueing outweighs launching, by definition
  double rho = 0.25;  // plateau tolerance; raised to 3 x 1.4826 MAD / median by noisy repeats
  std::optional<double> floor_ns;  // null-kernel launch time from the same tracer and host
  double balanced_share = 0.3;     // balanced: both idle shares below this
  size_t bootstrap_samples = 2000;
  uint64_t seed = 1;
};

enum class BoundVerdict : uint8_t {
  kCpuBoundThroughout,  // "CPU_BOUND_THROUGHOUT"
  kGpuBoundAtMin,       // "GPU_BOUND_AT_MIN"
  kTransition,          // "TRANSITION"
};
std::string_view bound_verdict_name(BoundVerdict verdict);

enum class IntervalSource : uint8_t { kNone, kBracket, kBootstrap };
std::string_view interval_source_name(IntervalSource source);

struct BoundPoint {
  double batch = 0;
  double tklqt_ns = 0;     // mean over repeats
  double launches = 0;     // mean over repeats
  double q_ns = 0;         // TKLQT per launch
  double queue_share = 0;  // max(0, 1 - F/q), F = given floor, else plateau; NaN if there is
                           // neither. A lower bound, because launches faster than F hide some
                           // queueing
  bool gpu_bound = false;  // at or beyond b_g
  bool balanced = false;   // both idle shares given and below the bound
  std::optional<double> latency_ns;
  std::optional<double> gpu_idle_share;
  std::optional<double> cpu_idle_share;
};

struct BatchRange {
  double from = 0;
  double to = 0;
};

// Batches that do not apply to the result are NaN.
struct BoundReport {
  BoundVerdict verdict = BoundVerdict::kTransition;
  std::string reason;           // one sentence: which rule decided
  double plateau_ns = 0;        // c; NaN if there is neither plateau nor launch-overhead floor
  size_t plateau_points = 0;    // m; 0 = c is the given launch-overhead floor, or there is none
  size_t skipped_points = 0;    // leading batches that are warm-up: q falls by more than rho
  double last_cpu_batch = 0;    // b_c
  double first_gpu_batch = 0;   // b_g
  double inflection_batch = 0;  // b*
  bool coarse = false;          // b* is only the geometric mean of b_c and b_g
  IntervalSource interval_source = IntervalSource::kNone;
  double low_batch = 0;  // 5 % and 95 % of b* over the bootstrap, or b_c and b_g
  double high_batch = 0;
  double bootstrap_transition_share =
      0;  // resamples that found a transition; NaN without bootstrap
  double tau = 0;
  double rho = 0;  // as used
  std::optional<double> floor_ns;
  std::vector<BoundPoint> points;
  std::vector<BatchRange> balanced_regions;  // maximal runs of balanced batches
  double balanced_share = 0;
};

// Spec 4. Fails on fewer than 3 batches, batches that do not increase, zero launches, and numbers
// that are negative or not finite; the message says what to do.
Result<BoundReport> analyze_bound(const std::vector<SweepPoint>& sweep,
                                  const BoundOptions& options);

// Crossover of the latencies of platforms A and B (SKIP "crossover point", CP).
struct Crossover {
  bool found = false;
  double batch = 0;           // smallest common batch after which the sign of A - B stays flipped
  double previous_batch = 0;  // the common batch before it
  double interpolated = 0;    // log-log interpolation between the two
  bool a_faster_below = false;
  std::vector<std::pair<double, double>> ratio_by_batch;  // (batch, latency A / latency B)
};

// Compares at the batches that both sweeps have. Fails when fewer than 2 such batches carry a
// positive latency on both sides.
Result<Crossover> find_crossover(const std::vector<SweepPoint>& a,
                                 const std::vector<SweepPoint>& b);

}  // namespace assay
