#pragma once

// A CSV file with a header line, as text cells. Quotes are as in RFC 4180. The delimiter is that of
// the header: comma, semicolon or tab (guess_delimiter). With semicolons, a comma between digits is
// a decimal point. Compressed files are decompressed.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay {

struct CsvTable {
  std::vector<std::string> header;             // trimmed
  std::vector<std::vector<std::string>> rows;  // trimmed cells; blank lines are left out
  std::vector<size_t> line;                    // of each row, the header being line 1
  bool unfinished = false;                     // the last line has no end of line
  bool cut = false;                            // the last line has no end and too few cells: left
                                               // out

  // Index of a column by name, ignoring letter case; -1 if missing.
  int column(std::string_view name) const;
};

Result<CsvTable> read_csv_table(const std::string& path);
// Parses text; `path` names it in errors.
Result<CsvTable> parse_csv_table(const std::string& text, const std::string& path);
// Replaces lines that begin with # by blank lines, so that line numbers stay.
std::string without_comments(std::string text);
// The whole input as text, decompressed. A compressed file that ends early is an error. If
// `truncated` is given, it is set instead and the part read is returned.
Result<std::string> read_text_file(const std::string& path, bool* truncated = nullptr);
// The same for a log that may be cut: an early end sets `truncated` if allow_truncated, else it is
// an error that says how to allow it.
Result<std::string> read_log_file(const std::string& path, bool allow_truncated, bool& truncated);

Error csv_error_at(const std::string& path, size_t line, std::string message);

}  // namespace assay
