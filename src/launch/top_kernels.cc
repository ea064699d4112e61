#include "launch/top_kernels.h"

#include <algorithm>
#include <limits>

#include "launch/facts.h"

namespace assay {
namespace {

double mean(int64_t sum, uint64_t n) {
  if (n == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(sum) / static_cast<double>(n);
}

bool before(const TopKernel& a, const TopKernel& b) {
  if (a.count != b.count) return a.count > b.count;
  if (a.launch_queue_sum_ns != b.launch_queue_sum_ns) {
    return a.launch_queue_sum_ns > b.launch_queue_sum_ns;
  }
  return a.name < b.name;
}

}  // namespace

std::vector<TopKernel> rank_kernels(const Trace& trace, const KernelNames& names,
                                    const std::vector<int64_t>& raw_launch_times,
                                    const LaunchMetrics& whole) {
  const int64_t il_end_ns = whole.origin_ns + whole.il_ns;
  std::vector<TopKernel> by_name(trace.strings.size());
  for (size_t a = 0; a < trace.activities.size(); ++a) {
    if (!is_kernel(trace, ActivityId(a))) continue;
    TopKernel& kernel = by_name[trace.activities.name[a].index()];
    ++kernel.count;
    kernel.dur_sum_ns += trace.activities.dur_ns[a];
    const int64_t from_ns = std::max(trace.activities.start_ns[a], whole.origin_ns);
    const int64_t to_ns = std::min(trace.end_ns(ActivityId(a)), il_end_ns);
    kernel.dur_in_il_ns += std::max<int64_t>(0, to_ns - from_ns);
    if (!has_launch_time(raw_launch_times[a])) continue;
    ++kernel.timed;
    kernel.launch_queue_sum_ns += launch_time(raw_launch_times[a]);
  }
  std::vector<TopKernel> ranked;
  for (size_t s = 0; s < by_name.size(); ++s) {
    TopKernel& kernel = by_name[s];
    if (kernel.count == 0) continue;
    kernel.name = trace.text(StringId(s));
    kernel.kind = names.of(StringId(s)).kind;
    kernel.launch_queue_mean_ns = mean(kernel.launch_queue_sum_ns, kernel.timed);
    kernel.dur_mean_ns = mean(kernel.dur_sum_ns, kernel.count);
    ranked.push_back(std::move(kernel));
  }
  std::sort(ranked.begin(), ranked.end(), before);
  return ranked;
}

}  // namespace assay
