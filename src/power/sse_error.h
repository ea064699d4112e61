#pragma once

// How far the first settled execution shows another power than settled power, and how sure that is.

#include <cstdint>
#include <vector>

#include "power/fit.h"

namespace assay {

// 95 % interval of |SSP - SSE| / SSP, both means of curves of these degrees over the execution:
// runs are drawn again with both of their points, so that what a run has in common is in both; the
// spread of the difference around its estimate, reflected (basic bootstrap), its ends widened by
// Student's quantile over the normal one for as many runs; from 0 where the two may be alike. NaN
// with fewer than 6 runs, or where most resamples do not carry both curves.
Interval95 sse_error_interval(const std::vector<LoiPoint>& ssp, uint32_t ssp_degree,
                              const std::vector<LoiPoint>& sse, uint32_t sse_degree, double span_ns,
                              uint32_t resamples, uint64_t seed);

}  // namespace assay
