#pragma once

// Reads the wire format of protocol buffers: a message is a sequence of tagged fields. Copies
// nothing, and compares every length with the remaining bytes before using it.

#include <cstdint>
#include <string_view>

namespace assay {

struct WireField {
  uint32_t number = 0;
  bool is_bytes = false;   // else a number
  uint64_t value = 0;      // a number: the varint, or the bits of a fixed field
  std::string_view bytes;  // a message, a string or bytes
};

class WireReader {
 public:
  explicit WireReader(std::string_view message) : begin_(message.data()), rest_(message) {}

  // Reads the next field; false at the end of the message and at invalid bytes.
  bool next(WireField& field);
  // False after invalid bytes.
  bool good() const { return good_; }
  // Offset of the next field, or of the invalid bytes.
  uint64_t offset() const { return static_cast<uint64_t>(rest_.data() - begin_); }

 private:
  bool fixed(unsigned bytes, uint64_t& value);

  const char* begin_;
  std::string_view rest_;
  bool good_ = true;
};

}  // namespace assay
