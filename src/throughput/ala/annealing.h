#pragma once

// Finds the measured values that are the best training data for ALA. Simulated annealing searches
// subsets of the lengths and batch sizes of a data set (Algorithm 6). Its log trains an error
// predictor (Algorithm 7). The similarity of new data to the logged subsets gives a confidence
// (Algorithm 8).

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "throughput/ala/ala.h"
#include "throughput/method.h"

namespace assay {

// The distinct values of a data set, ascending.
struct ValueSets {
  std::vector<double> in_len;
  std::vector<double> batch;
  std::vector<double> out_len;
  bool lengths_tied = false;  // in_len = out_len in every row: one choice sets both
};
ValueSets value_sets(const ThroughputData& data);

// Whether each of the values is in the subset, by position.
struct ValueSubset {
  std::vector<bool> in_len;
  std::vector<bool> batch;
  std::vector<bool> out_len;
  friend bool operator==(const ValueSubset&, const ValueSubset&) = default;
};

// 0/1 per value: lengths in, batch sizes, lengths out (the input of the error predictor).
std::vector<double> encode(const ValueSubset& subset);
// Rows with all three values in the subset, ascending.
std::vector<size_t> rows_inside(const ThroughputData& data, const ValueSets& values,
                                const ValueSubset& subset);

// Median error of a method trained on the rows inside and tested on the rows outside; nullopt if
// one side is empty or there are no answers.
Result<std::optional<double>> subset_error(const ThroughputData& data, const ValueSets& values,
                                           const ValueSubset& subset,
                                           const ThroughputMethod& method);

struct AnnealingStep {
  ValueSubset subset;
  size_t rows = 0;         // inside
  double error = 0;        // median absolute percentage error, share of 1
  double temperature = 0;  // percentage points
  bool accepted = false;
};

struct AnnealingOptions {
  uint64_t seed = 1;
  int steps = 200;
  double temperature = 10;  // of errors in percent
  double cooling = 0.98;
  int rounds = 500;  // of boosting per candidate, with rounds * eta as published
  // Called before each step with the log so far. If it returns false, the log so far is the result.
  std::function<bool(const std::vector<AnnealingStep>&)> progress;
};

struct AnnealingRun {
  ValueSets values;
  std::vector<AnnealingStep> log;  // starts with every second value
  bool interrupted = false;
  bool exhaustive = false;  // the log has every subset with an error, once
};

Result<AnnealingRun> anneal(const ThroughputData& data, const AnnealingOptions& options);

// Number of subsets with a value of each kind, except the whole; 464 for five tied lengths and four
// batch sizes. Saturates at 2^53.
double subset_count(const ValueSets& values);
inline constexpr double kMostSubsets = 20'000;
// Tries every subset instead of annealing; uses `rounds` and `progress` of the options. Fails with
// more than kMostSubsets.
Result<AnnealingRun> try_all_subsets(const ThroughputData& data, const AnnealingOptions& options);

// Accept when better, else with probability exp(-worse / temperature); `uniform` is in [0, 1).
bool accepts(double error_percent, double current_percent, double temperature, double uniform);

// Boosted trees (depth 6, eta 0.1, 300 rounds) from encoded subsets to their errors.
class ErrorPredictor {
 public:
  static Result<ErrorPredictor> train(const std::vector<AnnealingStep>& log);
  // Predicted error, as a share of 1.
  Result<double> predict(const ValueSubset& subset) const;

 private:
  explicit ErrorPredictor(BoostedTrees trees) : trees_(std::move(trees)) {}
  BoostedTrees trees_;
};

// 1 / (1 + d), where d is the minimum mean cosine distance between the histograms of `fresh` and of
// any logged subset of `source`. Histograms have 10 equal bins over 0-2048 for the lengths and over
// 0-256 for batch sizes. with_throughput adds 20 bins over -1..6 for its decimal logarithm. Values
// above a range count in its last bin.
double confidence(const ThroughputData& source, const AnnealingRun& run,
                  const ThroughputData& fresh, bool with_throughput);

// The same without throughput for a single point, against subsets of one row each. No search is
// run: such subsets are the closest to a single point of all that a search could log, apart from
// pairs of rows in tables with holes.
double point_confidence(const ThroughputData& data, const std::vector<size_t>& rows,
                        const BenchRow& point);

// Which of the values occur in some rows; values outside the sets are ignored.
ValueSubset values_of(const ValueSets& values, const ThroughputData& data,
                      const std::vector<size_t>& rows);

// Predicted and actual error for rows outside the training data (ALA, Table I), as shares of 1.
struct TargetJudgement {
  // Algorithm 8: the output of the error predictor for the values of each configuration of the
  // target, mean over the target's rows. NaN if none of its values is known.
  double predicted_error = 0;
  // The same for the target's rows inside each logged subset that has an actual error. The actual
  // error is that of ALA trained on these rows and tested on the target's others. Both are means
  // over subsets.
  double predicted_error_subsets = 0;
  double actual_error = 0;
  size_t unknown_rows = 0;  // with a length or a batch size that the source never had
  double confidence = 0;
  double confidence_with_throughput = 0;
};
Result<TargetJudgement> judge_target(const ThroughputData& source, const AnnealingRun& run,
                                     const ThroughputData& target, int rounds);

// 1 - cosine of the angle; 1 if a vector is zero.
double cosine_distance(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace assay
