#pragma once

// Constants and one-line arithmetic for all modules.

#include <cstdint>
#include <limits>

namespace assay {

// Unknown; a Document shows it as an empty cell.
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

inline constexpr int64_t kMicrosecondNs = 1'000;
inline constexpr int64_t kMillisecondNs = 1'000'000;
inline constexpr int64_t kSecondNs = 1'000'000'000;

// part / whole; NaN unless whole is positive.
constexpr double share(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : kNan;
}

// The double with these bits. The function of C++20 for it is missing in emscripten's library.
constexpr double double_of_bits(uint64_t bits) { return __builtin_bit_cast(double, bits); }

constexpr double squared(double x) { return x * x; }

// value / by, rounded up; value >= 0, by > 0.
constexpr int64_t divide_up(int64_t value, int64_t by) { return (value + by - 1) / by; }

}  // namespace assay
