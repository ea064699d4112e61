#include "kernels/rules.h"

#include <array>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "kernels/kernel.h"

namespace assay {
namespace {

constexpr size_t kMaxRows = 20'000;

struct AspectName {
  std::string_view name;
  KernelAspect aspect;
  bool has_value;
};
constexpr std::array<AspectName, kKernelAspects> kAspects = {
    {{"kind", KernelAspect::kKind, true},
     {"library", KernelAspect::kLibrary, true},
     {"family", KernelAspect::kFamily, true},
     {"type", KernelAspect::kType, true},
     {"tag", KernelAspect::kTag, true},
     {"collective", KernelAspect::kCollective, true},
     {"vendor", KernelAspect::kVendor, false},
     {"native", KernelAspect::kNative, false},
     {"paper-native", KernelAspect::kPaperNative, false},
     {"vendor-op", KernelAspect::kVendorOp, false}}};

struct PlaceName {
  std::string_view name;
  NamePlace place;
};
constexpr std::array<PlaceName, 8> kPlaces = {{{"fn", NamePlace::kFunction},
                                               {"ns", NamePlace::kScope},
                                               {"arg", NamePlace::kArgument},
                                               {"argns", NamePlace::kArgumentScope},
                                               {"par", NamePlace::kParameter},
                                               {"scalar", NamePlace::kScalar},
                                               {"kind", NamePlace::kKind},
                                               {"library", NamePlace::kLibrary}}};

Error bad(const std::string& why) { return Error{ErrorCode::kInvalidArgument, why, "", -1}; }

// The text before the first `sign`, trimmed; `rest` continues after it.
std::string_view take_until(std::string_view& rest, char sign) {
  const size_t at = rest.find(sign);
  const std::string_view taken = trimmed(rest.substr(0, at));
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
  return taken;
}

std::string_view without_comment(std::string_view line) {
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] == '#' && !quoted) return line.substr(0, i);
  }
  return line;
}

Status parse_alternatives(std::string_view text, TableTerm& term) {
  while (true) {
    const bool more = text.find('|') != std::string_view::npos;
    const std::string_view one = take_until(text, '|');
    if (term.place == NamePlace::kKind || term.place == NamePlace::kLibrary) {
      if (one.empty()) return bad("an empty alternative");
      term.answers.emplace_back(one);
    } else {
      ASSAY_TRY_ASSIGN(WordPattern words, WordPattern::parse(one));
      term.words.push_back(std::move(words));
    }
    if (!more) return Ok{};
  }
}

Result<TableTerm> parse_term(std::string_view text) {
  TableTerm term;
  if (text.starts_with('!')) {
    term.denied = true;
    text.remove_prefix(1);
  }
  const size_t equals = text.find('=');
  if (equals != std::string_view::npos) {
    const std::string_view name = text.substr(0, equals);
    const PlaceName* place = nullptr;
    for (const PlaceName& one : kPlaces) {
      if (one.name == name) place = &one;
    }
    if (place == nullptr) {
      return bad("\"" + std::string(name) +
                 "\" is no place of a name; there are fn, ns, arg, argns, par, kind, library");
    }
    term.place = place->place;
    text.remove_prefix(equals + 1);
  }
  ASSAY_TRY(parse_alternatives(text, term));
  return term;
}

// Removes blanks around '|', which serve to break lines, and merges others into one.
std::string without_blanks_at_bars(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (is_space(text[i])) {
      size_t next = i;
      while (next < text.size() && is_space(text[next])) ++next;
      const bool at_bar = (next < text.size() && text[next] == '|') || result.ends_with('|');
      if (!at_bar && !result.empty()) result += ' ';
      i = next - 1;
    } else {
      result += text[i];
    }
  }
  return result;
}

Result<std::vector<TableTerm>> parse_pattern(std::string_view text) {
  std::vector<TableTerm> terms;
  if (text.empty()) return bad("an empty pattern, which every name would match");
  bool told = false;
  while (!text.empty()) {
    const std::string_view one = take_until(text, ' ');
    if (one.empty()) continue;
    ASSAY_TRY_ASSIGN(TableTerm term, parse_term(one));
    told = told || !term.denied;
    terms.push_back(std::move(term));
  }
  if (!told) return bad("a pattern of denials alone");
  return terms;
}

bool is_kind(std::string_view name) {
  for (size_t k = 0; k < kKernelKinds; ++k) {
    if (kernel_kind_name(static_cast<KernelKind>(k)) == name) return true;
  }
  return false;
}

std::string kinds_text() {
  std::string text;
  for (size_t k = 0; k < kKernelKinds; ++k) {
    text += (k > 0 ? ", " : "") + std::string(kernel_kind_name(static_cast<KernelKind>(k)));
  }
  return text;
}

// Parses `text`, the part of a row between the aspect's name and the colon.
Status parse_value(std::string_view text, bool has_value, TableRow& row) {
  text = trimmed(text);
  if (row.aspect == KernelAspect::kFamily) {
    if (text.size() < 3 || !text.starts_with('"') || !text.ends_with('"')) {
      return bad("a family has a name in double quotes: family \"Name\": pattern");
    }
    row.value = trimmed(text.substr(1, text.size() - 2));
  } else {
    row.value = take_until(text, ' ');
    text = trimmed(text);
    row.guess = row.aspect == KernelAspect::kKind && text == "guess";
    if (!text.empty() && !row.guess) return bad("\"" + std::string(text) + "\" is not understood");
  }
  if (has_value == row.value.empty()) {
    return bad(has_value ? "the value of the row is missing" : "this row takes no value");
  }
  if (row.aspect == KernelAspect::kKind && !is_kind(row.value)) {
    return bad("\"" + row.value + "\" is not a kind; there are " + kinds_text());
  }
  return Ok{};
}

// Position of the colon after the aspect and its value; those of "::" and inside quotes do not
// count.
size_t find_colon(std::string_view text) {
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == ':' && !quoted) return i;
  }
  return std::string_view::npos;
}

Result<TableRow> parse_row(std::string_view text) {
  const size_t colon = find_colon(text);
  if (colon == std::string_view::npos) return bad("the colon before the patterns is missing");
  std::string_view head = trimmed(text.substr(0, colon));
  const std::string_view word = head.substr(0, head.find_first_of(" \t\""));
  TableRow row;
  const AspectName* aspect = nullptr;
  for (const AspectName& one : kAspects) {
    if (one.name == word) aspect = &one;
  }
  if (aspect == nullptr) {
    return bad("starts with \"" + std::string(word) +
               "\"; a row starts with kind, library, family, type, tag, collective, vendor, "
               "native, paper-native or vendor-op");
  }
  row.aspect = aspect->aspect;
  ASSAY_TRY(parse_value(head.substr(word.size()), aspect->has_value, row));
  const std::string patterns = without_blanks_at_bars(text.substr(colon + 1));
  std::string_view rest = patterns;
  while (true) {
    const bool more = rest.find(',') != std::string_view::npos;
    const std::string_view one = take_until(rest, ',');
    if (row.aspect == KernelAspect::kVendorOp) {
      if (one.empty() || one == "*") return bad("an empty operator, which every one would match");
      row.operators.emplace_back(one);
    } else {
      ASSAY_TRY_ASSIGN(std::vector<TableTerm> terms, parse_pattern(one));
      row.patterns.push_back(std::move(terms));
    }
    if (!more) return row;
  }
}

}  // namespace

Result<std::vector<TableRow>> parse_kernel_rows(std::string_view text) {
  std::vector<TableRow> rows;
  std::string pending;  // a row and the indented lines after it
  uint32_t pending_line = 0;
  const auto finish = [&]() -> Status {
    if (pending.empty()) return Ok{};
    Result<TableRow> row = parse_row(pending);
    pending.clear();
    if (!row) {
      Error error = row.take_error();
      error.message = "kernel table, line " + std::to_string(pending_line) + ": " + error.message;
      return error;
    }
    row->line = pending_line;
    rows.push_back(*std::move(row));
    if (rows.size() > kMaxRows) return bad("kernel table: more than 20000 rows");
    return Ok{};
  };
  for (uint32_t line = 1; !text.empty(); ++line) {
    const size_t end = text.find('\n');
    const std::string_view whole = without_comment(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    const std::string_view content = trimmed(whole);
    if (content.empty()) continue;
    if (is_space(whole[0]) && !pending.empty()) {
      pending.append(" ").append(content);
      continue;
    }
    ASSAY_TRY(finish());
    pending = content;
    pending_line = line;
  }
  ASSAY_TRY(finish());
  return rows;
}

}  // namespace assay
