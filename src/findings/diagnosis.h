#pragma once

// The diagnosis of one run as data: every statement of its first screen as a finding.

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
  std::vector<Finding> details;  // candidates to follow the headline; the first that fits is used
  std::vector<Action> actions;
  std::vector<Finding> notes;
  Confidence confidence = Confidence::kNone;
  Finding reason = {};                // of the confidence: the first caveat, or why it is high
  std::vector<Finding> caveats = {};  // what limits the confidence, largest affected time first
  std::vector<Finding> remarks = {};  // further limits
};

// Affected time of a caveat in ns; 0 if unknown.
int64_t stake_ns(const Finding& caveat);

Finding headline_of(const RunFacts& facts);
Diagnosis diagnose(const RunFacts& facts);

// Every rule of a run's first screen and whether it holds, in evaluation order.
struct RuleState {
  Code code{};
  std::string_view when;
  bool holds = false;
};
std::vector<RuleState> rule_states(const RunFacts& facts);

}  // namespace assay::findings
