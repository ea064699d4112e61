#pragma once

// Means over iterations with confidence intervals, as all sections print them.

#include <vector>

#include "base/stats.h"
#include "report/document/columns.h"

namespace assay {

struct MeanOf {
  const ResultKey& what;
  const MeanInterval& mean;
  bool is_signed = false;  // false: the interval is cut at 0
};

// Table "means", one row per mean. Units differ by row, so readers get text.
Table means_table(const std::vector<MeanOf>& means, size_t terminal_limit);

}  // namespace assay
