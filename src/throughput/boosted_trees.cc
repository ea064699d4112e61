#include "throughput/boosted_trees.h"

#include <xgboost/c_api.h>

#include <array>
#include <limits>
#include <string>
#include <utility>

#include "base/decimal.h"
#include "base/dynamic_library.h"

namespace assay {
namespace {

// XGBoost treats this value as missing. Features are never NaN.
constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

// XGBoost, loaded when trees are first needed, so that trace reports do not pay for it.
struct Library {
  decltype(&::XGBGetLastError) last_error;
  decltype(&::XGDMatrixCreateFromMat) matrix_from;
  decltype(&::XGDMatrixFree) free_matrix;
  decltype(&::XGDMatrixSetFloatInfo) set_floats;
  decltype(&::XGBoosterCreate) create;
  decltype(&::XGBoosterFree) free_booster;
  decltype(&::XGBoosterSetParam) set;
  decltype(&::XGBoosterUpdateOneIter) update;
  decltype(&::XGBoosterPredict) predict;
};

Result<Library> open_library() {
  ASSAY_TRY_ASSIGN(const DynamicLibrary file,
                   DynamicLibrary::open({"libxgboost.so.0", "libxgboost.so"},
                                        "XGBoost is not here, which boosted trees need: install "
                                        "libxgboost0 (Debian 12, Ubuntu 24.04)"));
  Library library = {};
  ASSAY_TRY(file.bind("XGBGetLastError", library.last_error));
  ASSAY_TRY(file.bind("XGDMatrixCreateFromMat", library.matrix_from));
  ASSAY_TRY(file.bind("XGDMatrixFree", library.free_matrix));
  ASSAY_TRY(file.bind("XGDMatrixSetFloatInfo", library.set_floats));
  ASSAY_TRY(file.bind("XGBoosterCreate", library.create));
  ASSAY_TRY(file.bind("XGBoosterFree", library.free_booster));
  ASSAY_TRY(file.bind("XGBoosterSetParam", library.set));
  ASSAY_TRY(file.bind("XGBoosterUpdateOneIter", library.update));
  ASSAY_TRY(file.bind("XGBoosterPredict", library.predict));
  return library;
}

const Result<Library>& xgboost() {
  static const Result<Library> library = open_library();
  return library;
}

Status checked(int returned) {
  if (returned == 0) return Ok{};
  return Error{ErrorCode::kInternal, std::string("XGBoost: ") + xgboost()->last_error(), "", -1};
}

class Matrix {
 public:
  static Result<Matrix> from(const FeatureMatrix& features) {
    Matrix matrix;
    ASSAY_TRY(checked(xgboost()->matrix_from(features.values.data(), features.rows(),
                                             features.columns, kMissing, &matrix.handle_)));
    return matrix;
  }
  Matrix(Matrix&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Matrix& operator=(Matrix&&) = delete;
  ~Matrix() {
    if (handle_ != nullptr) xgboost()->free_matrix(handle_);
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
    if (booster != nullptr) xgboost()->free_booster(booster);
  }

  Status set(const char* name, const std::string& value) {
    return checked(xgboost()->set(booster, name, value.c_str()));
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

bool boosted_trees_available() { return xgboost().has_value(); }

Result<BoostedTrees> BoostedTrees::train(const FeatureMatrix& features,
                                         const std::vector<double>& target,
                                         const BoostOptions& options) {
  if (!xgboost()) return xgboost().error();
  ASSAY_TRY_ASSIGN(const Matrix matrix, Matrix::from(features));
  const std::vector<float> labels(target.begin(), target.end());
  ASSAY_TRY(checked(xgboost()->set_floats(matrix.get(), "label", labels.data(), labels.size())));
  auto handle = std::make_unique<Handle>();
  const DMatrixHandle cached = matrix.get();
  ASSAY_TRY(checked(xgboost()->create(&cached, 1, &handle->booster)));
  ASSAY_TRY(handle->set_all(options));
  for (int round = 0; round < options.rounds; ++round) {
    ASSAY_TRY(checked(xgboost()->update(handle->booster, round, matrix.get())));
  }
  return BoostedTrees(std::move(handle));
}

Result<std::vector<double>> BoostedTrees::predict(const FeatureMatrix& features) const {
  ASSAY_TRY_ASSIGN(const Matrix matrix, Matrix::from(features));
  bst_ulong count = 0;
  const float* values = nullptr;
  ASSAY_TRY(checked(xgboost()->predict(handle_->booster, matrix.get(), 0, 0, 0, &count, &values)));
  return std::vector<double>(values, values + count);
}

}  // namespace assay
