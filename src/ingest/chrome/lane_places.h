#pragma once

// Positions of rows in a Chrome trace with arrows that name them by lane and time, not by an id.

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "base/ids.h"

namespace assay {

// How many rows before an arrow are looked at: those inside the one that it means come first.
constexpr int kMostRowsBack = 256;

struct LanePlace {
  ThreadId thread;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  size_t row = 0;
};
inline bool operator<(const LanePlace& a, const LanePlace& b) {
  return std::tuple(a.thread, a.start_ns, a.row) < std::tuple(b.thread, b.start_ns, b.row);
}

}  // namespace assay
