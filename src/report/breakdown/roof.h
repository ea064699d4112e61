#pragma once

// How far operations are from the roof (breakdown/roof_levels.h), as words and a section.

#include <string>
#include <vector>

#include "breakdown/roof_levels.h"
#include "breakdown/telemetry.h"
#include "report/document/document.h"

namespace assay {

// What readers see; data has it all.
struct RoofView {
  bool words = false;
  bool operators = false;  // the table of operators
  bool tables = false;     // all tables that are for readers
};
// "roofline": how much is known, operators by what they are above the roof, layers, what is not known,
// collectives, and the roofline for the page.
Section roof_section(const JobRoof& roof, const RoofView& view);
// All of it in sentences; the first says how much is known.
std::vector<std::string> roof_words(const JobRoof& roof);
// What clocks were read beside the trace, against that of the peaks; empty where one is not known.
std::string roof_clock_words(const JobRoof& roof, const TelemetryReport& samples);
// One sentence; empty where nothing has a roof.
std::string roof_sentence(const JobRoof& roof);

}  // namespace assay
