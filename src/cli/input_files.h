#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace assay {

// expand_inputs(), with a line on stderr for each of Assay's own timelines that it left out.
Result<std::vector<std::string>> input_files(const std::vector<std::string>& arguments);

}  // namespace assay
