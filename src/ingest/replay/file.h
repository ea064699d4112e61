#pragma once

// Reads the files that the collectors write for a trace (docs/formats/floor.md,
// docs/formats/replay.md). Checks what these pages guarantee: version, keys, order of the
// quantiles, plausible times. overhead/measured.h checks that a file belongs to a trace.

#include <string>

#include "base/result.h"
#include "records/replay.h"

namespace assay {

// Compressed files are decompressed. Errors name the file, the entry and the field.
Result<FloorFile> read_floor_file(const std::string& path);
Result<ReplayFile> read_replay_file(const std::string& path);

// Serializes a replay file.
std::string replay_file_json(const ReplayFile& file);

}  // namespace assay
