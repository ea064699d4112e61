#pragma once

// Sections of a Document from a fitted throughput model, its predictions and suggestions. All keys
// are under "throughput"; docs/metrics.md#throughput defines them.

#include <limits>
#include <string>
#include <vector>

#include "report/document/document.h"
#include "throughput/model_file.h"
#include "throughput/suggest.h"

namespace assay {

// "Llama-3-8B on 2 × H100 under vLLM", with the names that are known.
std::string config_text(const BenchRow& row);
// "512 + 256 tokens"
std::string length_text(const BenchRow& row);

struct PredictedPoint {
  BenchRow point;
  Explained explained;
  double confidence = std::numeric_limits<double>::quiet_NaN();  // ALA's; NaN with other methods
};
// Predictions with the fit and the rows that they are based on.
struct ThroughputAnswers {
  const ThroughputFit& fit;
  const std::vector<BenchRow>& rows;  // training rows, which Evidence counts
  std::vector<PredictedPoint> points;
};
// "predictions".
Section throughput_predictions_section(const ThroughputAnswers& answers);
std::vector<std::string> throughput_prediction_words(const ThroughputAnswers& answers);
// "curves": throughput over batch size for each configuration and length among the points, with the
// measured points.
Section throughput_curves_section(const ThroughputAnswers& curve);

// "suggestions", with the intervals that they would narrow.
Section throughput_measure_section(const MeasureNext& next);
std::vector<std::string> throughput_measure_words(const MeasureNext& next);
// "goal".
Section throughput_goal_section(const Goal& goal, const std::vector<GoalPoint>& points);
std::vector<std::string> throughput_goal_words(const Goal& goal,
                                               const std::vector<GoalPoint>& points);

}  // namespace assay
