#pragma once

// Tables and the chart of Chopper's Figure 15 from hardware counters joined to a trace.

#include <string>
#include <vector>

#include "breakdown/ranks.h"
#include "breakdown/waterfall.h"
#include "report/document/document.h"

namespace assay {

struct CountersView {
  std::vector<OpWaterfall> ops;
  OverlapReading reading = OverlapReading::kCurve;
  WaterfallDevice device;
};
// Appends the tables counter_passes, counter_repeats, peaks, waterfall, overlap_factors and derived
// to the "breakdown" section.
void add_counter_blocks(const JobLevels& job, const CountersView& view, Section& section);
// Sentences on the difference between the peak and the measured time.
std::vector<std::string> counter_words(const JobLevels& job, const CountersView& view);

}  // namespace assay
