#pragma once

// Diagnosis of a run: selects the part that can be analyzed and diagnoses it. A recording is seldom
// uniform, and a part that cannot be analyzed must not decide for the rest.

#include <string_view>

#include "base/result.h"
#include "flow/flow.h"
#include "flow/stretches.h"
#include "flow/verdict.h"
#include "trace/iterations.h"

namespace assay {

struct JudgedRun {
  FlowReport report;    // of the analyzed part, with FlowReport::stretches
  FlowVerdict verdict;  // of the same part
  Windows iterations;   // iterations that begin in it, for replays
};

// Names of a part: its kind ("lead-in"), its unit ("iterations", "decode"), its name, its number
// starting at 1, "all". Case, blanks, - and _ are ignored. "A..B" gives two times from the window's
// begin, e.g. "10.2ms..15ms": that interval becomes a part and is cut out of the others.
//
// part: the part to analyze, empty = the longest one that can be analyzed, or all if there is none
// or options.rank_graph is set. Replays stay inside it: model.graph is replaced by that of the
// part.
//
// Errors (kInvalidArgument): no such part, an interval that is empty or outside the window, or an
// interval with options.rank_graph.
Result<JudgedRun> judge_run(FlowModel& model, const Windows& iterations, FlowOptions options,
                            std::string_view part);

}  // namespace assay
