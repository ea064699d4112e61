#include "cli/facts_option.h"

#include "cli/options.h"
#include "ingest/text/csv_table.h"

namespace assay {

void add_facts_option(Verb& verb, std::string& path) {
  verb.option("--facts", path, "more models and devices (docs/formats/facts.md)").called("FILE");
}

Result<FactBook> load_facts(const std::string& path) {
  FactBook facts = FactBook::built_in();
  if (path.empty()) return facts;
  ASSAY_TRY_ASSIGN(const std::string text, read_text_file(path));
  ASSAY_TRY(facts.add(text, path));
  return facts;
}

}  // namespace assay
