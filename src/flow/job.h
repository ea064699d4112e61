#pragma once

// Several ranks as one graph: each rank's own dependency graph, joined at collectives. A rank's
// part in a collective ends when all ranks have arrived and the transfer is over; all other lags
// stay. Replays compute when the job would end with other durations of the ranks' own work.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/intervals.h"
#include "flow/causes.h"
#include "flow/graph.h"
#include "flow/meetings.h"
#include "flow/run.h"
#include "trace/iterations.h"

namespace assay {

constexpr uint32_t kNoWork = UINT32_MAX;

// An edge of a rank's graph: the target happens no earlier than fixed_ns + own_ns after its source.
struct RankEdge {
  uint32_t source = kNoPoint;  // an earlier point; kNoPoint = begin of the rank's run
  uint32_t work = kNoWork;     // index into RankGraph::works: the work that own_ns is part of
  int64_t fixed_ns = 0;
  int64_t own_ns = 0;
};

// Identifies a work item by names from the trace.
struct WorkName {
  bool host = false;                      // else device work
  FlowCause cause = FlowCause::kHostGap;  // of host work: the cause of most of its time
  WorkKind kind = WorkKind::kCompute;     // of device work
  std::string name = {};                  // operator, call, frame or kernel; may be empty
  friend std::strong_ordering operator<=>(const WorkName&, const WorkName&) = default;
};

// A work item of a rank: device work other than communication, or host time between two launches.
struct OwnWork {
  uint64_t match = 0;      // equal on ranks for the same work item of the same program
  uint32_t name = 0;       // index into RankGraph::names
  int32_t iteration = -1;  // as numbered by a label; -1 = unknown
  int64_t ns = 0;
};

// Position of a part in a collective in the rank's graph. Same order as RankParts::parts.
struct RankPart {
  uint32_t begin = kNoPoint;
  uint32_t end = kNoPoint;
  uint32_t device = 0;    // index into RankGraph::exposed
  int64_t bytes = -1;     // of the larger side; -1 = unknown
  int64_t elements = -1;  // of the larger side, even if its byte size is unknown; -1 = unknown
  int64_t members = 0;    // ranks of the process group; 0 = unknown
  bool uneven = false;    // input and output sizes differ, as in an uneven all-to-all
};

// What is kept of a rank after its trace is unloaded. Points are in topological order.
struct RankGraph {
  std::string file = {};
  std::optional<int64_t> rank = {};
  std::optional<int64_t> world_size = {};
  int64_t device = 0;            // of its first work, as recorded
  std::string device_name = {};  // name of that device; may be empty
  int64_t start_ns = 0;
  std::vector<int64_t> time_ns = {};      // per point, as recorded
  std::vector<uint32_t> first_edge = {};  // per point, plus one
  std::vector<RankEdge> edges = {};
  std::vector<bool> ends = {};  // per point: the run may end with it
  std::vector<OwnWork> works = {};
  std::vector<WorkName> names = {};
  RankParts parts = {};
  std::vector<RankPart> part_points = {};
  // Per device: intervals in its window in which only communication ran.
  std::vector<std::vector<Interval>> exposed = {};

  size_t points() const { return time_ns.size(); }
};

// windows: the analyzed window per device of the run. steps: iterations, of which only label
// numbers are comparable across ranks; may be null.
RankGraph make_rank_graph(const FlowRun& run, const FlowGraph& graph,
                          const std::vector<DeviceFlow>& devices, std::span<const Interval> windows,
                          const Windows* steps = nullptr);

// Contracts points that depend on only one other point. Every replay gives the same ends of runs
// and times of parts. make_rank_graph already does this.
void slim_rank_graph(RankGraph& graph);

// A rank's arrival at a collective and departure from it, by the common clock.
struct JobVisit {
  uint32_t rank = 0;
  uint32_t part = 0;   // index into RankParts::parts
  uint32_t begin = 0;  // points of the job, i.e. over all ranks
  uint32_t end = 0;
  int64_t transfer_ns = 0;  // from the last arrival to the end of this part
};
struct JobMeeting {
  uint32_t group = 0;  // index into Job::groups()
  int64_t last_ns = 0;
  bool complete = true;  // all ranks of the process group are in the job, as far as known
  bool joined = true;  // false: it contradicts another one, so its ranks do not wait for each other
  // Parts that wait for all; a part that ended before the last arrival is left out.
  std::vector<JobVisit> visits;
};

// Other durations for a replay. Empty vectors: as recorded.
struct JobEdit {
  std::vector<int64_t> work_ns = {};      // per work of the job; -1 = as recorded
  std::vector<int64_t> transfer_ns = {};  // per meeting; -1 = as recorded
  bool apart = false;                     // no rank waits for another
};

// Whether the ranks share one clock, or have clocks that collectives must align.
enum class Clocks : uint8_t { kAlign, kCommon };

// Offsets of the ranks' clocks from a common one, from collectives in which all ranks wait. Sends
// and receives join parts of the job without common collectives.
struct JobClocks {
  std::vector<int64_t> offsets_ns;  // per rank: its clock minus the common one
  int64_t residual_ns = 0;          // 95th percentile; 0 if nothing was aligned
  bool aligned = false;             // if false, waiting cannot be determined
};
JobClocks job_clocks(const Meetings& found, size_t ranks);

class Job {
 public:
  explicit Job(std::vector<RankGraph> ranks, Clocks clocks = Clocks::kAlign);

  const std::vector<RankGraph>& ranks() const { return ranks_; }
  const std::vector<JobMeeting>& meetings() const { return meetings_; }
  const std::vector<CollectiveGroup>& groups() const { return groups_; }
  uint64_t unmatched() const { return unmatched_; }
  uint64_t cut() const { return cut_; }  // meetings with joined == false
  const std::vector<int64_t>& offsets_ns() const { return offsets_; }
  // 95th percentile of the clock residuals; 0 if nothing was aligned.
  int64_t clock_residual_ns() const { return residual_ns_; }
  // True if the ranks' clocks were aligned. Otherwise waiting cannot be determined.
  bool aligned() const { return aligned_; }
  size_t works() const { return work_base_.back(); }
  const OwnWork& work(size_t w) const {
    return ranks_[rank_of_work_[w]].works[w - work_base_[rank_of_work_[w]]];
  }
  uint32_t rank_of_work(size_t w) const { return rank_of_work_[w]; }

  // Per rank: ns from the earliest begin of all ranks to the end of its run.
  std::vector<int64_t> ends_ns(const JobEdit& edit) const;
  // Time in ns until the last rank ends. If some ranks take part in collectives, ranks that take
  // part in none do not count: nothing shortens their waiting.
  int64_t makespan_ns(const JobEdit& edit) const;
  // Number of points that a replay without edits gets wrong; must be 0.
  uint64_t identity_errors() const;

 private:
  struct Stretch {  // points [first, last) of one rank, as points of the job
    uint32_t rank = 0;
    uint32_t first = 0;
    uint32_t last = 0;
  };

  void align(Clocks clocks);
  void join(const Meetings& found);
  void order();
  std::vector<int64_t> replay(const JobEdit& edit) const;

  std::vector<RankGraph> ranks_;
  std::vector<CollectiveGroup> groups_;
  std::vector<JobMeeting> meetings_;
  std::vector<int64_t> offsets_;
  std::vector<uint32_t> point_base_;
  std::vector<size_t> work_base_;
  std::vector<uint32_t> rank_of_work_;
  // Per point of the job: 2 * meeting, plus 1 at the end of a part; kNoPoint = none.
  std::vector<uint32_t> meeting_at_;
  std::vector<int64_t> transfer_at_;  // per point: JobVisit::transfer_ns at ends of visits
  std::vector<Stretch> order_;
  std::vector<bool> meets_;  // per rank: takes part in a meeting; empty: not aligned
  int64_t start_ns_ = 0;
  int64_t residual_ns_ = 0;
  uint64_t unmatched_ = 0;
  uint64_t cut_ = 0;
  bool aligned_ = false;
};

}  // namespace assay
