#include "ingest/text/csv_table.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/byte_source.h"
#include "ingest/text/csv_records.h"
#include "ingest/text/whole_file.h"

namespace assay {
namespace {

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

// Changes "79,55 W" to "79.55 W": a comma between digits, in a cell that begins as a number and has
// no other separator.
void decimal_point(std::string& cell) {
  const size_t comma = cell.find(',');
  if (comma == std::string::npos || comma == 0 || comma + 1 == cell.size()) return;
  const bool number = is_digit(cell.front()) || cell.front() == '-' || cell.front() == '+';
  const bool between = is_digit(cell[comma - 1]) && is_digit(cell[comma + 1]);
  const bool only = cell.find(',', comma + 1) == std::string::npos && !contains(cell, ".");
  if (number && between && only) cell[comma] = '.';
}

}  // namespace

int CsvTable::column(std::string_view name) const {
  for (size_t i = 0; i < header.size(); ++i) {
    if (same_letters(header[i], name)) return static_cast<int>(i);
  }
  return -1;
}

Error csv_error_at(const std::string& path, size_t line, std::string message) {
  return Error{ErrorCode::kFormat, "line " + std::to_string(line) + ": " + std::move(message), path,
               -1};
}

Result<CsvTable> parse_csv_table(const std::string& text, const std::string& path) {
  const char delimiter = guess_delimiter(text);
  ASSAY_TRY_ASSIGN(std::vector<CsvRecord> records, parse_csv_records(text, path, false, delimiter));
  CsvTable table;
  for (CsvRecord& record : records) {
    for (std::string& cell : record.cells) {
      cell = std::string(trimmed(cell));
      if (delimiter == ';' && !table.header.empty()) decimal_point(cell);
    }
    const bool blank = record.cells.size() == 1 && record.cells.front().empty();
    if (blank) continue;
    if (table.header.empty()) {
      table.header = std::move(record.cells);
      continue;
    }
    table.rows.push_back(std::move(record.cells));
    table.line.push_back(static_cast<size_t>(record.line));
  }
  if (table.header.empty()) return Error{ErrorCode::kFormat, "the table is empty", path, -1};
  table.unfinished = !text.empty() && text.back() != '\n';
  if (table.unfinished && !table.rows.empty() && table.rows.back().size() < table.header.size()) {
    table.rows.pop_back();
    table.line.pop_back();
    table.cut = true;
  }
  return table;
}

Result<std::string> read_text_file(const std::string& path, bool* truncated) {
  auto source = ByteSource::open(path);
  if (!source) {
    Error error = source.take_error();
    error.file = path;
    return error;
  }
  const ReadFn read = text_stream(*source);
  std::string text;
  std::array<char, 65536> block;
  for (;;) {
    auto got = read(block.data(), block.size());
    if (!got && truncated != nullptr && got.error().code == ErrorCode::kTruncated) {
      *truncated = true;
      return text;
    }
    if (!got) {
      Error error = got.take_error();
      error.file = path;
      return error;
    }
    if (*got == 0) return text;
    text.append(block.data(), *got);
  }
}

Result<std::string> read_log_file(const std::string& path, bool allow_truncated, bool& truncated) {
  auto text = read_text_file(path, allow_truncated ? &truncated : nullptr);
  if (text || text.error().code != ErrorCode::kTruncated) return text;
  Error error = text.take_error();
  error.message += ". --allow-truncated reads what lies before the cut";
  return error;
}

Result<CsvTable> read_csv_table(const std::string& path) {
  ASSAY_TRY_ASSIGN(const std::string text, read_text_file(path));
  return parse_csv_table(text, path);
}

std::string without_comments(std::string text) {
  size_t kept = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const bool comment = text[at] == '#';
    for (; at < end; ++at) {
      if (!comment) text[kept++] = text[at];
    }
    if (at < text.size()) text[kept++] = text[at++];
  }
  text.resize(kept);
  return text;
}

}  // namespace assay
