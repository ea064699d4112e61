#pragma once

// The findings of the job solver as rows, with the values that tables show per rank.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/histogram.h"
#include "base/result.h"
#include "job/clocks.h"
#include "job/job.h"
#include "job/sets.h"
#include "job/solve.h"

namespace assay {

// Host stalls of a rank, or of a set of ranks that stall in the same iterations; kAll: all ranks
// stall in one iteration.
enum class FindingKind : uint8_t { kRank, kPauses, kSet, kLinks, kAll };

// A rank that has fewer of the iterations that at least half of the ranks have.
struct FleetShortRank {
  uint32_t rank = 0;
  uint32_t iterations = 0;
};

struct FleetFinding {
  FindingKind kind = FindingKind::kRank;
  std::string set_kind = {};  // node, pod, group, ...; empty for a single rank
  std::string set_name = {};
  std::vector<uint32_t> ranks =
      {};  // ranks of the local compute; for links, the ranks that they connect
  // Excess over typical; for host stalls the longest, in iterations.
  double score = 0;
  uint32_t peers = 0;     // ranks that it was compared with
  uint32_t hits = 0;      // number of iterations with host stalls
  int32_t first_hit = 0;  // iterations with the first and the last host stall
  int32_t last_hit = 0;
  int64_t kernel_excess_ns = 0;  // local kernel time beyond typical
  int64_t other_excess_ns = 0;   // local host time beyond typical
  int64_t link_excess_ns = 0;    // transfers beyond typical
  int64_t saved_ns = 0;          // as StoryFinding
  int64_t saved_alone_ns = 0;
};

// Kind of collective and size of its group in ranks; -1 = unknown.
using KindAndSize = std::pair<std::string, int64_t>;

struct FleetFindings {
  JobSolution solution;
  FleetClocks clocks;
  std::vector<FleetFinding> worst;  // the solver's findings, in its order
  int64_t saved_by_rest_ns = 0;     // further saving without any other variation of ranks or links
  // [rank][iteration], flattened, one column per FleetJob::columns: local compute time beyond
  // typical, at least 0; -1 = no collective recorded.
  std::vector<int64_t> cells_ns;
  size_t iterations = 0;          // number of compared iterations, the first of FleetJob::columns
  int64_t iteration_ns = 0;       // span / iterations; 0 without iterations
  uint32_t usual_iterations = 0;  // number of iterations that at least half of the ranks have
  std::vector<FleetShortRank> short_ranks;
  std::map<KindAndSize, Histogram> transfers;  // of matched collectives

  int64_t span_ns() const { return solution.span_ns; }
  // Sum of the rank's cells_ns, missing ones as 0.
  int64_t rank_excess_ns(uint32_t rank) const;
};

// folds: one per rank, in the order of job.ranks, after cut_to_fit; no points = not recorded. Fills
// matched, unmatched, contradicting and ambiguous_groups of job.counts. Fails if the folds have
// more than kMostPoints points.
Result<FleetFindings> find_in_fleet(FleetJob& job, const FleetSets& sets,
                                    std::vector<RankFold> folds);

}  // namespace assay
