#pragma once

// Sections of a Document from results of the launch module.

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

// Section "launch" with whole, iterations, means, distribution, floor and top_kernels. `top` is the
// number of rows in top_kernels, `most_steps` that of iterations with a row (0 = all).
Section launch_section(const LaunchReport& report, size_t top,
                       size_t most_steps = kMostStepRows);
// The key numbers, for a table that compares traces.
std::vector<Item> launch_overview(const LaunchMetrics& metrics);
// "tree": the collapsed call tree.
Section tree_section(const CallTree& tree);
// "kernels": the call graph without collapsing, one row per kernel.
Section kernel_rows_section(const Trace& trace, const Windows& windows,
                            const std::vector<KernelRow>& kernels);

// ---- fusion (fusion.cc) ----
// Section "fusion" with segment, chains, plan and recommended. `gains` has the time in ns that a
// replay saves by fusing each recommended chain, or nullopt without a replay.
using ChainGains = std::vector<std::optional<int64_t>>;
Section fusion_section(const FusionReport& report, const ChainGains& gains);

// ---- bound (bound.cc) ----
struct PlatformBound {
  std::string name;
  BoundReport report;
};
// "bound": one object per platform, and the crossover of the first two if there is one.
std::vector<Section> bound_sections(const std::vector<PlatformBound>& platforms,
                                    const Crossover* crossover);
std::vector<std::string> bound_verdict_words(const std::vector<PlatformBound>& platforms,
                                             const Crossover* crossover);

}  // namespace assay
