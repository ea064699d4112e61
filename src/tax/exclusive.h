#pragma once

// The tiling of the host threads' time (spec/tax 2.2): every launch gets the time since the launch
// before it on its thread, or since its outermost operator or frame began, whichever is later.

#include <cstdint>
#include <vector>

#include "tax/tax.h"

namespace assay {

class ExclusiveTiles {
 public:
  ExclusiveTiles(const Trace& trace, const Links& links, const std::vector<TaxRow>& rows);

  // Over some of the rows; no tile begins before `from_ns`, so that the tiles of a window lie in it
  // but for calls that outlast it.
  ExclusiveTax sum(const std::vector<uint32_t>& row_ids, int64_t from_ns) const;

 private:
  struct Tile {
    int64_t open_ns;
    int64_t call_ns;  // start of the call, not before the end of the call before
    int64_t end_ns;
  };
  Tile tile(uint32_t row_id, int64_t from_ns) const;
  int64_t waiting(uint32_t row_id, const Tile& tile) const;

  const Trace& trace_;
  const Links& links_;
  const std::vector<TaxRow>& rows_;
  std::vector<int64_t> before_ns_;    // per row: end of all launches before it on its thread
  std::vector<uint32_t> call_owner_;  // per call: its row, UINT32_MAX without one
};

}  // namespace assay
