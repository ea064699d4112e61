#pragma once

// Interns strings as 32-bit ids. Kernel and operator names repeat thousands of times; comparing ids
// is one instruction, and classification runs once per name instead of once per row. Not
// thread-safe: each parser thread has its own pool, and the pools are merged in input order.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace assay {

class StringPool {
 public:
  StringPool();

  // Id of `text`, added when new. Id 0 is always the empty string.
  StringId intern(std::string_view text);
  // Id of `text`; kNone if it was never interned.
  StringId find(std::string_view text) const;
  // Valid for the lifetime of the pool. kNone gives the empty string.
  std::string_view view(StringId id) const { return id ? views_[id.value] : std::string_view(); }
  size_t size() const { return views_.size(); }
  // Adds all strings of `other` in its order. result[i] is the new id of other's id i.
  std::vector<StringId> merge(const StringPool& other);

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t id = StringId::kNone;
  };
  size_t probe(std::string_view text, uint32_t hash) const;
  void grow();
  std::string_view store(std::string_view text);

  std::vector<std::string_view> views_;
  std::vector<Slot> slots_;  // power of two, at most half full, linear probing
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* free_ = nullptr;
  size_t free_bytes_ = 0;
};

}  // namespace assay
