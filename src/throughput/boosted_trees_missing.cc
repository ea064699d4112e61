#include "throughput/boosted_trees.h"

namespace assay {
namespace {

Error missing() {
  return Error{ErrorCode::kUnsupported,
               "this build has no XGBoost, which boosted trees need: install libxgboost-dev "
               "(Debian 12, Ubuntu 24.04) and build again",
               "", -1};
}

}  // namespace

struct BoostedTrees::Handle {};

BoostedTrees::BoostedTrees(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
BoostedTrees::BoostedTrees(BoostedTrees&&) noexcept = default;
BoostedTrees& BoostedTrees::operator=(BoostedTrees&&) noexcept = default;
BoostedTrees::~BoostedTrees() = default;

bool boosted_trees_available() { return false; }

Result<BoostedTrees> BoostedTrees::train(const FeatureMatrix&, const std::vector<double>&,
                                         const BoostOptions&) {
  return missing();
}

Result<std::vector<double>> BoostedTrees::predict(const FeatureMatrix&) const { return missing(); }

}  // namespace assay
