#pragma once

// What data sheets alone say of two GPUs, for those that no row ran on: which can be no slower than
// which, and which measured one is nearest. Spec page planner, 3.1.

#include <string>
#include <vector>

#include "records/bench_table.h"
#include "records/facts.h"

namespace assay {

// The first word of the facts' name: "Nvidia", "AMD"; Gaudis, also Intel's third, are Habana's: no
// sibling of Intel's GPUs.
std::string vendor_of(const HardwareFacts& hardware);
// Of one vendor, and of 16-bit peak, the peak in the row's precision, bandwidth, memory and link to
// peers none of `more` is below `less`, and one is above.
bool dominates(const BenchRow& row, const HardwareFacts& more, const HardwareFacts& less);
// How far two data sheets are apart in log bandwidth and log 16-bit peak.
double sheet_distance(const HardwareFacts& a, const HardwareFacts& b);
// A GPU that rows ran on, as they write it.
struct MeasuredGpu {
  const HardwareFacts* facts = nullptr;
  std::string name;
};
using MeasuredGpus = std::vector<MeasuredGpu>;
// Of `measured` that of the same vendor which is least far in log bandwidth and log 16-bit peak,
// the first of equals; nullptr: none is of the vendor.
const MeasuredGpu* nearest_sibling(const HardwareFacts& hardware, const MeasuredGpus& measured);

}  // namespace assay
