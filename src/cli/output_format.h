#pragma once

#include <string>

#include "base/result.h"
#include "cli/common.h"
#include "report/writers/writers.h"

namespace assay {

// Extension of a file name, in lower case with its dot; empty for "-" (standard output).
std::string output_extension(const std::string& path);
// The requested format, or the one of the output's extension. Without an extension or with .txt,
// .text, .log or .out it is the terminal format. Other extensions are errors.
Result<Format> output_format(const CommonOptions& options);

}  // namespace assay
