#include "job/clocks.h"

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "base/histogram.h"
#include "base/numbers.h"
#include "base/stats.h"

namespace assay {
namespace {

constexpr double kFastClock = 50e-6;

// A rank's ends relative to one group.
struct Pair {
  uint32_t rank = 0;
  uint32_t group = 0;  // of Ends
  double apart_ns = 0;
  double slope = kNan;
};

// Sampled collectives of one group that all of its ranks left together.
struct Ends {
  std::vector<uint32_t> ranks;
  std::vector<std::vector<int64_t>> at_ns;  // per collective and rank, by the rank's clock
  std::vector<double> mean_ns;              // per collective: mean end minus the first rank's end
};

std::vector<Ends> ends_by_group(const JobGraph& graph) {
  constexpr size_t kSamples = 64;  // of a group
  std::vector<std::vector<const GraphMeeting*>> usable(graph.groups().size());
  for (const GraphMeeting& meeting : graph.meetings()) {
    const GraphGroup& group = graph.groups()[meeting.group];
    const bool all = meeting.ranks.size() == group.ranks.size() && meeting.ranks.size() > 1;
    if (all && group.group.all_wait) usable[meeting.group].push_back(&meeting);
  }
  std::vector<Ends> all;
  for (const std::vector<const GraphMeeting*>& meetings : usable) {
    if (meetings.empty()) continue;
    Ends& ends = all.emplace_back();
    ends.ranks = meetings.front()->ranks;
    const size_t step = (meetings.size() + kSamples - 1) / kSamples;
    for (size_t k = 0; k < meetings.size(); k += step) {
      std::vector<int64_t>& at_ns = ends.at_ns.emplace_back();
      double mean_ns = 0;
      for (const uint32_t end : meetings[k]->ends) {
        at_ns.push_back(graph.point(end).time_ns);
        mean_ns += static_cast<double>(at_ns.back() - at_ns.front());
      }
      ends.mean_ns.push_back(mean_ns / static_cast<double>(ends.ranks.size()));
    }
  }
  return all;
}

// Median slope between collectives half of the samples apart, which is robust to outliers. NaN with
// fewer than kLeast samples.
double slope_of(const Ends& ends, const std::vector<double>& apart) {
  constexpr size_t kLeast = 3;
  const size_t half = apart.size() / 2;
  if (apart.size() < kLeast || half == 0) return kNan;
  std::vector<double> slopes;
  for (size_t k = 0; k + half < apart.size(); ++k) {
    const auto time_ns =
        static_cast<double>(ends.at_ns[k + half].front() - ends.at_ns[k].front());
    if (time_ns > 0) slopes.push_back((apart[k + half] - apart[k]) / time_ns);
  }
  return slopes.empty() ? kNan : median(slopes);
}

std::vector<Pair> pairs_of(const std::vector<Ends>& groups) {
  std::vector<Pair> pairs;
  for (uint32_t g = 0; g < groups.size(); ++g) {
    const Ends& ends = groups[g];
    for (size_t m = 0; m < ends.ranks.size(); ++m) {
      std::vector<double> apart;
      for (size_t k = 0; k < ends.at_ns.size(); ++k) {
        apart.push_back(static_cast<double>(ends.at_ns[k][m] - ends.at_ns[k].front()) -
                        ends.mean_ns[k]);
      }
      const double slope = slope_of(ends, apart);
      pairs.push_back({ends.ranks[m], g, median(apart), slope});
    }
  }
  return pairs;
}

// Traverses the bipartite graph of ranks and groups that the pairs form.
class Walk {
 public:
  Walk(const std::vector<Pair>& pairs, size_t ranks, size_t groups)
      : pairs_(pairs), of_rank_(ranks), of_group_(groups) {
    for (uint32_t p = 0; p < pairs.size(); ++p) {
      of_rank_[pairs[p].rank].push_back(p);
      of_group_[pairs[p].group].push_back(p);
    }
  }

  // Initial offsets by breadth-first search over groups; least squares then corrects small
  // residuals. Fills the components.
  std::vector<double> first_offsets(FleetClocks& clocks) const {
    const size_t ranks = of_rank_.size();
    std::vector<double> offsets(ranks, 0);
    clocks.components.assign(ranks, UINT32_MAX);
    std::vector<bool> seen_group(of_group_.size(), false);
    for (uint32_t r = 0; r < ranks; ++r) {
      if (clocks.components[r] != UINT32_MAX) continue;
      std::vector<uint32_t> reached = {r};
      clocks.components[r] = clocks.component_count;
      for (size_t at = 0; at < reached.size(); ++at) {
        for (const uint32_t p : of_rank_[reached[at]]) {
          if (seen_group[pairs_[p].group]) continue;
          seen_group[pairs_[p].group] = true;
          for (const uint32_t q : of_group_[pairs_[p].group]) {
            const uint32_t other = pairs_[q].rank;
            if (clocks.components[other] != UINT32_MAX) continue;
            clocks.components[other] = clocks.component_count;
            offsets[other] = offsets[reached[at]] + pairs_[q].apart_ns - pairs_[p].apart_ns;
            reached.push_back(other);
          }
        }
      }
      ++clocks.component_count;
    }
    return offsets;
  }

 private:
  const std::vector<Pair>& pairs_;
  std::vector<std::vector<uint32_t>> of_rank_;
  std::vector<std::vector<uint32_t>> of_group_;
};

// Least-squares value per rank such that the differences within each group match `told` (one value
// per pair). Each component is determined up to a constant, which stays near 0.
std::vector<double> least_squares(const std::vector<Pair>& pairs, const std::vector<double>& told,
                                  size_t ranks, size_t groups) {
  std::vector<Eigen::Triplet<double>> entries;
  Eigen::VectorXd right(static_cast<Eigen::Index>(pairs.size()));
  for (size_t p = 0; p < pairs.size(); ++p) {
    const auto row = static_cast<int>(p);
    entries.emplace_back(row, static_cast<int>(pairs[p].rank), 1.0);
    entries.emplace_back(row, static_cast<int>(ranks + pairs[p].group), -1.0);
    right[row] = told[p];
  }
  Eigen::SparseMatrix<double> matrix(static_cast<Eigen::Index>(pairs.size()),
                                     static_cast<Eigen::Index>(ranks + groups));
  matrix.setFromTriplets(entries.begin(), entries.end());
  Eigen::LeastSquaresConjugateGradient<Eigen::SparseMatrix<double>> solver;
  solver.setTolerance(1e-9);
  solver.setMaxIterations(500);
  solver.compute(matrix);
  const Eigen::VectorXd found = solver.solve(right);
  return {found.data(), found.data() + ranks};
}

// Subtracts each component's median.
void centre(const FleetClocks& clocks, std::vector<double>& values) {
  std::vector<std::vector<double>> of(clocks.component_count);
  for (size_t r = 0; r < values.size(); ++r) of[clocks.components[r]].push_back(values[r]);
  std::vector<double> middle;
  for (std::vector<double>& some : of) middle.push_back(median(some));
  for (size_t r = 0; r < values.size(); ++r) values[r] -= middle[clocks.components[r]];
}

void find_drifts(const std::vector<Pair>& pairs, size_t ranks, size_t groups, FleetClocks& clocks) {
  clocks.drifts.assign(ranks, kNan);
  std::vector<Pair> sloped;
  std::vector<double> told;
  for (const Pair& pair : pairs) {
    if (std::isnan(pair.slope)) continue;
    sloped.push_back(pair);
    told.push_back(pair.slope);
  }
  if (sloped.empty()) return;
  std::vector<double> drifts = least_squares(sloped, told, ranks, groups);
  centre(clocks, drifts);
  std::vector<double> sizes;
  for (const Pair& pair : sloped) clocks.drifts[pair.rank] = drifts[pair.rank];
  for (const double drift : clocks.drifts) {
    if (!std::isnan(drift)) sizes.push_back(std::abs(drift));
  }
  constexpr double kFarOff = 7.4;  // five standard deviations, as a multiple of the median |drift|
  const double limit = std::max(kFastClock, kFarOff * median(sizes));
  for (uint32_t r = 0; r < ranks; ++r) {
    if (std::abs(clocks.drifts[r]) > limit) clocks.fast.push_back(r);
  }
}

void find_residuals(const std::vector<Ends>& groups, FleetClocks& clocks) {
  Histogram residuals;
  int64_t largest_ns = 0;
  for (const Ends& ends : groups) {
    const auto offset_ns = [&](size_t m) {
      return clocks.offsets_ns[ends.ranks[m]] - clocks.offsets_ns[ends.ranks.front()];
    };
    int64_t mean_offset_ns = 0;
    for (size_t m = 0; m < ends.ranks.size(); ++m) mean_offset_ns += offset_ns(m);
    const double mean_apart =
        static_cast<double>(mean_offset_ns) / static_cast<double>(ends.ranks.size());
    for (size_t k = 0; k < ends.at_ns.size(); ++k) {
      for (size_t m = 0; m < ends.ranks.size(); ++m) {
        const int64_t apart_ns = ends.at_ns[k][m] - ends.at_ns[k].front() - offset_ns(m);
        const int64_t residual_ns =
            std::llround(std::abs(static_cast<double>(apart_ns) - (ends.mean_ns[k] - mean_apart)));
        residuals.add(residual_ns);
        largest_ns = std::max(largest_ns, residual_ns);
      }
    }
  }
  clocks.aligned = residuals.count();
  clocks.residual_p50_ns = residuals.quantile(0.5);
  clocks.residual_p95_ns = residuals.quantile(0.95);
  clocks.residual_max_ns = largest_ns;
}

}  // namespace

FleetClocks align_fleet(const JobGraph& graph) {
  FleetClocks clocks;
  const size_t ranks = graph.folds().size();
  const std::vector<Ends> ends = ends_by_group(graph);
  const size_t groups = ends.size();
  const std::vector<Pair> pairs = pairs_of(ends);
  std::vector<double> offsets = Walk(pairs, ranks, groups).first_offsets(clocks);
  clocks.offsets_ns.assign(ranks, 0);
  clocks.drifts.assign(ranks, kNan);
  if (pairs.empty()) return clocks;
  // Residuals of the initial offsets; they are equal within a group if the offsets fit exactly.
  std::vector<double> left;
  for (const Pair& pair : pairs) left.push_back(pair.apart_ns - offsets[pair.rank]);
  const std::vector<double> correction = least_squares(pairs, left, ranks, groups);
  for (size_t r = 0; r < ranks; ++r) offsets[r] += correction[r];
  centre(clocks, offsets);
  for (size_t r = 0; r < ranks; ++r) clocks.offsets_ns[r] = std::llround(offsets[r]);
  find_drifts(pairs, ranks, groups, clocks);
  find_residuals(ends, clocks);
  return clocks;
}

}  // namespace assay
