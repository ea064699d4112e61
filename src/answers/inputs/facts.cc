#include "answers/inputs/facts.h"

#include "ingest/text/csv_table.h"

namespace assay {

Result<FactBook> load_facts(const std::string& path) {
  FactBook facts = FactBook::built_in();
  if (path.empty()) return facts;
  ASSAY_TRY_ASSIGN(const std::string text, read_text_file(path));
  ASSAY_TRY(facts.add(text, path));
  return facts;
}

Status check_peaks_device(const FactBook& facts, const std::string& name) {
  if (!facts.values("hardware", name).empty()) return Ok{};
  return Error{ErrorCode::kInvalidArgument,
               "--peaks " + name + ": no such device in the facts (docs/formats/facts.md)", "", -1};
}

}  // namespace assay
