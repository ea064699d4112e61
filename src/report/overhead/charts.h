#pragma once

// Charts for the page from results of the overhead module.

#include <vector>

#include "report/document/document.h"
#include "report/overhead/section.h"

namespace assay {

std::vector<Block> overhead_charts(const HostOverheadReport& report);
std::vector<Block> overhead_sweep_charts(const std::vector<HostOverheadPlatform>& platforms);

}  // namespace assay
