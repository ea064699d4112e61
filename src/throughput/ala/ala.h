#pragma once

// ALA as published (arXiv paper in the project's reading list; spec/throughput 3). It fits a
// saturation curve per group of measured batch sizes and keeps the curves in a database (Algorithm
// 2). Boosted trees predict the parameters of the curve for other lengths (Algorithms 3 to 5).

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "throughput/ala/saturation_curve.h"
#include "throughput/boosted_trees.h"
#include "throughput/method.h"

namespace assay {

// The curve of one group and its error on the group's own points.
struct GroupFit {
  uint32_t group = 0;  // index into ThroughputData::group_names
  double in_len = 0;
  double out_len = 0;
  size_t points = 0;
  SaturationCurve curve;
  double median_ape = 0;  // share of 1, in sample
};

// One fit per group that has rows, in the order of group ids. Infeasible rows in `data` take part,
// as in the published method.
std::vector<GroupFit> fit_groups(const ThroughputData& data,
                                 CurveWeights weights = CurveWeights::kAbsolute);

struct LengthPair {
  double in_len = 0;
  double out_len = 0;
  friend auto operator<=>(const LengthPair&, const LengthPair&) = default;
};

// The features of Algorithm 3: ii, oo, log1p ii, log1p oo, log1p(ii/oo), ii/(oo+1), ii/(ii+1).
std::vector<double> length_features(LengthPair lengths);

struct KnownCurve {
  LengthPair lengths;
  SaturationCurve curve;
};

// Three regression models, for A, B and C, trained on the curves of one configuration in ascending
// order of lengths, and evaluated at `wanted`.
Result<std::vector<SaturationCurve>> predict_curves(const std::vector<KnownCurve>& known,
                                                    const std::vector<LengthPair>& wanted,
                                                    const BoostOptions& options);

// The published training parameters: depth 8, eta 0.007, 5,000 rounds, subsample 0.8, colsample
// 0.8, lambda 1.5. Other values of `rounds` keep rounds * eta constant.
BoostOptions ala_boost_options(int rounds = 5000);

// Cache of predicted curves, keyed by their training data and shared by the many models of a split
// or of an annealing run.
class CurveCache;
std::shared_ptr<CurveCache> make_curve_cache();

// Known names per attribute, sorted. One-hot columns are made for all of them, so that a name
// missing from a training set does not change the columns. `variant` is empty if there is only one.
struct Vocabulary {
  std::vector<std::string> hardware;
  std::vector<std::string> framework;
  std::vector<std::string> model;
  std::vector<std::string> variant;
};
Vocabulary vocabulary_of(const ThroughputData& data);

// One model over all configurations: the length features, the number of devices and one-hot names.
// log_targets: curves fitted by relative error, regressors on log A, log B, log C.
ThroughputMethod ala_pooled_method(Vocabulary vocabulary, bool log_targets);

// Per configuration, as published: no answer for a configuration without rows. Regressors are
// trained when a point has lengths that are not in the database.
ThroughputMethod ala_per_config_method(const BoostOptions& options = ala_boost_options(),
                                       std::shared_ptr<CurveCache> cache = nullptr);

// The method of `--method ala`. It fits per configuration if the split leaves rows of each
// configuration. If whole configurations, models or hardware are held out, it pools them with log
// targets.
ThroughputMethod ala_method(Vocabulary vocabulary,
                            const BoostOptions& options = ala_boost_options());

// Appends the number of devices and the one-hot columns of the row's names.
void append_names(const Vocabulary& vocabulary, const BenchRow& row, std::vector<double>& features);

}  // namespace assay
