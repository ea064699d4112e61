#include "report/document/import_notes.h"

namespace assay {

std::vector<ImportNote> import_notes(const ImportLog& log) {
  std::vector<ImportNote> notes;
  for (size_t i = 0; i < kImportCodes; ++i) {
    const auto code = static_cast<ImportCode>(i);
    const ImportLog::Entry& entry = log.entry(code);
    if (entry.count == 0) continue;
    const ImportCodeInfo& info = import_code_info(code);
    notes.push_back({.code = std::string(info.key),
                     .severity = std::string(severity_name(info.severity)),
                     .count = entry.count,
                     .meaning = std::string(info.meaning),
                     .first_offset = entry.first_offset});
  }
  return notes;
}

}  // namespace assay
