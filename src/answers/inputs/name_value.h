#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace assay {

// Splits an option's argument at the first '='; neither side may be empty. `form` is the syntax
// that the error message shows: "NAME=PATH".
Result<std::pair<std::string, std::string>> split_name_value(const std::string& option,
                                                             const std::string& argument,
                                                             const std::string& form);

}  // namespace assay
