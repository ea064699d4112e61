#pragma once

// Predictions of ALA for points (Algorithm 5), each with the confidence of Algorithm 8. Measured
// lengths use the database of curves. Other lengths use a model of the curve parameters.

#include <memory>
#include <vector>

#include "base/result.h"
#include "throughput/ala/ala.h"
#include "throughput/dataset.h"
#include "throughput/predictor.h"

namespace assay {

// Explained::kind identifies the source: row = database of curves, length pair = parameter model of
// the configuration, configuration = parameter model pooled over all. Intervals are NaN, because
// ALA has none.
struct AlaAnswer {
  Explained explained;
  double confidence = 0;  // 1 / (1 + d), see point_confidence
};

class AlaPredictor {
 public:
  // Infeasible rows are not used for training, unlike in the published method that evaluate_split()
  // measures. outside_factor: see PredictorOptions. Answers faster than least_latency are outside.
  explicit AlaPredictor(const ThroughputData& data, double outside_factor = 4,
                        const BoostOptions& options = ala_boost_options(),
                        LeastLatency least_latency = {});

  // Parameter models are trained when a point first needs them: 5,000 rounds per configuration, and
  // one model over all of them for points of a configuration without rows.
  Result<std::vector<AlaAnswer>> answer(const std::vector<BenchRow>& points) const;

  const ThroughputData& data() const { return data_; }
  const std::vector<GroupFit>& fits() const { return fits_; }

 private:
  // Rows of the point's configuration; null if it has none.
  const std::vector<size_t>* own_rows(const BenchRow& point) const;
  AlaAnswer judged(const BenchRow& point, Prediction prediction) const;

  ThroughputData data_;
  double outside_factor_;
  BoostOptions options_;
  LeastLatency least_latency_;
  std::vector<GroupFit> fits_;
  std::vector<std::vector<size_t>> rows_of_config_;  // by ThroughputData::config
};

}  // namespace assay
