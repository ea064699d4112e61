#pragma once

// `.assay` files hold the columns of a Trace, so that loading it again is a copy without parsing
// (docs/formats/assay.md). A checksum covers every byte. The file identifies the schema and the
// readers that made it; another build rejects it.

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
  std::string path;  // absolute
  uint64_t bytes = 0;
  int64_t mtime_ns = 0;
  uint64_t hash = 0;    // checksum() of the stored bytes: Trace::source_checksum
  int64_t made_ns = 0;  // time at which the .assay was written, since 1970
};
// The stamp of a file that is about to be read, without `hash`, which comes from the Trace.
Result<SourceStamp> stamp_source(const std::string& path);

// Writes under a temporary name in the same folder, then renames to `path`.
Status write_columnar(const Trace& trace, const SourceStamp& source, const std::string& path);

// Errors: kFormat (damaged; names the block), kUnsupported (other version, byte order, schema or
// build), kIo. Whatever the file contains, a returned Trace satisfies the invariants of
// trace/trace.h.
Result<Trace> read_columnar(const std::string& path);

// Reads only the stamp, and checks only the head and block 0.
Result<SourceStamp> read_columnar_stamp(const std::string& path);

}  // namespace assay
