#pragma once

// Reads the trace of a replay (spec/overhead 4.2), in which every labelled range contains one call
// of one operator.

#include <cstdint>
#include <map>
#include <vector>

#include "records/replay.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

struct ReplayedKernels {
  uint64_t ranges = 0;                      // measured ranges of the entry
  std::vector<ReplayCandidate> candidates;  // by first launch
  uint64_t left_out = 0;                    // launches with implausible times
};

// By number of the entry, from ranges named "aten_dispatch|ENTRY|RUN". T_dispatch = launch call -
// start of the range, T_launch = kernel - launch call (Eq. 5, 6; docs/formats/replay.md has the
// rule for negative ones). A range's first launch of a kernel is its sample.
std::map<uint64_t, ReplayedKernels> replayed_kernels(const Trace& trace, const Links& links);

}  // namespace assay
