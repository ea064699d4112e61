#pragma once

// Gains of changes: replays of the run with edits, alone and together. Everything that an edit does
// not touch stays as recorded; overlapping work keeps its duration.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "flow/edits.h"
#include "flow/flow.h"
#include "flow/gain.h"
#include "flow/replay_bar.h"
#include "flow/verdict.h"

namespace assay {

// Least share of device time with a launch call for gains to be shown.
constexpr double kLeastLinked = 0.9;

// The gain of the same edit with another factor.
struct GainAt {
  EditRequest request;
  bool predicted = false;  // as Edit::predicted
  Gain gain;
};

struct TriedLever {
  Edit edit;
  Gain alone;
  std::vector<GainAt> points = {};  // smallest change first, with the edit's own factor
  int64_t in_order_ns = 0;          // time saved on top of those before it in `order`
  bool listed = false;              // contained in `order`
  bool alone_only = false;          // excluded from `order`
};

// Gain of several edits together.
struct TogetherGain {
  std::vector<size_t> levers;  // indices into WhatIf::levers, ascending, at least two
  Gain gain;
};

struct WhatIf {
  EditRefusal refusal = EditRefusal::kNone;  // applies to all edits
  size_t iterations = 0;                     // number with device work
  std::vector<int64_t> step_ns;              // recorded durations of iterations after the first
  int64_t run_ns = 0;  // from the begin of the window to the end of the last device work
  int64_t window_ns = 0;
  std::vector<TriedLever> levers;  // as requested, then options.alone
  std::vector<size_t> order;  // indices into `levers`: each saves most on top of those before it
  Gain joint;                 // all of `order`; its run_ns is the sum of in_order_ns
  ReplayBar before;
  ReplayBar after;
  ReplayBar path_before;  // critical path to the last device work
  ReplayBar path_after;
  std::vector<TogetherGain> together;
  bool reach = false;  // as WhatIfOptions::reach
};

struct WhatIfOptions {
  std::vector<EditRequest> edits;  // empty: usual_edits()
  std::vector<EditRequest> alone;  // also tried, but not part of the order
  bool joint = true;               // also find order, joint gain and the critical path after it
  // Also compute ranges of gains over other typical times. If !joint, only for points, sets and
  // edits that save least_share.
  bool reach = true;
  double least_share = 0.01;  // of the window; smaller gains are not listed unless requested
  size_t together = 0;        // try every set of this many edits with the largest gains
  RoofSources roof = {};      // for kRoof
  bool points = false;        // try edits that save least_share with other factors, too
  unsigned threads = 1;       // used for large runs; does not change the result
};

// Why gains of this run cannot be shown; kNone if they can.
EditRefusal refusal_of_run(const FlowReport& report);
// The same without kUnlinked, for results that hold whatever missing launch calls hide.
EditRefusal refusal_of_replay(const FlowReport& report);

// The edits tried by default, in a fixed order.
std::vector<EditRequest> usual_edits(const FlowReport& report, bool has_ops);

// Edits of the host's own work (its stalls if they lead) and of the longest kernels: bounds that
// are reported individually, since together they would leave nothing of a run.
std::vector<EditRequest> work_edits(const Trace& trace, const FlowVerdict& verdict);

// iterations and report must be of the same run. Tries edits in parallel for large graphs.
WhatIf explore_edits(const FlowModel& model, const Windows& iterations, const FlowReport& report,
                     const WhatIfOptions& options);

// Recorded durations of iterations.
StepTimes recorded_steps(const FlowModel& model, const Windows& iterations);

}  // namespace assay
