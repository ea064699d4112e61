#include "throughput/baselines.h"

#include <map>
#include <numeric>
#include <optional>
#include <variant>

#include "throughput/boosted_trees.h"
#include "throughput/dataset.h"
#include "throughput/linear_regression.h"

namespace assay {
namespace {

using Features = std::vector<std::vector<double>>;

struct RegressorName {
  const char* name;
  const char* label;
};

RegressorName name_of(Regressor regressor) {
  switch (regressor) {
    case Regressor::kLinear:
      return {"linear", "linear regression"};
    case Regressor::kXgboost:
      return {"xgboost", "XGBoost"};
    case Regressor::kRandomForest:
      return {"forest", "random forest"};
    case Regressor::kGradientBoosting:
      return {"boosting", "gradient boosting"};
  }
  return {"", ""};
}

BoostOptions options_of(Regressor regressor, const std::vector<double>& target) {
  if (regressor == Regressor::kRandomForest) {
    // Deeper than any tree on a benchmark table. The exact method needs a limit.
    constexpr int kUnlimited = 32;
    return {.rounds = 1,
            .max_depth = kUnlimited,
            .eta = 1,
            .subsample = 0.632,
            .lambda = 0,
            .parallel_trees = 100};
  }
  if (regressor == Regressor::kGradientBoosting) {
    const double mean =
        std::accumulate(target.begin(), target.end(), 0.0) / static_cast<double>(target.size());
    return {.rounds = 100, .max_depth = 3, .eta = 0.1, .lambda = 0, .base_score = mean};
  }
  return {};
}

// One trained regressor of any kind.
class Fitted {
 public:
  static Result<Fitted> train(Regressor regressor, const Features& rows,
                              const std::vector<double>& target) {
    if (regressor == Regressor::kLinear) return Fitted(fit_linear(rows, target));
    ASSAY_TRY_ASSIGN(BoostedTrees trees,
                     BoostedTrees::train(matrix(rows), target, options_of(regressor, target)));
    return Fitted(std::move(trees));
  }

  Result<std::vector<double>> predict(const Features& rows) const {
    if (const auto* trees = std::get_if<BoostedTrees>(&model_)) return trees->predict(matrix(rows));
    std::vector<double> values;
    for (const auto& row : rows) values.push_back(std::get<LinearModel>(model_).predict(row));
    return values;
  }

 private:
  explicit Fitted(LinearModel model) : model_(std::move(model)) {}
  explicit Fitted(BoostedTrees trees) : model_(std::move(trees)) {}

  static FeatureMatrix matrix(const Features& rows) {
    FeatureMatrix features;
    for (const auto& row : rows) features.add_row(row);
    return features;
  }

  std::variant<LinearModel, BoostedTrees> model_;
};

// Regressors by configuration name; a single one under "" if pooled.
class BaselineModel : public ThroughputModel {
 public:
  static Result<std::unique_ptr<ThroughputModel>> fit(const ThroughputData& train,
                                                      Regressor regressor,
                                                      const std::optional<Vocabulary>& pooled) {
    auto model = std::make_unique<BaselineModel>(pooled);
    std::map<std::string, std::pair<Features, std::vector<double>>> parts;
    for (const BenchRow& row : train.rows) {
      auto& [features, target] = parts[model->part_of(row)];
      features.push_back(model->features_of(row));
      target.push_back(row.tokens_per_s);
    }
    for (const auto& [name, part] : parts) {
      ASSAY_TRY_ASSIGN(Fitted fitted, Fitted::train(regressor, part.first, part.second));
      model->parts_.emplace(name, std::move(fitted));
    }
    return std::unique_ptr<ThroughputModel>(std::move(model));
  }

  explicit BaselineModel(std::optional<Vocabulary> pooled) : pooled_(std::move(pooled)) {}

  std::vector<Prediction> predict(const std::vector<BenchRow>& points) const override {
    std::map<std::string, std::vector<size_t>> by_part;
    for (size_t i = 0; i < points.size(); ++i) by_part[part_of(points[i])].push_back(i);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<Prediction> out(points.size(), {nan, nan, nan, PredictionStatus::kNoAnswer,
                                                "no row of this configuration"});
    for (const auto& [name, indices] : by_part) {
      const auto part = parts_.find(name);
      if (part == parts_.end()) continue;
      Features features;
      for (const size_t i : indices) features.push_back(features_of(points[i]));
      const auto values = part->second.predict(features);
      for (size_t k = 0; values && k < indices.size(); ++k) {
        out[indices[k]] = {(*values)[k], nan, nan, PredictionStatus::kInside, "regressor"};
      }
    }
    return out;
  }

 private:
  std::string part_of(const BenchRow& row) const { return pooled_ ? "" : config_name(row); }

  std::vector<double> features_of(const BenchRow& row) const {
    std::vector<double> features = {row.in_len, row.out_len, row.batch};
    if (pooled_) append_names(*pooled_, row, features);
    return features;
  }

  std::optional<Vocabulary> pooled_;
  std::map<std::string, Fitted> parts_;
};

}  // namespace

ThroughputMethod per_config_baseline(Regressor regressor) {
  const RegressorName name = name_of(regressor);
  return {name.name, std::string(name.label) + ", per configuration",
          [regressor](const ThroughputData& train, HeldOut) {
            return BaselineModel::fit(train, regressor, std::nullopt);
          }};
}

ThroughputMethod pooled_baseline(Regressor regressor, Vocabulary vocabulary) {
  const RegressorName name = name_of(regressor);
  return {std::string(name.name) + "-pooled", std::string(name.label) + ", pooled",
          [regressor, vocabulary = std::move(vocabulary)](const ThroughputData& train, HeldOut) {
            return BaselineModel::fit(train, regressor, vocabulary);
          }};
}

std::vector<ThroughputMethod> baselines(const Vocabulary& vocabulary) {
  constexpr Regressor kAll[] = {Regressor::kLinear, Regressor::kXgboost, Regressor::kRandomForest,
                                Regressor::kGradientBoosting};
  std::vector<ThroughputMethod> methods;
  for (const Regressor regressor : kAll) methods.push_back(per_config_baseline(regressor));
  for (const Regressor regressor : kAll) methods.push_back(pooled_baseline(regressor, vocabulary));
  return methods;
}

}  // namespace assay
