#pragma once

// Comparison of configurations.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "answers/breakdown/breakdown.h"

namespace assay {

struct LevelConfig {
  std::string name = {};
  std::string traces = {};  // a folder, pattern or file with the traces of its ranks
  std::optional<int64_t> tokens =
      {};  // processed per iteration by all GPUs; if absent, from the traces
  std::vector<std::string> telemetry = {};
  std::vector<std::string> counters = {};
};

// The first configuration is what others are compared with.
struct LevelConfigsRequest {
  BreakdownRequest breakdown =
      {};  // for each of them; inputs and files of logs and counters unused
  std::vector<LevelConfig> configs = {};
  std::vector<std::string> detail = {};  // those in the figures by layer and GPU; empty = all
  size_t top = 2;                        // operations per phase and type in figures by layer
};
// Reads one configuration at a time, and of each one trace at a time.
Result<Answer> answer_level_configs(const LevelConfigsRequest& request);

}  // namespace assay
