#include "overhead/window_overhead.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/numbers.h"

namespace assay {
namespace {

// Earliest start of an operator, call, row, or outermost frame around a launch in the exclusive
// sum; INT64_MAX in an empty trace.
int64_t first_start(const Trace& trace, const std::vector<HostOverheadRow>& rows) {
  int64_t first_ns = INT64_MAX;
  for (int64_t start_ns : trace.ops.start_ns) first_ns = std::min(first_ns, start_ns);
  for (int64_t start_ns : trace.api_calls.start_ns) first_ns = std::min(first_ns, start_ns);
  for (const HostOverheadRow& row : rows) {
    first_ns = std::min(first_ns, trace.activities.start_ns[row.kernel.index()]);
    if (row.owns_call()) first_ns = std::min(first_ns, row.root_ns);
  }
  return first_ns;
}

}  // namespace

HostOverheadMeter::HostOverheadMeter(const Trace& trace, const Links& links,
                                     const HostOverheadReport& report, HostOverheadMode mode)
    : trace_(trace),
      links_(links),
      rows_(report.rows),
      mode_(mode),
      base_known_(report.base_ns.has_value()),
      base_ns_(report.base_ns.value_or(0)),
      literal_base_ns_(report.literal_base_ns.value_or(0)),
      floor_ns_(report.floor.floor_ns),
      tiles_(trace, links, report.rows) {}

ExclusiveCost HostOverheadMeter::exclusive_cost(uint32_t row_id, int64_t from_ns) const {
  const HostOverheadTile tile = tiles_.tile(row_id, from_ns);
  return ExclusiveTiles::cost(tile, tiles_.waits(tile));
}

uint64_t HostOverheadMeter::add_rows(const std::vector<uint32_t>& row_ids, int64_t from_ns,
                                     HostOverheadSummer& summer) const {
  uint64_t launches = 0;
  for (const uint32_t row : row_ids) {
    KernelCost cost = rows_[row].cost;
    if (!is_literal(mode_) && rows_[row].owns_call()) {
      const ExclusiveCost exclusive = exclusive_cost(row, from_ns);
      cost.t_py_ns = exclusive.py_ns;
      cost.t_dispatch_ns = exclusive.dispatch_ns;
      cost.call_ns = exclusive.call_ns;
    }
    summer.add(cost);
    launches += rows_[row].owns_call() ? 1 : 0;
  }
  return launches;
}

HostOverheadSums HostOverheadMeter::sum(const std::vector<uint32_t>& row_ids) const {
  HostOverheadSummer summer(mode_, base_ns_, floor_ns_);
  return summer.finish(add_rows(row_ids, INT64_MIN, summer));
}

int64_t HostOverheadMeter::last_kernel_end(const std::vector<uint32_t>& row_ids) const {
  int64_t last_ns = INT64_MIN;
  for (uint32_t row : row_ids) last_ns = std::max(last_ns, trace_.end_ns(rows_[row].kernel));
  return last_ns;
}

int64_t HostOverheadMeter::wall_ns(int64_t start_ns, int64_t end_ns) const {
  if (end_ns <= start_ns) return 0;
  return end_ns - start_ns - length_in(trace_.unrecorded, {start_ns, end_ns});
}

HostOverheadSums HostOverheadMeter::literal_sums(const std::vector<uint32_t>& row_ids) const {
  HostOverheadSummer summer(is_literal(mode_) ? mode_ : HostOverheadMode::kPaper, literal_base_ns_,
                            floor_ns_);
  uint64_t launches = 0;
  for (const uint32_t row : row_ids) {
    KernelCost cost = rows_[row].cost;
    cost.library = rows_[row].paper_library;
    summer.add(cost);
    launches += rows_[row].owns_call() ? 1 : 0;
  }
  return summer.finish(launches);
}

uint64_t HostOverheadMeter::count_names(const std::vector<uint32_t>& row_ids) const {
  // Sorts the window's names: with a table over all names, many windows would be quadratic.
  std::vector<uint32_t> names;
  names.reserve(row_ids.size());
  for (uint32_t row : row_ids) {
    names.push_back(trace_.activities.name[rows_[row].kernel.index()].index());
  }
  std::sort(names.begin(), names.end());
  return static_cast<uint64_t>(std::unique(names.begin(), names.end()) - names.begin());
}

HostOverheadOrphans HostOverheadMeter::count_orphans(const std::vector<uint32_t>& row_ids) const {
  HostOverheadOrphans orphans;
  for (uint32_t id : row_ids) {
    const HostOverheadRow& row = rows_[id];
    if (!row.call) {
      ++orphans.without_call;
      orphans.without_call_ns += row.cost.dur_ns;
    } else if (row.follower) {
      const bool graph = links_.role_of(trace_, row.call) == ApiRole::kGraphLaunch;
      ++(graph ? orphans.graph_followers : orphans.shared_followers);
    } else if (!row.has_entry()) {
      ++orphans.without_op;
      orphans.without_op_ns += row.cost.dur_ns;
    } else if (row.without_py) {
      ++orphans.without_py;
    }
    orphans.negative_launch_clamped += row.launch_clamped ? 1 : 0;
    orphans.negative_launch_dropped += row.launch_dropped ? 1 : 0;
  }
  return orphans;
}

HostOverheadWindow HostOverheadMeter::fill(std::string name, const std::vector<uint32_t>& row_ids,
                                           const HostOverheadSums& sums,
                                           ExclusiveOverhead exclusive, int64_t t_e2e_ns) const {
  HostOverheadWindow window;
  window.name = std::move(name);
  window.sums = sums;
  window.sums.split_known = base_known_ || is_literal(mode_) || sums.ct_ns == 0;
  window.literal = literal_sums(row_ids);
  window.exclusive = exclusive;
  window.hdbi_exclusive = hdbi(sums.n, sums.t_device_ns, exclusive.total_ns);
  window.orphans = count_orphans(row_ids);
  window.t_e2e_ns = t_e2e_ns;
  window.idle_fraction = share(t_e2e_ns - window.sums.t_device_ns, t_e2e_ns);
  window.gpu_utilisation = share(window.sums.t_device_ns, t_e2e_ns);
  const bool charged = window.literal.charged();
  window.additivity = share(window.literal.t_orch_ns, charged ? exclusive.total_ns : 0);
  window.orch_over_e2e = share(window.literal.t_orch_ns, charged ? t_e2e_ns : 0);
  window.unique_names = count_names(row_ids);
  window.diversity_ratio =
      share(static_cast<int64_t>(window.unique_names), static_cast<int64_t>(window.sums.n));
  return window;
}

HostOverheadWindow HostOverheadMeter::measure_whole() const {
  std::vector<uint32_t> all(rows_.size());
  std::iota(all.begin(), all.end(), 0U);
  const int64_t t_e2e_ns =
      all.empty() ? 0 : wall_ns(first_start(trace_, rows_), last_kernel_end(all));
  return fill("whole trace", all, sum(all), tiles_.sum(all, INT64_MIN), t_e2e_ns);
}

HostOverheadWindow HostOverheadMeter::measure(const Window& window,
                                              const std::vector<uint32_t>& row_ids) const {
  const int64_t end_ns = std::max(window.end_ns, last_kernel_end(row_ids));
  HostOverheadSummer summer(mode_, base_ns_, floor_ns_);
  const HostOverheadSums sums = summer.finish(add_rows(row_ids, window.start_ns, summer));
  return fill(window.name, row_ids, sums, tiles_.sum(row_ids, window.start_ns),
              wall_ns(window.start_ns, end_ns));
}

HostOverheadWindow HostOverheadMeter::combine(
    std::string name, const std::vector<Window>& windows,
    const std::vector<std::vector<uint32_t>>& row_ids) const {
  std::vector<uint32_t> all;
  ExclusiveOverhead exclusive;
  HostOverheadSummer summer(mode_, base_ns_, floor_ns_);
  uint64_t launches = 0;
  int64_t t_e2e_ns = 0;
  for (size_t w = 0; w < windows.size(); ++w) {
    const HostOverheadWindow one = measure(windows[w], row_ids[w]);
    all.insert(all.end(), row_ids[w].begin(), row_ids[w].end());
    launches += add_rows(row_ids[w], windows[w].start_ns, summer);
    t_e2e_ns += one.t_e2e_ns;
    exclusive.py_ns += one.exclusive.py_ns;
    exclusive.dispatch_ns += one.exclusive.dispatch_ns;
    exclusive.call_ns += one.exclusive.call_ns;
    exclusive.total_ns += one.exclusive.total_ns;
    exclusive.between_ns += one.exclusive.between_ns;
    exclusive.waiting_ns += one.exclusive.waiting_ns;
    exclusive.threads_span_ns += one.exclusive.threads_span_ns;
  }
  return fill(std::move(name), all, summer.finish(launches), exclusive, t_e2e_ns);
}

std::vector<std::vector<uint32_t>> rows_of_windows(const Trace& trace,
                                                   const std::vector<HostOverheadRow>& rows,
                                                   const std::vector<Window>& windows) {
  std::vector<std::vector<uint32_t>> result(windows.size());
  for (uint32_t r = 0; r < rows.size(); ++r) {
    const int64_t time_ns = rows[r].call ? trace.api_calls.start_ns[rows[r].call.index()]
                                         : trace.activities.start_ns[rows[r].kernel.index()];
    const auto after =
        std::upper_bound(windows.begin(), windows.end(), time_ns,
                         [](int64_t time, const Window& window) { return time < window.start_ns; });
    if (after == windows.begin() || time_ns >= (after - 1)->end_ns) continue;
    result[static_cast<size_t>(after - windows.begin()) - 1].push_back(r);
  }
  return result;
}

}  // namespace assay
