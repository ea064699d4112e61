#pragma once

// Energy of a trace from a power log (attribute), and power inside a kernel from a recorded
// measurement run (profile).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "answers/answer.h"
#include "answers/inputs/traces.h"
#include "base/result.h"
#include "flow/serving.h"
#include "ingest/power/series.h"
#include "power/attribute.h"
#include "power/profile.h"

namespace assay {

struct AttributeRequest {
  TraceRequest traces = {};
  std::string samples = {};  // power log: docs/formats/power_log.md
  std::string column = {};   // of the log; empty = the one that holds power
  LogTiming timing = {};  // for a log without times: its start and the interval of its rows
  std::string gpu = {};   // device of the log, where it has several
  size_t gpus = 0;        // that wrote the log, if no column identifies them; 0 = to be inferred
  bool at_start = false;  // the log begins with the trace's first device work, at any offset
  size_t top = 15;        // rows shown; 0 = all
  AttributeOptions options =
      {};  // window and delay: as given, else as declared by the log; no groupings
};
Result<Answer> answer_attribution(const AttributeRequest& request);
// The same for one trace, as numbers, with options.stretches and only the requested groupings.
Result<EnergyReport> energy_of_trace(const AttributeRequest& request, const LoadedTrace& loaded);

// Asks for the energy per token of a serving engine: output tokens if the labels count them, and
// the steps with prompts alone.
void ask_per_token(const std::vector<ServingStep>& steps, AttributeOptions& options);

struct ProfileRequest {
  std::vector<std::string> folders = {};  // recordings; others are compared with the first
  std::vector<std::string> kernels = {};  // empty: every kernel that ends a run
  std::string facts = {};                 // file: docs/formats/facts.md
  std::string calibration = {};       // of the sensor; empty: what was kept for that GPU and driver
  std::optional<uint32_t> runs = {};  // also from the first runs only, and compare
  bool without_sync = false;          // also with clocks tied by one read, and compare
  bool without_bins = false;          // also of all runs, and compare
  ProfileOptions options = {};
};
Result<Document> answer_profile(const ProfileRequest& request);

}  // namespace assay
