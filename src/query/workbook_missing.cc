// Replaces workbook.cc if libxlsxwriter was not found at configure time.

#include "query/workbook.h"

namespace assay {

Status check_workbooks() {
  return Error{ErrorCode::kUnsupported,
               "this build writes no Excel workbooks: install libxlsxwriter-dev and build again "
               "(csv, jsonl and parquet need nothing of it)",
               "", -1};
}

Status write_workbook(const WorkbookContent&, const std::string&, size_t) {
  return check_workbooks();
}

}  // namespace assay
