#pragma once

// Joint results of a job's rank records as a Document: the ranks and sets of ranks that cost the
// job time, their iterations, and unread data. Its size does not grow with the number of ranks.

#include <string>
#include <vector>

#include "base/histogram.h"
#include "job/findings.h"
#include "job/job.h"
#include "job/sets.h"
#include "report/document/document.h"

namespace assay {

// A kernel, aggregated over the whole job.
struct FleetKernel {
  std::string name;
  uint64_t count = 0;
  int64_t dur_ns = 0;
  Histogram durations;
};

struct FleetView {
  const FleetJob& job;
  const FleetSets& sets;
  const FleetFindings& found;
  std::vector<FleetKernel> kernels = {};  // heaviest first
  std::vector<FleetUnused> unread = {};   // traces without a record
};

// The conclusion in sentences; the first one is the headline.
std::vector<std::string> fleet_words(const FleetView& view);
// The first screen: at most 15 lines of 80 columns.
ShortAnswer fleet_answer(const FleetView& view);
// Section "job" and "caveats".
std::vector<Section> fleet_sections(const FleetView& view);

}  // namespace assay
