#pragma once

// Unpacks zip and tar archives of traces (docs/decisions/0021-archives.md). Tar may be compressed
// with gzip or Zstandard. Rejects names that lead out of the folder, links, devices, encrypted
// members, nested archives, and content beyond kMostMembers or kMostArchiveBytes, or beyond both 2
// GiB and 200 times the size of the archive.

#include <cstdint>
#include <string>

#include "base/result.h"

namespace assay {

constexpr uint64_t kMostMembers = 10'000;
constexpr uint64_t kMostArchiveBytes = uint64_t{64} << 30;
constexpr size_t kMostArchiveDepth = 8;  // maximum number of folders above a member

// True if the first bytes are those of a zip or tar archive. False if the file cannot be read.
bool is_archive(const std::string& path);

// Writes all members below `folder`. Errors name the member; members written before it stay.
Status unpack_archive(const std::string& path, const std::string& folder);

}  // namespace assay
