#pragma once

// Counts of integers in buckets of equal relative width.
//
// Problem: the durations of a hundred thousand processes must be merged in any order, and the
// quantiles must be identical whatever the order. Method: exact counts in log-linear buckets, 32
// per octave, stored sparsely. Merging adds integers, which is associative and commutative. Values
// below 64 have a bucket each. Effect: a quantile is the middle of the bucket of the exact
// quantile, with an error of at most 1/64.

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/varint.h"

namespace assay {

class Histogram {
 public:
  // Negative values count as 0.
  void add(int64_t value, uint64_t count = 1);
  void merge(const Histogram& other);
  uint64_t count() const { return count_; }
  // The element at index floor((count - 1) q) of the sorted values, rounded to the middle of its
  // bucket; q in [0,1]. 0 if empty.
  int64_t quantile(double q) const;

  void write(VarintWriter& to) const;
  // Empty if the bytes are not a valid histogram; check from.ok().
  static Histogram read(VarintReader& from);
  friend bool operator==(const Histogram&, const Histogram&) = default;

 private:
  std::vector<std::pair<uint32_t, uint64_t>> buckets_;  // {bucket, count > 0}, sorted by bucket
  uint64_t count_ = 0;
};

}  // namespace assay
