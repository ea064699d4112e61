#pragma once

// Sequences of kernels that one kernel could replace: either consecutive ATen kernels that compute
// element by element, copy, normalize or reduce; or a GEMM or convolution followed by one
// elementwise kernel, which fits its epilogue. Compilers and libraries fuse nothing else.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/names.h"
#include "launch/fusion_mining.h"
#include "launch/fusion_segments.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// Sequences of the same kernels that occur at least min_count times, in mining order. A sequence
// ends with its segment, or between two operators with element counts that do not divide each
// other.
std::vector<PlannedChain> fusible_runs(const Trace& trace, const Links& links,
                                       const KernelNames& names, const KernelSegments& segments,
                                       uint32_t min_count);

// Lower bound on the duration of one kernel that replaces a run: the bytes it must read, divided by
// memory bandwidth (cache bandwidth if they fit in the cache). Tensors of equal size count once.
// Intermediate results stay in registers.
class FusedTime {
 public:
  FusedTime(const Trace& trace, const Links& links);
  ~FusedTime();
  // In ns, at least 1000. nullopt if an input shape or the device's bandwidth is unknown.
  std::optional<int64_t> least_ns(const std::vector<ActivityId>& run) const;

 private:
  struct Inputs;
  const Trace& trace_;
  const Links& links_;
  std::unique_ptr<Inputs> inputs_;
};

}  // namespace assay
