#pragma once

// Seeded random numbers, identical with every compiler and standard library.

#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace assay {

// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  // In [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  // In [0, limit); limit > 0.
  int64_t below(int64_t limit) {
    return static_cast<int64_t>(uniform() * static_cast<double>(limit));
  }
  bool chance(double probability) { return uniform() < probability; }
  // Mean 0, standard deviation 1 (Box-Muller, the cosine half).
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  uint64_t state_;
};

// Combines two seeds into one, for streams that must not depend on the order of other draws.
inline uint64_t mix_seeds(uint64_t a, uint64_t b) {
  return SplitMix64(a ^ std::rotl(SplitMix64(b).next(), 32)).next();
}

}  // namespace assay
