#pragma once

// Tables as an Excel workbook for people: a sheet "Summary" with the headline, a sheet "numbers"
// with all single numbers, then a sheet per table (docs/formats/xlsx.md).

#include <cstddef>
#include <string>

#include "base/result.h"
#include "query/relation.h"
#include "report/document/document.h"

namespace assay {

struct WorkbookContent {
  const Document& head;  // headline, inputs, caveats and first numbers, for the summary
  Catalog whole = {};    // tables of all inputs together
  Catalog by_input = {};
  std::string input_column = {};  // name of by_input's first column; empty for a single input
};

// Excel's own limit, less the line of headers: a longer table goes on on another sheet.
constexpr size_t kSheetRows = 1'048'575;

// Fails where this build has no libxlsxwriter, and says how to get it: before any work.
Status check_workbooks();
// The file is written in place: the caller passes a temporary name. Temporary files are in the same
// folder.
Status write_workbook(const WorkbookContent& content, const std::string& path,
                      size_t sheet_rows = kSheetRows);

}  // namespace assay
