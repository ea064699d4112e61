#pragma once

// Baselines on the same splits: plain regression of throughput on the numbers of a row. Each runs
// once per configuration (lengths and batch size) and once over all configurations (also the number
// of devices and one-hot names).

#include <vector>

#include "throughput/ala/ala.h"
#include "throughput/method.h"

namespace assay {

enum class Regressor {
  kLinear,
  kXgboost,           // the library's defaults: 100 rounds, depth 6, eta 0.3
  kRandomForest,      // 100 full trees, each on a 63.2 % sample
  kGradientBoosting,  // 100 rounds, depth 3, eta 0.1, from the mean
};

ThroughputMethod per_config_baseline(Regressor regressor);
ThroughputMethod pooled_baseline(Regressor regressor, Vocabulary vocabulary);
// All eight, in the order of the enumeration, per configuration first.
std::vector<ThroughputMethod> baselines(const Vocabulary& vocabulary);

}  // namespace assay
