#pragma once

#include "answers/inputs/traces.h"
#include "base/result.h"
#include "flow/path_parts.h"
#include "report/flow/whatif.h"

namespace assay {

// The critical path by the layers that breakdown/ finds; empty where it finds none. report: with
// the path that slices are of.
Result<std::vector<NamedPathLayer>> path_layers(const LoadedTrace& loaded, const FlowReport& report,
                                                const std::vector<PathSlice>& slices);

}  // namespace assay
