#pragma once

// The message catalogue, messages.en.txt, embedded in the binary.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "findings/codes.h"

namespace assay::text {

// A literal, or a placeholder for a value.
struct Token {
  enum class Kind : uint8_t { kLiteral, kValue, kCounted, kPlural, kRanks };
  Kind kind = Kind::kLiteral;
  std::string text;      // literal text, or the key of the value
  bool with_sign = false;  // {key+}
  size_t columns = 0;    // {key~36}: maximum columns of a name, 0 = no limit of its own
  bool whole = false;    // {key~*}: never shortened, keeps its line breaks
  int decimals = -1;     // {key:2}
  std::string one = {};       // number and word for {key#one|many}, word only for {key?one|many}
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
  bool whole = false;    // of a job: the screen splits its sentences, so that nothing is dropped
  bool capital = false;  // ^ at the beginning: the first letter is a capital, whatever it comes from
};

// All messages, indexed by code.
const std::vector<Message>& catalogue();
const Message& message_of(findings::Code code);

// For tests. The reason why the text is not a valid catalogue; empty if it is.
std::string catalogue_fault(std::string_view text);

}  // namespace assay::text
