#pragma once

// Errors of a sum of samples at the ends of a trace's work. A sensor shows power late. If the log
// has no idle next to the work, the sum begins with power from before the work, and lacks the end
// of the work.

#include <cstdint>
#include <vector>

#include "power/joint/fit.h"
#include "records/power_log.h"

namespace assay {

// Joules of the samples from begin_ns to end_ns, each for the time since the previous one.
double joules_between(const std::vector<PowerReading>& samples, int64_t longest_ns,
                      int64_t begin_ns, int64_t end_ns);

// Minimum and maximum of the energy that a sum of the samples from begin_ns to end_ns misses, under
// any delay up to latest_ns. With delay c and a power that is D lower before the work, the sum
// misses c D. The first samples fall short of the later ones by the same energy, and samples after
// the work show it again.
Span95 left_out_j(const std::vector<PowerReading>& samples, int64_t longest_ns, int64_t begin_ns,
                  int64_t end_ns, int64_t latest_ns);

}  // namespace assay
