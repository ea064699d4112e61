#pragma once

// Two questions that intervals answer: the next configuration to measure, and the configuration to
// run.

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
  BenchRow target;  // the target with the widest interval
  Explained now;
  size_t targets = 0;                   // number of compared targets
  std::vector<Suggestion> suggestions;  // best first
};

// Selects the target with the widest interval, and ranks `candidates` by how much measuring each
// would narrow it, by the posterior variance of the process. Ties go to the run with fewer tokens.
// Returns the `top` best, or all if 0. Fails if there are no targets or candidates.
Result<MeasureNext> suggest_measurements(const Predictor& predictor,
                                         const std::vector<BenchRow>& targets,
                                         const std::vector<BenchRow>& candidates, size_t top);

// Combinations of each configuration's own lengths and the table's batch sizes without
// measurements.
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

// Compares every point with the goal. kMet and kMissed have a confidence of 95 % or more. With an
// assumed interval, kLikely is the best possible result. kOutside: outside the range of the data,
// whatever the estimate; 95 % confidence is impossible there.
std::vector<GoalPoint> check_goal(const Predictor& predictor, const std::vector<BenchRow>& points,
                                  const Goal& goal);

// Criterion for the best of the candidates that meet a latency.
enum class GoalRank : uint8_t {
  kPerDevice,  // tokens/s per device: what a unit of money buys
  kTotal,      // tokens/s of all devices
};

// Sorts best first. Points that meet the goal come first: with a latency limit by most tokens/s,
// else by fewest devices and then smallest batch (with kTotal, smallest batch). Then the points
// closest to the goal; points outside the data are last.
void sort_by_goal(std::vector<GoalPoint>& points, const Goal& goal,
                  GoalRank rank = GoalRank::kPerDevice);

}  // namespace assay
