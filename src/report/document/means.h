#pragma once

// Means over iterations with their intervals, in the common form of all sections.

#include <vector>

#include "base/stats.h"
#include "report/document/columns.h"

namespace assay {

struct MeanOf {
  const ResultKey& what;
  const MeanInterval& mean;
  bool is_signed = false;  // else an interval ends where the quantity does, at 0
};

// "means": one row per mean. Rows differ in unit, so readers get text.
Table means_table(const std::vector<MeanOf>& means, size_t terminal_limit);

}  // namespace assay
