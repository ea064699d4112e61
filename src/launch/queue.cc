#include "launch/queue.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/stats.h"

namespace assay {

LaunchTimeStats launch_time_stats(std::vector<int64_t>& times_ns) {
  std::sort(times_ns.begin(), times_ns.end());
  LaunchTimeStats stats;
  stats.n = times_ns.size();
  const int64_t sum = std::accumulate(times_ns.begin(), times_ns.end(), int64_t{0});
  stats.mean_ns = times_ns.empty() ? std::numeric_limits<double>::quiet_NaN()
                                   : static_cast<double>(sum) / static_cast<double>(stats.n);
  stats.p5_ns = quantile_sorted(times_ns, 0.05);
  stats.p50_ns = quantile_sorted(times_ns, 0.50);
  stats.p95_ns = quantile_sorted(times_ns, 0.95);
  stats.p99_ns = quantile_sorted(times_ns, 0.99);
  return stats;
}

}  // namespace assay
