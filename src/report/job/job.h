#pragma once

// Joint results of a job's records, as a Document: the ranks and sets that cost the job time, their
// iterations, and unread data. The size of it does not grow with the ranks.

#include <string>
#include <vector>

#include "base/histogram.h"
#include "job/findings.h"
#include "job/job.h"
#include "job/sets.h"
#include "report/document/document.h"

namespace assay {

// A kernel of the whole job.
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

// The conclusion in sentences; the first one is the answer.
std::vector<std::string> fleet_words(const FleetView& view);
// The first screen: at most 15 lines of 80 columns.
ShortAnswer fleet_answer(const FleetView& view);
// Section "job" and "caveats".
std::vector<Section> fleet_sections(const FleetView& view);

}  // namespace assay
