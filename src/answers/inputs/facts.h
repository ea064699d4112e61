#pragma once

#include <string>

#include "base/result.h"
#include "records/facts.h"

namespace assay {

// The built-in facts about models and devices, with those of the user's file where one is named
// (docs/formats/facts.md).
Result<FactBook> load_facts(const std::string& path);

}  // namespace assay
