#pragma once

// Distance of operations from the roofline (breakdown/roof_levels.h): sentences and a section.

#include <string>
#include <vector>

#include "breakdown/roof_levels.h"
#include "breakdown/telemetry.h"
#include "report/document/document.h"
#include "report/document/step_rows.h"

namespace assay {

// The part that readers see; the data is always complete.
struct RoofView {
  bool words = false;
  bool operators = false;  // the table of operators
  bool tables = false;     // all tables for readers
  bool use = false;        // data of MFU, HFU and MBU
  size_t most_steps = kMostStepRows;  // rows of iterations; 0 = all
};
// "roofline": share of known work, operators by time above the roofline, layers, unknown work and
// collectives. Includes the chart for the page.
Section roof_section(const JobRoof& roof, const RoofView& view);
// Sentences on the roofline; the first has the share of known work.
std::vector<std::string> roof_words(const JobRoof& roof);
// Sentence that compares sampled clocks with the clock of the peaks; empty if either is unknown.
std::string roof_clock_words(const JobRoof& roof, const TelemetryReport& samples);
// One sentence on MFU and HFU; empty if they are not known precisely enough.
std::string use_sentence(const JobRoof& roof);
// One sentence on the roofline; empty if nothing has a roofline.
std::string roof_sentence(const JobRoof& roof);

}  // namespace assay
