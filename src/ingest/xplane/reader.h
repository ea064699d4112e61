#pragma once

// Reads XSpace files (NAME.xplane.pb), which the profilers of JAX, TensorFlow and PyTorch/XLA
// write: planes (devices and hosts) of lines (streams and threads) of events. Field numbers are
// those of xplane.proto in OpenXLA.

#include "base/byte_source.h"
#include "base/result.h"
#include "ingest/chrome/reader.h"
#include "trace/trace.h"

namespace assay {

// Reads a whole XSpace by the rules for the trace.json of the same profilers
// (docs/formats/xplane.md). Rounds times from picoseconds to nanoseconds. With allow_truncated,
// reads the complete planes of a truncated file. Errors: kFormat (with the byte offset),
// kTruncated, kUnsupported (more than 4 GiB) and kIo.
Result<Trace> read_xplane(const ReadFn& read, const ReadOptions& options);

}  // namespace assay
