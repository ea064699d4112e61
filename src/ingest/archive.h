#pragma once

// Zip and tar archives of traces (docs/decisions/0021-archives.md). Tar may be compressed by gzip or
// Zstandard. Names that lead out of the folder are refused, and so are links, devices, encrypted
// members and archives in archives. Limits are kMostMembers, kMostArchiveBytes, and beyond 2 GiB
// 200 times the size of the archive.

#include <cstdint>
#include <string>

#include "base/result.h"

namespace assay {

constexpr uint64_t kMostMembers = 10'000;
constexpr uint64_t kMostArchiveBytes = uint64_t{64} << 30;
constexpr size_t kMostArchiveDepth = 8;  // folders above a member

// By its first bytes.
bool is_archive(const std::string& path);

// Writes all members below `folder`. Errors name the member; what was written by then stays.
Status unpack_archive(const std::string& path, const std::string& folder);

}  // namespace assay
