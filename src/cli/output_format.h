#pragma once

#include <string>

#include "base/result.h"
#include "cli/common.h"
#include "report/writers/writers.h"

namespace assay {

// The ending of a name, in lower case and with its dot; empty for "-", standard output.
std::string output_extension(const std::string& path);
// The requested format, else that of the output's ending. Names without an ending or with .txt,
// .text, .log or .out give the terminal format. Other endings are errors.
Result<Format> output_format(const CommonOptions& options);

}  // namespace assay
