#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/facts.h"
#include "report/document/document.h"
#include "trace/trace.h"

namespace assay {

// The built-in facts about models and devices, with those of the user's file where one is named
// (docs/formats/facts.md).
Result<FactBook> load_facts(const std::string& path);

// What an answer looks up in the facts.
struct FactNames {
  std::vector<std::string> models = {};
  std::vector<std::string> devices = {};
  bool only_complete = false;  // a section without a needed value does not help it
};
// Counts the sections of the user's file that none of the names leads to or that lack what is
// needed, and says which; so of a file without sections. Absent where all are used or without a
// file.
std::optional<ImportNote> unused_facts(const FactBook& facts, const std::string& path,
                                       const FactNames& names);
// The same for answers that look up the GPUs of a trace. asked: the user's name of them, or none.
std::optional<ImportNote> unused_facts(const FactBook& facts, const std::string& path,
                                       const std::vector<DeviceProperties>& devices,
                                       const std::string& asked);

// Error (invalid argument) where --peaks names a device that the facts do not know.
Status check_peaks_device(const FactBook& facts, const std::string& name);

}  // namespace assay
