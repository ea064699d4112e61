#pragma once

// Finds the ranks, sets and links that slow a job, by comparing explanations ("stories") of the
// recorded waiting.
//
// Problem: every rank waits for the slowest. A slow device, a slow host, more work and a slow link
// look alike in a collective. Method: a segment of local work is compared with the median of the
// ranks that do the same at the same position. A transfer is compared with those of similar groups.
// An excess beyond chance is a candidate. Replays of the whole job with typical values give its
// cost, alone and on top of all others. Replays of a typical job with one candidate give the odds:
// the better they match the recorded waiting, the likelier the candidate.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "job/job_graph.h"

namespace assay {

enum class StoryKind : uint8_t {
  kDevice,  // kernels take longer
  kWork,    // a larger share of work that the ranks exchange (experts, pipeline stages)
  kHost,    // the host takes longer
  kAll,     // one iteration contains work on all ranks that other iterations lack
  kLink,    // transfers of a group take longer
};

// Ranks that share a node, a process group, ...
struct StorySet {
  std::string kind;  // node, group, ...
  std::string name;
  std::vector<uint32_t> ranks;  // indices into JobGraph::folds, ascending
};

struct StoryFinding {
  StoryKind kind = StoryKind::kDevice;
  std::string set_kind = {};  // kind of a set; empty for single ranks
  std::string set_name = {};
  std::vector<uint32_t> ranks = {};      // for links, the ranks that they connect
  std::vector<uint32_t> groups = {};     // for links, indices into JobGraph::groups
  double factor = 1;                     // local work or transfer over the typical one
  uint32_t peers = 0;                    // ranks (for links, groups) behind the typical value
  bool pauses = false;                   // host stalls: few points have most of the excess
  uint32_t places = 0;                   // points with over a quarter of longest_ns: the stalls
  int64_t longest_ns = 0;                // longest stall beyond typical
  std::vector<int32_t> iterations = {};  // iterations with a large excess; empty = all
  std::string what = {};                 // operation with at least 60 % of the excess; empty = none
  int64_t excess_ns = 0;                 // beyond typical, summed
  // Each in [0, span].
  int64_t saved_ns = 0;        // span with all other findings cured, minus span with all cured
  int64_t saved_alone_ns = 0;  // span as recorded, minus span with only this one cured

  // Solver state: graph points and collectives that the cure changes.
  std::vector<uint32_t> points = {};
  std::vector<uint32_t> meetings = {};
};

struct JobSolution {
  int64_t span_ns = 0;
  int64_t usual_span_ns = 0;  // span with all work and all transfers typical, at most span_ns
  int64_t saved_ns =
      0;  // saved with all findings cured, if waits for missing ranks take their typical time
  int64_t least_saved_ns = 0;  // the same if waits for missing ranks keep their length
  int64_t absent_ns = 0;       // saved if collectives with missing ranks were like the fastest 10 %
  std::vector<StoryFinding> findings;  // by the larger of saved_ns and saved_alone_ns, descending
  std::vector<int64_t> excess_ns;      // per rank: local work beyond typical, device and host
  std::vector<std::map<int32_t, int64_t>> above_ns;  // per rank and iteration: the same, at least 0
  std::vector<float> scores;    // per rank: local work / typical - 1; NaN if it is not compared
  std::vector<uint32_t> peers;  // per rank: median number of ranks with the same work, itself too
  uint64_t uncompared = 0;      // number of ranks without peers
  double explained = 0;         // 1 - misfit of the best story / misfit without any finding
  // The next best story and the odds against it: 3 means three to one.
  std::string rival = {};
  std::vector<uint32_t> rival_ranks = {};
  bool rival_link = false;
  double odds = 1000;
  uint64_t identity_errors = 0;

  static constexpr double kLeastOdds = 3;
  bool decided() const { return odds >= kLeastOdds; }
  // True if over 5 % of `saved_ns` depends on how long ranks would wait for missing ranks.
  bool saves_a_range() const { return 20 * (saved_ns - least_saved_ns) > saved_ns; }
};

// sets: larger ones first. Only sets of at least two ranks and fewer than all become findings.
JobSolution solve_job(const JobGraph& graph, const std::vector<StorySet>& sets);

}  // namespace assay
