#pragma once

// From the time of an operation at the device's peak to its actual time (Chopper, equations 6 to 10
// and Figure 15). The steps are theoretical, instruction, utilisation, overlap and frequency, plus
// a residual.

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

// How D_0 % and D_50 % of Eq. 9 are read from the samples (the paper leaves it open).
enum class OverlapReading : uint8_t {
  kCurve,       // duration as a monotone function of overlap, at 0 and 0.5
  kCumulative,  // duration by which half of all overlap has happened, over the shortest
  kQuantile,    // duration at the quantile that an overlap of 0.5 has among overlaps
};
std::string_view overlap_reading_name(OverlapReading reading);  // curve, cumulative, quantile

// One execution of an operation.
struct OverlapSample {
  int64_t gpu = 0;
  double overlap = 0;  // ratio, 0..1
  double dur_ns = 0;
};
struct OverlapFactor {
  double factor = 1;  // D_50 / D_0; 1 where the overlap does not vary
  double d0 = kNan;   // in units of the shortest execution of the GPU
  double d50 = kNan;
  double pearson = kNan;  // of overlap and duration; NaN where one does not vary
  uint64_t samples = 0;
  bool constant = false;      // no variation of overlap: nothing to read a factor from
  bool extrapolated = false;  // no sample at 0.05 or below, or none at 0.5 or above
};
OverlapFactor overlap_factor(std::vector<OverlapSample> samples, OverlapReading reading);

// Peaks of the device for an operation.
struct WaterfallPeaks {
  std::string device;
  double flop_per_s = 0;  // TPT_peak, dense, of the matrix units
  double clock_hz = 0;    // Freq_peak, the clock that flop_per_s holds at
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
  double residual = 1;     // rho: what matrix units retire per busy cycle, over their peak
  double d_peak_ns = 0;    // C_gpu / Freq_peak
  double d_act_ns = 0;
  bool flop_counted = false;  // D_thr is of the counted FLOP: instruction overhead is not known
  // In ns; their sum is d_act_ns rounded, exactly. A factor below 1 has a negative bar. The share
  // of factor f is ln f / ln(d_act / d_thr) of d_act - d_thr; the residual's factor is 1 / rho.
  std::array<int64_t, kWaterfallBars> bars_ns = {};
};

// Matrix units cannot retire more than their peak: above 1 by more than this, peak or counter is
// wrong.
constexpr double kResidualTolerance = 0.01;
// Fails with the reason when an input is missing or makes no sense, and on rho > 1.
Result<Waterfall> make_waterfall(const WaterfallInput& input, const WaterfallPeaks& peaks);

// One operation over all its executions (GPUs, iterations, layers): sums first, then factors.
struct OpWaterfall {
  LevelPhase phase = LevelPhase::kNone;
  uint32_t op = 0;  // into JobLevels::op_names
  OpType op_type = OpType::kOther;
  uint64_t executions = 0;  // that count: every kernel has its counters
  uint64_t left_out = 0;    // executions with a kernel that has none
  uint64_t kernels = 0;
  int64_t dur_ns = 0;    // of the executions that count
  WaterfallInput input;  // sums
  std::string refused;   // why there is no waterfall; empty = there is one
  Derived derived;       // every quantity that the sums of its counters give
  Waterfall waterfall;
  std::array<OverlapFactor, 3> overlap;  // by OverlapReading
};

// Constants of the device for formulas, and its peaks. Values from the counter run take precedence
// over the specifications.
struct WaterfallDevice {
  WaterfallPeaks peaks;
  NamedValues constants;  // compute_units, matrix_units_per_cu, xcds
};

struct WaterfallOptions {
  OverlapReading reading = OverlapReading::kCurve;
  WaterfallDevice device;
};

// Every operation with matrix products or attention in it, by name or by matrix FLOP counted, by
// summed duration, longest first; a refused one has its reason. Independent of the order of cells.
std::vector<OpWaterfall> op_waterfalls(const CounterJoin& counters, const CounterFormulas& formulas,
                                       const WaterfallOptions& options);

// Sums of counters over cells that are complete, ratios as means weighted by cycles; a counter that
// one of them lacks is left out.
NamedValues sum_counters(const CounterJoin& counters, const std::vector<const CounterCell*>& cells);

}  // namespace assay
