#pragma once

// Charts for the page, drawn from results of the tax room.

#include <vector>

#include "report/document/document.h"
#include "report/tax/section.h"

namespace assay {

std::vector<Block> tax_charts(const TaxReport& report);
std::vector<Block> tax_sweep_charts(const std::vector<TaxPlatform>& platforms);

}  // namespace assay
