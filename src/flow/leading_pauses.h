#pragma once

// Pauses of the host, and whose they are: an operator's own (a first use, a new shape, a search) or
// the host's, which come wherever it is.

#include <cstdint>
#include <optional>

#include "base/stats.h"
#include "flow/flow.h"
#include "trace/iterations.h"
#include "trace/trace.h"

namespace assay {

// The host's part of the idle time that lies in pauses (kPauseNs), where that is at least half.
struct LeadingPauses {
  int64_t ns = 0;  // 0: pauses do not lead
  uint64_t count = 0;
  // At least half of them, else the largest part where they are no stalls; its name is none where
  // nothing tells what the host did.
  std::optional<Contributor> who;
  DurationSpread all;     // of them
  DurationSpread of_who;  // of those of `who`
  // Most of what `who` does takes no time.
  bool rare = false;
  // `who` is an operator, and its long rows are the same one of each iteration.
  bool each_iteration = false;
  // These pauses are the host's, and not of what it does.
  bool stalls = false;
};

// The pauses of a run, and who has at least half of them.
LeadingPauses leading_pauses(const FlowReport& report);
// Whose they are, of pauses that lead; `iterations`: may be null.
void judge_pauses(const Trace& trace, const FlowReport& report, const Windows* iterations,
                  LeadingPauses& pauses);

}  // namespace assay
