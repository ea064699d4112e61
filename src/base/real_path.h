#pragma once

#include <string>

#include "base/result.h"

namespace assay {

// From the root, with every symbolic link on the way followed. Errors: kIo, where nothing lies
// there or the way to it is closed.
Result<std::string> real_path(const std::string& path);

// Both as of real_path(): whether `path` is the folder or lies below it.
bool lies_in(const std::string& path, const std::string& folder);

}  // namespace assay
