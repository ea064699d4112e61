#pragma once

// Files written in addition to the document: complete or absent.

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay {

// Fails when the path is one of the inputs, or its folder cannot be written to: before the work,
// not after.
Status check_export(const std::string& path, const std::vector<std::string>& inputs);

// Writes under a temporary name in the same folder, then renames: a reader sees the old file or the
// whole new one. Pipes and devices are written to directly.
Status export_file(const std::string& path, const std::string& text);

// The same for what a function writes to a name of its own. Pipes and devices are refused.
Status export_file_with(const std::string& path,
                        const std::function<Status(const std::string& temporary)>& write);

}  // namespace assay
