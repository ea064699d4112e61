#include "trace/engine_steps.h"

#include <array>
#include <charconv>

namespace assay {
namespace {

constexpr uint64_t kMost = 1'000'000'000'000;

// Consumes a label from left to right.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  // Reads a number; false without digits. A number that is too large is consumed and unknown.
  bool number(std::optional<uint64_t>& told) {
    size_t digits = 0;
    while (digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9') ++digits;
    if (digits == 0) return false;
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + digits, value);
    told = error == std::errc() && value <= kMost ? std::optional(value) : std::nullopt;
    rest_.remove_prefix(digits);
    return true;
  }
  // The text up to `mark`; also consumes the mark. nullopt without a mark.
  std::optional<std::string_view> up_to(char mark) {
    const size_t at = rest_.find(mark);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view text = rest_.substr(0, at);
    rest_.remove_prefix(at + 1);
    return text;
  }
  bool skip_past(std::string_view text) {
    const size_t at = rest_.find(text);
    if (at == std::string_view::npos) return false;
    rest_.remove_prefix(at + text.size());
    return true;
  }

 private:
  std::string_view rest_;
};

// The sum of query lengths of "sq37sk34489...", "512_262144" or "512".
std::optional<uint64_t> query_tokens(std::string_view text) {
  Reader reader(text);
  reader.take("sq");
  std::optional<uint64_t> tokens;
  reader.number(tokens);
  return tokens;
}

StepKind kind_of(const std::optional<uint64_t>& prompts, const std::optional<uint64_t>& decoding) {
  if (!prompts || !decoding) return StepKind::kUntold;
  if (*prompts > 0) return *decoding > 0 ? StepKind::kMixed : StepKind::kPrefill;
  return *decoding > 0 ? StepKind::kDecode : StepKind::kIdle;
}

std::optional<StepLabel> read_execute(std::string_view label) {
  Reader reader(label);
  StepLabel step;
  if (!reader.take("execute_")) return std::nullopt;
  if (reader.number(step.computed) && !reader.take("_")) return std::nullopt;
  if (!reader.take("context_") || !reader.number(step.prompts) || !reader.take("(")) {
    return std::nullopt;
  }
  const auto context = reader.up_to(')');
  if (!context || !reader.take("_generation_") || !reader.number(step.decoding) ||
      !reader.take("(")) {
    return std::nullopt;
  }
  const auto generation = reader.up_to(')');
  if (!generation) return std::nullopt;
  step.prompt_tokens = step.prompts == 0U ? 0 : query_tokens(*context);
  step.decode_tokens = step.decoding == 0U ? 0 : query_tokens(*generation);
  step.kind = kind_of(step.prompts, step.decoding);
  return step;
}

std::optional<StepLabel> read_step(std::string_view label) {
  struct Mode {
    std::string_view word;
    StepKind kind;
  };
  constexpr std::array<Mode, 6> kModes = {{{"EXTEND", StepKind::kPrefill},
                                           {"DECODE", StepKind::kDecode},
                                           {"MIXED", StepKind::kMixed},
                                           {"TARGET_VERIFY", StepKind::kDecode},
                                           {"DRAFT_EXTEND", StepKind::kDecode},
                                           {"IDLE", StepKind::kIdle}}};
  Reader reader(label);
  if (!reader.take("step[")) return std::nullopt;
  for (const Mode& mode : kModes) {
    Reader after = reader;
    if (!after.take(mode.word) || !after.take(" bs=")) continue;
    StepLabel step{.kind = mode.kind,
                   .verifies = mode.word == "TARGET_VERIFY",
                   .drafts = mode.word == "DRAFT_EXTEND"};
    std::optional<uint64_t> batch;
    std::optional<uint64_t> tokens;
    if (!after.number(batch)) return std::nullopt;
    if (after.take(" toks=") && !after.number(tokens)) return std::nullopt;
    if (!after.take("]") && !after.take(" ")) return std::nullopt;
    if (mode.kind == StepKind::kPrefill || mode.kind == StepKind::kIdle) {
      step.prompts = mode.kind == StepKind::kIdle ? std::optional<uint64_t>(0) : batch;
      step.prompt_tokens = mode.kind == StepKind::kIdle ? std::optional<uint64_t>(0) : tokens;
      step.decoding = step.decode_tokens = 0;
    } else if (mode.kind == StepKind::kDecode) {
      step.prompts = step.prompt_tokens = 0;
      step.decoding = batch;
      step.decode_tokens = tokens || mode.word != "DECODE" ? tokens : batch;
    }
    return step;
  }
  return std::nullopt;
}

std::optional<StepLabel> read_forward(std::string_view label) {
  Reader reader(label);
  StepLabel step;
  std::optional<uint64_t> number;
  if (!reader.skip_past("_forward_step ") || !reader.number(number) || !reader.take(": ") ||
      !reader.number(step.prompts) || !reader.take(" ctx reqs, ")) {
    return std::nullopt;
  }
  if (!reader.number(number)) return std::nullopt;
  if (reader.take(" ctx tokens, ")) {
    step.prompt_tokens = number;
    if (!reader.number(number)) return std::nullopt;
  }
  if (!reader.take(" gen reqs")) return std::nullopt;
  step.decoding = number;
  step.decode_tokens = number;
  if (step.prompts == 0U) step.prompt_tokens = 0;
  step.kind = kind_of(step.prompts, step.decoding);
  return step;
}

}  // namespace

std::string_view step_kind_name(StepKind kind) {
  constexpr std::string_view kNames[] = {"step", "prefill", "decode", "mixed", "idle"};
  return kNames[static_cast<size_t>(kind)];
}

std::optional<StepLabel> read_step_label(std::string_view label) {
  if (label.starts_with("execute_")) return read_execute(label);
  if (label.starts_with("step[")) return read_step(label);
  return read_forward(label);
}

void add_told(const StepLabel& inner, StepLabel& outer) {
  if (outer.kind == StepKind::kUntold) outer.kind = inner.kind;
  const auto add = [](const std::optional<uint64_t>& from, std::optional<uint64_t>& to) {
    if (!to) to = from;
  };
  add(inner.prompts, outer.prompts);
  add(inner.prompt_tokens, outer.prompt_tokens);
  add(inner.decoding, outer.decoding);
  add(inner.decode_tokens, outer.decode_tokens);
  add(inner.computed, outer.computed);
  outer.verifies = outer.verifies || inner.verifies;
}

}  // namespace assay
