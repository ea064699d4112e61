#pragma once

// Clock and P-state columns of a power log: whether the GPU was in deep idle around the work, and
// whether its clock fell under load.

#include <cstdint>
#include <vector>

#include "power/attribute.h"
#include "power/laying.h"
#include "records/power_log.h"

namespace assay {

// moved_ns: shift from the log's times to the trace's, the delay of samples included.
LogClocks find_log_clocks(const PowerSeries& series, int64_t moved_ns,
                          const std::vector<Work>& work, CoveredSpan span, const LogIdle& idle);

}  // namespace assay
