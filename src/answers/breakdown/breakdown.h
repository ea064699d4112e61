#pragma once

// Time by level, from the kernel to the job.

#include <string>
#include <vector>

#include "answers/answer.h"
#include "answers/breakdown/counters.h"
#include "answers/breakdown/telemetry.h"
#include "answers/inputs/traces.h"
#include "base/result.h"
#include "breakdown/breakdown.h"
#include "breakdown/mapping.h"
#include "breakdown/query.h"

namespace assay {

struct BreakdownRequest {
  TraceRequest traces = {};   // the ranks of one job
  std::string map_file = {};  // rules: docs/formats/breakdown_map.md
  LevelDefinition definition = LevelDefinition::kAssay;
  LevelQuery query = {};
  bool grouped = false;     // a table grouped as the query says
  double min_share = 0.01;  // tree nodes below this share of the total are merged
  TelemetryRequest telemetry = {};
  CounterRequest counters = {};  // device and specifications are also used for the roofline
  std::string explain = {};      // kernel name; the output explains how matching kernels were
                                 // attributed
  bool roof = false;             // output only the roofline distance of each operation
  std::vector<std::string> captures = {};  // traces in which graphs were recorded
};
// Reads one trace at a time and frees it before the next.
Result<Answer> answer_breakdown(const BreakdownRequest& request);

// Common input of both breakdown answers. rules must outlive the options.
Result<std::vector<LevelRule>> level_rules(const BreakdownRequest& request);
BreakdownOptions breakdown_options(const BreakdownRequest& request,
                                   const std::vector<LevelRule>& rules);

}  // namespace assay
