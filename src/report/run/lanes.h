#pragma once

// The page's timeline of a trace: idle causes of each device, its streams, and the threads that
// submit to it. docs/formats/report_html.md describes the bytes.

#include <cstddef>
#include <string>

#include "flow/flow.h"
#include "kernels/names.h"
#include "trace/iterations.h"
#include "trace/links.h"
#include "trace/trace.h"

namespace assay {

struct LaneBudget {
  size_t events = 250'000;  // held exactly, those of devices first; of more the longest
  size_t runs = 120'000;    // of causes, of one device; of more shares in bins
  size_t bins = 8'192;
};

struct LaneBytes {
  std::string lanes;
  std::string details;  // of the events that are held (report/run/lane_details.h)
};

// Times are from the begin of the answer's window, and only what lies in it is held. Both texts are
// empty where the window is.
LaneBytes lane_bytes(const Trace& trace, const Links& links, const Windows& windows,
                     const FlowReport& flow, const LaneBudget& budget);

}  // namespace assay
