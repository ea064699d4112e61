#pragma once

// Which analyses an answer about a whole trace rests on: the one list of them. `report` shows what
// they found, `diff` compares it, `sql` and `export` make tables of it.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "answers/inputs/traces.h"
#include "base/result.h"
#include "breakdown/breakdown.h"
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
  size_t together = 0;                                              // WhatIfOptions::together
  bool points = false;                                              // WhatIfOptions::points
  bool reach = false;                                               // WhatIfOptions::reach
  bool path = false;                                                // fill Analyses::path
  std::shared_ptr<const RequestLog> requests = {};                  // to join with an engine's steps
  RequestOptions request_options = {};
  // Actions may be tried in a thread concurrent with the other modules; the answer is the same.
  bool in_thread = false;
  // Called while actions are tried. It may use the trace and all results except `tried` and `path`,
  // which come later.
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
  WhatIf tried;                 // actions of the report, each alone
  std::vector<PathSlice> path;  // the critical path
};

// Results of the dependency graph of a trace.
struct FlowFindings {
  FlowReport report;
  FlowVerdict verdict;
  WhatIf tried;
};
// part: as TraceRequest::part. more: changes tried in addition to the default ones, each alone, and
// after them in `tried`. Errors: there is no such part.
Result<FlowFindings> find_flow(const LoadedTrace& loaded, const std::string& part,
                               const std::vector<EditRequest>& more = {});
// The recommended chains as changes, and their gains, in their order; none if unknown.
std::vector<EditRequest> chain_edits(const FusionReport& fusion);
std::vector<std::optional<int64_t>> chain_gains(const WhatIf& tried);

// Limits of an answer from the dependency graph. One list: every verb has it.
TrustNotes flow_trust(const LoadedTrace& loaded, const findings::Diagnosis& diagnosis);
// The diagnosis of one run. The answer is about the loaded trace.
findings::Diagnosis diagnosis_of(const LoadedTrace& loaded, const FlowAnswer& answer);
// Every rule that such a diagnosis reads, and whether it holds.
std::vector<findings::RuleState> rules_of(const LoadedTrace& loaded, const FlowAnswer& answer);

// Errors: those of the modules and of `meanwhile`.
Result<Analyses> analyze_trace(const LoadedTrace& loaded, const AnalysesOptions& options);

}  // namespace assay
