#pragma once

// PyTorch's memory snapshots (docs/formats/memory_snapshot.md).

#include <string>
#include <string_view>

#include "base/result.h"
#include "records/memory_snapshot.h"

namespace assay {

// Compressed or not, up to 1 GiB. Errors name the file and, of the pickle itself, the byte.
Result<MemorySnapshot> read_memory_snapshot(const std::string& path);
// `pickle`: the bytes of a file.
Result<MemorySnapshot> parse_memory_snapshot(std::string_view pickle);

}  // namespace assay
