#pragma once

// The answer of a run: what can be judged of it, and the verdict of that. A recording is seldom one
// thing; one part that cannot be judged must not decide for all of it.

#include <string_view>

#include "base/result.h"
#include "flow/flow.h"
#include "flow/stretches.h"
#include "flow/verdict.h"
#include "trace/iterations.h"

namespace assay {

struct JudgedRun {
  FlowReport report;    // of the judged stretch, with FlowReport::stretches
  FlowVerdict verdict;  // of the same
  Windows iterations;   // those inside it, for replays
};

// The words that a part may be asked for by: its kind ("lead-in"), its unit ("iterations", "decode"),
// its name, its number from 1, "all". Upper case, blanks, - and _ are alike. "A..B" names two times from the begin of the
// window, as "10.2ms..15ms". The stretch between them becomes a part, and the other parts keep the rest.
//
// part: what is judged; empty = the largest stretch that can be, and where none can or options ask
// for a graph of ranks, all of it, as for "all". Replays stay inside: the model's graph becomes that
// of the stretch.
// Errors: there is no such part. A stretch is empty or outside the window, or there are several ranks.
Result<JudgedRun> judge_run(FlowModel& model, const Windows& iterations, FlowOptions options,
                            std::string_view part);

}  // namespace assay
