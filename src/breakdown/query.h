#pragma once

// Queries over the cells of one or many ranks: filter, group by keys, reduce by statistics.
//
// A sample is one GPU in one iteration, or several of them combined if the query does not group by
// GPU or iteration. The cells of a sample are summed, then ratios of the sums are computed, then
// the statistic over samples. An iteration without a kernel of a group is not a sample of it.
// Activities outside every iteration are in no sample.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "breakdown/breakdown.h"

namespace assay {

enum class LevelKey : uint8_t { kGpu, kIter, kPhase, kLayer, kOp, kOpType };
constexpr size_t kLevelKeys = 6;

enum class LevelStat : uint8_t { kMedian, kMean, kMin, kMax, kP25, kP75, kP95, kSum };
std::string_view level_stat_name(LevelStat stat);

// One "key=value" of --where. gpu, iter and layer take numbers and ranges; the other keys take
// names with * and ?. '+' separates alternatives.
struct LevelCondition {
  LevelKey key = LevelKey::kGpu;
  std::vector<std::pair<int64_t, int64_t>> ranges;  // inclusive
  std::vector<std::string> patterns;
};

struct LevelQuery {
  std::vector<LevelKey> group_by;
  std::vector<LevelCondition> where;
  std::vector<LevelStat> stats;
};
// Parses "phase,op", "gpu=3,iter=2..5", "median,p95". Without stats: median.
Result<LevelQuery> parse_level_query(std::string_view group_by, std::string_view where,
                                     std::string_view stats);

// One group and statistic. Keys that are not grouped by have their default values.
struct LevelGroupRow {
  LevelCell keys;  // sums unused
  LevelStat stat = LevelStat::kMedian;
  uint64_t samples = 0;
  double kernels = 0;
  double dur_ns = 0;
  double prep_ns = 0;
  double call_ns = 0;
  double launch_ns = 0;
  double comm_wait_ns = 0;
  double overlap_ns = 0;
  double overlap_ratio = 0;
  double op_dur_ns = 0;
};
std::vector<LevelGroupRow> run_level_query(const std::vector<LevelCell>& cells,
                                           const std::vector<std::string>& op_names,
                                           const LevelQuery& query);
bool cell_matches(const LevelCell& cell, const std::vector<std::string>& op_names,
                  const std::vector<LevelCondition>& where);

}  // namespace assay
