#pragma once

// The launch-overhead floor of a trace, in the form that all sections use.

#include "floor/floor.h"
#include "report/document/document.h"

namespace assay {

// Missing if the launch-overhead floor is unknown.
Value floor_value(const LaunchFloor& floor);

// The object "floor" with floor_ns, source, samples and text.
Facts floor_facts(const LaunchFloor& floor, Show show);

}  // namespace assay
