#pragma once

// Gains of changes, and the components of the critical path: sentences and tables.

#include <string>
#include <vector>

#include "flow/path_parts.h"
#include "flow/whatif.h"
#include "records/frozen_gain.h"
#include "report/document/document.h"
#include "report/flow/section.h"

namespace assay {

struct WhatIfAnswer {
  const Trace& trace;
  const FlowReport& report;
  const WhatIf& found;
  bool asked = false;  // edits were given; else all applicable ones were simulated
  // The same changes in the recording, for an answer about the run without profiler overhead, and
  // the reverse.
  const WhatIf* recorded = nullptr;
  const WhatIf* untraced = nullptr;
};

// A change as a phrase to follow "with": "a CUDA graph in each iteration".
std::string edit_words(const Edit& edit, const Program& program);
// Why a change cannot be simulated and what to record, without a period.
std::string refusal_words(const Edit& edit, const FlowReport& report);
// "up to" or "simulated".
std::string certainty_words(const Edit& edit);

// The known interval of the gain, in words. It is taken over the run's iterations, and with typical
// values for times that are not recorded. found: made with WhatIfOptions::reach.
std::string between_words(const Gain& gain, const WhatIf& found);

// The answer: step time before and after, the next bottleneck, the replay error, and changes that
// cannot be simulated, with reasons.
std::vector<std::string> whatif_words(const WhatIfAnswer& answer);
// "whatif": identity, answer, actions, states, next.
Section whatif_section(const WhatIfAnswer& answer);
// The gain of a change, given as an argument of `assay whatif --edit`, alone; null if not tried or
// refused.
const Gain* gain_in(const WhatIf* found, const std::string& edit);
// Widens the intervals of gains by those of the same changes in `other`.
void widen_gains(const WhatIf& other, WhatIf& found);
// The key numbers, for a table that compares traces.
std::vector<Item> whatif_overview(const WhatIf& found);

// Compares a saved prediction with the measured recording.
std::vector<std::string> score_words(const FrozenGain& prediction, const FrozenScore& score);
// "score": the prediction, the measurement, and their difference.
Section score_section(const FrozenGain& prediction, const FrozenScore& score);

struct NamedPathLayer {
  PathLayer sum;
  std::string stack;  // empty = none, or known from labels
};
// The recorded critical path, aggregated.
struct PathAnswer {
  const Trace& trace;
  const FlowReport& report;
  std::vector<PathPart> parts;
  std::vector<PathOp> ops;
  std::vector<NamedPathLayer> layers = {};  // empty: no layers found
};
std::vector<std::string> path_words(const PathAnswer& answer);
// "path": makespan, causes, parts, ops, layers; each table sums to the makespan.
Section path_section(const PathAnswer& answer);
// "opened_by": causes of idle time by the start of their gaps. Sums to the idle time.
Section opened_by_section(const FlowReport& report);

}  // namespace assay
