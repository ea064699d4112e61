#include "cli/facts_option.h"

#include <CLI/CLI.hpp>

#include "ingest/text/csv_table.h"

namespace assay {

void add_facts_option(CLI::App& verb, std::string& path) {
  verb.add_option("--facts", path, "more models and devices (docs/formats/facts.md)")
      ->type_name("FILE");
}

Result<FactBook> load_facts(const std::string& path) {
  FactBook facts = FactBook::built_in();
  if (path.empty()) return facts;
  ASSAY_TRY_ASSIGN(const std::string text, read_text_file(path));
  ASSAY_TRY(facts.add(text, path));
  return facts;
}

}  // namespace assay
