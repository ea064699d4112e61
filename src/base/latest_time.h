#pragma once

#include <cstdint>

namespace assay {

// Importers reject times, offsets and durations above this value (the year 2043 in epoch
// nanoseconds), so that the sum or difference of two cannot overflow.
inline constexpr int64_t kLatestNs = int64_t{1} << 61;

}  // namespace assay
