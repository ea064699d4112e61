#pragma once

// How much a recorder keeps and how long it waits.

#include <chrono>
#include <cstddef>

namespace assay::record {

constexpr size_t kMostRangesWaiting = 1 << 20;
constexpr size_t kMostTextBytes = 16 << 20;  // of all distinct texts of ranges
constexpr size_t kRangesWorthWaking = 1 << 13;
constexpr auto kControlPeriod = std::chrono::milliseconds(5);
// What the program said of itself is in the file this soon, whatever becomes of the program.
constexpr std::chrono::milliseconds kKeepPeriod(50);
constexpr auto kLongestFinish = std::chrono::seconds(20);

}  // namespace assay::record
