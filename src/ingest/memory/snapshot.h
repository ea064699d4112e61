#pragma once

// Reads PyTorch's memory snapshots (docs/formats/memory_snapshot.md).

#include <string>
#include <string_view>

#include "base/result.h"
#include "records/memory_snapshot.h"

namespace assay {

// Reads a file of up to 1 GiB, compressed or not. Errors name the file, and the byte in the pickle.
Result<MemorySnapshot> read_memory_snapshot(const std::string& path);
// The same for the decompressed bytes of a file.
Result<MemorySnapshot> parse_memory_snapshot(std::string_view pickle);

}  // namespace assay
