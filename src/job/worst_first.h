#pragma once

// What each finding costs, worst first, each on top of those before.

#include "job/findings.h"

namespace assay {

// Fills the savings of `found.worst`, puts it in order, and tells what absent ranks and all the
// rest cost on top. Of equal savings the larger excess comes first.
void put_worst_first(const FleetJob& job, const FleetExcess& excess, FleetFindings& found);

}  // namespace assay
