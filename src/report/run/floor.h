#pragma once

// The launch floor of a trace, as every section prints it.

#include "floor/floor.h"
#include "report/document/document.h"

namespace assay {

// Empty when the floor is not known.
Value floor_value(const LaunchFloor& floor);

// "floor": floor_ns, source, samples, text.
Facts floor_facts(const LaunchFloor& floor, Show show);

}  // namespace assay
