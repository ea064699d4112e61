#include "cli/facts_option.h"

#include "cli/options.h"

namespace assay {

void add_facts_option(Verb& verb, std::string& path) {
  verb.option("--specs", path, "more models and devices (docs/formats/facts.md)").called("FILE");
}

}  // namespace assay
