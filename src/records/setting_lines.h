#pragma once

// Parses "[section]" and "key = value" lines; '#' begins a comment line.

#include <cstddef>
#include <optional>
#include <string_view>

namespace assay {

std::string_view trim_spaces(std::string_view text);

struct SettingLine {
  enum class Kind { kSection, kSetting, kOther };
  Kind kind = Kind::kOther;
  size_t number = 0;           // from 1
  std::string_view name = {};  // section name without brackets, or key of a setting
  std::string_view value = {};
  // The parts of the value before and after its first ';': the value itself, and its source, which
  // may be empty.
  std::string_view proper() const;
  std::string_view origin() const;
};

class SettingLines {
 public:
  explicit SettingLines(std::string_view text) : text_(text) {}
  // The next line that is neither empty nor a comment; nullopt at the end.
  std::optional<SettingLine> next();
  size_t number() const { return number_; }  // of the last returned line

 private:
  std::string_view text_;
  size_t number_ = 0;
};

}  // namespace assay
