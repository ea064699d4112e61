#pragma once

#include <cstddef>
#include <string>

#include "base/byte_source.h"
#include "base/result.h"

namespace assay {

// Streams a text that the caller will keep in memory, decompressed. Fails with kUnsupported if it
// expands or grows beyond any file of its kind. The source must outlive the returned function.
ReadFn text_stream(ByteSource& source);
// The decompressed content of a file that is normally small; `too_large` if it exceeds 1 GiB.
Result<std::string> read_whole_file(const std::string& path, const Error& too_large);
// The first `most` bytes, decompressed. For a damaged input, the bytes before the damage, without
// an error: its reader will report the damage.
std::string read_head(const ReadFn& read, size_t most);
// The same for the file at `path`. Fails for pipes and devices: reading would consume their bytes.
Result<std::string> read_head(const std::string& path, size_t most);

}  // namespace assay
