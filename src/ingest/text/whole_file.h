#pragma once

#include <cstddef>
#include <string>

#include "base/byte_source.h"
#include "base/result.h"

namespace assay {

// A text that is held whole, decompressed piece by piece: refused (kUnsupported) where it expands
// or grows beyond any file of its kind. The source must outlive the function.
ReadFn text_stream(ByteSource& source);
// The content of a file, decompressed. Files that are small by nature only: `too_large` when it has
// more than 1 GiB.
Result<std::string> read_whole_file(const std::string& path, const Error& too_large);
// The first so many bytes, decompressed; of a damaged input those that come before the damage,
// which its reader will meet again.
std::string read_head(const ReadFn& read, size_t most);
// A look before a file is read. Refused for pipes and devices: it would take what the reader is to
// have, and the next look would wait for a writer that does not come.
Result<std::string> read_head(const std::string& path, size_t most);

}  // namespace assay
