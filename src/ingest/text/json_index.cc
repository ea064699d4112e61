#include "ingest/text/json_index.h"

#include <simdjson.h>

#include <bit>

namespace assay {

struct JsonIndex::Parser {
  simdjson::dom::parser parser;
};

JsonIndex::JsonIndex() : parser_(std::make_unique<Parser>()) {}
JsonIndex::~JsonIndex() = default;
JsonIndex::JsonIndex(JsonIndex&&) noexcept = default;
JsonIndex& JsonIndex::operator=(JsonIndex&&) noexcept = default;

IndexOutcome JsonIndex::index(std::string_view json) {
  if (json.empty()) return IndexOutcome::kEmpty;
  simdjson::dom::parser& parser = parser_->parser;
  if (json.size() > parser.capacity()) {
    // Stage 1 does not use the depth; json_walk.h counts nesting without a stack.
    const size_t capacity = std::bit_ceil(json.size());
    if (parser.allocate(capacity, 1) != simdjson::SUCCESS) return IndexOutcome::kFailed;
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(json.data());
  const auto code =
      parser.implementation->stage1(bytes, json.size(), simdjson::stage1_mode::regular);
  switch (code) {
    case simdjson::SUCCESS:
      return IndexOutcome::kOk;
    case simdjson::EMPTY:
      return IndexOutcome::kEmpty;
    case simdjson::UTF8_ERROR:
      return IndexOutcome::kInvalidUtf8;
    case simdjson::UNCLOSED_STRING:
      return IndexOutcome::kUnclosedString;
    case simdjson::UNESCAPED_CHARS:
      return IndexOutcome::kControlCharacters;
    default:
      return IndexOutcome::kFailed;
  }
}

std::span<const uint32_t> JsonIndex::positions() const {
  const auto& implementation = *parser_->parser.implementation;
  return {implementation.structural_indexes.get(), implementation.n_structural_indexes};
}

bool is_utf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

}  // namespace assay
