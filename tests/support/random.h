#pragma once

// Random numbers of tests: the same on every machine.

#include <cstdint>
#include <random>

namespace assay {

// At least 0, below 1.
inline double unit_of(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

// Whole numbers.
class Dice {
 public:
  explicit Dice(uint64_t seed) : generator_(seed) {}
  // At least 0, below n.
  int64_t below(int64_t n) { return static_cast<int64_t>(generator_() % static_cast<uint64_t>(n)); }

 private:
  std::mt19937_64 generator_;
};

}  // namespace assay
