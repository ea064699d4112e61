#pragma once

// Exports with exact names for values, equal in JSON and CSV.

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "ingest/text/csv_records.h"

namespace assay {

// A value by its name or path, as text; empty where there is none.
using BenchField = std::function<std::string(const char* name)>;
double number_at(const BenchField& field, const char* name);  // NaN where there is no finite one

// True if the first record with cells has all of these titles.
bool has_titles(const std::vector<CsvRecord>& records, std::initializer_list<const char*> titles);
// Visits the records after that one, without empty records and repeated headers. It must exist.
void for_each_titled(const std::vector<CsvRecord>& records,
                     const std::function<void(const BenchField& field, int64_t line)>& visit);

}  // namespace assay
