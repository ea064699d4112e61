#pragma once

// How much a chart of the page holds.

#include <cstddef>
#include <string>
#include <vector>

namespace assay {

// Points beyond this are thinned: no screen shows more, and the page stays small.
constexpr size_t kMostChartPoints = 4000;
// Bars of a chart with one per iteration; of more iterations, evenly spaced ones are taken.
constexpr size_t kMostChartBars = 120;

// At most `most` evenly spaced indices of n, the first and the last included.
std::vector<size_t> chart_sample(size_t n, size_t most = kMostChartBars);
// "4,000 of 200,000 iterations, evenly spaced."; empty where all are drawn.
std::string sample_words(size_t drawn, size_t n);

}  // namespace assay
