#pragma once

// Records of a CSV file with the line each began on; quotes, commas and doubled quotes as RFC 4180
// has them, compressed files included. This is the only place that knows libcsv.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay {

struct CsvRecord {
  std::vector<std::string> cells;
  int64_t line = 0;  // from 1
};

// Every record of the file (or of "-"), blank lines as records without cells where keep_blank is
// set, else left out. A byte order mark is taken away. Errors name the file and the byte.
Result<std::vector<CsvRecord>> read_csv_records(const std::string& path, bool keep_blank = false);

// The same of text that is already in memory; `source` names it in errors.
Result<std::vector<CsvRecord>> parse_csv_records(const std::string& text, const std::string& source,
                                                 bool keep_blank = false, char delimiter = ',');
// The most likely separator of cells, from the first line: a comma, a semicolon or a tab.
char guess_delimiter(std::string_view text);

// Trimmed and in lower case, for comparing names of columns.
std::string lower_trimmed(std::string_view text);

}  // namespace assay
