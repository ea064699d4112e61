#pragma once

// The wire format of protocol buffers: a message is a sequence of tagged fields. Nothing is copied,
// and no length is trusted before it was compared with what is left.

#include <cstdint>
#include <string_view>

namespace assay {

struct WireField {
  uint32_t number = 0;
  bool is_bytes = false;   // a message, a string or bytes; else a number
  uint64_t value = 0;      // of a number: the varint, or the bits of a fixed one
  std::string_view bytes;  // of the others
};

class WireReader {
 public:
  explicit WireReader(std::string_view message) : begin_(message.data()), rest_(message) {}

  // The next field; false at the end of the message and where the bytes are none.
  bool next(WireField& field);
  // False after bytes that are no field.
  bool good() const { return good_; }
  // Bytes before the field that comes next, or before the bytes that are none.
  uint64_t offset() const { return static_cast<uint64_t>(rest_.data() - begin_); }

 private:
  bool fixed(unsigned bytes, uint64_t& value);

  const char* begin_;
  std::string_view rest_;
  bool good_ = true;
};

}  // namespace assay
