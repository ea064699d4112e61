#pragma once

// Time by level: kernel, operation, layer, phase, iteration, GPU, job.

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
  bool grouped = false;     // a table of what the query says
  double min_share = 0.01;  // tree nodes below this share of the total are merged
  TelemetryRequest telemetry = {};
  CounterRequest counters = {};  // its device and specifications also serve the roofline
  std::string explain = {};      // readers see why kernels of this name stand where they do
  bool roof = false;             // the output has only the distance of operations from the roofline
  std::vector<std::string> captures = {};  // traces in which graphs were recorded
};
// One rank at a time: its trace is gone before the next is read.
Result<Answer> answer_breakdown(const BreakdownRequest& request);

// Common input of both breakdown answers. rules must outlive the options.
Result<std::vector<LevelRule>> level_rules(const BreakdownRequest& request);
BreakdownOptions breakdown_options(const BreakdownRequest& request,
                                   const std::vector<LevelRule>& rules);

}  // namespace assay
