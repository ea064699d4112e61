#pragma once

// Reads Perfetto traces in protobuf (.pftrace, .perfetto-trace): those of rocprofv3 and
// rocprofiler-systems, and the track events and GPU stages of other tools
// (docs/formats/pftrace.md).

#include "base/byte_source.h"
#include "base/result.h"
#include "ingest/chrome/reader.h"
#include "trace/trace.h"

namespace assay {

// Reads a whole trace, one packet at a time; only the rows are kept. Damaged packets are skipped
// and counted. With allow_truncated, reads the packets before the place where the file ends or is
// damaged. Errors: kFormat (with the byte offset), kTruncated, kUnsupported (a packet of more than
// 64 MiB, more than 2^32 rows), kNotATrace (no events) and kIo.
Result<Trace> read_pftrace(const ReadFn& read, const ReadOptions& options);

}  // namespace assay
