#pragma once

// Finds rows by lane and time, for Chrome traces with arrows that do not name rows by an id.

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "base/ids.h"

namespace assay {

// Maximum number of rows before an arrow that are tried: rows nested in the target precede it.
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
