#pragma once

// How much a chart of the page holds.

#include <cstddef>
#include <vector>

namespace assay {

// Points beyond this are thinned: no screen shows more, and the page stays small.
constexpr size_t kMostChartPoints = 4000;
// Bars of a chart with one per iteration; of more iterations, evenly spaced ones are taken.
constexpr size_t kMostChartBars = 120;

// At most kMostChartBars evenly spaced indices of n, the first and the last included.
std::vector<size_t> chart_sample(size_t n);

}  // namespace assay
