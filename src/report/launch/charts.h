#pragma once

// Charts for the page from results of the launch module. Their data are in the tables and values of
// the same sections, except for the timelines, which have a point per launch.

#include <vector>

#include "report/document/document.h"
#include "report/launch/section.h"
#include "trace/iterations.h"
#include "trace/links.h"

namespace assay {

// ---- launch (launch_charts.cc) ----
// Where the latency of every iteration goes, and the kernels with most launch and queue time.
std::vector<Block> launch_charts(const LaunchReport& report);
// Every launch over time, its distribution, and the launches that wait. Costs a pass over the
// trace. Appended after the section's other charts.
void add_launch_timelines(const Trace& trace, const Links& links, const Windows& windows,
                          const LaunchReport& report, Section& launch);

// ---- bound (bound_charts.cc) ----
Section bound_charts_section(const std::vector<PlatformBound>& platforms);

// ---- fusion (fusion_charts.cc) ----
std::vector<Block> fusion_charts(const FusionReport& report);

}  // namespace assay
