#pragma once

// Cells as CSV (RFC 4180, line ends "\n") and JSON. Lossless, unlike the CSV of a Document, which
// is cleaned for display. Missing cells and non-finite numbers are empty in CSV and null in JSON.

#include <string>
#include <string_view>

#include "query/relation.h"
#include "report/document/document.h"

namespace assay {

void append_csv_text(std::string_view text, std::string& out);

void append_csv(const Cells& cells, CellType type, size_t i, std::string& out);
void append_json(const Cells& cells, CellType type, size_t i, std::string& out);
void append_csv(const Value& value, std::string& out);

}  // namespace assay
