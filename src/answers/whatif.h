#pragma once

// Gains of changes to a traced run, and the causes of its idle time.

#include <functional>
#include <string>
#include <vector>

#include "answers/answer.h"
#include "answers/inputs/traces.h"
#include "base/result.h"
#include "records/frozen_gain.h"

namespace assay {

struct WhatIfRequest {
  TraceRequest traces = {};
  std::vector<std::string> edits =
      {};  // in the syntax of parse_edit; if none, every applicable action
  std::string score = {};               // file of a prediction; the trace is the measured result
  std::string facts = {};               // more devices, for the change "roof"
  std::string device = {};              // and the name of the trace's own
  std::vector<std::string> captures = {};  // traces in which graphs were recorded
  // Other GPUs by name: what the run would take there, in place of edits.
  std::vector<std::string> on = {};
  bool as_recorded = false;  // with `on`: the host keeps what a profiler took of it
  double cpu_speed = 1;      // with `on`: a host so many times as fast
  std::string like = {};     // with `on`, without cpu_speed: a recording that shows the host
  double link_gb_s = 0;      // with `on`: from one of those GPUs to its peers, 0 = as specified
  std::string prices = {};   // with `on`: file of prices (answers/throughput/plan_files.h)
  // Receives the prediction of a trace; absent if not requested. Refused edits are an error then.
  std::function<Status(const FrozenGain&)> freeze = {};
};
Result<Answer> answer_whatif(const WhatIfRequest& request);

// Edits of a file: one a line, '#' begins a comment line.
Result<std::vector<std::string>> read_edits_file(const std::string& path);

// Causes of idle time with the events that cause them, how gaps began, and the critical path. with_rules: also every
// rule of the diagnosis.
Result<Answer> answer_why(const TraceRequest& request, bool with_rules = false);

}  // namespace assay
