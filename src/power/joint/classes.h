#pragma once

// Groups columns of the model that the samples cannot separate. If the window shares of several
// classes rise and fall together in all samples, only one power can be fitted for them.

#include <cstddef>
#include <vector>

#include "power/joint/activity.h"
#include "power/joint/update_grid.h"

namespace assay {

// Groups of column indices, ascending. Two columns join if their shares over windows of `window_s`
// before each update have a correlation above 0.95, directly or through others.
std::vector<std::vector<size_t>> group_alike(const std::vector<std::vector<BusySpan>>& columns,
                                             const std::vector<TimedPower>& updates,
                                             double window_s);

// Mean share of each column over the windows [t - lag_s - window_s, t - lag_s] of the updates.
std::vector<double> mean_shares(const std::vector<std::vector<BusySpan>>& columns,
                                const std::vector<TimedPower>& updates, double lag_s,
                                double window_s);

}  // namespace assay
