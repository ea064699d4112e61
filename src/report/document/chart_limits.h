#pragma once

// Limits on the data of a chart on the page.

#include <cstddef>
#include <string>
#include <vector>

namespace assay {

// Larger series are thinned: no screen shows more points, and the page stays small.
constexpr size_t kMostChartPoints = 4000;
// Limit for charts with one bar per iteration; longer runs are sampled evenly.
constexpr size_t kMostChartBars = 120;

// At most `most` evenly spaced indices below n, including the first and the last.
std::vector<size_t> chart_sample(size_t n, size_t most = kMostChartBars);
// "4,000 of 200,000 iterations, evenly spaced."; empty if all are drawn.
std::string sample_words(size_t drawn, size_t n);

}  // namespace assay
