#pragma once

// Documents as Excel workbooks.

#include "base/result.h"
#include "cli/common.h"
#include "report/document/document.h"

namespace assay {

// True if --format or the output's name requests one.
bool wants_workbook(const CommonOptions& options);
// Fails when one cannot be written there: before any work.
Status check_workbook_output(const CommonOptions& options);
// All tables of a document, which a part of it may have several of (docs/formats/xlsx.md).
Status write_document_workbook(const Document& document, const std::string& path);

}  // namespace assay
