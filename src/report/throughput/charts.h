#pragma once

// Charts of the throughput sections, each next to the table with its numbers.

#include <string>
#include <vector>

#include "report/document/document.h"
#include "report/throughput/anneal.h"
#include "report/throughput/evaluate.h"
#include "report/throughput/section.h"

namespace assay {

// Throughput over batch size with its 90 % band and the measured points: one line per GPU, one
// chart per combination of lengths and other settings, at most kCurveCharts.
inline constexpr size_t kCurveCharts = 12;
std::vector<Block> curve_charts(const ThroughputAnswers& curve);
// Tokens/s per GPU over latency, one line per configuration; empty without predictions.
std::vector<Block> goal_charts(const Goal& goal, const std::vector<GoalPoint>& points);
// Effect of each suggested measurement on the intervals; empty if it narrows none.
std::vector<Block> measure_charts(const MeasureNext& next);
// Predicted interval width against true error and against coverage, on separate axes because errors
// are a hundredth of the coverage.
std::vector<Block> confidence_charts(const std::vector<ConfidenceBin>& bins);
// Errors by split and method and their distribution (ALA, Figures 6 and 7a), errors by model
// (Figure 8), and fold times (Figures 7c and 7d). Includes the tables "distribution" and "timing".
std::vector<Block> evaluation_charts(const ThroughputEvaluation& evaluation);
// Error by step and by number of training rows (ALA, Figure 7b), and predicted against actual
// values (Table I).
std::vector<Block> annealing_charts(const AnnealingReport& report);

}  // namespace assay
