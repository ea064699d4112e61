#pragma once

// Extracts the kernel sequences of a trace that may be fused: launch order per stream, cut where
// the host depended on the device (spec/launch 3).

#include <cstdint>
#include <vector>

#include "launch/fusion.h"
#include "launch/fusion_mining.h"
#include "trace/iterations.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

struct KernelSegments {
  KernelSequences sequences;
  std::vector<ActivityId> kernels;  // per position of sequences.ids
  bool device_order = false;        // nothing is linked: ordered by device start
  uint64_t graph_kernels = 0;       // left out, as FusionReport says
  uint64_t unlinked_kernels = 0;
  uint64_t outside_kernels = 0;
};

// Segments are ordered by stream, then launch. Kernels outside all iterations form segments of
// their own, one per stretch between iterations, unless the rule is kIteration.
KernelSegments cut_segments(const Trace& trace, const Links& links, const Windows& windows,
                            const std::vector<OpId>& roots, SegmentRule rule,
                            KernelIdentity identity);

}  // namespace assay
