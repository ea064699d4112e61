#pragma once

// Gains of changes, and the components of the critical path: words and tables.

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
  bool asked = false;  // edits were named; else those that apply were tried
};

// A change in words, to follow "with": "a CUDA graph in each iteration".
std::string edit_words(const Edit& edit, const Program& program);
// The reason why a change is not simulated and what to record, without a period.
std::string refusal_words(const Edit& edit, const FlowReport& report);
// "up to" or "simulated".
std::string certainty_words(const Edit& edit);

// Between what a gain lies, as far as the run tells: over its iterations, and with usual times
// that it does not tell. found: made with WhatIfOptions::reach.
std::string between_words(const Gain& gain, const WhatIf& found);

// The answer: the step before and after, the next bottleneck, the model's error, and changes
// without a simulation, with reasons.
std::vector<std::string> whatif_words(const WhatIfAnswer& answer);
// "whatif": identity, answer, actions, states, next.
Section whatif_section(const WhatIfAnswer& answer);
// The few numbers by which traces are compared.
std::vector<Item> whatif_overview(const WhatIf& found);

// Comparison of a prediction with the other recording.
std::vector<std::string> score_words(const FrozenGain& prediction, const FrozenScore& score);
// "score": the prediction, the measurement, and their difference.
Section score_section(const FrozenGain& prediction, const FrozenScore& score);

struct NamedPathLayer {
  PathLayer sum;
  std::string stack;  // empty = none, or told by labels
};
// The recorded critical path, summed.
struct PathAnswer {
  const Trace& trace;
  const FlowReport& report;
  std::vector<PathPart> parts;
  std::vector<PathOp> ops;
  std::vector<NamedPathLayer> layers = {};  // empty: none were found
};
std::vector<std::string> path_words(const PathAnswer& answer);
// "path": makespan, causes, parts, ops, layers; each table sums to the makespan.
Section path_section(const PathAnswer& answer);
// "opened_by": causes of idle time by how their gaps began; sums to the idle time.
Section opened_by_section(const FlowReport& report);

}  // namespace assay
