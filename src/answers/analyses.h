#pragma once

// The analyses of a whole trace. `report` shows their results, `diff` compares them, and `sql` and
// `export` turn them into tables.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "answers/inputs/traces.h"
#include "base/result.h"
#include "breakdown/breakdown.h"
#include "flow/judged.h"
#include "flow/path_parts.h"
#include "flow/rank_fold.h"
#include "flow/requests.h"
#include "flow/verdict.h"
#include "flow/whatif.h"
#include "launch/fusion.h"
#include "launch/metrics.h"
#include "overhead/overhead.h"
#include "report/flow/answer.h"

namespace assay {

struct Analyses;

struct AnalysesOptions {
  LaunchOptions launch = {};
  FusionOptions fusion = {};
  HostOverheadOptions overhead = {};
  BreakdownOptions breakdown = {};
  std::shared_ptr<const std::vector<CapturedGraph>> captures = {};  // FlowOptions::captures
  bool rank_graph = false;                                          // FlowOptions::rank_graph
  RankFold* fold = nullptr;                                         // filled if not null
  std::string part = {};                                            // as TraceRequest::part
  bool levers = true;                                               // fill Analyses::tried
  // Fill launch, fusion and overhead, and breakdown. The diagnosis and its actions need neither.
  bool modules = true;
  size_t together = 0;                                              // WhatIfOptions::together
  bool points = false;                                              // WhatIfOptions::points
  bool reach = false;                                               // WhatIfOptions::reach
  bool path = false;                                                // fill Analyses::path
  std::shared_ptr<const RequestLog> requests = {};                  // joined to the engine's steps
  RequestOptions request_options = {};
  // Simulate the actions in a second thread while the other modules run. Results do not change.
  bool in_thread = false;
  // Called with the model of the whole trace, before it is narrowed to the part.
  std::function<Status(const FlowModel&)> on_model = {};
  // Called with the model and its diagnosis before the other modules run.
  std::function<Status(const FlowModel&, const JudgedRun&)> on_judged = {};
  // Called while the actions are simulated. It may read the trace and every result except `tried`
  // and `path`, which are filled later.
  std::function<Status(const Analyses&)> meanwhile = {};
};

// Results of all modules for one trace.
struct Analyses {
  LaunchReport launch;
  FusionReport fusion;
  HostOverheadReport overhead;
  BreakdownReport breakdown;
  FlowReport flow;
  FlowVerdict verdict;
  RequestsReport requests;      // of AnalysesOptions::requests
  WhatIf tried;                 // the report's actions, one change each
  std::vector<PathSlice> path;  // the critical path
};

// Results of the dependency graph of a trace.
struct FlowFindings {
  FlowReport report;
  FlowVerdict verdict;
  WhatIf tried;
};
// part: as TraceRequest::part. `more` has additional changes, one simulation each, appended to the
// default ones in `tried`. Fails if there is no such part.
Result<FlowFindings> find_flow(const LoadedTrace& loaded, const std::string& part,
                               const std::vector<EditRequest>& more = {});
// The same with the model of the whole loaded trace, which is narrowed to the part.
Result<FlowFindings> find_flow(FlowModel& model, const LoadedTrace& loaded, const std::string& part,
                               const std::vector<EditRequest>& more = {});
// The recommended fusion chains as changes, and the gain of each in the same order; nullopt if
// unknown.
std::vector<EditRequest> chain_edits(const FusionReport& fusion);
std::vector<std::optional<int64_t>> chain_gains(const WhatIf& tried);

// Caveats of every answer that uses the dependency graph.
TrustNotes flow_trust(const LoadedTrace& loaded, const findings::Diagnosis& diagnosis);
// The diagnosis of one run. `answer` must be about the loaded trace.
findings::Diagnosis diagnosis_of(const LoadedTrace& loaded, const FlowAnswer& answer);
// Every rule that the diagnosis evaluates, and whether it holds.
std::vector<findings::RuleState> rules_of(const LoadedTrace& loaded, const FlowAnswer& answer);

// Errors: those of the modules, of `on_model`, `on_judged` and `meanwhile`.
Result<Analyses> analyze_trace(const LoadedTrace& loaded, const AnalysesOptions& options);

}  // namespace assay
