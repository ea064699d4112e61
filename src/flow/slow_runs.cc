#include "flow/slow_runs.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "base/stats.h"

namespace assay {
namespace {

constexpr int64_t kSlowMedians = 3;     // least time of a slow run, in medians
constexpr size_t kLeastRuns = 20;       // of one kernel
constexpr size_t kLeastSlow = 4;        // fewer show no pattern
constexpr size_t kSlowAtMostOneOf = 5;  // at most 1/5 of the runs
constexpr int64_t kLeastPart = 20;      // at least 1/20 of the window

// Name, grid and block; grid and block are 0 if not recorded.
using Shape = std::tuple<uint32_t, uint64_t, uint64_t>;

std::vector<std::pair<uint64_t, uint64_t>> shapes_of(const Trace& trace) {
  const auto packed = [](uint32_t x, uint32_t y, uint32_t z) {
    return (uint64_t{x} * 65'537 + y) * 65'537 + z;
  };
  std::vector<std::pair<uint64_t, uint64_t>> shapes(trace.activities.size());
  const auto& rows = trace.kernel_shapes;
  for (size_t i = 0; i < rows.size(); ++i) {
    shapes[rows.activity[i].index()] = {packed(rows.grid_x[i], rows.grid_y[i], rows.grid_z[i]),
                                        packed(rows.block_x[i], rows.block_y[i], rows.block_z[i])};
  }
  return shapes;
}

// True if, for some distance, the run at that distance after most slow ones is slow, too.
bool at_fixed_distance(const std::vector<bool>& slow, const std::vector<size_t>& places) {
  constexpr size_t kMostDistance = 4096;
  constexpr size_t kMostPlaces = 256;
  const size_t most = std::min(kMostDistance, slow.size() / 2);
  const size_t step = std::max<size_t>(places.size() / kMostPlaces, 1);
  for (size_t distance = 1; distance <= most; ++distance) {
    size_t seen = 0;
    size_t again = 0;
    for (size_t i = 0; i < places.size(); i += step) {
      if (places[i] + distance >= slow.size()) break;
      ++seen;
      again += slow[places[i] + distance];
    }
    if (seen * 2 >= std::max<size_t>(places.size() / step, kLeastSlow) && again * 10 >= seen * 7) {
      return true;
    }
  }
  return false;
}

std::optional<SlowRuns> slow_of(StringId name, const std::vector<int64_t>& runs_ns) {
  if (runs_ns.size() < kLeastRuns) return std::nullopt;
  const int64_t middle = median_ns(runs_ns);
  SlowRuns found{.name = name, .runs = runs_ns.size()};
  std::vector<bool> slow(runs_ns.size(), false);
  std::vector<size_t> places;
  int64_t longest_ns = 0;
  size_t usual = 0;
  for (size_t i = 0; i < runs_ns.size(); ++i) {
    slow[i] = middle > 0 && runs_ns[i] >= kSlowMedians * middle;
    usual += runs_ns[i] * 2 < middle * 3;
    if (!slow[i]) continue;
    places.push_back(i);
    longest_ns = std::max(longest_ns, runs_ns[i]);
    found.excess_ns += runs_ns[i] - middle;
  }
  if (places.size() < kLeastSlow || places.size() * kSlowAtMostOneOf > runs_ns.size())
    return std::nullopt;
  if (usual * 10 < (runs_ns.size() - places.size()) * 9) return std::nullopt;
  const size_t half = runs_ns.size() / 2;
  if (places.front() >= half || places.back() < half) return std::nullopt;
  if (at_fixed_distance(slow, places)) return std::nullopt;
  found.slow = places.size();
  found.times = static_cast<double>(longest_ns) / static_cast<double>(middle);
  return found;
}

}  // namespace

std::optional<SlowRuns> slow_runs(const Trace& trace, Interval window) {
  const ActivityTable& rows = trace.activities;
  const auto shapes = shapes_of(trace);
  std::map<Shape, std::vector<std::pair<int64_t, int64_t>>> runs;  // begin, duration
  for (size_t a = 0; a < rows.size(); ++a) {
    if (rows.kind[a] != ActivityKind::kKernel) continue;
    if (rows.start_ns[a] < window.start_ns || rows.start_ns[a] >= window.end_ns) continue;
    runs[{rows.name[a].value, shapes[a].first, shapes[a].second}].emplace_back(rows.start_ns[a],
                                                                               rows.dur_ns[a]);
  }
  std::optional<SlowRuns> most;
  for (auto& [shape, of] : runs) {
    int64_t sum_ns = 0;
    for (const auto& [start_ns, ns] : of) sum_ns += ns;
    if (sum_ns * kLeastPart < window.end_ns - window.start_ns) continue;
    std::sort(of.begin(), of.end());
    std::vector<int64_t> durations_ns;
    for (const auto& [start_ns, ns] : of) durations_ns.push_back(ns);
    const auto found = slow_of(StringId(std::get<0>(shape)), durations_ns);
    if (!found || found->excess_ns * kLeastPart < window.end_ns - window.start_ns) continue;
    if (!most || found->excess_ns > most->excess_ns) most = found;
  }
  return most;
}

}  // namespace assay
