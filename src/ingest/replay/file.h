#pragma once

// The files that the collectors write beside a trace (docs/formats/floor.md,
// docs/formats/replay.md). What the page promises is checked here: version, keys, order of the
// quantiles, times that no launch can take. Whether a file belongs to a trace is checked where they
// meet (overhead/measured.h).

#include <string>

#include "base/result.h"
#include "records/replay.h"

namespace assay {

// Compressed or not. Errors name the file, the entry and the field.
Result<FloorFile> read_floor_file(const std::string& path);
Result<ReplayFile> read_replay_file(const std::string& path);

// The text of a replay file.
std::string replay_file_json(const ReplayFile& file);

}  // namespace assay
