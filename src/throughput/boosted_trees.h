#pragma once

// Regression by boosted trees and random forests: a small interface to XGBoost. Single-threaded and
// seeded, so one version of the library always gives the same answers. Builds without XGBoost have
// the interface, and return an error when it is used.

#include <memory>
#include <vector>

#include "base/result.h"

namespace assay {

// Row-major features; XGBoost uses single precision.
struct FeatureMatrix {
  size_t columns = 0;
  std::vector<float> values;

  size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
  void add_row(const std::vector<double>& row) {
    columns = row.size();
    for (const double value : row) values.push_back(static_cast<float>(value));
  }
};

struct BoostOptions {
  int rounds = 100;
  int max_depth = 6;
  double eta = 0.3;
  double subsample = 1;
  double colsample_by_tree = 1;
  double colsample_by_node = 1;
  double lambda = 1;
  double min_child_weight = 1;
  int parallel_trees = 1;  // > 1 with one round: a random forest
  double base_score = 0.5;
};

bool boosted_trees_available();

class BoostedTrees {
 public:
  static Result<BoostedTrees> train(const FeatureMatrix& features,
                                    const std::vector<double>& target, const BoostOptions& options);
  Result<std::vector<double>> predict(const FeatureMatrix& features) const;

  BoostedTrees(BoostedTrees&&) noexcept;
  BoostedTrees& operator=(BoostedTrees&&) noexcept;
  ~BoostedTrees();

 private:
  struct Handle;
  explicit BoostedTrees(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
};

}  // namespace assay
