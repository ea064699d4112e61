#include "base/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace assay {
namespace {

constexpr unsigned kBits = 5;  // bits below the leading one: 32 buckets per octave
constexpr uint32_t kBuckets = 1u << kBits;
constexpr uint32_t kLastBucket = (64 - kBits) * kBuckets;

uint32_t bucket_of(uint64_t value) {
  if (value < kBuckets) return static_cast<uint32_t>(value);
  const auto octave = static_cast<unsigned>(std::bit_width(value)) - 1 - kBits;
  return octave * kBuckets + static_cast<uint32_t>(value >> octave);
}

int64_t middle_of_bucket(uint32_t bucket) {
  if (bucket < 2 * kBuckets) return bucket;
  const unsigned octave = bucket / kBuckets - 1;
  const uint64_t first = static_cast<uint64_t>(bucket - octave * kBuckets) << octave;
  return static_cast<int64_t>(first + (uint64_t{1} << octave) / 2);
}

}  // namespace

void Histogram::add(int64_t value, uint64_t count) {
  if (count == 0) return;
  const uint32_t bucket = bucket_of(static_cast<uint64_t>(std::max<int64_t>(value, 0)));
  const auto at =
      std::lower_bound(buckets_.begin(), buckets_.end(), std::pair(bucket, uint64_t{0}));
  if (at != buckets_.end() && at->first == bucket) {
    at->second += count;
  } else {
    buckets_.insert(at, {bucket, count});
  }
  count_ += count;
}

void Histogram::merge(const Histogram& other) {
  std::vector<std::pair<uint32_t, uint64_t>> both;
  both.reserve(buckets_.size() + other.buckets_.size());
  std::merge(buckets_.begin(), buckets_.end(), other.buckets_.begin(), other.buckets_.end(),
             std::back_inserter(both));
  buckets_.clear();
  for (const auto& [bucket, count] : both) {
    if (!buckets_.empty() && buckets_.back().first == bucket) {
      buckets_.back().second += count;
    } else {
      buckets_.emplace_back(bucket, count);
    }
  }
  count_ += other.count_;
}

int64_t Histogram::quantile(double q) const {
  if (count_ == 0) return 0;
  auto before = static_cast<uint64_t>(std::floor(static_cast<double>(count_ - 1) * q));
  for (const auto& [bucket, count] : buckets_) {
    if (before < count) return middle_of_bucket(bucket);
    before -= count;
  }
  return middle_of_bucket(buckets_.back().first);
}

void Histogram::write(VarintWriter& to) const {
  to.add(buckets_.size());
  uint32_t last = 0;
  for (const auto& [bucket, count] : buckets_) {
    to.add(bucket - last);
    to.add(count);
    last = bucket;
  }
}

Histogram Histogram::read(VarintReader& from) {
  Histogram histogram;
  uint64_t bucket = 0;
  for (size_t left = from.next_count(2); left > 0; --left) {
    const uint64_t step = from.next();
    const uint64_t count = from.next();
    const bool first = histogram.buckets_.empty();
    bucket += step;
    if (step > kLastBucket || bucket > kLastBucket || (step == 0 && !first) || count == 0 ||
        count > UINT64_MAX - histogram.count_) {
      from.next_bytes(UINT64_MAX);
      return {};
    }
    histogram.buckets_.emplace_back(static_cast<uint32_t>(bucket), count);
    histogram.count_ += count;
  }
  return from.ok() ? histogram : Histogram();
}

}  // namespace assay
