#pragma once

// Reasons why two sides are not fully comparable, as caveats of a DiffReport.

#include <vector>

#include "diff/compare.h"
#include "diff/run.h"
#include "trace/trust.h"

namespace assay {

TrustNotes diff_caveats(const std::vector<DiffRun>& a, const std::vector<DiffRun>& b,
                        const DiffReport& report);

}  // namespace assay
