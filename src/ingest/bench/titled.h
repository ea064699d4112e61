#pragma once

// Access to exports with the same names of values in JSON and CSV.

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "ingest/text/csv_records.h"

namespace assay {

// Returns the value of a name or path as text; empty if it is missing.
using BenchField = std::function<std::string(const char* name)>;
double number_at(const BenchField& field, const char* name);  // NaN if missing or not finite

// True if the first nonempty record has all of these titles.
bool has_titles(const std::vector<CsvRecord>& records, std::initializer_list<const char*> titles);
// Visits the records after the header, which must exist. Skips empty records and repeated headers.
void for_each_titled(const std::vector<CsvRecord>& records,
                     const std::function<void(const BenchField& field, int64_t line)>& visit);

}  // namespace assay
