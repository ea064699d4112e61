#pragma once

// Whether the host went at another pace: the same operators and launch calls, as often, take longer
// or shorter by one factor. No change of the program is told by that: it is the machine's clock,
// its neighbours, or the software below the model.

#include <cstdint>
#include <vector>

#include "diff/run.h"

namespace assay {

struct HostPace {
  bool told = false;  // enough of the host's work is the same, and alike in how it changed
  double ratio = 1;   // B's time over A's: middle of the names, each by its time
  double low = 1;     // eight tenths of their time lie between these
  double high = 1;
  uint64_t names = 0;  // operators and launch calls that both sides call as often
  // Per iteration and GPU, of the change: of the device's idle time behind work of the host that
  // which comes from its pace, work being as much as on the mean of both sides. Exchanged sides
  // give the opposite. from_ns to to_ns: with the ends of the ratio; from_ns <= to_ns.
  int64_t change_ns = 0;
  int64_t from_ns = 0;
  int64_t to_ns = 0;

  bool differs() const;  // told, by a tenth or more, and nearly all names the same way
};

// Exchanged sides give 1 / ratio. Sides need their iterations' host calls (DiffRun::host_calls).
HostPace compare_pace(const std::vector<DiffRun>& a, const std::vector<DiffRun>& b);

}  // namespace assay
