#pragma once

// Accumulates Eq. 1 to 8 one row at a time, with exclusive costs or costs as printed, depending on
// the mode. Subsets of the rows of a trace need no copies.

#include <cstdint>

#include "overhead/overhead.h"

namespace assay {

class HostOverheadSummer {
 public:
  HostOverheadSummer(HostOverheadMode mode, int64_t base_ns, int64_t floor_ns);
  void add(const KernelCost& row);
  // n_launch: API calls that launched the added rows.
  HostOverheadSums finish(uint64_t n_launch) const;

 private:
  HostOverheadMode mode_;
  int64_t base_ns_;
  int64_t floor_ns_;
  HostOverheadSums sums_;
};

}  // namespace assay
