#pragma once

// Columns of the model that count as one. If the window shares of several classes rise and fall
// together in all samples, only one power can be fitted for them.

#include <cstddef>
#include <vector>

#include "power/joint/activity.h"
#include "power/joint/update_grid.h"

namespace assay {

// Groups of columns, ascending: joined where the correlation of two shares over windows of
// `window_s` before each update is above 0.95, directly or through others.
std::vector<std::vector<size_t>> group_alike(const std::vector<std::vector<BusySpan>>& columns,
                                             const std::vector<TimedPower>& updates,
                                             double window_s);

// Mean share of each column of those windows.
std::vector<double> mean_shares(const std::vector<std::vector<BusySpan>>& columns,
                                const std::vector<TimedPower>& updates, double lag_s,
                                double window_s);

}  // namespace assay
