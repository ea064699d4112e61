#pragma once

// The page's timeline of a trace: idle causes of each device, its streams, and the threads that
// submit to it. docs/formats/report_html.md describes the encoding.

#include <cstddef>
#include <string>

#include "flow/flow.h"
#include "kernels/names.h"
#include "trace/iterations.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

struct LaneBudget {
  size_t events = 250'000;  // stored exactly, device events first; beyond that the longest
  size_t runs = 120'000;    // cause intervals per device; beyond that shares in bins
  size_t bins = 8'192;
};

struct LaneBytes {
  std::string lanes;
  std::string details;  // of the stored events (report/run/lane_details.h)
};

// Times are relative to the start of the answer's window; only events within it are stored. Both
// texts are empty if the window is.
LaneBytes lane_bytes(const Trace& trace, const Links& links, const Windows& windows,
                     const FlowReport& flow, const LaneBudget& budget);

}  // namespace assay
