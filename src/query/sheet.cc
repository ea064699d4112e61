#include "query/sheet.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>

#include "base/ascii.h"
#include "text/plain_text.h"

namespace assay {
namespace {

constexpr size_t kNameLength = 31;
constexpr size_t kTextLength = 32'767;  // in units of UTF-16, as Excel counts
constexpr size_t kSheetBatchRows = 4096;

std::string legal_name(std::string_view wanted) {
  std::string name;
  for (const char c : wanted) {
    const bool plain =
        static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f;
    name += plain && std::string_view("[]:*?/\\'").find(c) == std::string_view::npos ? c : '_';
  }
  return name.empty() ? "table" : name;
}

// True if an escape of Excel begins here: _xHHHH_.
bool is_escape(std::string_view text) {
  if (text.size() < 7 || text[0] != '_' || text[1] != 'x' || text[6] != '_') return false;
  return std::all_of(text.begin() + 2, text.begin() + 6,
                     [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// Calls `see` for every integer of a column that is not missing.
void each_integer(const Relation& relation, size_t column,
                  const std::function<void(int64_t)>& see) {
  Cells cells;
  for (const RelationPart& part : relation.parts) {
    for (size_t first = 0; first < part.rows; first += kSheetBatchRows) {
      const size_t count = std::min(kSheetBatchRows, part.rows - first);
      cells.clear();
      part.columns[column](first, count, cells);
      for (size_t i = 0; i < count; ++i) {
        if (cells.is_missing(i)) continue;
        // Values beyond int64 are not exact either.
        see(relation.columns[column].type == CellType::kUnsigned
                ? static_cast<int64_t>(std::min<uint64_t>(cells.unsigneds[i], INT64_MAX))
                : cells.integers[i]);
      }
    }
  }
}

bool is_integer(const RelationColumn& column) {
  return column.type == CellType::kInteger || column.type == CellType::kUnsigned;
}

bool is_time(const RelationColumn& column) {
  return column.type == CellType::kInteger && column.unit == "ns";
}

bool is_exact(int64_t value) { return value >= -kSheetExact && value <= kSheetExact; }

// True if value - origin is exact in Excel. Safe against overflow.
bool is_near(int64_t value, int64_t origin) {
  int64_t difference = 0;
  return !__builtin_sub_overflow(value, origin, &difference) && is_exact(difference);
}

}  // namespace

std::string SheetNames::take(std::string_view wanted, size_t part) {
  const std::string name = legal_name(wanted);
  for (size_t attempt = 1;; ++attempt) {
    std::string ending = part > 1 ? " (" + std::to_string(part) + ")" : "";
    if (attempt > 1) ending += "~" + std::to_string(attempt);
    const std::string candidate = name.substr(0, kNameLength - ending.size()) + ending;
    if (taken_.insert(lower(candidate)).second) return candidate;
  }
}

SheetText sheet_text(std::string_view raw) {
  const std::string cleaned = clean_text(raw);
  SheetText cell;
  size_t units = 0;
  for (size_t at = 0; at < cleaned.size();) {
    const CodePoint point = decode_utf8(cleaned, at);
    units += point.value > 0xffff ? 2 : 1;
    const bool more = at + point.bytes < cleaned.size();
    if (units > kTextLength || (units == kTextLength && more)) {
      cell.text += "\u2026";
      cell.cut = true;
      return cell;
    }
    if (is_escape(std::string_view(cleaned).substr(at))) cell.text += "_x005F";
    cell.text += cleaned.substr(at, point.bytes);
    at += point.bytes;
  }
  return cell;
}

SheetCells sheet_cells(const Relation& relation, size_t column, std::optional<int64_t> origin) {
  if (!is_integer(relation.columns[column])) return SheetCells::kNumbers;
  bool exact = true;
  bool near = origin.has_value() && is_time(relation.columns[column]);
  each_integer(relation, column, [&](int64_t value) {
    exact = exact && is_exact(value);
    near = near && is_near(value, *origin);
  });
  if (exact) return SheetCells::kNumbers;
  return near ? SheetCells::kSince : SheetCells::kAsText;
}

std::optional<int64_t> sheet_origin(const Catalog& catalog) {
  std::optional<int64_t> origin;
  for (const Relation& relation : catalog.relations) {
    for (size_t c = 0; c < relation.columns.size(); ++c) {
      if (!is_time(relation.columns[c])) continue;
      each_integer(relation, c, [&origin](int64_t value) {
        if (value > kSheetExact) origin = std::min(origin.value_or(value), value);
      });
    }
  }
  return origin;
}

std::string sheet_header(const RelationColumn& column, SheetCells cells) {
  if (cells == SheetCells::kSince) return column.name + " (since T0)";
  std::string header = column.name;
  const std::string& unit = column.unit;
  constexpr std::array<std::string_view, 6> kNoUnits = {"", "string", "bool", "id", "row", "enum"};
  const bool named = header == unit || header.ends_with("_" + unit);
  if (!named && std::find(kNoUnits.begin(), kNoUnits.end(), unit) == kNoUnits.end()) {
    header += " (" + unit + ")";
  }
  return cells == SheetCells::kAsText ? header + " (as text)" : header;
}

}  // namespace assay
