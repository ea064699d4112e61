#pragma once

// Turns planned chains into recommendations: occurrences, enclosing operators, savings and remedy.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/names.h"
#include "kernels/views.h"
#include "launch/fusion.h"
#include "launch/fusion_mining.h"
#include "launch/fusion_segments.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

struct Advice {
  Remedy remedy = Remedy::kTorchCompile;
  std::string reason;
};
// Recommended remedy for a chain of kernels of these kinds.
Advice advise(const std::vector<FusionKind>& kinds);

struct Recommendations {
  uint64_t distinct = 0;                 // chains before the cut to max_chains
  std::vector<RecommendedChain> chains;  // by launches saved descending, then first position
};

// Groups runs of the same kernels.
Recommendations recommend(const Trace& trace, const Links& links, const KernelNames& names,
                          const std::vector<int64_t>& raw_launch_times,
                          const std::vector<OpId>& roots, const KernelSegments& segments,
                          const std::vector<PlannedChain>& runs, const LaunchFloor& floor,
                          size_t max_chains);

}  // namespace assay
