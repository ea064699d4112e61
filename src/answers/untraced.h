#pragma once

// The run without profiler overhead (flow/untraced.h): its measured iteration time, and the
// analyses of the retimed trace.

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
  // Set if there is an anchor: the retimed trace and the results of its dependency graph.
  std::unique_ptr<LoadedTrace> loaded = {};
  std::optional<FlowFindings> flow = {};
};

// Estimates the run without profiler overhead. asked: a time ("6.11ms"), a file, or "none". If it
// is empty, uses runs.jsonl in the trace's folder, else an estimate. Jobs of several traces get no
// result because the times of ranks depend on each other. `part` is as TraceRequest::part,
// `recorded` the bottleneck of the trace as recorded, `more` as in find_flow. Errors: no
// iterations, and those of ingest/untraced_times.h.
Result<UntracedRun> untraced_run(const LoadedTrace& loaded, const std::string& asked,
                                 const std::string& part, BoundBy recorded,
                                 const std::vector<EditRequest>& more = {});

// T_Orch and HDBI of the run without profiler overhead; nullopt without an anchor. The values
// assume an equal cost per recorded row; the ranges cover every CostShape.
Result<std::optional<UntracedOverhead>> untraced_overhead(const LoadedTrace& loaded,
                                                          const Untraced& times,
                                                          const HostOverheadOptions& options);

}  // namespace assay
