#pragma once

// The reader of Chrome-trace JSON: Kineto / PyTorch profiler files of every version, and whatever else
// writes the same shape. Bounded memory: the input passes through a window of about 1 MiB, cut at
// event boundaries; what stays are the rows.

#include <cstdint>
#include <string>

#include "base/byte_source.h"
#include "base/result.h"
#include "trace/trace.h"

namespace assay {

struct ReadOptions {
  bool allow_truncated = false;  // offer what lies before the cut instead of refusing
  unsigned threads = 0;          // 0 = as many as there are processors; the result is the same
};

// Reads the whole source. Errors: kFormat (not JSON, or JSON that is no trace; with the byte offset in
// the decompressed input), kTruncated, kUnsupported (one event beyond 64 MiB, more than 2^32 rows),
// kIo.
Result<Trace> read_chrome_trace(ByteSource& source, const ReadOptions& options);

}  // namespace assay
