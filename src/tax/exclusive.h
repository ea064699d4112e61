#pragma once

// The tiling of the host threads' time (spec/tax 2.2): every launch gets the time since the launch
// before it on its thread, or since its outermost operator or frame began, whichever is later.

#include <cstdint>
#include <vector>

#include "base/intervals.h"
#include "tax/tax.h"

namespace assay {

// The time of one launch: [open, entry) is T_Py, [entry, call) dispatch, [call, end) the call.
struct TaxTile {
  uint32_t row = 0;  // index into TaxReport::rows
  int64_t open_ns = 0;
  int64_t entry_ns = 0;
  int64_t call_ns = 0;
  int64_t end_ns = 0;
};

class ExclusiveTiles {
 public:
  ExclusiveTiles(const Trace& trace, const Links& links, const std::vector<TaxRow>& rows);

  // Over some of the rows; no tile begins before `from_ns`, so that the tiles of a window lie in it
  // but for calls that outlast it.
  ExclusiveTax sum(const std::vector<uint32_t>& row_ids, int64_t from_ns) const;

  // The tile of a row that owns its call. Tiles of one thread do not overlap.
  TaxTile tile(uint32_t row_id, int64_t from_ns) const;

  // Blocking calls between the tile's start and its launch, merged: their lengths over all tiles
  // sum to ExclusiveTax::waiting_ns.
  std::vector<Interval> waits(const TaxTile& tile) const;

 private:
  const Trace& trace_;
  const Links& links_;
  const std::vector<TaxRow>& rows_;
  std::vector<int64_t> before_ns_;    // per row: end of all launches before it on its thread
  std::vector<uint32_t> call_owner_;  // per call: its row, UINT32_MAX without one
};

}  // namespace assay
