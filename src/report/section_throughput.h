#pragma once

// From a fitted throughput model, its predictions and suggestions to sections of a Document: keys
// as docs/metrics.md#throughput defines them, all under "throughput".

#include <string>
#include <vector>

#include "report/document.h"
#include "throughput/model_file.h"
#include "throughput/suggest.h"

namespace assay {

// "method", rows, dropped, scales, fits, confidence.
Section throughput_fit_section(const ThroughputFit& fit, const Predictor& predictor);
std::vector<std::string> throughput_fit_words(const ThroughputFit& fit, const Predictor& predictor);

struct PredictedPoint {
  BenchRow point;
  Explained explained;
};
// "predictions".
Section throughput_predictions_section(const Predictor& predictor,
                                       const std::vector<PredictedPoint>& points);
std::vector<std::string> throughput_prediction_words(const Predictor& predictor,
                                                     const std::vector<PredictedPoint>& points);
// "curves": throughput over batch for each configuration and length of the points, with what was
// measured.
Section throughput_curves_section(const Predictor& predictor,
                                  const std::vector<PredictedPoint>& curve);

// "suggestions" with what they would narrow.
Section throughput_measure_section(const MeasureNext& next);
std::vector<std::string> throughput_measure_words(const MeasureNext& next);
// "goal".
Section throughput_goal_section(const Goal& goal, const std::vector<GoalPoint>& points);
std::vector<std::string> throughput_goal_words(const Goal& goal,
                                               const std::vector<GoalPoint>& points);

}  // namespace assay
