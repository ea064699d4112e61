#pragma once

// Launch-overhead floors from the user: typed, named or measured.

#include <optional>
#include <string>

#include "base/result.h"
#include "floor/floor.h"
#include "records/replay.h"
#include "trace/trace.h"

namespace assay {

// Parses the value of `--floor`: nanoseconds, or the name of a published platform or of its GPU.
// nullopt if it is neither. trace: the trace it applies to, nullptr for several. Fails on a number
// outside 1 ns to a second.
Result<std::optional<LaunchFloor>> floor_of_text(const std::string& text, const Trace* trace);

// The published platforms by name, comma separated.
std::string published_platforms();

// The launch-overhead floor of a file: the smallest of its means, and that of each launch call,
// from which find_floor() selects the trace's. Fails if it is of another GPU than the trace's.
Result<LaunchFloor> floor_of_file(const FloorFile& file, const Trace* trace);

}  // namespace assay
