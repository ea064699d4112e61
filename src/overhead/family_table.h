#pragma once

// Kernels by family (TaxBreak Table IV) with each family's share of T_Orchestration.

#include <vector>

#include "overhead/overhead.h"
#include "overhead/unique_kernels.h"
#include "overhead/window_overhead.h"

namespace assay {

// Families that have kernels, largest t_orch_ns first, then by name. Their sums are those of the
// whole trace.
std::vector<FamilyOverhead> family_table(const std::vector<std::string>& families,
                                         const std::vector<HostOverheadRow>& rows,
                                         const std::vector<UniqueKernel>& kernels,
                                         const HostOverheadMeter& meter, int64_t floor_ns);

}  // namespace assay
