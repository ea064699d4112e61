#pragma once

// Joint distribution of the errors of TTFT and TPOT, as a few weighted draws.

#include <vector>

namespace assay {

struct LatencyDraw {
  double weight = 0;  // sums to 1 over all draws
  double ttft_factor = 1;
  double tpot_factor = 1;
};

// 13 x 13 draws from a bivariate normal distribution of the logarithms, up to 2.25 standard
// deviations. correlation: -1 to 1.
std::vector<LatencyDraw> latency_draws(double ttft_log_sd, double tpot_log_sd, double correlation);

}  // namespace assay
