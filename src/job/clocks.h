#pragma once

// The clocks of a fleet's ranks.
//
// Problem: nine of ten collectives lie inside a node. A rank's median over all of them never brings
// the nodes together.
// Method: per rank v and group g, d(v,g) is the median over the group's collectives of v's end
// minus the mean end of the members. Each pair counts once, for any number of collectives. Offsets
// o and a constant c per group minimise the sum of (o_v - d(v,g) - c_g)^2. The same with slopes
// over time gives drifts. Effect: docs/measured/job.md. Nothing that blames a rank rests on this:
// it says which clocks run fast.

#include <cstdint>
#include <vector>

#include "job/job_graph.h"

namespace assay {

struct FleetClocks {
  std::vector<int64_t> offsets_ns;  // per rank: its clock minus the common one; the middle is 0
  std::vector<double> drifts;  // per rank: seconds per second, against the middle; NaN = not known
  std::vector<uint32_t> components;  // per rank: ranks that meet, even through others
  uint32_t component_count = 0;
  std::vector<uint32_t> fast;   // ranks with a clock drift above 50 ppm
  uint64_t aligned = 0;         // ends that were used
  int64_t residual_p50_ns = 0;  // |end - offset - mean of the members|
  int64_t residual_p95_ns = 0;
  int64_t residual_max_ns = 0;
};

FleetClocks align_fleet(const JobGraph& graph);

}  // namespace assay
