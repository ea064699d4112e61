#include "ingest/pftrace/reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "ingest/pftrace/chrome_rows.h"
#include "ingest/pftrace/decoder.h"
#include "ingest/pftrace/packets.h"
#include "ingest/pftrace/rocprof_rows.h"
#include "ingest/protobuf/wire.h"

namespace assay {
namespace {

// The packets of a TracePacket.compressed_packets in `packet`; empty if it has none.
std::string_view compressed_in(std::string_view packet) {
  constexpr uint32_t kCompressedPackets = 50;
  WireReader reader(packet);
  WireField field;
  std::string_view found;
  while (reader.next(field)) {
    if (field.number == kCompressedPackets && field.is_bytes) found = field.bytes;
  }
  return found;
}

// Reads the packets in a decompressed message of type Trace. Packets in it that are compressed once
// more are not read: no writer makes them, and each could hold a thousand times its size.
bool read_inner(std::string_view message, PerfettoDecoder& decoder) {
  constexpr uint32_t kPacket = 1;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == kPacket && field.is_bytes) decoder.read_packet(field.bytes, -1);
  }
  return reader.good();
}

bool has_too_many_rows(const PerfettoRows& rows) {
  return std::max({rows.slices.size(), rows.annotations.size(), rows.instants.size(),
                   rows.tracks.size()}) >= UINT32_MAX;
}

struct PacketTotals {
  uint64_t bytes = 0;
  ImportLog log;
};

Result<PacketTotals> read_packets(const ReadFn& read, bool allow_truncated,
                                  PerfettoDecoder& decoder) {
  PacketStream packets(read);
  PacketTotals totals;
  std::string_view packet;
  for (;;) {
    auto more = packets.next(packet);
    if (!more) {
      const bool damaged = more.error().code != ErrorCode::kIo && more.error().offset >= 0;
      if (!damaged || !allow_truncated) return more.take_error();
      totals.log.add(ImportCode::kTruncated, more.error().offset);
      break;
    }
    if (!*more) break;
    const auto offset = static_cast<int64_t>(packets.offset());
    const std::string_view compressed = compressed_in(packet);
    if (compressed.empty()) {
      decoder.read_packet(packet, offset);
    } else {
      const auto inner = decompressed_packets(compressed);
      if (!inner && inner.error().code == ErrorCode::kUnsupported) {
        Error error = inner.error();
        error.offset = offset;
        return error;
      }
      if (!inner || !read_inner(*inner, decoder)) {
        totals.log.add(ImportCode::kDamagedBlock, offset);
      }
    }
    if (has_too_many_rows(decoder.rows())) {
      return Error{ErrorCode::kUnsupported, "more than 2^32 rows", "", -1};
    }
  }
  totals.bytes = packets.bytes_read();
  return totals;
}

bool is_empty(const PerfettoRows& rows) {
  return rows.slices.empty() && rows.stages.empty() && rows.instants.empty() &&
         rows.counters.empty();
}

}  // namespace

Result<Trace> read_pftrace(const ReadFn& read, const ReadOptions& options) {
  PerfettoDecoder decoder;
  ASSAY_TRY_ASSIGN(const PacketTotals totals, read_packets(read, options.allow_truncated, decoder));
  PerfettoRows rows = decoder.finish();
  rows.log.merge(totals.log);
  if (is_empty(rows)) {
    const uint64_t damaged = rows.log.entry(ImportCode::kDamagedBlock).count;
    const uint64_t lost = rows.log.entry(ImportCode::kLostRecords).count;
    std::string why = "a Perfetto trace without track events and GPU stages";
    if (damaged > 0) why += "; " + std::to_string(damaged) + " of its packets are damaged";
    if (lost > 0) why += "; " + std::to_string(lost) + " of its packets miss their names";
    return Error{damaged > 0 ? ErrorCode::kFormat : ErrorCode::kNotATrace,
                 why +
                     ". Record GPU work: rocprofv3 --kernel-trace --hip-runtime-trace "
                     "--output-format pftrace -- COMMAND",
                 "", -1};
  }
  if (is_rocprof_pftrace(rows)) {
    RocprofRun run = rocprof_run_of(std::move(rows));
    run.content_bytes = totals.bytes;
    return rocprof_trace(std::move(run));
  }
  PerfettoChromeText text(rows);
  ASSAY_TRY_ASSIGN(Trace trace, text.read_trace(options));
  trace.log.merge(rows.log);
  trace.content_bytes = totals.bytes;
  return trace;
}

}  // namespace assay
