#include "query/table_text.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "base/json_string.h"

namespace assay {
namespace {

template <typename T>
void append_number(T value, std::string& out) {
  fmt::format_to(std::back_inserter(out), "{}", value);
}

// Appends the shortest text that reads back to the same value; false if it is not finite.
bool append_real(double value, std::string& out) {
  if (!std::isfinite(value)) return false;
  append_number(value, out);
  return true;
}

// Appends a cell that CSV and JSON write alike. False for text and for missing cells.
bool append_plain(const Cells& cells, CellType type, size_t i, std::string& out) {
  if (cells.is_missing(i)) return false;
  switch (type) {
    case CellType::kInteger:
      append_number(cells.integers[i], out);
      return true;
    case CellType::kUnsigned:
      append_number(cells.unsigneds[i], out);
      return true;
    case CellType::kReal:
      return append_real(cells.reals[i], out);
    case CellType::kBool:
      out += cells.bools[i] != 0 ? "true" : "false";
      return true;
    case CellType::kText:
      break;
  }
  return false;
}

}  // namespace

void append_csv_text(std::string_view text, std::string& out) {
  // An empty text is written as "", because an empty field is a missing cell.
  const bool quote = text.empty() || text.find_first_of(",\"\r\n") != std::string_view::npos ||
                     text.front() == ' ' || text.back() == ' ';
  if (!quote) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void append_csv(const Cells& cells, CellType type, size_t i, std::string& out) {
  if (append_plain(cells, type, i, out) || type != CellType::kText || cells.is_missing(i)) return;
  append_csv_text(cells.texts[i], out);
}

void append_json(const Cells& cells, CellType type, size_t i, std::string& out) {
  if (append_plain(cells, type, i, out)) return;
  if (type != CellType::kText || cells.is_missing(i)) {
    out += "null";
    return;
  }
  append_json_string(cells.texts[i], out);
}

void append_csv(const Value& value, std::string& out) {
  if (const auto* flag = value.get<bool>()) out += *flag ? "true" : "false";
  if (const auto* integer = value.get<int64_t>()) append_number(*integer, out);
  if (const auto* real = value.get<double>()) append_real(*real, out);
  if (const auto* text = value.get<std::string>()) append_csv_text(*text, out);
}

}  // namespace assay
