#pragma once

// The diagnosis of one run as data: everything that its first screen says, each statement a finding.

#include <string_view>
#include <vector>

#include "findings/actions.h"
#include "findings/finding.h"
#include "flow/facts.h"

namespace assay::findings {

enum class Confidence : uint8_t { kHigh, kMedium, kLow, kNone };
std::string_view confidence_name(Confidence confidence);

struct Diagnosis {
  Finding headline;
  std::vector<Finding> details;  // each may follow the headline; the first that fits does
  std::vector<Action> actions;
  std::vector<Finding> notes;
  Confidence confidence = Confidence::kNone;
  Finding reason = {};                // of the confidence: the first caveat, or why it is high
  std::vector<Finding> caveats = {};  // all that limits it, the largest stake first
  std::vector<Finding> remarks = {};  // what limits it further
};

// What a caveat concerns, in ns; 0 where that is not known.
int64_t stake_ns(const Finding& caveat);

Finding headline_of(const RunFacts& facts);
Diagnosis diagnose(const RunFacts& facts);

// Every rule of one run's first screen with whether it holds, in the order in which they are read.
struct RuleState {
  Code code{};
  std::string_view when;
  bool holds = false;
};
std::vector<RuleState> rule_states(const RunFacts& facts);

}  // namespace assay::findings
