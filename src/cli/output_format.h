#pragma once

#include "base/result.h"
#include "cli/common.h"
#include "report/writers.h"

namespace assay {

// The format that was asked for, or the one that the output's name ends with, or the terminal's.
Result<Format> output_format(const CommonOptions& options);

}  // namespace assay
