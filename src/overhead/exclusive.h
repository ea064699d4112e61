#pragma once

// Time of the host threads that led to launches, each instant charged once (spec/flow 7). A launch
// gets the time of its thread since the previous launch, or since its outermost operator or frame
// began if that is later. Its parts are
//   T_Py      from the innermost frame around its dispatch entry, but not before the last outermost
//             operator ended, to the entry
//   dispatch  from the entry to the launch call
//   call      the launch call
// Time before T_Py is charged to no launch. Calls that wait for the device or allocate are excluded
// from all parts.

#include <cstdint>
#include <vector>

#include "base/intervals.h"
#include "overhead/overhead.h"

namespace assay {

// The time of one launch in four intervals. [open, py) is before T_Py and [py, entry) is T_Py.
// [entry, call) is dispatch and [call, end) is the call.
struct HostOverheadTile {
  uint32_t row = 0;  // index into HostOverheadReport::rows
  int64_t open_ns = 0;
  int64_t py_ns = 0;
  int64_t entry_ns = 0;
  int64_t call_ns = 0;
  int64_t end_ns = 0;
};

class ExclusiveTiles {
 public:
  ExclusiveTiles(const Trace& trace, const Links& links, const std::vector<HostOverheadRow>& rows);

  // Sums over these rows. Tiles are cut at `from_ns`, so that the tiles of a window stay inside it
  // except for calls that end after it.
  ExclusiveOverhead sum(const std::vector<uint32_t>& row_ids, int64_t from_ns) const;

  // The tile of a row that owns its call. Tiles of one thread do not overlap.
  HostOverheadTile tile(uint32_t row_id, int64_t from_ns) const;

  // Waits and allocations of the thread in the tile, merged: blocking calls, allocations, releases,
  // and the part of its launch call beyond kLaunchBackPressureNs.
  std::vector<Interval> waits(const HostOverheadTile& tile) const;

  // The tile's parts without its waits.
  static ExclusiveCost cost(const HostOverheadTile& tile, const std::vector<Interval>& waits);

 private:
  const Trace& trace_;
  const Links& links_;
  const std::vector<HostOverheadRow>& rows_;
  std::vector<int64_t> before_ns_;    // per row: latest end of earlier launches on its thread
  std::vector<uint32_t> call_owner_;  // per call: its row, UINT32_MAX without one
};

}  // namespace assay
