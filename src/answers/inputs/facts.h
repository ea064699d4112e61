#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/facts.h"
#include "report/document/document.h"
#include "trace/trace.h"

namespace assay {

// The built-in specifications of models and devices, extended by the user's file if `path` is not
// empty (docs/formats/facts.md).
Result<FactBook> load_facts(const std::string& path);

// Names that an answer looks up in the specifications.
struct FactNames {
  std::vector<std::string> models = {};
  std::vector<std::string> devices = {};
  bool only_complete = false;  // a section that lacks a needed value counts as unused
};
// Counts and names the sections of the user's file that match no name or lack needed values. Also
// reports a file without sections. nullopt if all are used or there is no file.
std::optional<ImportNote> unused_facts(const FactBook& facts, const std::string& path,
                                       const FactNames& names);
// The same for answers that look up the GPUs of a trace. asked: the user's name for them, or empty.
std::optional<ImportNote> unused_facts(const FactBook& facts, const std::string& path,
                                       const std::vector<DeviceProperties>& devices,
                                       const std::string& asked);

// Errors (invalid argument): --peaks names an unknown device.
Status check_peaks_device(const FactBook& facts, const std::string& name);
// The error for a name that the specifications lack: as the user gave it, with the option, or with
// the file that lists it.
Error unknown_gpu(const std::string& name, const std::string& file = {});

}  // namespace assay
