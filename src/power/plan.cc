// Plan of a measurement run and selection of its runs (spec/power 1 and 2).

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "base/numbers.h"
#include "power/profile.h"

namespace assay {
namespace {

constexpr int64_t kMicrosecond = 1000;
constexpr int64_t kShortestPlanned = 25 * kMicrosecond;

// Table I: each row holds from its lower bound up to the next one.
struct PlanRow {
  int64_t from_ns;
  ProfilePlan plan;
};
constexpr std::array<PlanRow, 4> kPlanRows = {{
    {kShortestPlanned, {400, 5 * kMicrosecond, 0.05, false}},
    {50 * kMicrosecond, {200, 10 * kMicrosecond, 0.05, false}},
    {200 * kMicrosecond, {200, 10 * kMicrosecond, 0.02, false}},
    // "> 1 ms" excludes 1 ms itself, which the row above claims.
    {1000 * kMicrosecond + 1, {200, 10 * kMicrosecond, 0.02, false}},
}};

// Largest integer in the bin that starts at `low`.
int64_t bin_end(int64_t low, double margin) {
  return low + static_cast<int64_t>(std::floor(static_cast<double>(low) * margin + 1e-6));
}

}  // namespace

std::optional<ProfilePlan> plan_profile(int64_t t_exec_ns, bool force) {
  if (t_exec_ns <= 0) return std::nullopt;
  if (t_exec_ns < kShortestPlanned) {
    if (!force) return std::nullopt;
    ProfilePlan plan = kPlanRows.front().plan;
    plan.runs = static_cast<uint32_t>(
        std::min<int64_t>(divide_up(plan.runs * kShortestPlanned, t_exec_ns), UINT32_MAX));
    plan.extrapolated = true;
    return plan;
  }
  const auto after =
      std::upper_bound(kPlanRows.begin(), kPlanRows.end(), t_exec_ns,
                       [](int64_t t, const PlanRow& row) { return t < row.from_ns; });
  return std::prev(after)->plan;
}

uint32_t ssp_executions(int64_t window_ns, int64_t t_exec_ns, bool strict) {
  constexpr int64_t kWarmUpsAndOne = 4;  // three warm-ups and the first settled execution
  if (window_ns <= 0 || t_exec_ns <= 0) return kWarmUpsAndOne;
  const int64_t filled = divide_up(window_ns, t_exec_ns) + (strict ? 1 : 0);
  return static_cast<uint32_t>(std::clamp<int64_t>(filled, kWarmUpsAndOne, UINT32_MAX));
}

std::vector<size_t> golden_runs(const std::vector<int64_t>& durations_ns, double margin) {
  std::vector<size_t> order(durations_ns.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return durations_ns[a] < durations_ns[b]; });
  const auto value = [&](size_t place) { return durations_ns[order[place]]; };
  size_t best_first = 0;
  size_t best_end = 0;
  size_t end = 0;
  for (size_t first = 0; first < order.size(); ++first) {
    while (end < order.size() && value(end) <= bin_end(value(first), margin)) ++end;
    const size_t count = end - first;
    const size_t best_count = best_end - best_first;
    const bool tighter = count == best_count && count > 0 &&
                         value(end - 1) - value(first) < value(best_end - 1) - value(best_first);
    if (count > best_count || tighter) {
      best_first = first;
      best_end = end;
    }
  }
  std::vector<size_t> members(order.begin() + static_cast<std::ptrdiff_t>(best_first),
                              order.begin() + static_cast<std::ptrdiff_t>(best_end));
  std::sort(members.begin(), members.end());
  return members;
}

std::string_view power_verdict_name(PowerVerdict verdict) {
  switch (verdict) {
    case PowerVerdict::kResolved:
      return "resolved";
    case PowerVerdict::kAveraged:
      return "averaged";
    case PowerVerdict::kMeanOnly:
      return "mean_only";
    case PowerVerdict::kMixed:
      return "mixed";
    case PowerVerdict::kShortCoverage:
      return "short_coverage";
    case PowerVerdict::kRefused:
      break;
  }
  return "refused";
}

}  // namespace assay
