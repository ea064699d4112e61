#pragma once

// Errors of a method on held-out rows: absolute percentage errors pooled over the folds of a split
// (spec/throughput 2).

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/result.h"
#include "throughput/method.h"
#include "throughput/splits.h"

namespace assay {

// Errors are shares of 1, on feasible rows; NaN if no row has an answer.
struct ErrorSummary {
  size_t rows = 0;        // feasible test rows
  size_t answered = 0;    // of those, with a prediction
  size_t outside = 0;     // of those, marked as outside the range of the data
  size_t impossible = 0;  // answered with zero tokens/s or fewer
  size_t infeasible = 0;  // or unsteady: test rows excluded from the errors
  double p10_ape = std::numeric_limits<double>::quiet_NaN();
  double p25_ape = std::numeric_limits<double>::quiet_NaN();
  double median_ape = std::numeric_limits<double>::quiet_NaN();
  double p75_ape = std::numeric_limits<double>::quiet_NaN();
  double p90_ape = std::numeric_limits<double>::quiet_NaN();
  double mean_ape = std::numeric_limits<double>::quiet_NaN();
  double coverage90 = std::numeric_limits<double>::quiet_NaN();    // NaN without intervals
  double half_width90 = std::numeric_limits<double>::quiet_NaN();  // median of (high/point - 1)
};

// One test row and its prediction.
struct TestedRow {
  size_t row = 0;  // index into ThroughputData::rows
  size_t fold = 0;
  Prediction prediction;
  double ape = std::numeric_limits<double>::quiet_NaN();  // share of 1
};

struct SplitErrors {
  std::string split;  // "S1"
  std::string label;
  std::string method;
  ErrorSummary summary;
  std::vector<TestedRow> rows;
};

// Called before each fold. If it returns false, the finished folds are the result.
using EvaluateProgress =
    std::function<bool(const std::string& method, const Split& split, size_t fold)>;

Result<SplitErrors> evaluate_split(const ThroughputData& data, const Split& split,
                                   const ThroughputMethod& method,
                                   const EvaluateProgress& progress = {});

// Errors grouped by a name of the row: a model (ALA, Figure 8), or hardware and framework. Sorted
// by name.
struct NamedErrors {
  std::string name;
  ErrorSummary summary;
};
std::vector<NamedErrors> errors_by(const ThroughputData& data, const SplitErrors& errors,
                                   const std::function<std::string(const BenchRow&)>& name_of);

ErrorSummary summarize_errors(const ThroughputData& data, const std::vector<TestedRow>& rows);

}  // namespace assay
