#include "cli/workbook_file.h"

#include "base/export_file.h"
#include "cli/output_format.h"
#include "query/document_relations.h"
#include "query/workbook.h"

namespace assay {
namespace {

// "ranks" -> "rank": name of one element.
std::string singular(std::string key) {
  if (key.ends_with('s')) key.pop_back();
  return key;
}

}  // namespace

bool wants_workbook(const CommonOptions& options) {
  return options.format == "xlsx" ||
         (options.format.empty() && output_extension(options.output) == ".xlsx");
}

Status check_workbook_output(const CommonOptions& options) {
  ASSAY_TRY(check_workbooks());
  if (options.output != "-") return Ok{};
  return Error{ErrorCode::kInvalidArgument, "an Excel workbook needs a file: name it with -o", "",
               -1};
}

Status write_document_workbook(const Document& document, const std::string& path) {
  WorkbookContent content{.head = document, .whole = document_catalog(document)};
  if (!document.parts.empty()) {
    content.by_input = parts_catalog(document);
    content.input_column = singular(document.parts_key);
  }
  return export_file_with(path, [&content](const std::string& temporary) {
    return write_workbook(content, temporary);
  });
}

}  // namespace assay
