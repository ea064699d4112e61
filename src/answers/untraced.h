#pragma once

// The run without profiler overhead (flow/untraced.h): its measured iteration time, and the
// analyses of the retimed trace.

#include <optional>
#include <string>
#include <vector>

#include "answers/analyses.h"
#include "answers/inputs/traces.h"
#include "base/result.h"
#include "flow/untraced.h"
#include "report/overhead/section.h"

namespace assay {

// An iteration time does not determine which rows the recorder slows.
enum class RetimeAt : uint8_t {
  kEqualCost,   // all rows cost alike
  kEveryShape,  // first that, then every other CostShape that explains the measured iteration
};

struct UntracedTimes {
  Untraced times;
  // With an anchor: the trace as RetimeAt selects, never empty. With an estimate that may change
  // the bottleneck: at the typical and at the highest cost.
  std::vector<RetimedTrace> retimed = {};

  bool measured() const { return times.source == UntracedSource::kAnchor; }
};

// Estimates the run without profiler overhead. `model` has the graph of the whole loaded trace, as
// before judge_run(). asked: a time ("6.11ms"), a file, or "none". If it is empty, uses runs.jsonl
// in the trace's folder, else an estimate. Jobs of several traces get no result because the times
// of ranks depend on each other. Fails for a time of several traces or of a trace without
// iterations, and as ingest/untraced_times.h.
Result<UntracedTimes> untraced_times(const LoadedTrace& loaded, const FlowModel& model,
                                     const std::string& asked,
                                     RetimeAt retime_at = RetimeAt::kEqualCost);

// A retimed trace as an input. loaded: the trace as recorded.
LoadedTrace retimed_input(const LoadedTrace& loaded, RetimedTrace retimed);

// Sets the bottlenecks of the run as recorded and without profiler overhead.
void set_bottlenecks(BoundBy recorded, BoundBy untraced, Untraced& times);

// Sets the bottlenecks from the retimed traces of an estimate, and frees these. It makes a model of
// each, so the caller should free its own before. part: as TraceRequest::part.
Status find_turned(const LoadedTrace& loaded, const std::string& part, BoundBy recorded,
                   UntracedTimes& found);

// T_Orch and HDBI of the run without profiler overhead; nullopt without an anchor. The values
// assume an equal cost per recorded row. The ranges cover every CostShape. `run` comes from
// RetimeAt::kEveryShape and find_turned(); this sets its bottleneck and frees its retimed traces.
Result<std::optional<UntracedOverhead>> untraced_overhead(const LoadedTrace& loaded,
                                                          const std::string& part,
                                                          const HostOverheadOptions& options,
                                                          UntracedTimes& run);

}  // namespace assay
