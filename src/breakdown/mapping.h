#pragma once

// A mapping file: rules of the user that override the recorded attribution
// (docs/formats/breakdown_map.md). One rule per line; blank lines and lines that start with # are
// skipped:
//
//   WHAT PATTERN OPERATION [LAYER] [PHASE]
//
// WHAT is label, module, operator or kernel. PATTERN may contain * and ?. "-" changes nothing. The
// first matching rule applies.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "breakdown/breakdown.h"

namespace assay {

enum class RuleTarget : uint8_t { kLabel, kModule, kOperator, kKernel };

struct LevelRule {
  RuleTarget target = RuleTarget::kOperator;
  std::string pattern;
  std::string op;  // empty = leave
  std::optional<int32_t> layer;
  std::optional<LevelPhase> phase;
};

// `file` is only for messages, which contain the line number.
Result<std::vector<LevelRule>> parse_level_rules(std::string_view text, const std::string& file);

}  // namespace assay
