#pragma once

#include <string>

#include "base/result.h"
#include "records/facts.h"

namespace assay {

// The built-in facts about models and devices, with those of the user's file where one is named
// (docs/formats/facts.md).
Result<FactBook> load_facts(const std::string& path);

// Error (invalid argument) where --peaks names a device that the facts do not know.
Status check_peaks_device(const FactBook& facts, const std::string& name);

}  // namespace assay
