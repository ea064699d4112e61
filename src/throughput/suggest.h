#pragma once

// What to measure next, and what to run: the two questions that an interval answers.

#include <optional>
#include <vector>

#include "base/result.h"
#include "throughput/predictor.h"

namespace assay {

// A measurement that would help.
struct Suggestion {
  BenchRow point;
  double log_sd_after = 0;  // of the target
  double low90_after = 0;   // its interval then, if the point estimate stays
  double high90_after = 0;
  double narrower_share = 0;  // 1 - width after / width before, in logarithms
};

struct MeasureNext {
  BenchRow target;  // of the widest interval
  Explained now;
  size_t targets = 0;                   // points that were compared
  std::vector<Suggestion> suggestions;  // best first
};

// Of `targets` the one with the widest interval, and which of `candidates` would narrow it most, if
// it were measured: by the posterior variance of the process. Ties go to the smaller run. The `top`
// best, 0 for all.
Result<MeasureNext> suggest_measurements(const Predictor& predictor,
                                         const std::vector<BenchRow>& targets,
                                         const std::vector<BenchRow>& candidates, size_t top);

// Combinations of each configuration's own lengths and the table's batch sizes that nobody
// measured.
std::vector<BenchRow> unmeasured_points(const std::vector<BenchRow>& rows);

// A goal with 95 % confidence: the lower end of the 90 % interval meets it.
struct Goal {
  std::optional<double> latency_ms;    // of the whole run, at most
  std::optional<double> tokens_per_s;  // at least
};

enum class GoalVerdict : uint8_t { kMet, kLikely, kUnlikely, kMissed, kOutside };
std::string_view goal_verdict_name(GoalVerdict verdict);

struct GoalPoint {
  BenchRow point;
  Explained explained;
  double latency_ms = 0;
  double latency_high_ms = 0;  // with 95 % confidence at most
  GoalVerdict verdict = GoalVerdict::kMissed;
};

// Every point against the goal; kMet at least 95 % sure, kMissed at least 95 % sure that not. Where
// the interval is assumed nobody is that sure, and kLikely is the best there is.
// kOutside beyond the reach of the data, whatever the estimate: nobody is 95 % sure there.
std::vector<GoalPoint> check_goal(const Predictor& predictor, const std::vector<BenchRow>& points,
                                  const Goal& goal);

// What is best among candidates that keep a latency.
enum class GoalRank : uint8_t {
  kPerDevice,  // tokens/s per device: what a unit of money buys
  kTotal,      // tokens/s of all devices
};

// Best first: what meets the goal, with a latency to keep the most tokens/s first, else the fewest
// devices and on them the smallest batch (by kTotal: the smallest batch); then what comes closest
// to it; what is outside last.
void sort_by_goal(std::vector<GoalPoint>& points, const Goal& goal,
                  GoalRank rank = GoalRank::kPerDevice);

}  // namespace assay
