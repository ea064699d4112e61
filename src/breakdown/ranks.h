#pragma once

// Combines many ranks: a summary of each, kept after its trace is freed, and the result for the
// job. Clocks are aligned on collectives, which shows the last rank to arrive.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "breakdown/breakdown.h"
#include "breakdown/counters.h"

namespace assay {

// Summary of a rank: sums and collectives, without rows.
struct RankLevels {
  std::string file;
  std::optional<int64_t> rank;
  std::optional<int64_t> world_size;
  BreakdownReport report;  // without rows
  CounterJoin counters;    // empty without counter runs
};
// `named_rank`: rank in the file name, -1 = none; used if the trace does not record its rank.
RankLevels summarize_rank(const Trace& trace, int64_t named_rank, BreakdownReport report);

// The part of a rank that comparisons need: cells summed over phases, iterations and layers, no
// kernels. Only spans and collectives grow with the number of iterations.
RankLevels rank_outline(const RankLevels& rank);

// One GPU of the job, over all iterations.
struct JobGpu {
  int64_t gpu = 0;  // GPU number of the job, used in all tables
  std::optional<int64_t> rank;
  int64_t device = 0;  // as recorded in its trace
  std::string file;
  // Last end - first start of its compute kernels, minus unrecorded time.
  int64_t span_ns = 0;
  int64_t comm_outside_ns = 0;  // collectives and copies before or after that span
  int64_t copy_outside_ns = 0;
  LevelSums compute;
  int64_t comm_ns = 0;
  int64_t exposed_comm_ns = 0;
  // span - (duration - concurrent + time between kernels). Always 0 with Assay's definitions; the
  // published tool's do not add up.
  int64_t closure_ns = 0;
  // Its kernel time / median of the other GPUs; NaN if there is none to compare with.
  double compute_ratio = std::numeric_limits<double>::quiet_NaN();
  // Among its longer operations, the one with the largest ratio to the median of the other GPUs.
  std::string slowest_op;
  double slowest_op_ratio = std::numeric_limits<double>::quiet_NaN();
  int64_t token_group = 0;  // the first GPU that processes the same tokens
                            // (breakdown/token_groups.h)
};

// Tokens that the job processes per iteration. GPUs that process the same tokens count once.
struct JobIteration {
  int32_t iter = kNoIteration;
  std::optional<int64_t> tokens;  // nullopt if unknown for some GPU
  int64_t longest_span_ns = 0;    // over its GPUs
  double tokens_per_s = std::numeric_limits<double>::quiet_NaN();  // tokens / longest span
};

struct ClockOffset {
  int64_t gpu = 0;
  int64_t offset_ns = 0;  // its clock minus the common clock
  uint64_t collectives = 0;
};

struct Alignment {
  uint64_t matched = 0;    // collectives found on all participating ranks
  uint64_t unmatched = 0;  // collectives of groups with unequal number or order across ranks
  uint64_t used = 0;       // matched collectives with ends used for alignment
  std::vector<std::string> unused_kinds;  // kinds of the other matched ones, which a rank may leave
                                          // early
  std::vector<ClockOffset> offsets;
  double residual_p50_ns = 0;  // |end - offset - median end|; NaN when nothing was aligned
  double residual_p95_ns = 0;
  double residual_max_ns = 0;
};

// Arrival of one GPU at collectives, after alignment.
struct Arrivals {
  int64_t gpu = 0;
  std::string kind;  // of collective; empty = all
  LevelPhase phase = LevelPhase::kNone;
  uint64_t collectives = 0;
  uint64_t last = 0;         // number of times it arrived last
  double lag_median_ns = 0;  // start minus median start; negative = early
  int64_t waited_ns = 0;     // total time from its start to the last rank's start
  // Total delay after the second-to-last arrival. Not a measure of responsibility: two stragglers
  // hide each other, and a rank may only propagate another's delay (flow/blame.h).
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
  std::vector<JobIteration> iterations;  // without activity outside every iteration
  CauseTimes idle_ns{};                  // as in BreakdownReport
  PlacementStats placement;
  std::vector<LayerStack> stacks;  // of all ranks, by name
  Alignment alignment;
  std::vector<Arrivals> arrivals;          // per GPU
  std::vector<Arrivals> arrivals_by_kind;  // per GPU, phase and kind
  CounterJoin counters;                    // over all ranks with counter runs
  uint64_t ranks = 0;
  TrustNotes trust;
};

// The result does not depend on the order of `ranks`. GPUs are numbered by rank if every rank is
// known, unique and has one device. A single trace keeps its device numbers. Otherwise GPUs are
// numbered consecutively in a fixed order of the ranks.
JobLevels combine_ranks(std::vector<RankLevels> ranks);

}  // namespace assay
