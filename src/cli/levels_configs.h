#pragma once

// `assay levels --config NAME=PATH ...`: configurations beside each other.

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/common.h"
#include "cli/levels_counters.h"
#include "cli/telemetry_flags.h"
#include "levels/levels.h"
#include "levels/query.h"

namespace assay {

class Verb;  // cli/options.h

struct ConfigFlags {
  std::vector<std::string> configs;  // NAME=PATH
  std::vector<std::string> tokens;   // NAME=COUNT
  std::vector<std::string> detail;
  size_t top = 2;
};
void add_config_options(Verb& verb, ConfigFlags& flags);

// Reads one configuration at a time, and of each one trace at a time. The paths of `telemetry`
// and `counters` are given as NAME=PATH.
struct ConfigInputs {
  const ConfigFlags& flags;
  const CommonOptions& common;
  const TelemetryFlags& telemetry;
  const CounterFlags& counters;
};
Result<Document> compare_level_configs(const ConfigInputs& inputs, const LevelsOptions& options,
                                       const LevelQuery& query, bool& data_lost);

}  // namespace assay
