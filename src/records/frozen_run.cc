#include "records/frozen_run.h"

#include <limits>

#include "base/decimal.h"
#include "base/numbers.h"
#include "records/frozen_lines.h"
#include "records/setting_lines.h"

namespace assay {
namespace {

constexpr std::string_view kRunHead = "assay prediction of a run";
constexpr std::string_view kGpu = "gpu";
constexpr std::string_view kOperators = "operators";

Result<int64_t> number_of(std::string_view text, std::string_view name, size_t line) {
  int64_t number = 0;
  if (parse_int64(text, number) && number >= 0 && number <= kMostFrozen) return number;
  return frozen_line_error(line, std::string(name) + " must be a whole number, at least 0");
}

Status take_head(const SettingLine& line, FrozenRun& prediction) {
  if (line.name == "tool_version") {
    prediction.tool_version = line.value;
  } else if (line.name == "trace") {
    prediction.trace = line.value;
  } else if (line.name == "profiler" && (line.value == "kept" || line.value == "removed")) {
    prediction.as_recorded = line.value == "kept";
  } else if (line.name == "gpus") {
    ASSAY_TRY_ASSIGN(prediction.gpu_count, number_of(line.value, line.name, line.number));
  } else if (line.name == "iterations") {
    ASSAY_TRY_ASSIGN(prediction.iterations, number_of(line.value, line.name, line.number));
  } else {
    return unknown_frozen_line(line.number, line.name);
  }
  return Ok{};
}

Status take_gpu(const SettingLine& line, FrozenGpu& gpu) {
  if (line.name == "part") {
    gpu.part = line.value;
    return Ok{};
  }
  int64_t* const field = line.name == "run_ns"    ? &gpu.run_ns
                         : line.name == "low_ns"  ? &gpu.low_ns
                         : line.name == "high_ns" ? &gpu.high_ns
                                                  : nullptr;
  if (field == nullptr) return unknown_frozen_line(line.number, line.name);
  ASSAY_TRY_ASSIGN(*field, number_of(line.value, line.name, line.number));
  return Ok{};
}

// "calls = 48 12500 aten::addmm": number of calls, time of a typical one in ns, name.
Status take_operator(const SettingLine& line, FrozenRun& prediction) {
  if (line.name != "calls") return unknown_frozen_line(line.number, line.name);
  const size_t first = line.value.find(' ');
  const size_t second = first == line.value.npos ? first : line.value.find(' ', first + 1);
  if (second == line.value.npos) {
    return frozen_line_error(line.number, "expected a line such as calls = 48 12500 aten::addmm");
  }
  FrozenOperator of{.name = std::string(line.value.substr(second + 1))};
  ASSAY_TRY_ASSIGN(const int64_t calls,
                   number_of(line.value.substr(0, first), line.name, line.number));
  of.calls = static_cast<uint64_t>(calls);
  ASSAY_TRY_ASSIGN(of.typical_ns, number_of(line.value.substr(first + 1, second - first - 1),
                                            line.name, line.number));
  prediction.operators.push_back(std::move(of));
  return Ok{};
}

Status check(const FrozenRun& prediction) {
  if (prediction.gpus.empty()) return format_error("no GPU is predicted: [gpu NAME] is missing");
  for (const FrozenGpu& gpu : prediction.gpus) {
    const bool inside = gpu.run_ns == 0 || (gpu.run_ns >= gpu.low_ns && gpu.run_ns <= gpu.high_ns);
    if (gpu.low_ns <= 0 || gpu.high_ns < gpu.low_ns || !inside) {
      return format_error("[gpu " + gpu.card +
                          "]: low_ns, run_ns and high_ns must be above 0 and ascend");
    }
  }
  return Ok{};
}

}  // namespace

bool is_frozen_run(std::string_view text) {
  const auto line = SettingLines(text).next();
  return line && line->kind == SettingLine::Kind::kSection && line->name == kRunHead;
}

std::string frozen_run_text(const FrozenRun& prediction) {
  std::string text = frozen_head(kRunHead);
  add_frozen_line("tool_version", prediction.tool_version, text);
  add_frozen_line("trace", prediction.trace, text);
  add_frozen_line("profiler", prediction.as_recorded ? "kept" : "removed", text);
  add_frozen_line("gpus", std::to_string(prediction.gpu_count), text);
  add_frozen_line("iterations", std::to_string(prediction.iterations), text);
  for (const FrozenGpu& gpu : prediction.gpus) {
    text += "[" + std::string(kGpu) + " " + one_line(gpu.card) + "]\n";
    if (!gpu.part.empty()) add_frozen_line("part", gpu.part, text);
    add_frozen_line("run_ns", std::to_string(gpu.run_ns), text);
    add_frozen_line("low_ns", std::to_string(gpu.low_ns), text);
    add_frozen_line("high_ns", std::to_string(gpu.high_ns), text);
  }
  text += "[" + std::string(kOperators) + "]\n";
  for (const FrozenOperator& of : prediction.operators) {
    add_frozen_line("calls",
                    std::to_string(of.calls) + " " + std::to_string(of.typical_ns) + " " + of.name,
                    text);
  }
  return text;
}

Result<FrozenRun> parse_frozen_run(std::string_view text) {
  enum class In { kRunHead, kGpu, kOperators };
  if (!is_frozen_run(text)) {
    return format_error("such a prediction begins with [" + std::string(kRunHead) + "]");
  }
  SettingLines lines(text);
  lines.next();
  FrozenRun prediction;
  In in = In::kRunHead;
  while (const auto line = lines.next()) {
    if (line->kind == SettingLine::Kind::kSection) {
      if (line->name == kOperators) {
        in = In::kOperators;
      } else if (line->name.starts_with(std::string(kGpu) + " ")) {
        in = In::kGpu;
        prediction.gpus.push_back(
            {.card = std::string(trim_spaces(line->name.substr(kGpu.size())))});
      } else {
        return unknown_frozen_line(line->number, line->name);
      }
      continue;
    }
    if (line->kind != SettingLine::Kind::kSetting) {
      return frozen_line_error(line->number, "expected a line such as run_ns = 1000");
    }
    ASSAY_TRY(in == In::kRunHead ? take_head(*line, prediction)
              : in == In::kGpu   ? take_gpu(*line, prediction.gpus.back())
                                 : take_operator(*line, prediction));
  }
  ASSAY_TRY(check(prediction));
  return prediction;
}

RunScore score_run(const FrozenGpu& prediction, const MeasuredRun& measured) {
  RunScore score{.measured = measured};
  score.signed_error = prediction.run_ns == 0 ? std::numeric_limits<double>::quiet_NaN()
                                              : share(prediction.run_ns - measured.ns, measured.ns);
  const bool inside =
      measured.low_ns >= prediction.low_ns && measured.high_ns <= prediction.high_ns;
  const bool apart = measured.high_ns < prediction.low_ns || measured.low_ns > prediction.high_ns;
  if (inside || apart) score.held = inside;
  return score;
}

}  // namespace assay
