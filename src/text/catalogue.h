#pragma once

// The message catalogue, messages.en.txt, which travels in the binary.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "findings/codes.h"

namespace assay::text {

// A literal, or a place that a value fills.
struct Token {
  enum class Kind : uint8_t { kLiteral, kValue, kCounted, kPlural };
  Kind kind = Kind::kLiteral;
  std::string text;      // of a literal, else the key
  bool with_sign = false;  // {key+}
  size_t columns = 0;    // {key~36}: the most that a name takes; 0: no own limit
  bool whole = false;    // {key~*}: never shortened, and with its line breaks
  std::string one = {};       // {key#one|many}: the number and a word; {key?one|many}: the word alone
  std::string many = {};
};

struct MessagePiece {
  bool optional = false;  // [...]
  std::vector<Token> tokens;
};

struct DeclaredValue {
  std::string key;
  std::string unit;  // share, ns, count, ratio, byte_rate, text, name, list, window
};

struct Message {
  findings::Code code{};
  std::vector<DeclaredValue> values;
  std::vector<MessagePiece> pieces;
};

// By code, complete.
const std::vector<Message>& catalogue();
const Message& message_of(findings::Code code);

// For tests: why a catalogue's text cannot be used; empty where it can.
std::string catalogue_fault(std::string_view text);

}  // namespace assay::text
