#pragma once

// The launch floor that the user asks for, with the file behind it.

#include <optional>
#include <string>

#include "base/result.h"
#include "floor/floor.h"
#include "trace/trace.h"

namespace assay {

// `--floor` as typed: nanoseconds, a floor file (docs/formats/floor.md), or the name of a published
// platform or of its GPU; absent when empty. trace: what the floor is for, nullptr when it is for
// several. Fails on text that is none of these, and on a floor measured on another GPU than the
// trace's.
Result<std::optional<LaunchFloor>> given_floor(const std::string& text, const Trace* trace);

// find_floor with `--floor` as typed.
Result<LaunchFloor> floor_asked(const std::string& text, const Trace& trace, const Links& links);

}  // namespace assay
