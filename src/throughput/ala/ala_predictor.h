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

// Explained::kind says what answered: row the database, length pair the parameter model of the
// configuration, configuration the one pooled over all. ALA has no intervals: theirs are NaN.
struct AlaAnswer {
  Explained explained;
  double confidence = 0;  // 1 / (1 + d), see point_confidence
};

class AlaPredictor {
 public:
  // Unlike the published method, which evaluate_split measures, infeasible rows teach it nothing.
  // outside_factor: see PredictorOptions. Answers faster than least_latency are outside.
  explicit AlaPredictor(const ThroughputData& data, double outside_factor = 4,
                        const BoostOptions& options = ala_boost_options(),
                        LeastLatency least_latency = {});

  // Parameter models are trained when a point first needs them: 5,000 rounds per configuration, and
  // one model over all of them for points of a configuration without rows.
  Result<std::vector<AlaAnswer>> answer(const std::vector<BenchRow>& points) const;

  const ThroughputData& data() const { return data_; }
  const std::vector<GroupFit>& fits() const { return fits_; }

 private:
  // Rows of the point's configuration; null where it has none.
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
