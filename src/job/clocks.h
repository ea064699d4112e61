#pragma once

// Clock offsets and drifts of the ranks of a job.
//
// Problem: nine of ten collectives stay inside a node, so a rank's median over all its collectives
// does not align the nodes with each other.
// Method: per rank v and group g, d(v,g) is the median over the group's collectives of v's end
// minus the mean end of the members. Each pair counts once, for any number of collectives. Offsets
// o and a constant c per group minimise the sum of (o_v - d(v,g) - c_g)^2. The same with slopes
// over time gives drifts. Measured effect: docs/measured/job.md. Straggler analysis does not use
// the result; it only reports which clocks run fast.

#include <cstdint>
#include <vector>

#include "job/job_graph.h"

namespace assay {

struct FleetClocks {
  std::vector<int64_t> offsets_ns;  // per rank: its clock minus the component's median clock
  std::vector<double> drifts;  // per rank: seconds per second, against that median; NaN = unknown
  std::vector<uint32_t> components;  // per rank: id shared by ranks that collectives connect
  uint32_t component_count = 0;
  std::vector<uint32_t> fast;   // ranks with |drift| above 50 ppm and far above the median |drift|
  uint64_t aligned = 0;         // number of collective ends used
  int64_t residual_p50_ns = 0;  // |end - offset - mean of the members|
  int64_t residual_p95_ns = 0;
  int64_t residual_max_ns = 0;
};

FleetClocks align_fleet(const JobGraph& graph);

}  // namespace assay
