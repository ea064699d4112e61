#pragma once

// Host stalls, and whether one operator causes them (a first use, a new shape, a search) or the
// host as a whole, wherever it is.

#include <cstdint>
#include <optional>

#include "base/stats.h"
#include "flow/flow.h"
#include "trace/iterations.h"
#include "trace/trace.h"

namespace assay {

// Host idle time in stalls of kPauseNs or more, if that is at least half of the host's idle time.
struct LeadingPauses {
  int64_t ns = 0;  // 0: stalls do not lead
  uint64_t count = 0;
  // The contributor with at least half of the stalls; else, unless most are in normally short
  // events, the largest one. Its name is empty if no event shows what the host did.
  std::optional<Contributor> who;
  DurationSpread all;     // lengths of all stalls
  DurationSpread of_who;  // lengths of the stalls of `who`
  // The typical event of `who` is at least 20 times shorter than its stalls.
  bool rare = false;
  // `who` is an operator, and its long instances are the same one in each iteration.
  bool each_iteration = false;
  // The stalls occur whatever the host does.
  bool stalls = false;
};

// The stalls of a run, and the contributor with at least half of them. ns = 0 if they do not lead.
LeadingPauses leading_pauses(const FlowReport& report);
// Completes the remaining fields. iterations may be null.
void judge_pauses(const Trace& trace, const FlowReport& report, const Windows* iterations,
                  LeadingPauses& pauses);

}  // namespace assay
