#pragma once

#include <string>

#include "base/result.h"

namespace assay {

// Absolute path with all symbolic links resolved. Errors: kIo if the path does not exist or is not
// accessible.
Result<std::string> real_path(const std::string& path);

// True if `path` is the folder or is below it. Compares real_path() of both.
bool lies_in(const std::string& path, const std::string& folder);

}  // namespace assay
