#include "report/document/chart_limits.h"

#include <algorithm>

#include "text/units.h"

namespace assay {

std::vector<size_t> chart_sample(size_t n, size_t most) {
  std::vector<size_t> sample;
  const size_t shown = std::min(n, most);
  for (size_t i = 0; i < shown; ++i) sample.push_back(shown == 1 ? 0 : i * (n - 1) / (shown - 1));
  return sample;
}

std::string sample_words(size_t drawn, size_t n) {
  if (drawn == n) return "";
  return format_count(static_cast<int64_t>(drawn)) + " of " +
         format_count(static_cast<int64_t>(n)) + " iterations, evenly spaced.";
}

}  // namespace assay
