#pragma once

// Time without any request, by a log of them.

#include <vector>

#include "base/intervals.h"

namespace assay {

struct FlowModel;

// A host without events in these intervals waits for the outside. That time does not count as its work, in causes and in
// replays. The spans are in ascending order.
void leave_unasked(const std::vector<Interval>& spans, FlowModel& model);

}  // namespace assay
