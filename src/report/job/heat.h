#pragma once

// Time by rank: where own work lay above usual. At most 512 rows of 256 cells, whatever the number
// of ranks; a row of many ranks shows the worst of them, so that one among a hundred thousand is
// seen.

#include <vector>

#include "report/document/document.h"
#include "report/job/job.h"

namespace assay {

constexpr size_t kHeatRows = 512;
constexpr size_t kHeatColumns = 256;

std::vector<Block> heat_blocks(const FleetView& view);

// A cell's byte: 0 usual, 255 nothing recorded, else by the logarithm of excess / iteration.
uint8_t heat_byte(int64_t excess_ns, int64_t iteration_ns);

}  // namespace assay
