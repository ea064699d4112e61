#pragma once

// `.assay`: a Trace as its columns on disk, so that a second look costs a copy and no parsing
// (docs/formats/assay.md). Every byte is under a checksum, and the file names the schema and the
// readers that made it: one that this build would have made differently is refused, not
// misunderstood.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/trace.h"

namespace assay {

inline constexpr std::string_view kColumnarMagic =
    "\x89"
    "ASY\r\n\x1a\n";

// What the file was made from, to tell when it is stale.
struct SourceStamp {
  std::string path;  // absolute; for people, not looked up
  uint64_t bytes = 0;
  int64_t mtime_ns = 0;
  uint64_t hash = 0;    // checksum() of the stored bytes: Trace::source_checksum
  int64_t made_ns = 0;  // when the .assay was written, epoch time
};
// Of a file that is about to be read; its hash comes with the Trace.
Result<SourceStamp> stamp_source(const std::string& path);

// Writes under a temporary name beside `path`, then renames.
Status write_columnar(const Trace& trace, const SourceStamp& source, const std::string& path);

// Errors: kFormat (damaged; says which block), kUnsupported (another version, byte order, schema or
// build), kIo. Whatever the bytes, the Trace that comes back keeps the promises of trace/trace.h.
Result<Trace> read_columnar(const std::string& path);

// The stamp alone: head and block 0 are read and checked, nothing else.
Result<SourceStamp> read_columnar_stamp(const std::string& path);

}  // namespace assay
