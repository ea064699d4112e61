#pragma once

// The two errors of an estimate, of TTFT and TPOT together, as a few weighed draws.

#include <vector>

namespace assay {

struct LatencyDraw {
  double weight = 0;  // of all draws 1
  double ttft_factor = 1;
  double tpot_factor = 1;
};

// 13 x 13 of a two-dimensional normal distribution of the logarithms, up to 2.25 standard
// deviations. correlation: -1 to 1.
std::vector<LatencyDraw> latency_draws(double ttft_log_sd, double tpot_log_sd, double correlation);

}  // namespace assay
