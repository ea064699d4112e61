#pragma once

// Memory and time limits of a recorder.

#include <chrono>
#include <cstddef>

namespace assay::record {

constexpr size_t kMostRangesWaiting = 1 << 20;
constexpr size_t kMostTextBytes = 16 << 20;  // of all distinct texts of ranges
constexpr size_t kRangesWorthWaking = 1 << 13;
constexpr auto kControlPeriod = std::chrono::milliseconds(5);
// Host events reach the file within this time, even if the program then dies.
constexpr std::chrono::milliseconds kKeepPeriod(50);
constexpr auto kLongestFinish = std::chrono::seconds(20);

}  // namespace assay::record
