#include "diff/partition.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/interval_index.h"

namespace assay {
namespace {

using GpuWindow = std::pair<int64_t, int32_t>;
using Tails = std::map<GpuWindow, std::vector<Interval>>;

// Adds the parts of `idle` inside host windows to the tails of these windows.
void add_tails(const std::vector<Interval>& windows, int64_t gpu, Interval idle, Tails& tails) {
  if (idle.start_ns >= idle.end_ns) return;
  auto window = std::partition_point(windows.begin(), windows.end(),
                                     [&](const Interval& w) { return w.end_ns <= idle.start_ns; });
  for (; window != windows.end() && window->start_ns < idle.end_ns; ++window) {
    const Interval part{std::max(idle.start_ns, window->start_ns),
                        std::min(idle.end_ns, window->end_ns)};
    if (part.start_ns >= part.end_ns) continue;
    tails[{gpu, static_cast<int32_t>(window - windows.begin())}].push_back(part);
  }
}

// Start of the idle time before a GPU's first activity: the first window's start, if earlier.
int64_t first_reach(const DeviceWork& work, const std::vector<Interval>& windows) {
  if (windows.empty()) return work.start_ns;
  return std::min(work.start_ns, windows.front().start_ns);
}

// Attributes the idle time of one GPU, works [begin, end), to activities and tails.
void share_idle(const std::vector<DeviceWork>& works, size_t begin, size_t end,
                const std::vector<Interval>& windows, std::vector<WorkShare>& shares,
                Tails& tails) {
  int64_t reach = first_reach(works[begin], windows);
  for (size_t i = begin; i < end; ++i) {
    const DeviceWork& work = works[i];
    if (work.start_ns > reach) {
      const int64_t own_from = work.window < 0
                                   ? work.start_ns
                                   : std::clamp(windows[static_cast<size_t>(work.window)].start_ns,
                                                reach, work.start_ns);
      add_tails(windows, work.gpu, {reach, own_from}, tails);
      shares[i].idle = {own_from, work.start_ns};
    }
    reach = std::max(reach, work.end_ns);
  }
  if (!windows.empty()) {
    add_tails(windows, works[begin].gpu, {reach, windows.back().end_ns}, tails);
  }
}

void share_busy(const std::vector<DeviceWork>& works, size_t begin, size_t end,
                std::vector<WorkShare>& shares) {
  std::vector<Interval> taken;  // by the classes above
  for (size_t c = 0; c < kWorkClasses; ++c) {
    const IntervalIndex higher(merge_intervals(taken));
    int64_t reach = std::numeric_limits<int64_t>::min();
    for (size_t i = begin; i < end; ++i) {
      const DeviceWork& work = works[i];
      if (static_cast<size_t>(work.work_class) != c) continue;
      const Interval own{std::max(work.start_ns, reach), work.end_ns};
      if (own.start_ns < own.end_ns) {
        shares[i].busy_ns = own.end_ns - own.start_ns - higher.length_in(own);
        taken.push_back(own);
      }
      reach = std::max(reach, work.end_ns);
    }
  }
}

}  // namespace

Partition partition_time(const std::vector<DeviceWork>& works,
                         const std::vector<Interval>& windows) {
  Partition partition;
  partition.shares.resize(works.size());
  Tails tails;
  std::set<GpuWindow> with_work;
  for (size_t begin = 0; begin < works.size();) {
    size_t end = begin;
    while (end < works.size() && works[end].gpu == works[begin].gpu) {
      with_work.insert({works[end].gpu, works[end].window});
      ++end;
    }
    share_idle(works, begin, end, windows, partition.shares, tails);
    share_busy(works, begin, end, partition.shares);
    begin = end;
  }
  for (auto& [key, idle] : tails) {
    if (!with_work.contains(key)) continue;
    partition.tails.push_back({key.first, key.second, merge_intervals(std::move(idle))});
  }
  return partition;
}

}  // namespace assay
