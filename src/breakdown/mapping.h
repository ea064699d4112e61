#pragma once

// A mapping file: rules of the user that override what the trace tells
// (docs/formats/breakdown_map.md). One rule a line, blank lines and lines that start with # aside:
//
//   WHAT PATTERN OPERATION [LAYER] [PHASE]
//
// WHAT is label, module, operator or kernel; PATTERN may hold * and ?; "-" leaves as it is. The
// first rule that matches counts.

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

// `file` only for messages; they tell the line.
Result<std::vector<LevelRule>> parse_level_rules(std::string_view text, const std::string& file);

}  // namespace assay
