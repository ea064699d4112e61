#pragma once

// Kernels by family (TaxBreak Table IV) with each family's part of T_Orchestration.

#include <vector>

#include "tax/tax.h"
#include "tax/unique_kernels.h"
#include "tax/window_tax.h"

namespace assay {

// Families that have kernels, largest t_orch_ns first, then by name. Their sums are those of the
// whole trace.
std::vector<FamilyTax> family_table(const std::vector<std::string>& families,
                                    const std::vector<TaxRow>& rows,
                                    const std::vector<UniqueKernel>& kernels, const TaxMeter& meter,
                                    int64_t floor_ns);

}  // namespace assay
