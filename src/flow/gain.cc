#include "flow/gain.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/stats.h"

namespace assay {

StepTimes step_times(const std::vector<int64_t>& durations) {
  if (durations.empty()) return {};
  return {durations.size(), median_ns(durations)};
}

MedianInterval median_interval(std::vector<int64_t>& values) {
  constexpr size_t kFewest = 6;  // with fewer, no two order statistics contain the median with 95 %
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  MedianInterval interval{median_ns(values), values.front(), values.back()};
  if (n < kFewest) return interval;
  // The largest k with P(fewer than k heads in n tosses) <= 2.5 %.
  double below = 0;
  size_t k = 0;
  for (double heads = std::exp2(-static_cast<double>(n)); below + heads <= 0.025; ++k) {
    below += heads;
    heads *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    if (heads == 0) break;
  }
  if (n > 1000) {  // 2^-n underflows: normal approximation
    const double centre = static_cast<double>(n) / 2;
    k = static_cast<size_t>(std::floor(centre - 0.98 * std::sqrt(static_cast<double>(n))));
  }
  k = std::max<size_t>(k, 1);
  interval.low_ns = values[k - 1];
  interval.high_ns = values[n - k];
  return interval;
}

StepEnds::StepEnds(const FlowRun& run, const FlowGraph& graph, const Windows& iterations) {
  if (iterations.source == WindowSource::kWholeTrace) return;
  std::vector<std::vector<uint32_t>> ends(iterations.windows.size());
  for (uint32_t w = 0; w < run.works.size(); ++w) {
    const FlowWork& work = run.works[w];
    if (work.helper) continue;
    const int64_t asked_ns =
        work.call == kNoFlowRow ? work.start_ns : run.calls[work.call].start_ns;
    const int32_t window = window_at(iterations, asked_ns);
    if (window >= 0) ends[static_cast<size_t>(window)].push_back(graph.work_point(w, true));
  }
  for (auto& of_window : ends) {
    if (!of_window.empty()) ends_.push_back(std::move(of_window));
  }
  unrecorded_ns_.assign(ends_.size(), 0);
  if (run.unrecorded.empty()) return;
  int64_t reached_ns = INT64_MIN;
  for (size_t i = 0; i < ends_.size(); ++i) {
    const int64_t from_ns = reached_ns;
    for (const uint32_t p : ends_[i]) reached_ns = std::max(reached_ns, graph.time_ns[p]);
    if (i > 0) unrecorded_ns_[i] = length_in(run.unrecorded, {from_ns, reached_ns});
  }
}

std::vector<int64_t> StepEnds::durations(const std::vector<int64_t>& times_ns) const {
  std::vector<int64_t> durations;
  int64_t reached_ns = 0;
  for (size_t i = 0; i < ends_.size(); ++i) {
    int64_t end_ns = i == 0 ? INT64_MIN : reached_ns;
    for (const uint32_t p : ends_[i]) end_ns = std::max(end_ns, times_ns[p]);
    if (i > 0) {
      durations.push_back(std::max<int64_t>(end_ns - reached_ns - unrecorded_ns_[i], 0));
    }
    reached_ns = end_ns;
  }
  return durations;
}

}  // namespace assay
