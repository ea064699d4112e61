#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace assay {

// The texts before and after the first '=' of an option's argument, neither empty. `form` is the
// syntax for the message: "NAME=PATH".
Result<std::pair<std::string, std::string>> split_name_value(const std::string& option,
                                                             const std::string& argument,
                                                             const std::string& form);

}  // namespace assay
