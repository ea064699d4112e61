#pragma once

// Sequences of kernels that one kernel could replace. Either consecutive ATen operators that
// compute element by element, copy, normalize or reduce; or one elementwise kernel after a product,
// which fits the product's epilogue. Compilers and libraries fuse nothing else.

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

// How long one kernel in place of a run takes at least: the bytes that it must move over the
// memory's rate. Tensors of equal size are taken for one, and what the run computes itself stays in
// registers.
class FusedTime {
 public:
  FusedTime(const Trace& trace, const Links& links);
  ~FusedTime();
  // nullopt: a shape, or the memory's rate, is not known.
  std::optional<int64_t> least_ns(const std::vector<ActivityId>& run) const;

 private:
  struct Inputs;
  const Trace& trace_;
  const Links& links_;
  std::unique_ptr<Inputs> inputs_;
};

}  // namespace assay
