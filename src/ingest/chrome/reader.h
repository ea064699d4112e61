#pragma once

// The reader of Chrome-trace JSON: Kineto / PyTorch profiler files of every version, and all other
// files of the same shape. Memory is bounded: the input passes through a window of about 1 MiB, cut
// at event boundaries, and only the rows stay.

#include <atomic>
#include <cstdint>
#include <string>

#include "base/byte_source.h"
#include "base/result.h"
#include "trace/trace.h"

namespace assay {

// Progress of reading, for another thread.
struct ReadProgress {
  std::atomic<uint64_t> stored_bytes_read = 0;
  std::atomic<uint64_t> stored_bytes = 0;  // 0 = unknown
};

struct ReadOptions {
  bool allow_truncated = false;  // offer what lies before the cut instead of refusing
  bool keep_op_inputs = false;   // fill Trace::op_inputs
  unsigned threads = 0;          // 0 = as many as there are processors; the result is the same
  ReadProgress* progress = nullptr;
  // A plain file larger than two stretches is parsed in stretches of this size, several at once.
  uint64_t stretch_bytes = 8 << 20;
};

// How many threads may read, 1 or more.
unsigned threads_of(const ReadOptions& options);

// Reads the whole source, which must be seekable. Errors:
// - kFormat: not JSON; with the byte offset in the decompressed input
// - kNotATrace: JSON but not a trace
// - kTruncated
// - kUnsupported: one event beyond 64 MiB, or more than 2^32 rows
// - kIo
Result<Trace> read_chrome_trace(ByteSource& source, const ReadOptions& options);

// The same from any decoded bytes, in one thread.
Result<Trace> read_chrome_stream(ReadFn read, const ReadOptions& options);

}  // namespace assay
