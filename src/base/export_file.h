#pragma once

// Files written in addition to the main output. Each is complete or absent.

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay {

// Fails if `path` is one of the inputs or its folder is not writable. Call it before the analysis,
// so that a bad path is reported early.
Status check_export(const std::string& path, const std::vector<std::string>& inputs);

// Writes under a temporary name in the same folder, then renames. Readers see the old file or the
// complete new one. Pipes and devices are written directly.
Status export_file(const std::string& path, const std::string& text);

// The same for a function that writes to the file name it is given. Fails for pipes and devices.
Status export_file_with(const std::string& path,
                        const std::function<Status(const std::string& temporary)>& write);

}  // namespace assay
