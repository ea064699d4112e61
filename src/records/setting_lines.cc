#include "records/setting_lines.h"

#include <algorithm>
#include <cctype>

namespace assay {
namespace {

SettingLine parse_line(std::string_view line, size_t number) {
  using Kind = SettingLine::Kind;
  if (line.front() == '[') {
    if (line.back() != ']') return {.number = number};
    return {Kind::kSection, number, trim_spaces(line.substr(1, line.size() - 2))};
  }
  const size_t equals = line.find('=');
  if (equals == std::string_view::npos) return {.number = number};
  return {Kind::kSetting, number, trim_spaces(line.substr(0, equals)),
          trim_spaces(line.substr(equals + 1))};
}

}  // namespace

std::string_view trim_spaces(std::string_view text) {
  const auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view SettingLine::proper() const {
  return trim_spaces(value.substr(0, std::min(value.find(';'), value.size())));
}

std::string_view SettingLine::origin() const {
  const size_t semicolon = value.find(';');
  return semicolon == std::string_view::npos ? "" : trim_spaces(value.substr(semicolon + 1));
}

std::optional<SettingLine> SettingLines::next() {
  while (!text_.empty()) {
    const size_t end = std::min(text_.find('\n'), text_.size());
    const std::string_view line = trim_spaces(text_.substr(0, end));
    text_.remove_prefix(std::min(end + 1, text_.size()));
    ++number_;
    if (!line.empty() && line.front() != '#') return parse_line(line, number_);
  }
  return std::nullopt;
}

}  // namespace assay
