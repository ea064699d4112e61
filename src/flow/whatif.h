#pragma once

// What changes would give: replays of the run with edits, one by one and together. Everything that
// an edit does not touch stays as recorded; work that runs beside other work keeps its duration.

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

// Least share of device time with a recorded launch call for a replay to be shown.
constexpr double kLeastLinked = 0.9;

// The same edit to another factor.
struct GainAt {
  EditRequest request;
  bool predicted = false;  // as Edit::predicted
  Gain gain;
};

struct TriedLever {
  Edit edit;
  Gain alone;
  std::vector<GainAt> points = {};  // by how much they change, the least first; its own among them
  int64_t in_order_ns = 0;          // of the run, on top of those before it in `order`
  bool listed = false;              // in `order`
  bool alone_only = false;          // and cannot be: it is told by itself
};

// What several levers give together.
struct TogetherGain {
  std::vector<size_t> levers;  // places in WhatIf::levers, ascending, two or more
  Gain gain;
};

struct WhatIf {
  EditRefusal refusal = EditRefusal::kNone;  // of all edits
  size_t iterations = 0;                     // with device work
  std::vector<int64_t> step_ns;              // as recorded, of those after the first
  int64_t run_ns = 0;  // from the begin of the window to the end of the last device work
  int64_t window_ns = 0;
  std::vector<TriedLever> levers;  // as asked
  std::vector<size_t> order;  // of `levers`: each the one that gives most on top of those before it
  Gain joint;                 // all of `order`; its run_ns is the sum of in_order_ns
  ReplayBar before;
  ReplayBar after;
  ReplayBar path_before;  // the critical path to the last device work, from the begin of the window
  ReplayBar path_after;
  std::vector<TogetherGain> together;
  bool reach = false;  // as WhatIfOptions::reach
};

struct WhatIfOptions {
  std::vector<EditRequest> edits;  // none: every lever that applies
  std::vector<EditRequest> alone;  // tried as well, and no part of the order
  bool joint = true;  // also the order, joint gain and what binds then; else each alone
  // Also what gains lie between with other usual times: without `joint` of points, sets, and levers
  // that give least_share.
  bool reach = true;
  double least_share = 0.01;  // of the window; levers below it are not listed, asked ones are
  size_t together = 0;        // every set of so many levers that give most alone is tried
  RoofSources roof = {};      // of the edit "roof"
  bool points = false;        // levers that give least_share are tried to other factors as well
  unsigned threads = 1;       // that try large runs; the answer is the same
};

// Reasons against any replay of this run.
EditRefusal refusal_of_run(const FlowReport& report);
// The same for an answer that holds whatever missing launch calls may hide.
EditRefusal refusal_of_replay(const FlowReport& report);

// The levers that are tried when none is named, in a fixed order.
std::vector<EditRequest> usual_edits(const FlowReport& report, bool has_ops);

// The host's own work, or its pauses where they lead, and the kernels that take longest: bounds
// that are told each by itself, since nothing is left of a run without them.
std::vector<EditRequest> work_edits(const Trace& trace, const FlowVerdict& verdict);

// report: of the same run.
WhatIf explore_edits(const FlowModel& model, const Windows& iterations, const FlowReport& report,
                     const WhatIfOptions& options);

// Durations of iterations as recorded.
StepTimes recorded_steps(const FlowModel& model, const Windows& iterations);

}  // namespace assay
