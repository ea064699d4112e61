#pragma once

// Attributes every GPU activity to operation, layer and phase. Sources in falling priority: the
// user's mapping, labels, nn.Module frames, repeating blocks, operator names. Backward work is
// attributed through its forward operator.

#include <vector>

#include "breakdown/breakdown.h"
#include "flow/replays.h"

namespace assay {

struct Placements {
  std::vector<KernelLevel> rows;  // one per activity that is work, in table order
  std::vector<LayerStack> stacks;
  std::vector<std::string> op_names;  // 0 = unplaced
  PlacementStats stats;
  std::vector<PlacementEvidence>
      evidence;  // longest first; as asked with BreakdownOptions::explain
};

// Attributes every launch captured into the trace's graphs, as if it had run at the capture.
// graphs: captured_graphs() of this trace.
void place_captured(const Trace& trace, const Links& links, const Windows& windows,
                    const BreakdownOptions& options, std::vector<CapturedGraph>& graphs);

Placements place_activities(const Trace& trace, const Links& links, const Windows& windows,
                            const BreakdownOptions& options);

}  // namespace assay
