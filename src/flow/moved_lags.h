#pragma once

// The same graph with other typical times: points and edges stay, but some lags and binding edges
// change.

#include <cstdint>
#include <vector>

#include "flow/edited_lags.h"
#include "flow/run.h"

namespace assay {

struct MovedLags {
  // A slot with a change of its own lag.
  struct Own {
    uint32_t slot = 0;
    int64_t lag_ns = 0;
    int64_t residual_ns = 0;
  };
  // Per edge: increase of its lag, plus its point's residual if it binds (the first of equal ones).
  std::vector<int64_t> shift_ns;
  std::vector<Own> own;  // ascending by slot
};

// floors: as many names as the run's own.
MovedLags moved_lags(const EditSlots& slots, const FlowFloors& floors);

// Lags of edits on that graph, including residuals: replay them with Residuals::kDrop. lags:
// editor.lags(edits).
void move_lags(LagEditor& editor, const StrongestEdits& edits, const EditedLags& lags,
               const MovedLags& moved, std::vector<int64_t>& moved_ns);

}  // namespace assay
