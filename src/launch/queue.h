#pragma once

// Launching versus queueing: the floor F that a launch costs on an idle stream, and the
// distribution of launch+queue times.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/metrics.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// F from the user when given, else from the trace: p5 of t_l over kernel launches issued when their
// stream had finished everything before (spec/launch 2). Graph launches, which cost more than a
// kernel's, and times that had to be clamped are no samples. Fails on a floor that is not positive
// and finite.
Result<LaunchFloor> find_floor(const Trace& trace, const Links& links,
                               const std::vector<int64_t>& raw_launch_times,
                               const std::optional<double>& floor_ns,
                               const std::string& floor_source);

// Sorts `times_ns`.
LaunchTimeStats launch_time_stats(std::vector<int64_t>& times_ns);

}  // namespace assay
