#pragma once

// Charts of the throughput sections, each next to the table of its numbers.

#include <string>
#include <vector>

#include "report/document/document.h"
#include "report/throughput/anneal.h"
#include "report/throughput/evaluate.h"
#include "report/throughput/section.h"

namespace assay {

// Throughput over batch with its 90 % band and the measured points. One line per GPU, and one chart
// for each combination of lengths and other settings, up to kCurveCharts.
inline constexpr size_t kCurveCharts = 12;
std::vector<Block> curve_charts(const ThroughputAnswers& curve);
// Tokens/s per GPU against latency, a line per configuration; empty where nothing is answered.
std::vector<Block> goal_charts(const Goal& goal, const std::vector<GoalPoint>& points);
// Effect of each measurement on the intervals; empty if none narrows any.
std::vector<Block> measure_charts(const MeasureNext& next);
// Predicted width against true error and against coverage. Errors are a hundredth of the coverage,
// so each has its own axis.
std::vector<Block> confidence_charts(const std::vector<ConfidenceBin>& bins);
// Errors by split and method, their distribution (ALA, Figures 6 and 7a), errors by model (Figure
// 8), and the time of folds (Figures 7c and 7d). With the tables "distribution" and "timing".
std::vector<Block> evaluation_charts(const ThroughputEvaluation& evaluation);
// Error by step and by the number of training rows (ALA, Figure 7b); predicted against actual
// (Table I).
std::vector<Block> annealing_charts(const AnnealingReport& report);

}  // namespace assay
