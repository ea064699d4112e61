#pragma once

// What one program exports: values under exact names, the same in its JSON and its CSV.

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "ingest/text/csv_records.h"

namespace assay {

// A value by its name or path, as text; empty where there is none.
using BenchField = std::function<std::string(const char* name)>;
double number_at(const BenchField& field, const char* name);  // NaN where there is no finite one

// Whether the first record with cells has all of these titles.
bool has_titles(const std::vector<CsvRecord>& records, std::initializer_list<const char*> titles);
// The records behind that one, but those without cells and repeats of it. There must be one.
void for_each_titled(const std::vector<CsvRecord>& records,
                     const std::function<void(const BenchField& field, int64_t line)>& visit);

}  // namespace assay
