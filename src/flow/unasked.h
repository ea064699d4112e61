#pragma once

// Time without any request, from a request log.

#include <vector>

#include "base/intervals.h"

namespace assay {

struct FlowModel;

// Marks host time without events in these intervals as waiting for external input, so that causes
// and replays do not count it as host work. Rebuilds the graph. spans: ascending.
void leave_unasked(const std::vector<Interval>& spans, FlowModel& model);

}  // namespace assay
