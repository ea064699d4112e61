#include "breakdown/mapping.h"

#include <charconv>
#include <utility>

namespace assay {
namespace {

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  size_t at = 0;
  while (at < line.size()) {
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t' || line[at] == '\r')) ++at;
    const size_t begin = at;
    while (at < line.size() && line[at] != ' ' && line[at] != '\t' && line[at] != '\r') ++at;
    if (at > begin) words.push_back(line.substr(begin, at - begin));
  }
  return words;
}

std::optional<RuleTarget> target_from(std::string_view word) {
  if (word == "label") return RuleTarget::kLabel;
  if (word == "module") return RuleTarget::kModule;
  if (word == "operator") return RuleTarget::kOperator;
  if (word == "kernel") return RuleTarget::kKernel;
  return std::nullopt;
}

Result<LevelRule> parse_rule(const std::vector<std::string_view>& words) {
  const auto bad = [](std::string message) {
    return Error{ErrorCode::kFormat, std::move(message), "", -1};
  };
  if (words.size() < 3 || words.size() > 5) {
    return bad("a rule is WHAT PATTERN OPERATION [LAYER] [PHASE], separated by spaces");
  }
  const std::optional<RuleTarget> target = target_from(words[0]);
  if (!target) return bad("a rule starts with label, module, operator or kernel");
  LevelRule rule;
  rule.target = *target;
  rule.pattern = words[1];
  if (words[2] != "-") rule.op = words[2];
  if (words.size() > 3 && words[3] != "-") {
    int32_t layer = 0;
    const auto [end, error] =
        std::from_chars(words[3].data(), words[3].data() + words[3].size(), layer);
    if (error != std::errc() || end != words[3].data() + words[3].size() || layer < 0) {
      return bad("the layer of a rule is a number from 0, or -");
    }
    rule.layer = layer;
  }
  if (words.size() > 4 && words[4] != "-") {
    rule.phase = level_phase_from(words[4]);
    if (!rule.phase) {
      return bad(
          "the phase of a rule is forward, backward, recompute, optimizer, prefill, decode, or -");
    }
  }
  return rule;
}

}  // namespace

Result<std::vector<LevelRule>> parse_level_rules(std::string_view text, const std::string& file) {
  std::vector<LevelRule> rules;
  size_t line_number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++line_number;
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty() || words[0].starts_with("#")) continue;
    auto rule = parse_rule(words);
    if (!rule) {
      Error error = rule.take_error();
      error.message = "line " + std::to_string(line_number) + ": " + error.message;
      error.file = file;
      return error;
    }
    rules.push_back(*std::move(rule));
  }
  return rules;
}

}  // namespace assay
