#pragma once

// Conditions under which a build fails (docs/ci.md):
//   gate   := metric op limit
//   metric := a key of the metrics table, its unit suffix (_ns) optional
//   op     := ">" | ">=" | "<" | "<="
//   limit  := sign number "%"        relative change, of A
//           | sign number [unit]     change
//           | number [unit | "%"]    level of B; "%" of shares only
// Units are ns, us, ms and s. Times need one (except 0); other metrics reject them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "diff/compare.h"

namespace assay {

enum class GateOp : uint8_t { kAbove, kAtLeast, kBelow, kAtMost };
enum class GateLimit : uint8_t { kRelativeChange, kChange, kLevel };

struct Gate {
  std::string text;  // as typed
  std::string metric;
  GateOp op = GateOp::kAbove;
  GateLimit limit = GateLimit::kChange;
  double value = 0;      // in base units; 0.1 for 10 %
  bool percent = false;  // written with %
  std::string unit;      // as written; empty = none
};

enum class GateOutcome : uint8_t {
  kPassed,
  kCrossed,
  kWithinNoise,  // beyond the limit, but its interval includes the limit: passes
  kUndecided,    // beyond the limit, but the noise is unknown: an error, not a pass
  kNoValue,      // the metric has no value on a side that the gate needs: an error
};
std::string_view gate_outcome_name(GateOutcome outcome);

struct GateResult {
  Gate gate;
  GateOutcome outcome = GateOutcome::kPassed;
  std::string metric;  // full key
  DiffUnit unit = DiffUnit::kNanoseconds;
  double a = 0;
  double b = 0;
  double value = 0;  // compared with the limit
  double limit = 0;
  ChangeInterval interval;  // of value
};

// Checks only the grammar; check_gates() checks that the metric exists.
Result<Gate> parse_gate(std::string_view text);

// Fails if a gate names a metric that the report lacks (with a list of the existing ones), or has a
// wrong unit. any: also accept changes that are not significant.
Result<std::vector<GateResult>> check_gates(const std::vector<Gate>& gates,
                                            const DiffReport& report, bool any);

}  // namespace assay
