#pragma once

// HostOverheadWindow of any subset of the rows of a trace.

#include <cstdint>
#include <string>
#include <vector>

#include "overhead/exclusive.h"
#include "overhead/overhead.h"
#include "overhead/overhead_summer.h"

namespace assay {

class HostOverheadMeter {
 public:
  // Uses the report's rows, bases and launch-overhead floor. The rows must not move.
  HostOverheadMeter(const Trace& trace, const Links& links, const HostOverheadReport& report,
                    HostOverheadMode mode);

  HostOverheadWindow measure_whole() const;
  HostOverheadWindow measure(const Window& window, const std::vector<uint32_t>& row_ids) const;
  // Several windows combined: their host times and wall times are added.
  HostOverheadWindow combine(std::string name, const std::vector<Window>& windows,
                             const std::vector<std::vector<uint32_t>>& row_ids) const;
  // By the mode, over the whole trace.
  HostOverheadSums sum(const std::vector<uint32_t>& row_ids) const;
  // For a row that owns its call, over the whole trace.
  ExclusiveCost exclusive_cost(uint32_t row_id) const { return exclusive_cost(row_id, INT64_MIN); }

 private:
  HostOverheadSums literal_sums(const std::vector<uint32_t>& row_ids) const;
  int64_t last_kernel_end(const std::vector<uint32_t>& row_ids) const;
  // Wall time between the two, without unrecorded time.
  int64_t wall_ns(int64_t start_ns, int64_t end_ns) const;
  uint64_t count_names(const std::vector<uint32_t>& row_ids) const;
  HostOverheadOrphans count_orphans(const std::vector<uint32_t>& row_ids) const;
  ExclusiveCost exclusive_cost(uint32_t row_id, int64_t from_ns) const;
  // Adds the rows with exclusive time that begins at from_ns or later; returns the number of
  // launches among them.
  uint64_t add_rows(const std::vector<uint32_t>& row_ids, int64_t from_ns,
                    HostOverheadSummer& summer) const;
  HostOverheadWindow fill(std::string name, const std::vector<uint32_t>& row_ids,
                          const HostOverheadSums& sums, ExclusiveOverhead exclusive,
                          int64_t t_e2e_ns) const;

  const Trace& trace_;
  const Links& links_;
  const std::vector<HostOverheadRow>& rows_;
  HostOverheadMode mode_;
  bool base_known_;
  int64_t base_ns_;
  int64_t literal_base_ns_;
  int64_t floor_ns_;
  ExclusiveTiles tiles_;
};

// Row ids per window, ascending; rows outside all windows are in none. A row belongs to the window
// in which its call starts, or, without a call, in which it starts itself.
std::vector<std::vector<uint32_t>> rows_of_windows(const Trace& trace,
                                                   const std::vector<HostOverheadRow>& rows,
                                                   const std::vector<Window>& windows);

}  // namespace assay
