#pragma once

// The events and annotations of a trace, grouped into tracks as viewers show them, in nesting
// order.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "report/document/timeline.h"
#include "trace/side_row.h"
#include "trace/trace.h"

namespace assay {

enum class TimelineRowKind : uint8_t {
  // On a thread. The order applies to events with equal start and end: outer first.
  kAnnotation,
  kOther,
  kFrame,
  kOp,
  kCall,
  // On a stream.
  kGpuAnnotation,
  kActivity,
  // On tracks of their own.
  kOverhead,
  kMemory,
  kSlice,
};

struct TimelineEntry {
  int64_t start_ns = 0;
  int64_t dur_ns = 0;
  uint32_t row = 0;
  TimelineRowKind kind = TimelineRowKind::kSlice;

  friend bool operator<(const TimelineEntry& a, const TimelineEntry& b) {
    return std::tuple(a.start_ns, -a.dur_ns, a.kind, a.row) <
           std::tuple(b.start_ns, -b.dur_ns, b.kind, b.row);
  }
};

enum class TimelineGroupKind : uint8_t {
  kThread,
  kStream,
  kStreamSync,
  kOverheads,
  kMemory,
  kTrack
};

// One track in viewers, or several if its events overlap.
struct TimelineGroup {
  TimelineGroupKind kind = TimelineGroupKind::kTrack;
  size_t index = 0;  // thread, stream or track
  uint32_t pid = 0;
  std::vector<uint32_t> tids = {};
};

std::vector<TimelineEntry> entries_of(const Trace& trace, const Timeline& timeline,
                                      const TimelineGroup& group);

// Range [first, last) of the rows of one lane; `lanes` must be sorted.
template <typename LaneId>
std::pair<size_t, size_t> rows_of(const std::vector<LaneId>& lanes, LaneId lane) {
  const auto range = std::equal_range(lanes.begin(), lanes.end(), lane);
  return {range.first - lanes.begin(), range.second - lanes.begin()};
}

}  // namespace assay
