#pragma once

// The same graph with other usual times: points and edges are the same, some lags and what binds
// are not.

#include <cstdint>
#include <vector>

#include "flow/edited_lags.h"
#include "flow/run.h"

namespace assay {

struct MovedLags {
  // Of a slot whose own lag is another one.
  struct Own {
    uint32_t slot = 0;
    int64_t lag_ns = 0;
    int64_t residual_ns = 0;
  };
  // Per edge: how much longer it is, with the residual of its point where it binds, of equal ones
  // the first.
  std::vector<int64_t> shift_ns;
  std::vector<Own> own;  // in the order of slots
};

// floors: with the number of names of the run's own.
MovedLags moved_lags(const EditSlots& slots, const FlowFloors& floors);

// Lags of edits on that graph, residuals with them: for a replay that keeps no others. lags: of the
// editor, of these edits.
void move_lags(LagEditor& editor, const StrongestEdits& edits, const EditedLags& lags,
               const MovedLags& moved, std::vector<int64_t>& moved_ns);

}  // namespace assay
