#pragma once

// What every room says of one trace: `report` shows it, `sql` and `export` make tables of it.

#include <functional>

#include "base/result.h"
#include "cli/common.h"
#include "cli/fusion_flags.h"
#include "cli/telemetry_flags.h"
#include "levels/ranks.h"
#include "report/document/timeline.h"

namespace assay {

struct ReportRequest {
  std::string floor = {};
  FusionFlags fusion = {};
  size_t top = 10;          // kernels listed; 0 = all
  bool everything = false;  // all rows of every table instead of what a reader bears
  bool timelines = false;   // charts of every launch, for the page
  bool perf = false;
  TelemetryFlags telemetry = {};  // logs beside the trace; without files, none
  bool allow_truncated = false;   // of these logs
  // Takes what was found, laid on the trace's time; absent: nobody asked for it.
  std::function<Status(const LoadedTrace&, const Timeline&)> timeline = {};
};

// outline: what comparing this trace with others of its job needs, where that is wanted.
Result<TraceContent> report_content(const ReportRequest& request, const LoadedTrace& loaded,
                                    RankLevels* outline = nullptr);

// Puts first what the ranks of a job say together; nothing where they are no job.
void conclude_job(const std::vector<RankLevels>& outlines, Document& document);

}  // namespace assay
