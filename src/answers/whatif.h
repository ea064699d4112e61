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
      {};  // in the syntax of parse_edit; empty = every applicable action
  std::string score = {};               // prediction file to check against this trace
  std::string facts = {};               // additional device specifications, for the change `roof`
  std::string device = {};              // device name of the trace
  std::string untraced = {};            // as untraced_times() (answers/untraced.h); not for `on`
  std::vector<std::string> captures = {};  // traces in which graphs were recorded
  // Names of other GPUs. If not empty, predicts the run on each of them instead of simulating
  // edits.
  std::vector<std::string> on = {};
  bool as_recorded = false;  // with `on`: keep the profiler's overhead on the host
  double cpu_speed = 1;      // with `on`: host speedup factor
  std::string like = {};     // with `on`, without cpu_speed: recording made on the other host
  double link_gb_s = 0;      // with `on`: bandwidth to peers in GB/s, 0 = as specified
  std::string prices = {};   // with `on`: price file (answers/throughput/plan_files.h)
  // Receives the prediction of a trace as recorded; absent if not requested. If present, a rejected
  // edit is an error.
  std::function<Status(const FrozenGain&)> freeze = {};
};
Result<Answer> answer_whatif(const WhatIfRequest& request);

// Reads edits from a file, one per line; lines that begin with '#' are comments.
Result<std::vector<std::string>> read_edits_file(const std::string& path);

// Causes of idle time with the events that cause them, the starts of idle gaps, and the critical
// path.
struct WhyRequest {
  TraceRequest traces = {};
  bool rules = false;         // also every rule of the diagnosis
  std::string untraced = {};  // as untraced_times() (answers/untraced.h)
};
Result<Answer> answer_why(const WhyRequest& request);

}  // namespace assay
