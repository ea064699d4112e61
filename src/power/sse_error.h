#pragma once

// Relative difference between the first settled execution and settled power, with its interval.

#include <cstdint>
#include <vector>

#include "power/fit.h"

namespace assay {

// 95 % interval of |SSP - SSE| / SSP, where both are means of curves of these degrees over the
// execution. Runs are resampled with both of their points, so that the common error of a run is in
// both. The interval is a basic bootstrap, with its ends widened by the ratio of Student's quantile
// to the normal one for the number of runs. It begins at 0 if the two may be equal. NaN with fewer
// than 6 runs, or if fewer than half of the resamples support both curves.
Interval95 sse_error_interval(const std::vector<LoiPoint>& ssp, uint32_t ssp_degree,
                              const std::vector<LoiPoint>& sse, uint32_t sse_degree, double span_ns,
                              uint32_t resamples, uint64_t seed);

}  // namespace assay
