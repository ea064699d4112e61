#pragma once

// Which ranks, nodes and links of a fleet are slower than their like, and what the job's span would
// lose without that.
//
// Problem: every rank of a job waits for the slowest, so that spans and phases are alike on all of
// them. Who comes last is no measure either: a late rank makes the ranks late that it meets next.
// Method: own work is compared with the usual own work at the same place of the same iteration: the
// median over ranks that do the same there, which needs eight of them. Who is slow steadily, now
// and then, as a set, or as a link, is found by tests whose share of false names is held at 5 %
// (Benjamini and Hochberg), each with a least effect. What that costs is what the replay of the
// whole job gives back with the usual values in place of theirs, worst first, each on top of those
// before: two faults may hide each other.
// Effect: docs/measured/job.md.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flow/cause.h"
#include "job/clocks.h"
#include "job/job.h"
#include "job/sets.h"
#include "job/solve.h"
#include "job/what_if.h"

namespace assay {

struct FleetOptions {
  uint32_t least_peers = 8;     // fewer: nobody is called slow, and usual is over iterations
  double false_share = 0.05;    // of names, by family
  double least_slow = 0.02;     // of a rank's own work, and of the median member of a set
  double least_pause = 0.05;    // of an iteration
  double least_link = 0.10;     // of a transfer
  double most_residual = 0.01;  // of the span; beyond it no replay is told
};

// Pauses are of a rank, or of a set whose ranks pause in the same iterations; kAll: all ranks stop
// in one iteration.
enum class FindingKind : uint8_t { kRank, kPauses, kSet, kLinks, kAll };

// A rank that has fewer of the iterations that at least half of the ranks have.
struct FleetShortRank {
  uint32_t rank = 0;
  uint32_t iterations = 0;
};

// Excess work of a finding, exactly split.
struct ExcessSplit {
  int64_t kernel_ns = 0;  // its kernels take longer
  int64_t launch_ns = 0;  // launch overhead
  int64_t copy_ns = 0;
  int64_t rest_ns = 0;  // idle for other reasons
  int64_t total_ns() const { return kernel_ns + launch_ns + copy_ns + rest_ns; }
};

struct FleetFinding {
  FindingKind kind = FindingKind::kRank;
  std::string set_kind = {};  // of sets, their pauses and links: node, pod, group, ...
  std::string set_name = {};
  std::vector<uint32_t> ranks = {};   // whose own work it is; of links the ranks that these join
  std::vector<uint32_t> groups = {};  // of links
  // By how much above usual, in the middle. Of pauses that are told by iteration the longest, in
  // iterations; of others own work in all over usual, beyond what is so in the middle.
  double score = 0;
  double q = 1;        // least share of false names at which it is still named
  uint32_t peers = 0;  // that it was compared with
  uint32_t hits =
      0;  // of pauses: iterations, 0 = now and then in most; of sets: members that are slow
  uint32_t every = 0;     // of pauses that come at one distance: that; else 0
  int32_t first_hit = 0;  // iterations with the first and the last of the pauses
  int32_t last_hit = 0;
  bool at_least = false;    // of a set: part of what is usual is its own, so that it costs more
  double pause = 0;         // of a rank that is slow and pauses: the longest, in iterations
  bool long_only = false;   // of links: short transfers are as usual
  ExcessSplit excess = {};  // of own work
  int64_t link_excess_ns = 0;
  int64_t saved_ns = 0;  // on top of the rows before
  int64_t saved_alone_ns = 0;
  // Of the idle causes of its ranks the one furthest above the others', where one is.
  std::optional<FlowCause> cause = {};
  int64_t cause_excess_ns = 0;
};

struct FleetFindings {
  FleetClocks clocks;
  int64_t span_ns = 0;              // of the replay
  double residual = 0;              // what it misses, of the span
  bool replayed = false;            // false: no saving is told
  std::vector<FleetFinding> worst;  // worst first; at most kMostFindings
  uint64_t more = 0;                // findings beyond these
  int64_t saved_by_worst_ns = 0;    // sum of the rows
  int64_t saved_by_absent_ns = 0;   // on top: what meetings with absent members take beyond usual
  int64_t saved_by_rest_ns = 0;     // on top: all other variation of all ranks and links
  std::vector<float> scores;        // per rank; NaN where it was compared with nobody
  std::vector<uint32_t> peers;  // per rank: that do the same in most iterations, itself included
  // Excess of each rank in each iteration, at least 0: rank by rank. -1 = nothing recorded.
  std::vector<int64_t> cells_ns;
  int64_t iteration_ns = 0;       // span over iterations
  uint64_t few_peers = 0;         // ranks that were compared with nobody
  uint32_t usual_iterations = 0;  // that at least half of the ranks have
  std::vector<FleetShortRank> short_ranks;
  // The solver's result if the records have graphs. `worst` and savings follow from it.
  std::optional<JobSolution> solution;
};
constexpr size_t kMostFindings = 64;

// More ranks are compared by the chains between their collectives, not by their folds.
constexpr size_t kMostSolved = 16384;

// job: as assembled; what it lacks of first begins is filled in. folds: of each rank, in their
// order; none if not recorded, or for more ranks than kMostSolved.
FleetFindings find_in_fleet(FleetJob& job, const FleetSets& sets, const FleetOptions& options,
                            std::vector<RankFold> folds = {});

}  // namespace assay
