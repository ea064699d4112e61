#pragma once

// Errors of predicted latencies for new runs, and the coverage of their intervals. Rows are held
// out by benchmark run, build, configuration, unit (GPU, engine, model), model and GPU, and by many
// requests in flight and long prompts. Every answer is for a future benchmark run, as in `plan`.
// Scales are measured only on the training rows of each fold.

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "throughput/evaluate.h"
#include "throughput/serving/latency_model.h"

namespace assay {

// Absolute errors as shares of the measured value; NaN if nothing was answered.
struct LatencyErrors {
  std::string split;     // "campaign", ...
  std::string question;  // rows with this question; empty: all except new hardware
  LatencyTarget target = LatencyTarget::kTtft;
  size_t rows = 0;       // answered
  size_t campaigns = 0;  // among them
  double median_ape = 0;
  double p90_ape = 0;
  double baseline_median_ape = 0;  // analytical base times one factor per engine and GPU
  double baseline_p90_ape = 0;
  double coverage90 = 0;
  double half_width90 = 0;  // median
  // Rows with an interval no wider than kWidestInside (method.h).
  size_t narrow_rows = 0;
  size_t narrow_campaigns = 0;
  double narrow_coverage90 = 0;
  // The unit (GPU, engine, model) with the lowest coverage, among those with at least
  // kFewestUnitRows rows.
  std::string worst_unit;
  size_t worst_rows = 0;
  double worst_coverage90 = 0;
  size_t units = 0;
  size_t units_below = 0;  // with coverage below kPoorCoverage
};
// Split "GPU": rows of a GPU with a sibling that has rows. The baseline is the sibling times the
// ratio of data sheets, without intervals.
inline constexpr const char* kSiblingQuestion = "nearest GPU";
inline constexpr size_t kFewestUnitRows = 15;
inline constexpr double kPoorCoverage = 0.8;

// How often two limits on mean TTFT and TPOT are met, by predicted probability.
struct LimitCalibration {
  double from = 0;  // lower end of the predicted probability
  double to = 0;
  size_t asked = 0;
  double told = 0;  // mean
  double met = 0;
};

// A row of another table, and its prediction.
struct JudgedRow {
  const BenchRow* row = nullptr;
  LatencyQuestion question = LatencyQuestion::kHardware;
  LatencyTarget target = LatencyTarget::kTtft;
  double measured_ms = 0;
  LatencyEstimate told;
};

struct LatencyEvaluation {
  std::vector<LatencyErrors> errors;
  std::vector<LimitCalibration> limits;  // held-out benchmark runs, or rows of another table
  double brier = 0;
  double brier_constant = 0;  // of always predicting the share of limits that was met
  size_t left_out = 0;  // rows with latencies but without specifications, or beyond the peaks of
                        // devices
  std::vector<std::string> skipped;  // names of the splits that the rows do not support
  // Only for judge_latency():
  std::vector<JudgedRow> judged;  // three per row, by target
  size_t copies = 0;              // not tested: measurements that are in the training table
  size_t unanswered = 0;          // not tested: engines without training rows
};
inline constexpr const char* kOtherTable = "another table";

// False stops with an empty result.
using LatencyProgress = std::function<bool(const std::string& split, size_t fold, size_t folds)>;
Result<LatencyEvaluation> evaluate_latency(const std::vector<BenchRow>& rows, const FactBook& facts,
                                           const LatencyProgress& progress = {});
// Tests a model trained on `rows` on the rows of `other`, without those that copy a training row.
// The result points into `other`. Fails if no row is usable for training or for the test.
Result<LatencyEvaluation> judge_latency(const std::vector<BenchRow>& rows,
                                        const std::vector<BenchRow>& other, const FactBook& facts);

// Probability that both TTFT and TPOT stay below their limits, by the process's own deviations.
// Interval half-widths are for 90 % and too wide for the middle.
double limits_probability(const LatencyAnswer& answer, double correlation, double ttft_ms,
                          double tpot_ms);

}  // namespace assay
