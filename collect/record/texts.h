#pragma once

// The distinct texts of a program's ranges, in bounded memory. A text stays while it is used; after
// that the least recently used texts are evicted first. An evicted text that occurs again is
// written again under another id. Not thread-safe.

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collect/wire.h"

namespace assay::record {

// Ids of these texts have the highest bit set: the file's own ids are below.
constexpr uint32_t kHostTextBit = 0x80000000u;
// A text without a place.
constexpr uint32_t kLostText = 0xFFFFFFFFu;

class Texts {
 public:
  explicit Texts(size_t most_bytes) : most_bytes_(most_bytes) {}

  // Returns the id of the text, valid until each hold is released.
  uint32_t hold(std::string_view value);
  void release(uint32_t id);
  // Adds the text to the next fetch, unless an earlier one had it.
  void write(uint32_t id);
  using Definition = std::pair<uint32_t, std::string>;
  std::vector<Definition> fetch();

  size_t bytes() const { return bytes_; }
  // Bytes of definitions to be fetched.
  size_t waiting_bytes() const { return waiting_bytes_; }
  // Number of evicted texts.
  uint64_t forgotten() const { return forgotten_; }

 private:
  struct Text {
    std::string value;
    uint32_t id;
    uint32_t uses;
    bool is_written;
  };
  using Place = std::list<Text>::iterator;

  void forget_oldest();
  static size_t cost(std::string_view value);

  const size_t most_bytes_;
  size_t bytes_ = 0;
  size_t waiting_bytes_ = 0;
  uint64_t forgotten_ = 0;
  uint32_t next_id_ = 0;
  std::vector<uint32_t> free_ids_;  // of evicted texts that are in no file
  std::list<Text> used_;
  std::list<Text> idle_;  // least recently used first
  std::unordered_map<std::string_view, Place> by_value_;
  std::unordered_map<uint32_t, Place> by_id_;
  std::vector<Definition> definitions_;
};

}  // namespace assay::record
