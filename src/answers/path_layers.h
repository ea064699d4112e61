#pragma once

#include "answers/inputs/traces.h"
#include "base/result.h"
#include "flow/path_parts.h"
#include "report/flow/whatif.h"

namespace assay {

// The critical path by model layer, as found by breakdown/. Empty if no layers are found. `report`
// must contain the path of `slices`.
Result<std::vector<NamedPathLayer>> path_layers(const LoadedTrace& loaded, const FlowReport& report,
                                                const std::vector<PathSlice>& slices);

}  // namespace assay
