#pragma once

// Mapping file: user rules that override the recorded attribution (docs/formats/breakdown_map.md).
// One rule per line; blank lines and lines starting with # are skipped:
//
//   WHAT PATTERN OPERATION [LAYER] [PHASE]
//
// WHAT is label, module, operator or kernel. PATTERN may contain * and ?. "-" leaves a field
// unchanged. The first matching rule applies.

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
  std::string op;  // empty = unchanged
  std::optional<int32_t> layer;
  std::optional<LevelPhase> phase;
};

// `file` appears in error messages, together with the line number.
Result<std::vector<LevelRule>> parse_level_rules(std::string_view text, const std::string& file);

}  // namespace assay
