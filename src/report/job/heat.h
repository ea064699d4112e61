#pragma once

// Heat map of local compute above typical, by time and rank. At most 512 rows of 256 cells for any
// number of ranks. A row of several ranks shows the maximum, so that one rank in a hundred thousand
// is visible.

#include <vector>

#include "report/document/document.h"
#include "report/job/job.h"

namespace assay {

constexpr size_t kHeatRows = 512;
constexpr size_t kHeatColumns = 256;

std::vector<Block> heat_blocks(const FleetView& view);

// The byte of a cell: 0 = typical, 255 = not recorded, else logarithmic in excess / iteration.
uint8_t heat_byte(int64_t excess_ns, int64_t iteration_ns);

}  // namespace assay
