#pragma once

// `assay breakdown --config NAME=PATH ...`: comparison of configurations.

#include <string>
#include <vector>

#include "answers/breakdown/configs.h"
#include "base/result.h"

namespace assay {

class Verb;  // cli/options.h

struct ConfigFlags {
  std::vector<std::string> configs;  // NAME=PATH
  std::vector<std::string> tokens;   // NAME=COUNT
  std::vector<std::string> detail;
  size_t top = 2;
};
void add_config_options(Verb& verb, ConfigFlags& flags);

// breakdown: the paths of its logs and counters have the form NAME=PATH.
Result<LevelConfigsRequest> level_configs_request(const ConfigFlags& flags,
                                                  BreakdownRequest breakdown);

}  // namespace assay
