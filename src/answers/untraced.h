#pragma once

// The run without its recorder (flow/untraced.h): its measured iteration, and the analyses of the retimed trace.

#include <memory>
#include <optional>
#include <vector>

#include "answers/analyses.h"
#include "answers/inputs/traces.h"
#include "base/result.h"
#include "flow/untraced.h"
#include "report/overhead/section.h"

namespace assay {

struct UntracedRun {
  Untraced times;
  // With an anchor: the retimed trace and its dependency graph.
  std::unique_ptr<LoadedTrace> loaded = {};
  std::optional<FlowFindings> flow = {};
};

// Finds the run without its recorder. `asked` is a time ("6.11ms"), a file, or "none". If it is empty, the runs.jsonl in the
// folder of the trace counts, else an estimate. Several traces together have none, because times of ranks depend on each
// other. `part` is as TraceRequest::part, `recorded` the bottleneck of the trace as recorded, `more` as in find_flow.
// Errors: no iterations, those of ingest/untraced_times.h.
Result<UntracedRun> untraced_run(const LoadedTrace& loaded, const std::string& asked,
                                 const std::string& part, BoundBy recorded,
                                 const std::vector<EditRequest>& more = {});

// T_Orch and HDBI of the run without its recorder, by the anchor: rows alike in the middle, the ends over what the recorder
// may have slowed.
Result<std::optional<UntracedOverhead>> untraced_overhead(const LoadedTrace& loaded,
                                                          const Untraced& times,
                                                          const HostOverheadOptions& options);

}  // namespace assay
