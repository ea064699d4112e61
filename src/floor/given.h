#pragma once

// Floors that the user brings: typed, named or measured.

#include <optional>
#include <string>

#include "base/result.h"
#include "floor/floor.h"
#include "records/replay.h"
#include "trace/trace.h"

namespace assay {

// `--floor` as typed: nanoseconds, or the name of a published platform or of its GPU. Absent where
// it is neither. trace: what the floor is for, nullptr when it is for several. Fails on a number
// outside 1 ns to a second.
Result<std::optional<LaunchFloor>> floor_of_text(const std::string& text, const Trace* trace);

// The published platforms by name, comma separated.
std::string published_platforms();

// The floor that a floor file gives: the smallest of its means; that of each call that launches
// beside it, of which find_floor takes the trace's. Fails when it is of another GPU
// than the trace's.
Result<LaunchFloor> floor_of_file(const FloorFile& file, const Trace* trace);

}  // namespace assay
