#include "records/frozen_gain.h"

#include "base/decimal.h"
#include "base/numbers.h"
#include "records/frozen_lines.h"
#include "records/setting_lines.h"

namespace assay {
namespace {

constexpr std::string_view kHead = "assay prediction";

// The field of a key; null if the key is not a number.
int64_t* number_of(std::string_view key, FrozenGain& prediction) {
  if (key == "iterations") return &prediction.iterations;
  if (key == "before_ns") return &prediction.before_ns;
  if (key == "after_ns") return &prediction.after_ns;
  if (key == "gain_ns") return &prediction.gain_ns;
  if (key == "low_ns") return &prediction.low_ns;
  if (key == "high_ns") return &prediction.high_ns;
  return nullptr;
}

Status take_line(const SettingLine& line, FrozenGain& prediction) {
  if (int64_t* number = number_of(line.name, prediction)) {
    if (parse_int64(line.value, *number) && *number >= -kMostFrozen && *number <= kMostFrozen)
      return Ok{};
    return frozen_line_error(line.number, std::string(line.name) + " must be a whole number");
  }
  if (line.name == "tool_version") {
    prediction.tool_version = line.value;
  } else if (line.name == "trace") {
    prediction.trace = line.value;
  } else if (line.name == "edit") {
    prediction.edits.emplace_back(line.value);
  } else if (line.name == "kind" && (line.value == "at most" || line.value == "predicted")) {
    prediction.at_most = line.value == "at most";
  } else if (line.name == "per" && (line.value == "iteration" || line.value == "run")) {
    prediction.per_iteration = line.value == "iteration";
  } else {
    return unknown_frozen_line(line.number, line.name);
  }
  return Ok{};
}

}  // namespace

std::string frozen_text(const FrozenGain& prediction) {
  std::string text = frozen_head(kHead);
  add_frozen_line("tool_version", prediction.tool_version, text);
  add_frozen_line("trace", prediction.trace, text);
  for (const std::string& edit : prediction.edits) add_frozen_line("edit", edit, text);
  add_frozen_line("kind", prediction.at_most ? "at most" : "predicted", text);
  add_frozen_line("per", prediction.per_iteration ? "iteration" : "run", text);
  add_frozen_line("iterations", std::to_string(prediction.iterations), text);
  add_frozen_line("before_ns", std::to_string(prediction.before_ns), text);
  add_frozen_line("after_ns", std::to_string(prediction.after_ns), text);
  add_frozen_line("gain_ns", std::to_string(prediction.gain_ns), text);
  add_frozen_line("low_ns", std::to_string(prediction.low_ns), text);
  add_frozen_line("high_ns", std::to_string(prediction.high_ns), text);
  return text;
}

Result<FrozenGain> parse_frozen(std::string_view text) {
  SettingLines lines(text);
  FrozenGain prediction;
  bool begun = false;
  while (const auto line = lines.next()) {
    if (!begun) {
      begun = line->kind == SettingLine::Kind::kSection && line->name == kHead;
      if (!begun)
        return frozen_line_error(line->number, "a prediction begins with [assay prediction]");
      continue;
    }
    if (line->kind != SettingLine::Kind::kSetting) {
      return frozen_line_error(line->number, "expected a line such as gain_ns = 1000");
    }
    ASSAY_TRY(take_line(*line, prediction));
  }
  if (!begun) return format_error("empty: a prediction begins with [assay prediction]");
  if (prediction.before_ns <= 0) return format_error("before_ns is missing, or not above 0");
  return prediction;
}

FrozenScore score_frozen(const FrozenGain& prediction, int64_t measured_ns) {
  FrozenScore score;
  score.measured_ns = measured_ns;
  score.measured_gain_ns = prediction.before_ns - measured_ns;
  score.signed_error = share(prediction.after_ns - measured_ns, measured_ns);
  score.exceeded = prediction.at_most && score.measured_gain_ns > prediction.gain_ns;
  score.has_interval = prediction.low_ns != 0 || prediction.high_ns != 0;
  score.in_interval = score.has_interval && score.measured_gain_ns >= prediction.low_ns &&
                      score.measured_gain_ns <= prediction.high_ns;
  return score;
}

}  // namespace assay
