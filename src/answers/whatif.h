#pragma once

// Gains of changes to a traced run, and the causes of its idle time.

#include <functional>
#include <string>
#include <vector>

#include "answers/answer.h"
#include "answers/inputs/traces.h"
#include "answers/other_gpu.h"
#include "base/result.h"

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
  OtherGpuRequest on = {};  // if asked, predicts the run on other GPUs instead of simulating edits
  // Receives the prediction of a trace as text (docs/formats/frozen_gain.md); absent if not
  // requested. If present, a rejected edit and a GPU without a time are errors.
  std::function<Status(const std::string& prediction)> freeze = {};
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
