#pragma once

// Comparison of two GPUs by their data sheets, for GPUs without rows: which GPU cannot be slower
// than another, and which measured GPU is nearest. Spec page planner, 3.1.

#include <string>
#include <vector>

#include "records/bench_table.h"
#include "records/facts.h"

namespace assay {

// Vendor: the first word of the name in the specifications ("Nvidia", "AMD"). Gaudis, including
// Intel's third, count as Habana, so they are not siblings of Intel's GPUs.
std::string vendor_of(const HardwareFacts& hardware);
// True if both have the same vendor, `more` is below `less` in none of these values, and above in
// one: 16-bit peak, peak in the row's precision, bandwidth, memory, and link to peers.
bool dominates(const BenchRow& row, const HardwareFacts& more, const HardwareFacts& less);
// Distance of two data sheets in log bandwidth and log 16-bit peak.
double sheet_distance(const HardwareFacts& a, const HardwareFacts& b);
// A GPU that has rows, with its name as written in them.
struct MeasuredGpu {
  const HardwareFacts* facts = nullptr;
  std::string name;
};
using MeasuredGpus = std::vector<MeasuredGpu>;
// The nearest of `measured` from the same vendor by sheet_distance(), the first of equals. nullptr
// if there is none; `hardware` itself does not count.
const MeasuredGpu* nearest_sibling(const HardwareFacts& hardware, const MeasuredGpus& measured);

}  // namespace assay
