#pragma once

// Writes documents as Excel workbooks.

#include "base/result.h"
#include "cli/common.h"
#include "report/document/document.h"

namespace assay {

// True if --format or the output's extension requests a workbook.
bool wants_workbook(const CommonOptions& options);
// Fails early if a workbook cannot be written there.
Status check_workbook_output(const CommonOptions& options);
// All tables of a document, including several per section (docs/formats/xlsx.md).
Status write_document_workbook(const Document& document, const std::string& path);

}  // namespace assay
