#include "ingest/pftrace/packets.h"

#include <algorithm>

#include "base/varint.h"

namespace assay {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;
constexpr size_t kMostVarintBytes = 10;

enum PacketWire : uint64_t { kWireVarint = 0, kWireFixed64 = 1, kWireBytes = 2, kWireFixed32 = 5 };

Error packet_error(ErrorCode code, std::string message, uint64_t offset) {
  return Error{code, std::move(message), "", static_cast<int64_t>(offset)};
}

}  // namespace

Result<bool> PacketStream::fill(size_t wanted) {
  while (rest().size() < wanted && !ended_) {
    buffer_.erase(0, taken_);
    taken_ = 0;
    const size_t had = buffer_.size();
    buffer_.resize(had + kBlockBytes);
    ASSAY_TRY_ASSIGN(const size_t got, read_(buffer_.data() + had, kBlockBytes));
    buffer_.resize(had + got);
    bytes_read_ += got;
    ended_ = got == 0;
  }
  return rest().size() >= wanted;
}

Result<uint64_t> PacketStream::varint(bool& ended) {
  ASSAY_TRY(fill(kMostVarintBytes));
  std::string_view bytes = rest();
  const size_t before = bytes.size();
  uint64_t value = 0;
  ended = false;
  if (!take_varint(bytes, value)) {
    ended = before < kMostVarintBytes;
    if (!ended) {
      return packet_error(ErrorCode::kFormat, "these bytes are not part of a Perfetto trace",
                          offset_);
    }
    return uint64_t{0};
  }
  taken_ += before - bytes.size();
  return value;
}

Result<bool> PacketStream::next(std::string_view& packet) {
  constexpr uint64_t kPacketField = 1;
  for (;;) {
    offset_ = bytes_read_ - rest().size();
    ASSAY_TRY_ASSIGN(const bool more, fill(1));
    if (!more) return false;
    bool cut = false;
    ASSAY_TRY_ASSIGN(const uint64_t tag, varint(cut));
    uint64_t length = 0;
    switch (cut ? kWireVarint : tag & 7) {
      case kWireVarint:
        if (!cut) ASSAY_TRY(varint(cut));
        break;
      case kWireFixed64:
        length = 8;
        break;
      case kWireFixed32:
        length = 4;
        break;
      case kWireBytes: {
        ASSAY_TRY_ASSIGN(length, varint(cut));
        break;
      }
      default:
        return packet_error(ErrorCode::kFormat, "these bytes are not part of a Perfetto trace",
                            offset_);
    }
    if (!cut && (tag >> 3) == 0) {
      return packet_error(ErrorCode::kFormat, "these bytes are not part of a Perfetto trace",
                          offset_);
    }
    if (length > kMostPacketBytes) {
      return packet_error(ErrorCode::kUnsupported,
                          "a packet of more than 64 MiB, which no writer of Perfetto traces makes; "
                          "if the file is damaged here, --allow-truncated reads what precedes it",
                          offset_);
    }
    if (!cut) {
      ASSAY_TRY_ASSIGN(const bool whole, fill(static_cast<size_t>(length)));
      cut = !whole;
    }
    if (cut) {
      return packet_error(ErrorCode::kTruncated,
                          "the file ends within a packet; copy it again, or read the packets "
                          "before this with --allow-truncated",
                          offset_);
    }
    packet = rest().substr(0, static_cast<size_t>(length));
    taken_ += static_cast<size_t>(length);
    if ((tag & 7) == kWireBytes && tag >> 3 == kPacketField) return true;
  }
}

Result<std::string> decompressed_packets(std::string_view stored) {
  const ReadFn read =
      unzlib([stored, at = size_t{0}](char* dst, size_t n) mutable -> Result<size_t> {
        const size_t take = std::min(n, stored.size() - at);
        std::copy_n(stored.data() + at, take, dst);
        at += take;
        return take;
      });
  std::string bytes;
  for (;;) {
    const size_t had = bytes.size();
    constexpr size_t kStep = size_t{1} << 18;
    bytes.resize(had + kStep);
    ASSAY_TRY_ASSIGN(const size_t got, read(bytes.data() + had, kStep));
    bytes.resize(had + got);
    if (got == 0) return bytes;
    if (bytes.size() > kMostPacketBytes) {
      return packet_error(ErrorCode::kUnsupported, "compressed packets of more than 64 MiB", 0);
    }
  }
}

}  // namespace assay
