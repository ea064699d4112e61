#pragma once

// A saved prediction of a replay, to be compared with another recording later.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay {

struct FrozenGain {
  std::string tool_version;
  std::string trace;               // name of the recording it was made from
  std::vector<std::string> edits;  // as `--edit` takes them
  bool at_most = true;             // upper bound, because an edit removes something at no cost;
                                   // else simulated
  bool per_iteration = false;      // false: for the whole run
  int64_t iterations = 0;          // number of durations in the medians
  int64_t before_ns = 0;
  int64_t after_ns = 0;
  int64_t gain_ns = 0;
  int64_t low_ns = 0;  // interval of the gain; both 0 with fewer than two durations
  int64_t high_ns = 0;
};

// The text form (docs/formats/prediction.md), and its parser.
std::string frozen_text(const FrozenGain& prediction);
Result<FrozenGain> parse_frozen(std::string_view text);

// Comparison of the prediction with the other recording.
struct FrozenScore {
  int64_t measured_ns = 0;       // duration in the other recording, comparable to `after_ns`
  int64_t measured_gain_ns = 0;  // before_ns - measured_ns
  double signed_error = 0;       // (after_ns - measured_ns) / measured_ns
  bool exceeded = false;         // at_most, and the gain is larger than predicted
  bool in_interval = false;      // the gain is within [low_ns, high_ns]
  bool has_interval = false;
};
FrozenScore score_frozen(const FrozenGain& prediction, int64_t measured_ns);

}  // namespace assay
