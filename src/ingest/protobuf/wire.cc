#include "ingest/protobuf/wire.h"

#include "base/varint.h"

namespace assay {
namespace {

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

}  // namespace

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
  good_ = take_varint(rest_, tag) && tag >> 3 != 0 && tag >> 3 <= UINT32_MAX;
  field.number = static_cast<uint32_t>(tag >> 3);
  switch (tag & 7) {
    case kVarint:
      good_ = good_ && take_varint(rest_, field.value);
      break;
    case kFixed64:
      good_ = good_ && fixed(8, field.value);
      break;
    case kFixed32:
      good_ = good_ && fixed(4, field.value);
      break;
    case kBytes: {
      uint64_t length = 0;
      good_ = good_ && take_varint(rest_, length) && length <= rest_.size();
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
