#pragma once

// Errors of predicted latencies for new runs, and the coverage of their intervals. Rows are held
// out by benchmark run, build, configuration, unit and GPU, and beyond the rows. Every answer is
// for a future benchmark run, as in `plan`. Scales are measured only on the training rows of each
// fold.

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "throughput/evaluate.h"
#include "throughput/serving/latency_model.h"

namespace assay {

// Errors are absolute, as shares of what was measured; NaN where nothing was answered.
struct LatencyErrors {
  std::string split;     // "campaign", ...
  std::string question;  // only its rows with this question; empty: all but new hardware
  LatencyTarget target = LatencyTarget::kTtft;
  size_t rows = 0;       // answered
  size_t campaigns = 0;  // among them
  double median_ape = 0;
  double p90_ape = 0;
  double baseline_median_ape = 0;  // physics times one factor per engine and GPU
  double baseline_p90_ape = 0;
  double coverage90 = 0;
  double half_width90 = 0;  // median
  // Of those, rows no wider than `inside` allows.
  size_t narrow_rows = 0;
  size_t narrow_campaigns = 0;
  double narrow_coverage90 = 0;
  // Of units (GPU, engine, model) with at least kFewestUnitRows rows the one that is held least.
  std::string worst_unit;
  size_t worst_rows = 0;
  double worst_coverage90 = 0;
  size_t units = 0;
  size_t units_below = 0;  // held less than kPoorCoverage
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
  double brier_constant = 0;  // if the share that was met were always predicted
  size_t left_out = 0;  // rows with latencies but without specifications, or beyond the peaks of
                        // devices
  std::vector<std::string> skipped;  // splits that the rows cannot make, and why
  // Of another table alone.
  std::vector<JudgedRow> judged;  // three a row, by target
  size_t copies = 0;              // measurements of the table learnt from: not asked
  size_t unanswered = 0;          // of engines that no row learnt from has: not asked
};
inline constexpr const char* kOtherTable = "another table";

// False stops with an empty result.
using LatencyProgress = std::function<bool(const std::string& split, size_t fold, size_t folds)>;
Result<LatencyEvaluation> evaluate_latency(const std::vector<BenchRow>& rows, const FactBook& facts,
                                           const LatencyProgress& progress = {});
// The same of the rows of `other`, none of which teach; their copies among `rows` are not asked.
// The result points into `other`. Errors: no row teaches, or none of `other` can be asked.
Result<LatencyEvaluation> judge_latency(const std::vector<BenchRow>& rows,
                                        const std::vector<BenchRow>& other, const FactBook& facts);

// That both TTFT and TPOT stay below their limits, by the process's own deviations: half-widths are
// for 90 % and too wide for the middle.
double limits_probability(const LatencyAnswer& answer, double correlation, double ttft_ms,
                          double tpot_ms);

}  // namespace assay
