#pragma once

// Charts for the page from results of the launch module. Their data is in the tables and values of
// the same sections, except for timelines, which have a point per launch.

#include <vector>

#include "report/document/document.h"
#include "report/launch/section.h"
#include "trace/iterations.h"
#include "trace/links.h"

namespace assay {

// ---- launch (launch_charts.cc) ----
// Latency components of every iteration, and the kernels with the most launch and queue time.
std::vector<Block> launch_charts(const LaunchReport& report);
// Appends to the section: every launch over time, the distribution of launch and queue time, and
// the launches that wait. Needs a pass over the trace.
void add_launch_timelines(const Trace& trace, const Links& links, const Windows& windows,
                          const LaunchReport& report, Section& launch);

// ---- bound (bound_charts.cc) ----
Section bound_charts_section(const std::vector<PlatformBound>& platforms);

// ---- fusion (fusion_charts.cc) ----
std::vector<Block> fusion_charts(const FusionReport& report);

}  // namespace assay
