#pragma once

// The launch floor that a trace itself shows.

#include <cstdint>
#include <optional>
#include <string>

#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

struct FloorEstimate {
  std::optional<int64_t> floor_ns;  // absent: the trace does not tell
  uint64_t samples = 0;             // launches that found their stream empty
  uint64_t launches = 0;            // launches of kernels, for a share
  std::string text;                 // how it was found, or why there is none
};

// Problem: of a launch in a real run only call and kernel start are recorded, and what lies between
// is mostly waiting. Method: the 5th percentile of that time over launches whose call began when
// their stream had finished everything recorded on it before. Copies and fills occupy a stream,
// rows of synchronisation do not. No samples are graph launches, which cost more, and kernels of a
// call but its first. A low quantile and no median, for an empty stream may still wait for an event
// of another one; no minimum, for one wrong clock reading would be it. Negative times count: more
// than a few say that the clocks of host and device disagree.
//
// None with fewer than kLeastFloorSamples, or outside [kSmallestEstimateNs, kLargestEstimateNs].
FloorEstimate estimate_floor(const Trace& trace, const Links& links);

// In public traces with a thousand samples and more, 8 drawn at random give a 5th percentile within
// 25 % of that of all in at least 95 of 100 draws; 4 miss it in up to 21.
constexpr uint64_t kLeastFloorSamples = 8;
// No device begins a kernel this soon after its call: the way over the bus is longer. The fastest
// floor published is 2,260 ns.
constexpr int64_t kSmallestEstimateNs = 500;
// No launch path takes a millisecond by itself: first calls that load modules or libraries do.
constexpr int64_t kLargestEstimateNs = 1'000'000;

}  // namespace assay
