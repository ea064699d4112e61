#pragma once

// Time by rank: local compute above typical. At most 512 rows of 256 cells for any number of ranks.
// A row of many ranks shows the worst of them, so that one in a hundred thousand is visible.

#include <vector>

#include "report/document/document.h"
#include "report/job/job.h"

namespace assay {

constexpr size_t kHeatRows = 512;
constexpr size_t kHeatColumns = 256;

std::vector<Block> heat_blocks(const FleetView& view);

// A cell's byte: 0 typical, 255 nothing recorded, else by the logarithm of excess / iteration.
uint8_t heat_byte(int64_t excess_ns, int64_t iteration_ns);

}  // namespace assay
