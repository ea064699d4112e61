#pragma once

// Reads Chrome-trace JSON: Kineto / PyTorch profiler files of every version, and other files of
// this form. Memory is bounded: the input passes through a window of about 1 MiB that ends at event
// boundaries, and only the rows are kept.

#include <atomic>
#include <cstdint>
#include <string>

#include "base/byte_source.h"
#include "base/result.h"
#include "trace/trace.h"

namespace assay {

// Progress of a read, to be polled by another thread.
struct ReadProgress {
  std::atomic<uint64_t> stored_bytes_read = 0;
  std::atomic<uint64_t> stored_bytes = 0;  // 0 = unknown
};

struct ExecutionTrace;

struct ReadOptions {
  bool allow_truncated = false;  // read the complete part of truncated files instead of failing
  bool keep_op_inputs = false;   // fill Trace::op_inputs
  unsigned threads = 0;          // 0 = number of processors; the result does not depend on it
  ReadProgress* progress = nullptr;
  const ExecutionTrace* inputs = nullptr;  // with keep_op_inputs: what the operators lack
  // An uncompressed file larger than twice this size is parsed in parallel, in stretches of this
  // size.
  uint64_t stretch_bytes = 8 << 20;
};

// Number of threads to read with, at least 1.
unsigned threads_of(const ReadOptions& options);

// Reads the whole source, which must be seekable. Errors:
// - kFormat: not JSON; with the byte offset in the decompressed input
// - kNotATrace: JSON but not a trace
// - kTruncated
// - kUnsupported: one event beyond 64 MiB, or more than 2^32 rows
// - kIo
Result<Trace> read_chrome_trace(ByteSource& source, const ReadOptions& options);

// The same for decompressed bytes that are not seekable, in one thread.
Result<Trace> read_chrome_stream(ReadFn read, const ReadOptions& options);

}  // namespace assay
