#pragma once

// Many ranks: the part of each that remains after its trace is freed, and the combined result.
// Clocks are aligned on collectives, which shows the last rank to arrive.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "breakdown/breakdown.h"
#include "breakdown/counters.h"

namespace assay {

// Summary of a rank: sums and collectives, no rows.
struct RankLevels {
  std::string file;
  std::optional<int64_t> rank;
  std::optional<int64_t> world_size;
  BreakdownReport report;  // rows emptied
  CounterJoin counters;    // empty without counter runs
};
// `named_rank`: the rank in the file's name, -1 = none; used if the trace has no rank.
RankLevels summarize_rank(const Trace& trace, int64_t named_rank, BreakdownReport report);

// The part of a rank that comparisons need: cells summed over phases, iterations and layers, no
// kernels. Only spans and collectives grow with the number of iterations.
RankLevels rank_outline(const RankLevels& rank);

// One GPU of the job, over all iterations.
struct JobGpu {
  int64_t gpu = 0;  // as in every other table
  std::optional<int64_t> rank;
  int64_t device = 0;  // as recorded in its trace
  std::string file;
  // Last end - first start of its compute kernels, less what was not recorded.
  int64_t span_ns = 0;
  int64_t comm_outside_ns = 0;  // of collectives and copies before or after that span
  int64_t copy_outside_ns = 0;
  LevelSums compute;
  int64_t comm_ns = 0;
  int64_t exposed_comm_ns = 0;
  // span - (duration - concurrent + time between kernels). Must be 0 by Assay's own definitions;
  // those of the published tool do not close.
  int64_t closure_ns = 0;
  // Its kernel time over the median of the other GPUs; NaN where there is none to compare with.
  double compute_ratio = std::numeric_limits<double>::quiet_NaN();
  // Among its heavier operations, the one furthest above the median of the other GPUs that have it.
  std::string slowest_op;
  double slowest_op_ratio = std::numeric_limits<double>::quiet_NaN();
  int64_t token_group = 0;  // the first GPU that reads the same tokens (breakdown/token_groups.h)
};

// Tokens that the job processes per iteration. Each group of GPUs that reads the same tokens counts
// once.
struct JobIteration {
  int32_t iter = kNoIteration;
  std::optional<int64_t> tokens;  // nothing where those of some GPU are not known
  int64_t longest_span_ns = 0;    // of its GPUs
  double tokens_per_s = std::numeric_limits<double>::quiet_NaN();  // tokens / longest span
};

struct ClockOffset {
  int64_t gpu = 0;
  int64_t offset_ns = 0;  // its clock minus the common one
  uint64_t collectives = 0;
};

struct Alignment {
  uint64_t matched = 0;    // collectives found on all ranks that take part
  uint64_t unmatched = 0;  // collectives of groups that do not match in number or order
  uint64_t used = 0;       // matched collectives with aligned ends
  std::vector<std::string> unused_kinds;  // of the matched others, which a rank may leave early
  std::vector<ClockOffset> offsets;
  double residual_p50_ns = 0;  // |end - offset - median end|; NaN when nothing was aligned
  double residual_p95_ns = 0;
  double residual_max_ns = 0;
};

// How one GPU came to the collectives, after alignment.
struct Arrivals {
  int64_t gpu = 0;
  std::string kind;  // of collective; empty = all
  LevelPhase phase = LevelPhase::kNone;
  uint64_t collectives = 0;
  uint64_t last = 0;         // times it came last
  double lag_median_ns = 0;  // its start minus the median start; negative = it leads
  int64_t waited_ns = 0;     // summed time from its start to the start of the last
  // Summed delay after the second-to-last arrival. Two stragglers hide each other, and a rank may
  // only propagate the delay of another. It is therefore no measure of responsibility
  // (flow/blame.h).
  int64_t last_margin_ns = 0;
};

struct JobLevels {
  LevelDefinition definition = LevelDefinition::kAssay;
  WindowSource window_source = WindowSource::kWholeTrace;
  std::string window_evidence = {};  // of the first rank
  std::vector<std::string> op_names;
  std::vector<LevelCell> cells;
  std::vector<LevelKernelCell> kernels;
  std::vector<LevelSpan> spans;
  std::vector<JobGpu> gpus;
  std::vector<JobIteration> iterations;  // without what lies outside all
  CauseTimes idle_ns{};                  // as BreakdownReport
  PlacementStats placement;
  std::vector<LayerStack> stacks;  // of all ranks, by name
  Alignment alignment;
  std::vector<Arrivals> arrivals;          // per GPU
  std::vector<Arrivals> arrivals_by_kind;  // per GPU, phase and kind
  CounterJoin counters;                    // of all ranks that have some
  uint64_t ranks = 0;
  TrustNotes trust;
};

// Independent of the order of `ranks`. GPUs are numbered by rank if every rank is known, unique and
// has one device. For a single trace they are numbered as recorded. Otherwise the number is the
// index in that order.
JobLevels combine_ranks(std::vector<RankLevels> ranks);

}  // namespace assay
