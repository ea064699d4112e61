#include "throughput/suggest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "throughput/dataset.h"

namespace assay {
namespace {

// Maximum number of candidates with a computed effect; those most similar to the target.
constexpr size_t kMostCandidates = 4000;

double tokens_of(const BenchRow& row) { return (row.in_len + row.out_len) * sequences_of(row); }

int unlike(const BenchRow& a, const BenchRow& b) {
  return 8 * (a.framework != b.framework) + 4 * (a.hardware != b.hardware) +
         2 * (a.model != b.model) + (a.devices != b.devices);
}

}  // namespace

std::vector<BenchRow> unmeasured_points(const std::vector<BenchRow>& rows) {
  std::map<std::string, std::set<double>> batches;  // by framework: what its batch size means
  std::map<std::string, std::pair<BenchRow, std::set<std::pair<double, double>>>> configs;
  std::set<std::string> measured;
  for (const BenchRow& row : rows) {
    batches[row.framework].insert(row.batch);
    auto& [example, lengths] =
        configs.emplace(config_name(row), std::pair(row, std::set<std::pair<double, double>>()))
            .first->second;
    lengths.emplace(row.in_len, row.out_len);
    measured.insert(row_name(row));
  }
  std::vector<BenchRow> points;
  for (const auto& [name, config] : configs) {
    for (const auto& [in_len, out_len] : config.second) {
      for (const double batch : batches[config.first.framework]) {
        BenchRow point = unmeasured_like(config.first);
        point.in_len = in_len;
        point.out_len = out_len;
        point.batch = batch;
        if (measured.count(row_name(point)) == 0) points.push_back(std::move(point));
      }
    }
  }
  return points;
}

Result<MeasureNext> suggest_measurements(const Predictor& predictor,
                                         const std::vector<BenchRow>& targets,
                                         const std::vector<BenchRow>& candidates, size_t top) {
  if (targets.empty() || candidates.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "every combination of the table is measured: ask with --at or --grid", "", -1};
  }
  const std::vector<double> half = predictor.log_half_widths(targets);
  const size_t widest =
      static_cast<size_t>(std::max_element(half.begin(), half.end()) - half.begin());
  MeasureNext out;
  out.target = targets[widest];
  out.targets = targets.size();
  out.now = predictor.explain({out.target}).front();
  std::vector<BenchRow> near = candidates;
  std::stable_sort(near.begin(), near.end(), [&](const BenchRow& a, const BenchRow& b) {
    return unlike(a, out.target) < unlike(b, out.target);
  });
  if (near.size() > kMostCandidates) near.resize(kMostCandidates);
  const std::vector<double> after = predictor.log_sd_after(out.target, near);
  std::vector<size_t> order;
  for (size_t i = 0; i < near.size(); ++i) {
    if (std::isfinite(after[i])) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::make_tuple(after[a], tokens_of(near[a]), a) <
           std::make_tuple(after[b], tokens_of(near[b]), b);
  });
  if (top > 0 && order.size() > top) order.resize(top);
  for (const size_t i : order) {
    const double reach = std::exp(out.now.scale * after[i] + out.now.assumed);
    const double point = out.now.prediction.tokens_per_s;
    out.suggestions.push_back(
        {near[i], after[i], point / reach, point * reach, 1 - after[i] / out.now.log_sd});
  }
  return out;
}

std::string_view goal_verdict_name(GoalVerdict verdict) {
  switch (verdict) {
    case GoalVerdict::kMet:
      return "met";
    case GoalVerdict::kLikely:
      return "likely";
    case GoalVerdict::kUnlikely:
      return "unlikely";
    case GoalVerdict::kMissed:
      return "missed";
    case GoalVerdict::kOutside:
      return "outside";
  }
  return "";
}

std::vector<GoalPoint> check_goal(const Predictor& predictor, const std::vector<BenchRow>& points,
                                  const Goal& goal) {
  const std::vector<Explained> explained = predictor.explain(points);
  std::vector<GoalPoint> out;
  for (size_t i = 0; i < points.size(); ++i) {
    const Prediction& p = explained[i].prediction;
    const double tokens = tokens_of(points[i]);
    GoalPoint checked{points[i], explained[i], tokens / p.tokens_per_s * 1000,
                      tokens / p.low90 * 1000, GoalVerdict::kMissed};
    const auto meets = [&](double tokens_per_s) {
      const bool fast = !goal.tokens_per_s || tokens_per_s >= *goal.tokens_per_s;
      return fast && (!goal.latency_ms || tokens / tokens_per_s * 1000 <= *goal.latency_ms);
    };
    const bool reached =
        p.status == PredictionStatus::kInside || p.status == PredictionStatus::kWide;
    if (!reached) {
      checked.verdict = GoalVerdict::kOutside;
    } else if (p.status == PredictionStatus::kInside && explained[i].measured && meets(p.low90)) {
      checked.verdict = GoalVerdict::kMet;
    } else if (meets(p.tokens_per_s)) {
      checked.verdict = GoalVerdict::kLikely;
    } else if (meets(p.high90)) {
      checked.verdict = GoalVerdict::kUnlikely;
    }
    out.push_back(std::move(checked));
  }
  return out;
}

void sort_by_goal(std::vector<GoalPoint>& points, const Goal& goal, GoalRank by) {
  // The share of the goal that is reached with 95 % confidence.
  const auto reached = [&](const GoalPoint& p) {
    double share = std::numeric_limits<double>::infinity();
    if (goal.tokens_per_s) share = p.explained.prediction.low90 / *goal.tokens_per_s;
    if (goal.latency_ms) share = std::min(share, *goal.latency_ms / p.latency_high_ms);
    return std::isfinite(share) ? share : 0;
  };
  const auto rank = [&](const GoalPoint& p) -> std::pair<double, double> {
    if (p.verdict != GoalVerdict::kMet) return {-reached(p), 0};
    const double devices = by == GoalRank::kPerDevice ? p.point.devices : 1;
    if (goal.latency_ms) return {-p.explained.prediction.tokens_per_s / devices, 0};
    return {devices, p.point.batch};
  };
  std::stable_sort(points.begin(), points.end(), [&](const GoalPoint& a, const GoalPoint& b) {
    return std::make_pair(a.verdict, rank(a)) < std::make_pair(b.verdict, rank(b));
  });
}

}  // namespace assay
