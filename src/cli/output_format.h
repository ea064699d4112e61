#pragma once

#include <string>

#include "base/result.h"
#include "cli/common.h"
#include "report/writers/writers.h"

namespace assay {

// What a name ends with, in lower case and with its dot; empty for "-", standard output.
std::string output_extension(const std::string& path);
// The format that was asked for, or the one that the output's name ends with, or the terminal's for
// names that end in nothing or in .txt, .text, .log or .out. Other endings are refused.
Result<Format> output_format(const CommonOptions& options);

}  // namespace assay
