#pragma once

// Chance or cause. That one thing ends where another begins tells nothing when it happens once;
// when it happens nearly each time, and more often than ends lie about by chance, the second waits
// for the first.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "flow/timed.h"

namespace assay {

// (who waits, what ended)
using FollowedPairs = std::vector<std::pair<uint32_t, uint32_t>>;

// Cases of one kind, and what ended at each of them, by a Key of what ends.
template <typename Key>
struct Repetition {
  uint64_t cases = 0;
  std::map<Key, FollowedPairs> ended;

  // The first of a key counts for each case; cases come one after the other.
  void note(const Key& key, uint32_t waiter, uint32_t target) {
    FollowedPairs& pairs = ended[key];
    if (pairs.empty() || pairs.back().first != waiter) pairs.push_back({waiter, target});
  }
};

// How likely any time has one of `count` of these ends within a window of that length.
inline double chance_of_end(const std::vector<Timed>& ends, uint64_t count, int64_t window_ns) {
  const int64_t span_ns = ends.back().time_ns - ends.front().time_ns;
  if (span_ns <= 0) return 1;
  return std::min(1.0, static_cast<double>(count) * static_cast<double>(window_ns) /
                           static_cast<double>(span_ns));
}

// What nearly all cases follow and chance does not explain, the least likely of them; null = none.
// chance(key): how likely a case has such an end by chance.
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
