#pragma once

#include <cstdint>

namespace assay {

// Times, offsets and durations beyond this (the year 2043 in epoch nanoseconds) are refused
// wherever they come in: no sum or difference of two overflows.
inline constexpr int64_t kLatestNs = int64_t{1} << 61;

}  // namespace assay
