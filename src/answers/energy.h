#pragma once

// Energy of a trace from a power log (attribute), and power within a kernel from a recorded power
// measurement (profile).

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
  std::string column = {};   // column of the log; empty = the one with power
  LogTiming timing = {};  // start and row interval of a log without timestamps
  std::string gpu = {};   // device of the log, if it has several
  size_t gpus = 0;        // GPUs interleaved in the log, if no column names them; 0 = infer
  bool at_start = false;  // the log begins with the trace's first GPU activity, at any offset
  size_t top = 15;        // rows shown; 0 = all
  AttributeOptions options =
      {};  // window and delay as given, else as the log declares; no groupings
};
Result<Answer> answer_attribution(const AttributeRequest& request);
// The same as numbers for one trace, with options.stretches and only the requested groupings.
Result<EnergyReport> energy_of_trace(const AttributeRequest& request, const LoadedTrace& loaded);

// Requests the energy per token of a serving engine: per output token if the labels count them, and
// per prompt token for steps with prompts only.
void ask_per_token(const std::vector<ServingStep>& steps, AttributeOptions& options);

struct ProfileRequest {
  std::vector<std::string> folders = {};  // recordings; the first is the baseline
  std::vector<std::string> kernels = {};  // empty: every kernel that ends a run
  std::string facts = {};                 // file: docs/formats/facts.md
  std::string calibration = {};       // of the sensor; empty = the stored one of that GPU and
                                      // driver
  std::optional<uint32_t> runs = {};  // also profile the first runs only, and compare
  bool without_sync = false;          // also synchronize clocks with a single read, and compare
  bool without_bins = false;          // also profile all runs without binning, and compare
  ProfileOptions options = {};
};
Result<Document> answer_profile(const ProfileRequest& request);

}  // namespace assay
