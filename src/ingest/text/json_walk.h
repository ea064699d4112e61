#pragma once

// Walks forward over the positions of a JsonIndex without copying: values are views into the piece.
// Nesting is counted without recursion, so any depth is safe. Scalars are returned as written, so
// that callers can handle NaN, bare words and 19-digit decimals.

#include <cstdint>
#include <string_view>

namespace assay {

enum class Walk : uint8_t {
  kOk,
  kIncomplete,  // the piece ends inside the value: retry with more bytes
  kMalformed,   // not JSON at the cursor's position
};

enum class JsonKind : uint8_t { kString, kScalar, kArray, kObject };

struct JsonValue {
  std::string_view text;  // as written; strings without quotes, with escapes unresolved
  JsonKind kind = JsonKind::kScalar;
  uint32_t position = 0;  // index of its first position, to walk into it again
};

struct JsonCursor {
  const char* text = nullptr;
  const uint32_t* positions = nullptr;  // count + 1 entries, the last one is the piece's length
  uint32_t count = 0;
  uint32_t at = 0;

  bool ended() const { return at >= count; }
  // The structural character at the cursor; '\0' at the end. text[length] must be readable and
  // '\0'.
  char peek() const { return text[positions[at]]; }
  uint32_t offset() const { return positions[at]; }
};

inline bool is_json_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// End of the token that begins at the cursor: before the next position, white space trimmed.
inline uint32_t token_end(const JsonCursor& cursor) {
  uint32_t end = cursor.positions[cursor.at + 1];
  const uint32_t begin = cursor.positions[cursor.at];
  while (end > begin + 1 && is_json_space(cursor.text[end - 1])) --end;
  return end;
}

inline Walk read_string(JsonCursor& cursor, std::string_view& value) {
  if (cursor.at + 1 >= cursor.count) return Walk::kIncomplete;
  const uint32_t begin = cursor.offset();
  const uint32_t end = token_end(cursor);
  if (end < begin + 2 || cursor.text[end - 1] != '"') return Walk::kMalformed;
  value = {cursor.text + begin + 1, end - begin - 2};
  ++cursor.at;
  return Walk::kOk;
}

// Skips a nested value; the cursor is at its opening bracket.
inline Walk skip_nested(JsonCursor& cursor) {
  int64_t depth = 0;
  uint32_t at = cursor.at;
  while (at < cursor.count) {
    const char c = cursor.text[cursor.positions[at++]];
    // '{' 0x7B, '}' 0x7D, '[' 0x5B, ']' 0x5D: bit 0x20 apart, nothing else structural is near.
    if ((c | 0x20) == '{') {
      ++depth;
    } else if ((c | 0x20) == '}') {
      if (--depth == 0) {
        cursor.at = at;
        return Walk::kOk;
      }
    }
  }
  return Walk::kIncomplete;
}

inline Walk read_value(JsonCursor& cursor, JsonValue& value) {
  if (cursor.ended()) return Walk::kIncomplete;
  value.position = cursor.at;
  const uint32_t begin = cursor.offset();
  switch (cursor.peek()) {
    case '"':
      value.kind = JsonKind::kString;
      return read_string(cursor, value.text);
    case '{':
    case '[': {
      value.kind = cursor.peek() == '{' ? JsonKind::kObject : JsonKind::kArray;
      const Walk walk = skip_nested(cursor);
      if (walk == Walk::kOk) {
        value.text = {cursor.text + begin, cursor.positions[cursor.at - 1] + 1 - begin};
      }
      return walk;
    }
    case '}':
    case ']':
    case ',':
    case ':':
      return Walk::kMalformed;
    default:
      if (cursor.at + 1 >= cursor.count) return Walk::kIncomplete;
      value.kind = JsonKind::kScalar;
      value.text = {cursor.text + begin, token_end(cursor) - begin};
      ++cursor.at;
      return Walk::kOk;
  }
}

// Reads `"key" :` and leaves the cursor on the value.
inline Walk read_key(JsonCursor& cursor, std::string_view& key) {
  if (cursor.ended()) return Walk::kIncomplete;
  if (cursor.peek() != '"') return Walk::kMalformed;
  const Walk walk = read_string(cursor, key);
  if (walk != Walk::kOk) return walk;
  if (cursor.ended()) return Walk::kIncomplete;
  if (cursor.peek() != ':') return Walk::kMalformed;
  ++cursor.at;
  return cursor.ended() ? Walk::kIncomplete : Walk::kOk;
}

// Calls member(key, cursor) -> Walk for each member of the object at the cursor; the callback must
// step over the value. trailing_commas counts commas before the closing brace.
template <typename Member>
Walk read_object(JsonCursor& cursor, uint64_t& trailing_commas, Member&& member) {
  ++cursor.at;
  bool after_comma = false;
  for (;;) {
    if (cursor.ended()) return Walk::kIncomplete;
    if (cursor.peek() == '}') {
      trailing_commas += after_comma;
      ++cursor.at;
      return Walk::kOk;
    }
    std::string_view key;
    Walk walk = read_key(cursor, key);
    if (walk != Walk::kOk) return walk;
    walk = member(key, cursor);
    if (walk != Walk::kOk) return walk;
    if (cursor.ended()) return Walk::kIncomplete;
    after_comma = cursor.peek() == ',';
    if (after_comma) {
      ++cursor.at;
    } else if (cursor.peek() != '}') {
      return Walk::kMalformed;
    }
  }
}

// Calls element(value) for each element of the array at the cursor.
template <typename Element>
Walk read_array(JsonCursor& cursor, Element&& element) {
  ++cursor.at;
  for (;;) {
    if (cursor.ended()) return Walk::kIncomplete;
    if (cursor.peek() == ']') {
      ++cursor.at;
      return Walk::kOk;
    }
    JsonValue value;
    const Walk walk = read_value(cursor, value);
    if (walk != Walk::kOk) return walk;
    element(value);
    if (cursor.ended()) return Walk::kIncomplete;
    if (cursor.peek() == ',') {
      ++cursor.at;
    } else if (cursor.peek() != ']') {
      return Walk::kMalformed;
    }
  }
}

}  // namespace assay
