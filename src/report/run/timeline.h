#pragma once

// Module results over the time of a trace (report/document/timeline.h). docs/formats/perfetto.md
// describes each track, and the number of the report that its slices sum to.

#include <vector>

#include "breakdown/breakdown.h"
#include "breakdown/telemetry.h"
#include "flow/flow.h"
#include "flow/path_parts.h"
#include "launch/fusion.h"
#include "launch/metrics.h"
#include "overhead/overhead.h"
#include "report/document/timeline.h"
#include "trace/iterations.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

// Results for one trace, all with the same windows. `breakdown` must contain its rows.
struct TimelineRooms {
  const FlowReport& flow;
  const LaunchReport& launch;
  const FusionReport& fusion;
  const HostOverheadReport& overhead;
  const BreakdownReport& breakdown;
  const TelemetryReport* telemetry = nullptr;    // null without a log for the trace
  const std::vector<PathSlice>* path = nullptr;  // the critical path; null = no such track
};

Timeline trace_timeline(const Trace& trace, const Links& links, const Windows& windows,
                        const TimelineRooms& rooms);

}  // namespace assay
