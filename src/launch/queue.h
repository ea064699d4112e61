#pragma once

// The distribution of launch+queue times.

#include <cstdint>
#include <vector>

#include "launch/metrics.h"

namespace assay {

// Sorts `times_ns`.
LaunchTimeStats launch_time_stats(std::vector<int64_t>& times_ns);

}  // namespace assay
