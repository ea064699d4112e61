#pragma once

// Reads the records of a CSV file with the line on which each begins. Quotes, commas and doubled
// quotes are as in RFC 4180; compressed files are decompressed. Only this module uses libcsv.

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

// All records of the file (or of "-" for standard input). keep_blank: blank lines are records
// without cells, else they are left out. Skips a byte order mark. Errors name the file and the
// byte.
Result<std::vector<CsvRecord>> read_csv_records(const std::string& path, bool keep_blank = false);

// The same for text that is already in memory; `source` names it in errors.
Result<std::vector<CsvRecord>> parse_csv_records(const std::string& text, const std::string& source,
                                                 bool keep_blank = false, char delimiter = ',');
// The most likely delimiter in the first line: a comma, a semicolon or a tab.
char guess_delimiter(std::string_view text);

// The text trimmed and in lower case, to compare column names.
std::string lower_trimmed(std::string_view text);

}  // namespace assay
