#pragma once

// Charts for the page, drawn from results of the launch and tax rooms. What they show is in the
// tables and facts of the same sections; only the timelines, with a point per launch, are not.

#include <vector>

#include "report/document/document.h"
#include "report/sections.h"
#include "report/tax/section.h"
#include "trace/iterations.h"

namespace assay {

// Points beyond this are thinned: no screen shows more, and the page stays small.
constexpr size_t kMostChartPoints = 4000;
// Bars of a chart with one per iteration; of more iterations, evenly spaced ones are taken.
constexpr size_t kMostChartBars = 120;

// At most kMostChartBars evenly spaced indices of n, the first and the last included.
std::vector<size_t> chart_sample(size_t n);

// ---- launch (launch_charts.cc) ----
// Where the latency of every iteration goes, and the kernels with most launch and queue time.
std::vector<Block> launch_charts(const LaunchReport& report);
// Every launch over time, its distribution, and the launches that wait: costs a pass over the
// trace. Put behind the section's other charts.
void add_launch_timelines(const Trace& trace, const Links& links, const Windows& windows,
                          const LaunchReport& report, Section& launch);

// ---- bound (bound_charts.cc) ----
Section bound_charts_section(const std::vector<PlatformBound>& platforms);

// ---- fusion (fusion_charts.cc) ----
std::vector<Block> fusion_charts(const FusionReport& report);

// ---- tax (tax/charts.cc) ----
std::vector<Block> tax_charts(const TaxReport& report);
std::vector<Block> tax_sweep_charts(const std::vector<TaxPlatform>& platforms);

}  // namespace assay
