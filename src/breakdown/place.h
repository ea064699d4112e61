#pragma once

// Attributes every GPU activity to an operation, layer and phase. Sources by priority: the user's
// mapping and labels, then nn.Module frames, then repeating blocks, then operator names. Backward
// work is
// attributed through its forward operator.

#include <vector>

#include "breakdown/breakdown.h"
#include "flow/replays.h"

namespace assay {

struct Placements {
  std::vector<KernelLevel> rows;  // one per kernel, copy or memset, in table order
  std::vector<LayerStack> stacks;
  std::vector<std::string> op_names;  // 0 = unattributed
  PlacementStats stats;
  std::vector<PlacementEvidence>
      evidence;  // as requested by BreakdownOptions::explain; longest first
};

// Attributes every launch captured into the trace's graphs as if it had run at the capture. graphs:
// result of captured_graphs() for this trace.
void place_captured(const Trace& trace, const Links& links, const Windows& windows,
                    const BreakdownOptions& options, std::vector<CapturedGraph>& graphs);

Placements place_activities(const Trace& trace, const Links& links, const Windows& windows,
                            const BreakdownOptions& options);

}  // namespace assay
