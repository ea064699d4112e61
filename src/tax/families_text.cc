// The text in which a user extends the kernel families (docs/formats/kernel_families.md).

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/ascii.h"
#include "tax/families.h"

namespace assay {
namespace {

constexpr size_t kMaxFamilies = 1000;

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

Error line_error(size_t line, const std::string& reason) {
  return Error{ErrorCode::kInvalidArgument,
               "kernel families, line " + std::to_string(line) + ": " + reason, "", -1};
}

struct Rule {
  std::string keyword;                // family, library, native, library-op
  std::string family;                 // for keyword family
  std::vector<std::string> patterns;  // as typed
};

// A '#' inside the quotes of a family name is part of it.
std::string_view without_comment(std::string_view line) {
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] == '#' && !quoted) return line.substr(0, i);
  }
  return line;
}

Result<std::vector<std::string>> parse_patterns(std::string_view list, size_t line) {
  std::vector<std::string> patterns;
  while (true) {
    const size_t comma = list.find(',');
    const std::string_view pattern = trim(list.substr(0, comma));
    if (pattern.empty()) {
      return line_error(line,
                        "an empty pattern, which every kernel would match; "
                        "write patterns separated by commas behind the colon");
    }
    patterns.emplace_back(pattern);
    if (comma == std::string_view::npos) return patterns;
    list.remove_prefix(comma + 1);
  }
}

// The part of a line before its patterns; advances `text` behind the colon.
Result<Rule> parse_head(std::string_view& text, size_t line) {
  Rule rule;
  const size_t word = text.find_first_of(" \t:\"");
  rule.keyword = text.substr(0, word);
  text = word == std::string_view::npos ? std::string_view() : trim(text.substr(word));
  if (rule.keyword == "family") {
    const size_t close = text.starts_with('"') ? text.find('"', 1) : std::string_view::npos;
    if (close == std::string_view::npos) {
      return line_error(line, "a family needs a name in double quotes: family \"Name\": pattern");
    }
    rule.family = trim(text.substr(1, close - 1));
    if (rule.family.empty()) return line_error(line, "the name of the family is empty");
    text = trim(text.substr(close + 1));
  } else if (rule.keyword != "library" && rule.keyword != "native" &&
             rule.keyword != "library-op") {
    return line_error(line, "starts with \"" + rule.keyword +
                                "\"; a rule starts with family, library, native or library-op");
  }
  if (!text.starts_with(':')) return line_error(line, "the colon before the patterns is missing");
  text.remove_prefix(1);
  return rule;
}

Result<Rule> parse_rule(std::string_view text, size_t line) {
  ASSAY_TRY_ASSIGN(Rule rule, parse_head(text, line));
  ASSAY_TRY_ASSIGN(rule.patterns, parse_patterns(text, line));
  if (rule.keyword != "library-op") {
    for (std::string& pattern : rule.patterns) pattern = lower(pattern);
  }
  return rule;
}

bool share_pattern(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

// What a text adds, family by family in the order of their first lines.
struct Additions {
  std::vector<KernelFamily> families;
  std::vector<std::string> library;
  std::vector<std::string> native;
  std::vector<std::string> library_ops;

  Status add(Rule rule, size_t line) {
    std::vector<std::string>& target = list_of(rule);
    target.insert(target.end(), rule.patterns.begin(), rule.patterns.end());
    if (share_pattern(library, native)) {
      return line_error(line, "a pattern cannot be both library and native");
    }
    if (families.size() > kMaxFamilies) {
      return line_error(line, "more than " + std::to_string(kMaxFamilies) + " families");
    }
    return Ok{};
  }

 private:
  std::vector<std::string>& list_of(const Rule& rule) {
    if (rule.keyword == "library") return library;
    if (rule.keyword == "native") return native;
    if (rule.keyword == "library-op") return library_ops;
    const auto known = std::find_if(families.begin(), families.end(),
                                    [&](const KernelFamily& f) { return f.name == rule.family; });
    if (known != families.end()) return known->patterns;
    families.push_back({rule.family, {}});
    return families.back().patterns;
  }
};

}  // namespace

Result<KernelFamilies> extend_kernel_families(const KernelFamilies& base, std::string_view text) {
  Additions additions;
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = text.find('\n');
    const std::string_view rule_text = trim(without_comment(text.substr(0, end)));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (rule_text.empty()) continue;
    ASSAY_TRY_ASSIGN(Rule rule, parse_rule(rule_text, line));
    ASSAY_TRY(additions.add(std::move(rule), line));
  }
  KernelFamilies result = base;
  const auto put_front = [](auto& list, const auto& more) {
    list.insert(list.begin(), more.begin(), more.end());
  };
  put_front(result.families, additions.families);
  put_front(result.forced_library_patterns, additions.library);
  put_front(result.native_patterns, additions.native);
  put_front(result.library_ops, additions.library_ops);
  return result;
}

}  // namespace assay
