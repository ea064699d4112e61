#pragma once

// From results of the launch module to sections of a Document.

#include <optional>
#include <string>
#include <vector>

#include "launch/fusion.h"
#include "launch/metrics.h"
#include "launch/sweep.h"
#include "launch/tree.h"
#include "report/document/document.h"
#include "report/document/step_rows.h"
#include "trace/trace.h"

namespace assay {

// The section "launch" with whole, iterations, means, distribution, floor and top_kernels. top:
// rows of top_kernels. Iterations beyond most_steps have no row (0 = all have one).
Section launch_section(const LaunchReport& report, size_t top,
                       size_t most_steps = kMostStepRows);
// The few numbers by which traces are compared: a row of a set's overview.
std::vector<Item> launch_overview(const LaunchMetrics& metrics);
// "tree": the collapsed call tree.
Section tree_section(const CallTree& tree);
// "kernels": the uncollapsed graph, one row per kernel.
Section kernel_rows_section(const Trace& trace, const Windows& windows,
                            const std::vector<KernelRow>& kernels);

// ---- fusion (fusion.cc) ----
// The section "fusion" with segment, chains, plan and recommended. gains: per recommended chain, the
// time saved by a replay with it fused; nullopt without a replay.
using ChainGains = std::vector<std::optional<int64_t>>;
Section fusion_section(const FusionReport& report, const ChainGains& gains);

// ---- bound (bound.cc) ----
struct PlatformBound {
  std::string name;
  BoundReport report;
};
// "bound": one object per platform, and the crossover of the first two when there is one.
std::vector<Section> bound_sections(const std::vector<PlatformBound>& platforms,
                                    const Crossover* crossover);
std::vector<std::string> bound_verdict_words(const std::vector<PlatformBound>& platforms,
                                             const Crossover* crossover);

}  // namespace assay
