#pragma once

// Binary encoding of numbers and texts: LEB128 for unsigned numbers, zigzag LEB128 for signed ones;
// texts are preceded by their length. Input may be hostile: the reader never reads past the end,
// and ok() stays false after the first invalid value.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace assay {

constexpr uint64_t zigzag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t unzigzag(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

inline void append_varint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

// Removes a number from the front of `rest`. False if the bytes end early or the number exceeds 64
// bits; `rest` is then unspecified.
inline bool take_varint(std::string_view& rest, uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(rest.front());
    rest.remove_prefix(1);
    if (shift == 63 && byte > 1) return false;
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

class VarintWriter {
 public:
  void add(uint64_t value) { append_varint(value, bytes_); }
  void add_signed(int64_t value) { add(zigzag(value)); }
  void add_text(std::string_view text) {
    add(text.size());
    bytes_.append(text);
  }
  void add_bytes(std::string_view bytes) { bytes_.append(bytes); }
  size_t size() const { return bytes_.size(); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class VarintReader {
 public:
  explicit VarintReader(std::string_view bytes) : rest_(bytes) {}

  // 0 if the bytes end or the number exceeds 64 bits; ok() stays false then.
  uint64_t next() {
    uint64_t value = 0;
    return take_varint(rest_, value) ? value : fail();
  }
  int64_t next_signed() { return unzigzag(next()); }
  std::string_view next_bytes(uint64_t size) {
    if (size > rest_.size()) {
      fail();
      return {};
    }
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  std::string_view next_text() { return next_bytes(next()); }
  // A count of items of at least `least` bytes each. Fails if the remaining bytes cannot hold them.
  size_t next_count(size_t least = 1) {
    const uint64_t count = next();
    if (count > rest_.size() / least) return fail();
    return count;
  }
  bool done() const { return rest_.empty(); }
  bool ok() const { return ok_; }

 private:
  uint64_t fail() {
    ok_ = false;
    rest_ = {};
    return 0;
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace assay
