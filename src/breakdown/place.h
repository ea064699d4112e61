#pragma once

// Where every device activity belongs: operation, layer, phase. Sources in falling priority: the
// user's mapping, labels, nn.Module frames, repeating blocks, operator names; backward work through
// its forward operator.

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

// Tells of every launch that was recorded into the trace's graphs where it belongs, as if it had
// run then. graphs: captured_graphs() of this trace.
void place_captured(const Trace& trace, const Links& links, const Windows& windows,
                    const BreakdownOptions& options, std::vector<CapturedGraph>& graphs);

Placements place_activities(const Trace& trace, const Links& links, const Windows& windows,
                            const BreakdownOptions& options);

}  // namespace assay
