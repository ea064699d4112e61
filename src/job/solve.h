#pragma once

// Finds the ranks, sets and links that slow a job, by rival explanations of the recorded waiting.
//
// Problem: every rank waits for the slowest. A slow device, a slow host, more work and a slow link
// look alike in a collective. Method: a segment of own work is compared with the median of ranks
// that do the same at the same place. A transfer is compared with those of similar groups. An
// excess beyond chance is a candidate. Replays of the whole job with typical values give its cost
// alone and on top of all others. Replays of a typical job with one candidate give the odds: the
// better they match the recorded waiting, the likelier the candidate.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "job/job_graph.h"

namespace assay {

enum class StoryKind : uint8_t {
  kDevice,  // kernels take longer
  kWork,    // more work than the others have, of work that the ranks exchange
  kHost,    // the host takes longer
  kAll,     // all ranks do something in one iteration that they do not do in the others
  kLink,    // transfers of a group take longer
};

// Ranks that share something.
struct StorySet {
  std::string kind;  // node, group, ...
  std::string name;
  std::vector<uint32_t> ranks;  // places among the job's ranks, ascending
};

struct StoryFinding {
  StoryKind kind = StoryKind::kDevice;
  std::string set_kind = {};  // of sets; empty for single ranks
  std::string set_name = {};
  std::vector<uint32_t> ranks = {};      // of links those that they join
  std::vector<uint32_t> groups = {};     // of links, into JobGraph::groups
  double factor = 1;                     // own work or transfer over the typical
  uint32_t peers = 0;                    // ranks, of links groups, that typical rests on
  bool pauses = false;                   // stalls: most of it lies in few places
  uint32_t places = 0;                   // number of stalls
  int64_t longest_ns = 0;                // longest stall beyond typical
  std::vector<int32_t> iterations = {};  // in which it lies; empty = in all
  std::string what = {};  // the name with most of the excess, where it has most of it
  int64_t excess_ns = 0;  // beyond typical, summed
  // Each in [0, span].
  int64_t saved_ns = 0;        // with all findings cured against all but this one
  int64_t saved_alone_ns = 0;  // with this one cured against the run as it is

  // As the solver uses it: its segments and its transfers.
  std::vector<uint32_t> points = {};
  std::vector<uint32_t> meetings = {};
};

struct JobSolution {
  int64_t span_ns = 0;
  int64_t usual_span_ns = 0;  // with all work and all transfers at most typical
  int64_t saved_ns =
      0;  // with all findings cured; waits for ranks without a record end as is typical
  int64_t least_saved_ns = 0;  // the same if these waits keep their length
  int64_t absent_ns = 0;       // with transfers of collectives with absent members like the fastest
  std::vector<StoryFinding> findings;  // the one that saves most on top of the others first
  std::vector<int64_t> excess_ns;      // per rank: own work beyond typical, device and host
  std::vector<std::map<int32_t, int64_t>> above_ns;  // per rank and iteration: the same, at least 0
  std::vector<float> scores;    // per rank: own work / typical - 1, NaN if it is not compared
  std::vector<uint32_t> peers;  // per rank: that do the same, itself included, in the middle
  uint64_t uncompared = 0;      // ranks that no others do the same as
  double explained = 0;         // 1 - misfit of the best story / misfit without any finding
  // The story that comes next and the odds against it: 3 means three to one.
  std::string rival = {};
  std::vector<uint32_t> rival_ranks = {};
  bool rival_link = false;
  double odds = 1000;
  uint64_t identity_errors = 0;

  static constexpr double kLeastOdds = 3;
  bool decided() const { return odds >= kLeastOdds; }
  // True if much of `saved_ns` depends on how long ranks would wait for ranks without a record.
  bool saves_a_range() const { return 20 * (saved_ns - least_saved_ns) > saved_ns; }
};

// sets: of at least two ranks and less than all, the larger first.
JobSolution solve_job(const JobGraph& graph, const std::vector<StorySet>& sets);

}  // namespace assay
