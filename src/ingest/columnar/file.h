#pragma once

// `.assay`: the columns of a Trace on disk, so that loading it again costs a copy and no parsing
// (docs/formats/assay.md). A checksum covers every byte. The file names the schema and the readers
// that made it, and is rejected if this build would have made it differently.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/trace.h"

namespace assay {

inline constexpr std::string_view kColumnarMagic =
    "\x89"
    "ASY\r\n\x1a\n";

// Identity of the source, to detect a stale file.
struct SourceStamp {
  std::string path;  // absolute; for people, not looked up
  uint64_t bytes = 0;
  int64_t mtime_ns = 0;
  uint64_t hash = 0;    // checksum() of the stored bytes: Trace::source_checksum
  int64_t made_ns = 0;  // when the .assay was written, epoch time
};
// Stamp of a file that is about to be read; its hash comes with the Trace.
Result<SourceStamp> stamp_source(const std::string& path);

// Writes under a temporary name in the same folder, then renames to `path`.
Status write_columnar(const Trace& trace, const SourceStamp& source, const std::string& path);

// Errors: kFormat (damaged; names the block), kUnsupported (another version, byte order, schema or
// build), kIo. For any bytes, the returned Trace keeps the promises of trace/trace.h.
Result<Trace> read_columnar(const std::string& path);

// The stamp alone: head and block 0 are read and checked, nothing else.
Result<SourceStamp> read_columnar_stamp(const std::string& path);

}  // namespace assay
