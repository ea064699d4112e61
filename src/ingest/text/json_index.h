#pragma once

// Finds the structural positions of a piece of JSON: { } [ ] : , and opening quotes, and the first
// character of every other scalar. simdjson's stage 1 finds them with SIMD at several GB/s; Assay
// interprets them (docs/decisions/0003-json-structure.md). Only this module uses simdjson.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace assay {

enum class IndexOutcome : uint8_t {
  kOk,
  kEmpty,              // only white space
  kInvalidUtf8,        // positions are valid, texts may not be
  kUnclosedString,     // the piece ends inside a string; no positions
  kControlCharacters,  // raw control characters inside a string; no positions
  kFailed,             // out of memory, or too large for 32-bit positions
};

class JsonIndex {
 public:
  JsonIndex();
  ~JsonIndex();
  JsonIndex(JsonIndex&&) noexcept;
  JsonIndex& operator=(JsonIndex&&) noexcept;

  // Indexes json. The piece must begin outside a string.
  IndexOutcome index(std::string_view json);
  // Positions in the last indexed piece, in order, followed by the length of the piece.
  std::span<const uint32_t> positions() const;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

// True when text is valid UTF-8.
bool is_utf8(std::string_view text);

}  // namespace assay
