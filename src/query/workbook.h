#pragma once

// Writes tables as an Excel workbook: a sheet "Summary" with the headline, a sheet "numbers" with
// all single numbers, then one or more sheets per table (docs/formats/xlsx.md).

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

// Excel's limit, minus the header row. A longer table continues on another sheet.
constexpr size_t kSheetRows = 1'048'575;

// Fails if libxlsxwriter is not available, with a hint how to get it. Call it before any analysis.
Status check_workbooks();
// The file is written in place, so pass a temporary name. Temporary files go to the same folder.
Status write_workbook(const WorkbookContent& content, const std::string& path,
                      size_t sheet_rows = kSheetRows);

}  // namespace assay
