#include "throughput/boosted_trees.h"

#include <xgboost/c_api.h>

#include <array>
#include <limits>
#include <string>
#include <utility>

#include "base/decimal.h"

namespace assay {
namespace {

// No cell of ours is NaN, and NaN is what XGBoost shall take for missing.
constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

Status checked(int returned) {
  if (returned == 0) return Ok{};
  return Error{ErrorCode::kInternal, std::string("XGBoost: ") + XGBGetLastError(), "", -1};
}

class Matrix {
 public:
  static Result<Matrix> from(const FeatureMatrix& features) {
    Matrix matrix;
    ASSAY_TRY(checked(XGDMatrixCreateFromMat(features.values.data(), features.rows(),
                                             features.columns, kMissing, &matrix.handle_)));
    return matrix;
  }
  Matrix(Matrix&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Matrix& operator=(Matrix&&) = delete;
  ~Matrix() {
    if (handle_ != nullptr) XGDMatrixFree(handle_);
  }
  DMatrixHandle get() const { return handle_; }

 private:
  Matrix() = default;
  DMatrixHandle handle_ = nullptr;
};

}  // namespace

struct BoostedTrees::Handle {
  BoosterHandle booster = nullptr;

  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (booster != nullptr) XGBoosterFree(booster);
  }

  Status set(const char* name, const std::string& value) {
    return checked(XGBoosterSetParam(booster, name, value.c_str()));
  }

  Status set_all(const BoostOptions& options) {
    ASSAY_TRY(set("objective", "reg:squarederror"));
    ASSAY_TRY(set("tree_method", "exact"));
    ASSAY_TRY(set("nthread", "1"));
    ASSAY_TRY(set("seed", "0"));
    ASSAY_TRY(set("verbosity", "0"));
    ASSAY_TRY(set("max_depth", std::to_string(options.max_depth)));
    ASSAY_TRY(set("eta", shortest_text(options.eta)));
    ASSAY_TRY(set("subsample", shortest_text(options.subsample)));
    ASSAY_TRY(set("colsample_bytree", shortest_text(options.colsample_by_tree)));
    ASSAY_TRY(set("colsample_bynode", shortest_text(options.colsample_by_node)));
    ASSAY_TRY(set("lambda", shortest_text(options.lambda)));
    ASSAY_TRY(set("min_child_weight", shortest_text(options.min_child_weight)));
    ASSAY_TRY(set("num_parallel_tree", std::to_string(options.parallel_trees)));
    return set("base_score", shortest_text(options.base_score));
  }
};

BoostedTrees::BoostedTrees(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
BoostedTrees::BoostedTrees(BoostedTrees&&) noexcept = default;
BoostedTrees& BoostedTrees::operator=(BoostedTrees&&) noexcept = default;
BoostedTrees::~BoostedTrees() = default;

bool boosted_trees_available() { return true; }

Result<BoostedTrees> BoostedTrees::train(const FeatureMatrix& features,
                                         const std::vector<double>& target,
                                         const BoostOptions& options) {
  ASSAY_TRY_ASSIGN(const Matrix matrix, Matrix::from(features));
  const std::vector<float> labels(target.begin(), target.end());
  ASSAY_TRY(checked(XGDMatrixSetFloatInfo(matrix.get(), "label", labels.data(), labels.size())));
  auto handle = std::make_unique<Handle>();
  const DMatrixHandle cached = matrix.get();
  ASSAY_TRY(checked(XGBoosterCreate(&cached, 1, &handle->booster)));
  ASSAY_TRY(handle->set_all(options));
  for (int round = 0; round < options.rounds; ++round) {
    ASSAY_TRY(checked(XGBoosterUpdateOneIter(handle->booster, round, matrix.get())));
  }
  return BoostedTrees(std::move(handle));
}

Result<std::vector<double>> BoostedTrees::predict(const FeatureMatrix& features) const {
  ASSAY_TRY_ASSIGN(const Matrix matrix, Matrix::from(features));
  bst_ulong count = 0;
  const float* values = nullptr;
  ASSAY_TRY(checked(XGBoosterPredict(handle_->booster, matrix.get(), 0, 0, 0, &count, &values)));
  return std::vector<double>(values, values + count);
}

}  // namespace assay
