#include "cli/facts_option.h"

#include <CLI/CLI.hpp>

namespace assay {

void add_facts_option(CLI::App& verb, std::string& path) {
  verb.add_option("--facts", path, "more models and devices (docs/formats/facts.md)")
      ->type_name("FILE");
}

}  // namespace assay
