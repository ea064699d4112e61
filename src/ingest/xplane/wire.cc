#include "ingest/xplane/wire.h"

namespace assay {
namespace {

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

}  // namespace

bool WireReader::varint(uint64_t& value) {
  constexpr unsigned kMostBits = 64;
  value = 0;
  for (unsigned shift = 0; shift < kMostBits && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest_[0]);
    rest_.remove_prefix(1);
    value |= uint64_t{byte & 0x7Fu} << shift;
    if ((byte & 0x80u) == 0) return true;
  }
  return false;
}

bool WireReader::fixed(unsigned bytes, uint64_t& value) {
  if (rest_.size() < bytes) return false;
  value = 0;
  for (unsigned i = 0; i < bytes; ++i) {
    value |= uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
  }
  rest_.remove_prefix(bytes);
  return true;
}

bool WireReader::next(WireField& field) {
  if (!good_ || rest_.empty()) return false;
  const std::string_view before = rest_;
  uint64_t tag = 0;
  field = {};
  good_ = varint(tag) && tag >> 3 != 0 && tag >> 3 <= UINT32_MAX;
  field.number = static_cast<uint32_t>(tag >> 3);
  switch (tag & 7) {
    case kVarint:
      good_ = good_ && varint(field.value);
      break;
    case kFixed64:
      good_ = good_ && fixed(8, field.value);
      break;
    case kFixed32:
      good_ = good_ && fixed(4, field.value);
      break;
    case kBytes: {
      uint64_t length = 0;
      good_ = good_ && varint(length) && length <= rest_.size();
      if (!good_) break;
      field.is_bytes = true;
      field.bytes = rest_.substr(0, static_cast<size_t>(length));
      rest_.remove_prefix(static_cast<size_t>(length));
      break;
    }
    default:
      good_ = false;
  }
  if (!good_) rest_ = before;
  return good_;
}

}  // namespace assay
