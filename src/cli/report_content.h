#pragma once

// What every room says of one trace: `report` shows it, `sql` and `export` make tables of it.

#include "base/result.h"
#include "cli/common.h"
#include "cli/fusion_flags.h"

namespace assay {

struct ReportRequest {
  std::string floor = {};
  FusionFlags fusion = {};
  size_t top = 10;          // kernels listed; 0 = all
  bool everything = false;  // all rows of every table instead of what a reader bears
  bool timelines = false;   // charts of every launch, for the page
  bool perf = false;
};

Result<TraceContent> report_content(const ReportRequest& request, const LoadedTrace& loaded);

}  // namespace assay
