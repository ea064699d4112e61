#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/facts.h"
#include "report/document/document.h"
#include "trace/trace.h"

namespace assay {

// The built-in specifications of models and devices, with those of the user's file if given
// (docs/formats/facts.md).
Result<FactBook> load_facts(const std::string& path);

// Names that an answer looks up in the specifications.
struct FactNames {
  std::vector<std::string> models = {};
  std::vector<std::string> devices = {};
  bool only_complete = false;  // a section without a needed value does not help it
};
// Counts and names the sections of the user's file that match no name or lack needed values;
// likewise a file without sections. Absent where all are used or without a
// file.
std::optional<ImportNote> unused_facts(const FactBook& facts, const std::string& path,
                                       const FactNames& names);
// The same for answers that look up the GPUs of a trace. asked: the user's name of them, or none.
std::optional<ImportNote> unused_facts(const FactBook& facts, const std::string& path,
                                       const std::vector<DeviceProperties>& devices,
                                       const std::string& asked);

// Error (invalid argument) if --peaks names an unknown device.
Status check_peaks_device(const FactBook& facts, const std::string& name);

}  // namespace assay
