#pragma once

// Charts of the throughput sections, each beside the table that has its numbers.

#include <string>
#include <vector>

#include "report/document/document.h"
#include "report/throughput/anneal.h"
#include "report/throughput/evaluate.h"
#include "report/throughput/section.h"

namespace assay {

// Throughput over batch with its 90 % band and what was measured, a line per GPU, a chart per
// lengths and whatever else the configuration is, of the first kCurveCharts.
inline constexpr size_t kCurveCharts = 12;
std::vector<Block> curve_charts(const ThroughputAnswers& curve);
// Tokens/s per GPU against latency, a line per configuration; empty where nothing is answered.
std::vector<Block> goal_charts(const Goal& goal, const std::vector<GoalPoint>& points);
// What each measurement would narrow; empty where nothing would.
std::vector<Block> measure_charts(const MeasureNext& next);
// Told width against true error, and against the share that the intervals hold: errors are a
// hundredth of that share, so each has an axis of its own.
std::vector<Block> confidence_charts(const std::vector<ConfidenceBin>& bins);
// Errors by split and method; how they are distributed (ALA, Figures 6 and 7a); by model (Figure
// 8); how long folds took (Figures 7c and 7d). With the tables "distribution" and "timing".
std::vector<Block> evaluation_charts(const ThroughputEvaluation& evaluation);
// Error by step and by the number of training rows (ALA, Figure 7b); predicted against actual
// (Table I).
std::vector<Block> annealing_charts(const AnnealingReport& report);

}  // namespace assay
