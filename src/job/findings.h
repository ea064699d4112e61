#pragma once

// The findings of a job's solver as rows, with what tables show per rank.

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
  std::string set_kind = {};  // of sets, their pauses and links: node, pod, group, ...
  std::string set_name = {};
  std::vector<uint32_t> ranks =
      {};  // ranks of the local compute; for links, the ranks that they connect
  // Excess over typical; for host stalls the longest, in iterations.
  double score = 0;
  uint32_t peers = 0;      // that it was compared with
  uint32_t hits = 0;       // for host stalls: iterations
  int32_t first_hit = 0;   // iterations with the first and the last host stall
  int32_t last_hit = 0;
  int64_t kernel_excess_ns = 0;  // own work beyond typical, of kernels
  int64_t other_excess_ns = 0;   // likewise of the host
  int64_t link_excess_ns = 0;    // transfers beyond typical
  int64_t saved_ns = 0;          // as StoryFinding
  int64_t saved_alone_ns = 0;
};

// Collectives of one kind and size of group: ranks, -1 = not known.
using KindAndSize = std::pair<std::string, int64_t>;

struct FleetFindings {
  JobSolution solution;
  FleetClocks clocks;
  std::vector<FleetFinding> worst;  // the solver's findings, in its order
  int64_t saved_by_rest_ns = 0;     // on top of them: all other variation of all ranks and links
  // Own work of each rank beyond typical in each iteration, at least 0: rank by rank. -1 = nothing
  // recorded.
  std::vector<int64_t> cells_ns;
  size_t iterations = 0;  // that are compared: the first ones of FleetJob::columns
  int64_t iteration_ns = 0;        // span over these
  uint32_t usual_iterations = 0;  // that at least half of the ranks have
  std::vector<FleetShortRank> short_ranks;
  std::map<KindAndSize, Histogram> transfers;  // of matched collectives

  int64_t span_ns() const { return solution.span_ns; }
  // Own work of a rank beyond typical over all iterations.
  int64_t rank_excess_ns(uint32_t rank) const;
};

// folds: of each rank, in their order, as cut_to_fit leaves them; without points: not recorded.
// Fills the counts of the job. Errors: more points than are compared at once.
Result<FleetFindings> find_in_fleet(FleetJob& job, const FleetSets& sets,
                                    std::vector<RankFold> folds);

}  // namespace assay
