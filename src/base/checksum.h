#pragma once

// XXH3 with 64 bits: tells damage and change, not intent. Not a signature.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace assay {

uint64_t checksum(const void* bytes, size_t size);
// Of a whole file, as stored.
Result<uint64_t> file_checksum(const std::string& path);

}  // namespace assay
