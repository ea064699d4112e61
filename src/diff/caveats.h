#pragma once

// What keeps two sides from being comparable: told, counted, never hidden.

#include <vector>

#include "diff/compare.h"
#include "diff/run.h"
#include "trace/trust.h"

namespace assay {

TrustNotes diff_caveats(const std::vector<DiffRun>& a, const std::vector<DiffRun>& b,
                        const DiffReport& report);

}  // namespace assay
