#pragma once

// A saved prediction of a run on other GPUs, to be compared with a recording made on one of them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay {

// The predicted run on one GPU, with its 90 % interval.
struct FrozenGpu {
  std::string card = {};  // section of the specifications
  std::string part = {};  // as DeviceRoof::part; empty = the whole card
  int64_t run_ns = 0;     // 0 = only the interval was predicted
  int64_t low_ns = 0;
  int64_t high_ns = 0;
};

// Calls of an operator in the recording, which identify the program.
struct FrozenOperator {
  std::string name = {};
  uint64_t calls = 0;
  int64_t typical_ns = 0;
};

struct FrozenRun {
  std::string tool_version = {};
  std::string trace = {};    // name of the recording it was made from
  bool as_recorded = false;  // with the profiler's overhead on the host
  int64_t gpu_count = 1;     // GPUs of the run
  int64_t iterations = 0;    // in the run; 0 = none were found
  std::vector<FrozenGpu> gpus = {};
  std::vector<FrozenOperator> operators = {};  // over the iterations, or the whole run
};

// True if the text begins as such a prediction.
bool is_frozen_run(std::string_view text);
// The text form (docs/formats/frozen_gain.md), and its parser.
std::string frozen_run_text(const FrozenRun& prediction);
Result<FrozenRun> parse_frozen_run(std::string_view text);

// Time of a run in ns. Removing the profiler's overhead leaves an interval; else all are equal.
struct MeasuredRun {
  int64_t low_ns = 0;
  int64_t ns = 0;
  int64_t high_ns = 0;
};

struct RunScore {
  MeasuredRun measured;
  // True if the measured interval is in the predicted one, nullopt if only a part of it is.
  std::optional<bool> held = {};
  double signed_error = 0;  // (run_ns - measured) / measured; NaN without a predicted run_ns
};
RunScore score_run(const FrozenGpu& prediction, const MeasuredRun& measured);

}  // namespace assay
