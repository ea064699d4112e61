#include "answers/inputs/name_value.h"

namespace assay {

Result<std::pair<std::string, std::string>> split_name_value(const std::string& option,
                                                             const std::string& argument,
                                                             const std::string& form) {
  const size_t equals = argument.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == argument.size()) {
    return Error{ErrorCode::kInvalidArgument, option + " " + argument + ": write it as " + form, "",
                 -1};
  }
  return std::pair(argument.substr(0, equals), argument.substr(equals + 1));
}

}  // namespace assay
