#pragma once

// The launch-overhead floor estimated from a trace.

#include <cstdint>
#include <optional>
#include <string>

#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

struct FloorEstimate {
  std::optional<int64_t> floor_ns;  // nullopt: not visible in the trace
  uint64_t samples = 0;             // launches that found their stream empty
  uint64_t launches = 0;            // launches of kernels, for a share
  std::string text;                 // how it was found, or why there is none
};

// Problem: for a launch in a real run, only the call and the kernel start are recorded, and the
// time between them is mostly waiting. Method: the 5th percentile of that time over launches with a
// call that began after all earlier activities of its stream had ended. Copies and fills occupy a
// stream; synchronization rows do not. Graph launches are excluded because they cost more, and so
// are all kernels of a call but its first. A low quantile is used, not the median, because an empty
// stream may still wait for an event of another one. The minimum would be a single wrong clock
// value. Negative times count. If there are more than a few, the clocks of host and device
// disagree.
//
// None with fewer than kLeastFloorSamples, or outside [kSmallestEstimateNs, kLargestEstimateNs].
FloorEstimate estimate_floor(const Trace& trace, const Links& links);

// In public traces with a thousand samples or more, the 5th percentile of 8 random samples is
// within 25 % of that of all samples in at least 95 of 100 draws. With 4 samples, up to 21 draws
// miss it.
constexpr uint64_t kLeastFloorSamples = 8;
// No device starts a kernel this soon after its call, because the bus alone takes longer. The
// fastest published launch-overhead floor is 2,260 ns.
constexpr int64_t kSmallestEstimateNs = 500;
// No launch path alone takes a millisecond; only first calls that load modules or libraries do.
constexpr int64_t kLargestEstimateNs = 1'000'000;

}  // namespace assay
