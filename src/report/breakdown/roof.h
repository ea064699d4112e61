#pragma once

// Distance of operations from the roofline (breakdown/roof_levels.h), as words and a section.

#include <string>
#include <vector>

#include "breakdown/roof_levels.h"
#include "breakdown/telemetry.h"
#include "report/document/document.h"
#include "report/document/step_rows.h"

namespace assay {

// The part shown to readers; the data has everything.
struct RoofView {
  bool words = false;
  bool operators = false;  // the table of operators
  bool tables = false;     // all tables that are for readers
  bool use = false;        // data of MFU, HFU and MBU
  size_t most_steps = kMostStepRows;  // rows of iterations; 0 = all
};
// "roofline": known share, operators by time above the roofline, layers, unknown work, collectives,
// and the chart for the page.
Section roof_section(const JobRoof& roof, const RoofView& view);
// All of it in sentences; the first says how much is known.
std::vector<std::string> roof_words(const JobRoof& roof);
// Sentence on the sampled clocks compared with that of the peaks; empty if one is unknown.
std::string roof_clock_words(const JobRoof& roof, const TelemetryReport& samples);
// MFU and HFU in one sentence; empty if they are not known well enough.
std::string use_sentence(const JobRoof& roof);
// One sentence; empty if nothing has a roofline.
std::string roof_sentence(const JobRoof& roof);

}  // namespace assay
