#pragma once

// Rows by a number that each has, in two lists that are as long as the rows: a job has hundreds of
// millions of them.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace assay {

struct Buckets {
  static constexpr uint32_t kNone = UINT32_MAX;  // the key of a row that is in no bucket

  std::vector<uint32_t> first;  // per key, and one more: its rows are [first[k], first[k + 1])
  std::vector<uint32_t> rows;   // of one key ascending

  Buckets() = default;
  // key_of(row): below `keys` or kNone.
  template <typename KeyOf>
  Buckets(size_t keys, size_t count, const KeyOf& key_of) : first(keys + 1, 0) {
    for (uint32_t row = 0; row < count; ++row) {
      if (const uint32_t key = key_of(row); key != kNone) ++first[key + 1];
    }
    for (size_t k = 0; k < keys; ++k) first[k + 1] += first[k];
    rows.resize(first.back());
    std::vector<uint32_t> next(first.begin(), first.end() - 1);
    for (uint32_t row = 0; row < count; ++row) {
      if (const uint32_t key = key_of(row); key != kNone) rows[next[key]++] = row;
    }
  }
  Buckets(size_t keys, const std::vector<uint32_t>& key_of)
      : Buckets(keys, key_of.size(), [&key_of](uint32_t row) { return key_of[row]; }) {}
  size_t keys() const { return first.size() - 1; }
  uint32_t size(size_t key) const { return first[key + 1] - first[key]; }
};

}  // namespace assay
