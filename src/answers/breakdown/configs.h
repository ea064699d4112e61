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
      {};  // processed per iteration by all GPUs; absent = taken from the traces
  std::vector<std::string> telemetry = {};
  std::vector<std::string> counters = {};
};

// The first configuration is the baseline.
struct LevelConfigsRequest {
  BreakdownRequest breakdown =
      {};  // for every configuration; its inputs, logs and counter files are ignored
  std::vector<LevelConfig> configs = {};
  std::vector<std::string> detail = {};  // configurations in the figures by layer and GPU; empty =
                                         // all
  size_t top = 2;                        // operations per phase and type in figures by layer
};
// Reads the configurations in turn, one trace at a time.
Result<Answer> answer_level_configs(const LevelConfigsRequest& request);

}  // namespace assay
