#pragma once

// Explains the difference between an operation's time at the device's peak and its actual time
// (Chopper, equations 6 to 10 and Figure 15). The steps are theoretical, instruction, utilisation,
// overlap and frequency, plus a residual.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "breakdown/breakdown.h"
#include "breakdown/counter_formulas.h"
#include "breakdown/counters.h"

namespace assay {

// How D_0 % and D_50 % of Eq. 9 are computed from the samples (the paper leaves it open).
enum class OverlapReading : uint8_t {
  kCurve,       // duration as a monotone function of overlap, at 0 and 0.5
  kCumulative,  // duration by which half of all overlap has happened / shortest duration
  kQuantile,    // duration at the quantile at which the overlap is 0.5
};
std::string_view overlap_reading_name(OverlapReading reading);  // curve, cumulative, quantile

// One execution of an operation.
struct OverlapSample {
  int64_t gpu = 0;
  double overlap = 0;  // ratio, 0..1
  double dur_ns = 0;
};
struct OverlapFactor {
  double factor = 1;  // D_50 / D_0; 1 if the overlap does not vary
  double d0 = kNan;   // relative to the shortest execution of the GPU
  double d50 = kNan;
  double pearson = kNan;  // correlation of overlap and duration; NaN if one does not vary
  uint64_t samples = 0;
  bool constant = false;      // the overlap does not vary: no factor can be computed
  bool extrapolated = false;  // no sample at or below 0.05, or none at or above 0.5
};
OverlapFactor overlap_factor(std::vector<OverlapSample> samples, OverlapReading reading);

// Peaks of the device for an operation.
struct WaterfallPeaks {
  std::string device;
  double flop_per_s = 0;  // TPT_peak, dense, of the matrix units
  double clock_hz = 0;    // Freq_peak, the clock for which flop_per_s holds
  std::string source;
};

struct WaterfallInput {
  double d_act_ns = 0;        // measured
  double flop = kNan;         // F_gemm; NaN = unknown
  double flop_counted = 0;    // F_perf
  double matrix_busy = 0;     // MFMA_util as a share, 0..1
  double cycles = 0;          // C_gpu
  double overlap_factor = 1;  // Eq. 9
};

constexpr size_t kWaterfallBars = 6;
enum class WaterfallBar : uint8_t {
  kTheoretical,  // D_thr
  kInstruction,
  kUtilisation,
  kOverlap,
  kFrequency,
  kResidual,
};
std::string_view waterfall_bar_name(WaterfallBar bar);

struct Waterfall {
  double d_thr_ns = 0;     // Eq. 6
  double instruction = 1;  // Eq. 7; 1 if the operation's FLOP are unknown
  double utilisation = 1;  // Eq. 8
  double overlap = 1;      // Eq. 9
  double frequency = 1;    // Eq. 10
  double residual = 1;     // rho: FLOP per busy cycle of the matrix units / their peak
  double d_peak_ns = 0;    // C_gpu / Freq_peak
  double d_act_ns = 0;
  bool flop_counted = false;  // D_thr uses the counted FLOP: the instruction overhead is unknown
  // In ns; they sum exactly to the rounded d_act_ns. A factor below 1 has a negative bar. Factor f
  // gets the share ln f / ln(d_act / d_thr) of d_act - d_thr; the residual's factor is 1 / rho.
  std::array<int64_t, kWaterfallBars> bars_ns = {};
};

// Matrix units cannot exceed their peak. If rho exceeds 1 by more than this, a peak or counter is
// wrong.
constexpr double kResidualTolerance = 0.01;
// Fails with the reason if an input is missing or invalid, or if rho > 1.
Result<Waterfall> make_waterfall(const WaterfallInput& input, const WaterfallPeaks& peaks);

// One operation over all its executions (GPUs, iterations, layers): factors are computed from sums.
struct OpWaterfall {
  LevelPhase phase = LevelPhase::kNone;
  uint32_t op = 0;  // into JobLevels::op_names
  OpType op_type = OpType::kOther;
  uint64_t executions = 0;  // executions used: every kernel has its counters
  uint64_t left_out = 0;    // executions with a kernel without counters
  uint64_t kernels = 0;
  int64_t dur_ns = 0;    // over the executions used
  WaterfallInput input;  // sums
  std::string refused;   // why there is no waterfall; empty = there is one
  Derived derived;       // all quantities that follow from its summed counters
  Waterfall waterfall;
  std::array<OverlapFactor, 3> overlap;  // by OverlapReading
};

// Device constants for formulas, and device peaks. Values from the counter run override the
// specifications.
struct WaterfallDevice {
  WaterfallPeaks peaks;
  NamedValues constants;  // compute_units, matrix_units_per_cu, xcds
};

struct WaterfallOptions {
  OverlapReading reading = OverlapReading::kCurve;
  WaterfallDevice device;
};

// All operations that have matrix products or attention, by name or by counted matrix FLOP, longest
// total duration first. An operation without a waterfall has the reason in `refused`. The result
// does not depend on the order of cells.
std::vector<OpWaterfall> op_waterfalls(const CounterJoin& counters, const CounterFormulas& formulas,
                                       const WaterfallOptions& options);

// Sums of counters over complete cells; ratios are means weighted by cycles. Counters that a cell
// lacks are left out.
NamedValues sum_counters(const CounterJoin& counters, const std::vector<const CounterCell*>& cells);

}  // namespace assay
