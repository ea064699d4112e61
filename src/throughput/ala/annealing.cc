#include "throughput/ala/annealing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "base/numbers.h"
#include "base/random.h"
#include "base/stats.h"
#include "throughput/evaluate.h"

namespace assay {
namespace {

// Maximum number of redraws in a row. A subset without an error of its own is redrawn; if this many
// in a row have none, the data set offers no choice.
constexpr int kMostRedraws = 1000;

std::vector<double> distinct(const ThroughputData& data, double BenchRow::* field) {
  std::set<double> values;
  for (const BenchRow& row : data.rows) values.insert(row.*field);
  return {values.begin(), values.end()};
}

bool holds(const std::vector<double>& values, const std::vector<bool>& in, double value) {
  const auto at = std::lower_bound(values.begin(), values.end(), value);
  return at != values.end() && *at == value && in[static_cast<size_t>(at - values.begin())];
}

std::vector<bool> every_second(size_t size) {
  std::vector<bool> in(size);
  for (size_t i = 0; i < size; i += 2) in[i] = true;
  return in;
}

bool any(const std::vector<bool>& in) { return std::find(in.begin(), in.end(), true) != in.end(); }

// Flips the k-th value, counted over input lengths, batch sizes and output lengths. Tied lengths
// flip together.
ValueSubset toggled(const ValueSubset& subset, bool tied, size_t k) {
  ValueSubset next = subset;
  const size_t lengths = subset.in_len.size();
  const size_t batches = subset.batch.size();
  if (k >= lengths && k < lengths + batches) {
    next.batch[k - lengths].flip();
    return next;
  }
  const bool out = k >= lengths;
  const size_t at = out ? k - lengths - batches : k;
  if (tied || !out) next.in_len[at].flip();
  if (tied || out) next.out_len[at].flip();
  return next;
}

class Annealer {
 public:
  Annealer(const ThroughputData& data, const AnnealingOptions& options)
      : data_(data),
        options_(options),
        random_(options.seed),
        method_(ala_per_config_method(ala_boost_options(options.rounds))) {
    run_.values = value_sets(data);
  }

  Result<AnnealingRun> run() {
    ASSAY_TRY(start());
    ValueSubset current = run_.log.front().subset;
    double error = run_.log.front().error;
    double temperature = options_.temperature;
    for (int step = 0; step < options_.steps; ++step) {
      if (options_.progress && !options_.progress(run_.log)) {
        run_.interrupted = true;
        break;
      }
      ASSAY_TRY_ASSIGN(AnnealingStep next, draw(current));
      next.temperature = temperature;
      next.accepted = accepts(100 * next.error, 100 * error, temperature, random_.uniform());
      if (next.accepted) {
        current = next.subset;
        error = next.error;
      }
      run_.log.push_back(std::move(next));
      temperature *= options_.cooling;
    }
    return std::move(run_);
  }

 private:
  Status start() {
    AnnealingStep first;
    first.subset = {every_second(run_.values.in_len.size()), every_second(run_.values.batch.size()),
                    every_second(run_.values.out_len.size())};
    ASSAY_TRY_ASSIGN(const auto error, error_of(first.subset));
    if (!error) {
      return Error{ErrorCode::kUnsupported,
                   "annealing needs configurations with two or more lengths or batch sizes: "
                   "every second value leaves nothing to test on",
                   "", -1};
    }
    first.error = *error;
    first.rows = rows_inside(data_, run_.values, first.subset).size();
    first.temperature = options_.temperature;
    first.accepted = true;
    run_.log.push_back(std::move(first));
    return Ok{};
  }

  // A random neighbour of `subset` that has an error.
  Result<AnnealingStep> draw(const ValueSubset& subset) {
    const size_t values = subset.in_len.size() + subset.batch.size() + subset.out_len.size();
    for (int attempt = 0; attempt < kMostRedraws; ++attempt) {
      AnnealingStep step;
      // The modulo's bias is below 2^-50 for so few values.
      step.subset =
          toggled(subset, run_.values.lengths_tied, static_cast<size_t>(random_.next() % values));
      if (!any(step.subset.in_len) || !any(step.subset.batch) || !any(step.subset.out_len)) {
        continue;
      }
      ASSAY_TRY_ASSIGN(const auto error, error_of(step.subset));
      if (!error) continue;
      step.error = *error;
      step.rows = rows_inside(data_, run_.values, step.subset).size();
      return step;
    }
    return Error{ErrorCode::kUnsupported, "annealing found no subset with rows on both sides", "",
                 -1};
  }

  Result<std::optional<double>> error_of(const ValueSubset& subset) const {
    return subset_error(data_, run_.values, subset, method_);
  }

  const ThroughputData& data_;
  const AnnealingOptions& options_;
  SplitMix64 random_;
  ThroughputMethod method_;
  AnnealingRun run_;
};

// Enumerates the subsets with at least one value of each kind. Tied lengths are chosen once for
// both.
class SubsetCounter {
 public:
  explicit SubsetCounter(const ValueSets& values)
      : sizes_{values.in_len.size(), values.batch.size(),
               values.lengths_tied ? 0 : values.out_len.size()},
        tied_(values.lengths_tied) {}

  ValueSubset current() const {
    ValueSubset subset{bits(0), bits(1), bits(2)};
    if (tied_) subset.out_len = subset.in_len;
    return subset;
  }

  // False after the last one.
  bool next() {
    for (size_t k = 0; k < 3; ++k) {
      if (sizes_[k] == 0) continue;
      if (++masks_[k] < (uint64_t{1} << sizes_[k])) return true;
      masks_[k] = 1;
    }
    return false;
  }

 private:
  std::vector<bool> bits(size_t k) const {
    std::vector<bool> in(sizes_[k]);
    for (size_t i = 0; i < in.size(); ++i) in[i] = (masks_[k] >> i & 1) != 0;
    return in;
  }

  std::array<size_t, 3> sizes_;
  std::array<uint64_t, 3> masks_{1, 1, 1};
  bool tied_;
};

struct BinRange {
  double low;
  double high;
  size_t bins;
};
constexpr BinRange kLengthBins{0, 2048, 10};
constexpr BinRange kBatchBins{0, 256, 10};
constexpr BinRange kThroughputBins{-1, 6, 20};

size_t bin_of(double value, BinRange range) {
  const double width = (range.high - range.low) / static_cast<double>(range.bins);
  const double clipped = std::clamp(value, range.low, range.high);
  return std::min(static_cast<size_t>((clipped - range.low) / width), range.bins - 1);
}

std::vector<double> histogram(const std::vector<double>& values, BinRange range) {
  std::vector<double> counts(range.bins, 0);
  for (const double value : values) ++counts[bin_of(value, range)];
  return counts;
}

// Histograms of the lengths, the batch sizes and, if requested, the throughput of some rows.
std::vector<std::vector<double>> histograms(const ThroughputData& data,
                                            const std::vector<size_t>& rows, bool with_throughput) {
  std::vector<double> in_len, out_len, batch, throughput;
  for (const size_t i : rows) {
    in_len.push_back(data.rows[i].in_len);
    out_len.push_back(data.rows[i].out_len);
    batch.push_back(data.rows[i].batch);
    throughput.push_back(std::log10(data.rows[i].tokens_per_s));
  }
  std::vector<std::vector<double>> all = {histogram(in_len, kLengthBins),
                                          histogram(batch, kBatchBins),
                                          histogram(out_len, kLengthBins)};
  if (with_throughput) all.push_back(histogram(throughput, kThroughputBins));
  return all;
}

}  // namespace

ValueSets value_sets(const ThroughputData& data) {
  ValueSets values{distinct(data, &BenchRow::in_len), distinct(data, &BenchRow::batch),
                   distinct(data, &BenchRow::out_len), true};
  for (const BenchRow& row : data.rows) values.lengths_tied &= row.in_len == row.out_len;
  return values;
}

std::vector<double> encode(const ValueSubset& subset) {
  std::vector<double> bits;
  for (const auto* in : {&subset.in_len, &subset.batch, &subset.out_len}) {
    for (const bool bit : *in) bits.push_back(bit ? 1 : 0);
  }
  return bits;
}

std::vector<size_t> rows_inside(const ThroughputData& data, const ValueSets& values,
                                const ValueSubset& subset) {
  std::vector<size_t> rows;
  for (size_t i = 0; i < data.rows.size(); ++i) {
    const BenchRow& row = data.rows[i];
    if (holds(values.in_len, subset.in_len, row.in_len) &&
        holds(values.batch, subset.batch, row.batch) &&
        holds(values.out_len, subset.out_len, row.out_len)) {
      rows.push_back(i);
    }
  }
  return rows;
}

Result<std::optional<double>> subset_error(const ThroughputData& data, const ValueSets& values,
                                           const ValueSubset& subset,
                                           const ThroughputMethod& method) {
  SplitFold fold{"subset", rows_inside(data, values, subset), {}};
  for (size_t i = 0, next = 0; i < data.rows.size(); ++i) {
    const bool inside = next < fold.train.size() && fold.train[next] == i;
    if (inside) {
      ++next;
    } else {
      fold.test.push_back(i);
    }
  }
  if (fold.train.empty() || fold.test.empty()) return std::optional<double>();
  Split split{"subset", "", HeldOut::kRow, {}};
  split.folds.push_back(std::move(fold));
  ASSAY_TRY_ASSIGN(const SplitErrors errors, evaluate_split(data, split, method));
  std::vector<double> answered;
  for (const TestedRow& row : errors.rows) {
    if (std::isfinite(row.ape)) answered.push_back(row.ape);
  }
  if (answered.empty()) return std::optional<double>();
  return std::optional<double>(median(std::move(answered)));
}

bool accepts(double error_percent, double current_percent, double temperature, double uniform) {
  if (error_percent < current_percent) return true;
  return uniform < std::exp(-(error_percent - current_percent) / std::max(temperature, 1e-12));
}

Result<AnnealingRun> anneal(const ThroughputData& data, const AnnealingOptions& options) {
  return Annealer(data, options).run();
}

double subset_count(const ValueSets& values) {
  const auto choices = [](size_t size) { return std::exp2(std::min<size_t>(size, 53)) - 1; };
  const double lengths = choices(values.in_len.size());
  const double both = values.lengths_tied ? lengths : lengths * choices(values.out_len.size());
  return std::min(both * choices(values.batch.size()) - 1, std::exp2(53));
}

Result<AnnealingRun> try_all_subsets(const ThroughputData& data, const AnnealingOptions& options) {
  AnnealingRun run;
  run.values = value_sets(data);
  run.exhaustive = true;
  const double count = subset_count(run.values);
  if (count > kMostSubsets) {
    return Error{ErrorCode::kUnsupported,
                 std::to_string(static_cast<uint64_t>(count)) +
                     " subsets of the lengths and batch sizes are too many to try all. Annealing "
                     "samples them if --exhaustive is not given; --source chooses fewer rows",
                 "", -1};
  }
  const ThroughputMethod method = ala_per_config_method(ala_boost_options(options.rounds));
  SubsetCounter subsets(run.values);
  do {
    if (options.progress && !run.log.empty() && !options.progress(run.log)) {
      run.interrupted = true;
      break;
    }
    AnnealingStep step;
    step.subset = subsets.current();
    ASSAY_TRY_ASSIGN(const auto error, subset_error(data, run.values, step.subset, method));
    if (!error) continue;
    step.error = *error;
    step.rows = rows_inside(data, run.values, step.subset).size();
    run.log.push_back(std::move(step));
  } while (subsets.next());
  if (run.log.empty()) {
    return Error{ErrorCode::kUnsupported,
                 "no subset of the lengths and batch sizes leaves something to test on", "", -1};
  }
  return run;
}

Result<ErrorPredictor> ErrorPredictor::train(const std::vector<AnnealingStep>& log) {
  FeatureMatrix features;
  std::vector<double> target;
  for (const AnnealingStep& step : log) {
    features.add_row(encode(step.subset));
    target.push_back(100 * step.error);
  }
  ASSAY_TRY_ASSIGN(
      BoostedTrees trees,
      BoostedTrees::train(features, target, {.rounds = 300, .max_depth = 6, .eta = 0.1}));
  return ErrorPredictor(std::move(trees));
}

Result<double> ErrorPredictor::predict(const ValueSubset& subset) const {
  FeatureMatrix features;
  features.add_row(encode(subset));
  ASSAY_TRY_ASSIGN(const std::vector<double> percent, trees_.predict(features));
  return percent.front() / 100;
}

namespace {

double mean_or_nan(double sum, size_t count) {
  return count == 0 ? kNan : sum / static_cast<double>(count);
}

// Predicted error of some rows of the target (Algorithm 8): each configuration among them is a
// workload with values of its own. Mean over the rows; NaN if none of their values is known.
Result<double> predict_rows(const ErrorPredictor& predictor, const ValueSets& values,
                            const ThroughputData& target, const std::vector<size_t>& rows) {
  std::map<uint32_t, std::vector<size_t>> by_config;
  for (const size_t i : rows) by_config[target.config[i]].push_back(i);
  double sum = 0;
  size_t count = 0;
  for (const auto& [config, members] : by_config) {
    const ValueSubset own = values_of(values, target, members);
    if (!any(own.in_len) || !any(own.batch) || !any(own.out_len)) continue;
    ASSAY_TRY_ASSIGN(const double error, predictor.predict(own));
    sum += error * static_cast<double>(members.size());
    count += members.size();
  }
  return mean_or_nan(sum, count);
}

size_t rows_with_unknown_values(const ValueSets& values, const ThroughputData& data) {
  const auto has = [](const std::vector<double>& known, double value) {
    return std::binary_search(known.begin(), known.end(), value);
  };
  return static_cast<size_t>(
      std::count_if(data.rows.begin(), data.rows.end(), [&](const BenchRow& row) {
        return !has(values.in_len, row.in_len) || !has(values.batch, row.batch) ||
               !has(values.out_len, row.out_len);
      }));
}

}  // namespace

ValueSubset values_of(const ValueSets& values, const ThroughputData& data,
                      const std::vector<size_t>& rows) {
  ValueSubset subset{std::vector<bool>(values.in_len.size()),
                     std::vector<bool>(values.batch.size()),
                     std::vector<bool>(values.out_len.size())};
  const auto mark = [](const std::vector<double>& known, double value, std::vector<bool>& in) {
    const auto at = std::lower_bound(known.begin(), known.end(), value);
    if (at != known.end() && *at == value) in[static_cast<size_t>(at - known.begin())] = true;
  };
  for (const size_t i : rows) {
    mark(values.in_len, data.rows[i].in_len, subset.in_len);
    mark(values.batch, data.rows[i].batch, subset.batch);
    mark(values.out_len, data.rows[i].out_len, subset.out_len);
  }
  return subset;
}

Result<TargetJudgement> judge_target(const ThroughputData& source, const AnnealingRun& run,
                                     const ThroughputData& target, int rounds) {
  ASSAY_TRY_ASSIGN(const ErrorPredictor predictor, ErrorPredictor::train(run.log));
  const ThroughputMethod method = ala_per_config_method(ala_boost_options(rounds));
  double predicted = 0;
  double actual = 0;
  size_t judged = 0;
  std::map<std::vector<double>, std::optional<double>> known;
  for (const AnnealingStep& step : run.log) {
    auto at = known.find(encode(step.subset));
    if (at == known.end()) {
      ASSAY_TRY_ASSIGN(const auto own, subset_error(target, run.values, step.subset, method));
      at = known.emplace(encode(step.subset), own).first;
    }
    if (!at->second) continue;
    ASSAY_TRY_ASSIGN(
        const double error,
        predict_rows(predictor, run.values, target, rows_inside(target, run.values, step.subset)));
    predicted += error;
    actual += *at->second;
    ++judged;
  }
  TargetJudgement judgement;
  std::vector<size_t> all(target.rows.size());
  std::iota(all.begin(), all.end(), size_t{0});
  ASSAY_TRY_ASSIGN(judgement.predicted_error, predict_rows(predictor, run.values, target, all));
  judgement.predicted_error_subsets = mean_or_nan(predicted, judged);
  judgement.actual_error = mean_or_nan(actual, judged);
  judgement.unknown_rows = rows_with_unknown_values(run.values, target);
  judgement.confidence = confidence(source, run, target, false);
  judgement.confidence_with_throughput = confidence(source, run, target, true);
  return judgement;
}

double cosine_distance(const std::vector<double>& a, const std::vector<double>& b) {
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return aa == 0 || bb == 0 ? 1 : 1 - ab / std::sqrt(aa * bb);
}

double confidence(const ThroughputData& source, const AnnealingRun& run,
                  const ThroughputData& fresh, bool with_throughput) {
  std::vector<size_t> all(fresh.rows.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  const auto wanted = histograms(fresh, all, with_throughput);
  double least = 1;
  for (const AnnealingStep& step : run.log) {
    const auto logged =
        histograms(source, rows_inside(source, run.values, step.subset), with_throughput);
    double sum = 0;
    for (size_t i = 0; i < wanted.size(); ++i) sum += cosine_distance(wanted[i], logged[i]);
    least = std::min(least, sum / static_cast<double>(wanted.size()));
  }
  return 1 / (1 + least);
}

double point_confidence(const ThroughputData& data, const std::vector<size_t>& rows,
                        const BenchRow& point) {
  // With one value per histogram, a cosine is 1 if both have the same bin, else 0.
  constexpr int kFeatures = 3;
  const auto bins = [](const BenchRow& row) {
    return std::array<size_t, kFeatures>{bin_of(row.in_len, kLengthBins),
                                         bin_of(row.batch, kBatchBins),
                                         bin_of(row.out_len, kLengthBins)};
  };
  const auto wanted = bins(point);
  int most = 0;
  for (const size_t i : rows) {
    const auto have = bins(data.rows[i]);
    int alike = 0;
    for (int k = 0; k < kFeatures; ++k) alike += have[k] == wanted[k];
    most = std::max(most, alike);
  }
  return 1 / (1 + static_cast<double>(kFeatures - most) / kFeatures);
}

}  // namespace assay
