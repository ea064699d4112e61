#pragma once

// `--facts FILE`: models and devices that the built-in facts do not know, or know otherwise.

#include <string>

#include "base/result.h"
#include "records/facts.h"

namespace assay {

class Verb;  // cli/options.h

void add_facts_option(Verb& verb, std::string& path);
// The built-in facts, with those of the user's file where one is named.
Result<FactBook> load_facts(const std::string& path);

}  // namespace assay
