#include "throughput/serving/limits.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"

namespace assay {

std::vector<LatencyDraw> latency_draws(double ttft_log_sd, double tpot_log_sd, double correlation) {
  constexpr int kSteps = 6;  // to either side
  constexpr double kWidest = 2.25;
  std::vector<LatencyDraw> draws;
  const double rho = std::clamp(correlation, -1.0, 1.0);
  const double rest = std::sqrt(1 - squared(rho));
  double sum = 0;
  for (int i = -kSteps; i <= kSteps; ++i) {
    for (int j = -kSteps; j <= kSteps; ++j) {
      const double a = kWidest * i / kSteps;
      const double b = kWidest * j / kSteps;
      const double weight = std::exp(-(squared(a) + squared(b)) / 2);
      draws.push_back(
          {weight, std::exp(ttft_log_sd * a), std::exp(tpot_log_sd * (rho * a + rest * b))});
      sum += weight;
    }
  }
  for (LatencyDraw& draw : draws) draw.weight /= sum;
  return draws;
}

}  // namespace assay
