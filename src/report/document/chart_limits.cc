#include "report/document/chart_limits.h"

#include <algorithm>

namespace assay {

std::vector<size_t> chart_sample(size_t n) {
  std::vector<size_t> sample;
  const size_t shown = std::min(n, kMostChartBars);
  for (size_t i = 0; i < shown; ++i) sample.push_back(shown == 1 ? 0 : i * (n - 1) / (shown - 1));
  return sample;
}

}  // namespace assay
