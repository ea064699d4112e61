#pragma once

// The launch-overhead floor given by --floor, including floors in files.

#include <optional>
#include <string>

#include "base/result.h"
#include "floor/floor.h"
#include "trace/trace.h"

namespace assay {

// Parses `--floor`: nanoseconds, a file (docs/formats/floor.md), or the name of a published
// platform or of its GPU; nullopt if empty. trace: the trace it applies to, nullptr for several.
// Fails on any other text, and on a value measured on another GPU than the trace's.
Result<std::optional<LaunchFloor>> given_floor(const std::string& text, const Trace* trace);

// The floor of `--floor` if it is given, else that of find_floor.
Result<LaunchFloor> floor_asked(const std::string& text, const Trace& trace, const Links& links);

}  // namespace assay
