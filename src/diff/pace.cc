#include "diff/pace.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace assay {
namespace {

// The calls of one name on one side, of all its runs.
struct Calls {
  uint64_t calls = 0;
  double weighted_ns = 0;  // sum over runs of calls x typical time

  double typical_ns() const { return weighted_ns / static_cast<double>(calls); }
};

struct HostSide {
  std::map<std::string, Calls> names;
  double iterations = 0;
  double all_ns = 0;          // of all names
  double behind_host_ns = 0;  // idle device time per sample
};

double behind_host_ns(const std::vector<DiffRun>& runs) {
  int64_t sum_ns = 0;
  size_t samples = 0;
  for (const DiffRun& run : runs) {
    const DiffLevelRun& parts = run.levels[static_cast<size_t>(DiffLevelKind::kPart)];
    samples += run.samples.size();
    for (const auto& sample : parts.samples) {
      for (const DiffEntry& entry : sample) {
        if (parts.items[entry.item].host) sum_ns += entry.cost.idle_ns;
      }
    }
  }
  return samples == 0 ? 0 : static_cast<double>(sum_ns) / static_cast<double>(samples);
}

HostSide host_side(const std::vector<DiffRun>& runs) {
  HostSide side;
  side.behind_host_ns = behind_host_ns(runs);
  for (const DiffRun& run : runs) {
    side.iterations += static_cast<double>(run.host_iterations);
    for (const DiffHostCalls& one : run.host_calls) {
      Calls& calls = side.names[one.name];
      const double ns = static_cast<double>(one.calls) * one.typical_ns;
      calls.calls += one.calls;
      calls.weighted_ns += ns;
      side.all_ns += ns;
    }
  }
  return side;
}

struct Ratio {
  double ratio = 1;
  double weight = 0;
};

// Weighted quantile: the first ratio at which the summed weight reaches `share` of `all`.
double weighted_quantile(const std::vector<Ratio>& ratios, double all, double share) {
  double seen = 0;
  for (const Ratio& one : ratios) {
    seen += one.weight;
    if (seen >= share * all) return one.ratio;
  }
  return ratios.back().ratio;
}

double geometric_mean(double x, double y) { return std::sqrt(x * y); }

// Items with equal counts on both sides.
struct Same {
  std::vector<Ratio> ratios;
  double a_ns = 0;
  double b_ns = 0;
};

Same same_names(const HostSide& from, const HostSide& to) {
  constexpr uint64_t kLeastCalls = 10;  // of a name, a side
  constexpr double kAsOften = 0.01;
  Same same;
  for (const auto& [name, calls] : from.names) {
    const auto found = to.names.find(name);
    if (found == to.names.end()) continue;
    const Calls& other = found->second;
    if (calls.calls < kLeastCalls || other.calls < kLeastCalls) continue;
    const double often_a = static_cast<double>(calls.calls) / from.iterations;
    const double often_b = static_cast<double>(other.calls) / to.iterations;
    if (std::abs(often_a - often_b) > kAsOften * std::max(often_a, often_b)) continue;
    if (!(calls.weighted_ns > 0 && other.weighted_ns > 0)) continue;
    same.ratios.push_back(
        {other.typical_ns() / calls.typical_ns(),
         geometric_mean(often_a * calls.typical_ns(), often_b * other.typical_ns())});
    same.a_ns += calls.weighted_ns;
    same.b_ns += other.weighted_ns;
  }
  return same;
}

// Limits each name to 20 % of the weight, because one name does not show the host's speed. Returns
// the new sum of weights.
double limit_weights(std::vector<Ratio>& ratios) {
  constexpr double kMost = 0.2;
  double all = 0;
  for (const Ratio& one : ratios) all += one.weight;
  double left = 0;
  for (Ratio& one : ratios) left += one.weight = std::min(one.weight, kMost * all);
  return left;
}

}  // namespace

bool PaceChange::differs() const {
  constexpr double kLeast = 1.1;
  return told && (ratio >= kLeast || ratio * kLeast <= 1) && (low > 1 || high < 1);
}

PaceChange compare_pace(const std::vector<DiffRun>& a, const std::vector<DiffRun>& b) {
  constexpr double kMostApart = 1.6;   // largest high / low for which there is one ratio
  constexpr double kEnd = 0.1;
  const HostSide from = host_side(a);
  const HostSide to = host_side(b);
  Same same = same_names(from, to);
  std::vector<Ratio>& ratios = same.ratios;
  PaceChange pace{.names = ratios.size()};
  if (ratios.size() < kLeastPaceNames) return pace;
  const auto [less, more] = std::minmax({same.a_ns / from.all_ns, same.b_ns / to.all_ns});
  pace.share = less;
  pace.why_none = NoPace::kLittle;
  if (more < kLeastPaceShare) return pace;
  const double all = limit_weights(ratios);
  std::sort(ratios.begin(), ratios.end(),
            [](const Ratio& x, const Ratio& y) { return x.ratio < y.ratio; });
  std::vector<Ratio> falling(ratios.rbegin(), ratios.rend());
  // Quantiles counted from both ends, so that exchanging the sides gives the inverse.
  const auto between = [&](double share) {
    return std::pair(weighted_quantile(ratios, all, share), weighted_quantile(falling, all, share));
  };
  const auto [low, high] = between(kEnd);
  const auto [below, above] = between(0.5);
  pace.ratio = geometric_mean(below, above);
  pace.low = low;
  pace.high = high;
  pace.told = high <= kMostApart * low;
  pace.why_none = pace.told ? NoPace::kNone : NoPace::kApart;
  const auto change = [&](double ratio) {
    return (ratio - 1) * (from.behind_host_ns + to.behind_host_ns / ratio) / 2;
  };
  pace.change_ns = std::llround(change(pace.ratio));
  pace.from_ns = std::llround(change(pace.low));
  pace.to_ns = std::llround(change(pace.high));
  return pace;
}

}  // namespace assay
