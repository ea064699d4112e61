#pragma once

// Splits a Perfetto trace (perfetto.protos.Trace) into its packets while it is read. Memory is that
// of one packet and one block.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "base/result.h"

namespace assay {

// A larger packet is an error: writers split their data into packets of some KiB.
constexpr size_t kMostPacketBytes = size_t{64} << 20;

class PacketStream {
 public:
  explicit PacketStream(ReadFn read) : read_(std::move(read)) {}

  // Reads the next packet, which is valid until the next call; false at the end of the file. Errors
  // have the byte offset. kTruncated: the file ends within a packet. kFormat: bytes that are not a
  // field of a trace. kUnsupported: a packet of more than kMostPacketBytes.
  Result<bool> next(std::string_view& packet);
  // Offset in the file of the last packet, or of the invalid bytes.
  uint64_t offset() const { return offset_; }
  uint64_t bytes_read() const { return bytes_read_; }

 private:
  // Makes at least `wanted` bytes available; false if the file ends before.
  Result<bool> fill(size_t wanted);
  Result<uint64_t> varint(bool& ended);
  std::string_view rest() const { return std::string_view(buffer_).substr(taken_); }

  ReadFn read_;
  std::string buffer_;
  size_t taken_ = 0;  // bytes of the buffer that were consumed
  uint64_t offset_ = 0;
  uint64_t bytes_read_ = 0;
  bool ended_ = false;
};

// The decompressed content of TracePacket.compressed_packets, a zlib stream (RFC 1950) of further
// packets. Errors: kFormat for damaged bytes, kUnsupported beyond kMostPacketBytes.
Result<std::string> decompressed_packets(std::string_view stored);

}  // namespace assay
