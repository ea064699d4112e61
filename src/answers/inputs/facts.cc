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

}  // namespace assay
