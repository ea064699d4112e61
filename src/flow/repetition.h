#pragma once

// Tests whether work waits for other work, by repetition. One coincidence of an end and a begin
// shows nothing; if it happens nearly every time, and more often than by chance, the second waits
// for the first.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "flow/timed.h"

namespace assay {

// (waiter, work that ended)
using FollowedPairs = std::vector<std::pair<uint32_t, uint32_t>>;

// Cases of one kind, and the work that ended at each, by key.
template <typename Key>
struct Repetition {
  uint64_t cases = 0;
  std::map<Key, FollowedPairs> ended;

  // Only the first of a key counts per case; cases must come one after another.
  void note(const Key& key, uint32_t waiter, uint32_t target) {
    FollowedPairs& pairs = ended[key];
    if (pairs.empty() || pairs.back().first != waiter) pairs.push_back({waiter, target});
  }
};

// Probability that one of `count` ends is within a window of that length.
inline double chance_of_end(const std::vector<Timed>& ends, uint64_t count, int64_t window_ns) {
  const int64_t span_ns = ends.back().time_ns - ends.front().time_ns;
  if (span_ns <= 0) return 1;
  return std::min(1.0, static_cast<double>(count) * static_cast<double>(window_ns) /
                           static_cast<double>(span_ns));
}

// The pairs of the key that at least 80 % of the cases (and at least 3) follow with a probability
// below 1e-4 by chance; of several the least likely. Null if none. chance(key): probability that a
// case has such an end by chance.
template <typename Key, typename Chance>
const FollowedPairs* followed_by(const Repetition<Key>& repetition, Chance&& chance) {
  constexpr uint64_t kLeastCases = 3;
  constexpr double kLeastShare = 0.8;
  constexpr double kLeastSurprise = 9.2;  // -ln(10^-4)
  const FollowedPairs* best = nullptr;
  double most = kLeastSurprise;
  for (const auto& [key, pairs] : repetition.ended) {
    const auto hits = static_cast<double>(pairs.size());
    if (pairs.size() < kLeastCases) continue;
    if (hits < kLeastShare * static_cast<double>(repetition.cases)) continue;
    const double surprise = -hits * std::log(chance(key));
    if (surprise < most) continue;
    most = surprise;
    best = &pairs;
  }
  return best;
}

}  // namespace assay
