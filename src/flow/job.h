#pragma once

// Several ranks as one graph: each rank's own dependency graph, joined where ranks meet. A part in
// a collective ends when all have come and the transfer is over; everything else keeps its lags.
// Replays answer when the job would have ended with other durations of the ranks' own work.

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

// An edge of a rank's graph: the target happens fixed_ns + own_ns after its source at the earliest.
struct RankEdge {
  uint32_t source = kNoPoint;  // an earlier point; kNoPoint = the begin of the rank's run
  uint32_t work = kNoWork;     // into RankGraph::works: what own_ns is part of
  int64_t fixed_ns = 0;
  int64_t own_ns = 0;
};

// What a piece of own work is, in the words of the trace.
struct WorkName {
  bool host = false;                      // else device work
  FlowCause cause = FlowCause::kHostGap;  // of host work: what most of the time went to
  WorkKind kind = WorkKind::kCompute;     // of device work
  std::string name = {};                  // operator, call, frame or kernel; may be empty
  friend std::strong_ordering operator<=>(const WorkName&, const WorkName&) = default;
};

// A piece of a rank's own work: device work that is no communication, or what the host did between
// two launches.
struct OwnWork {
  uint64_t match = 0;      // equal on ranks for what is the same piece of work of the same program
  uint32_t name = 0;       // into RankGraph::names
  int32_t iteration = -1;  // as a label numbers it; -1 = not told
  int64_t ns = 0;
};

// Where a part in a collective lies in the rank's graph. In the order of RankParts::parts.
struct RankPart {
  uint32_t begin = kNoPoint;
  uint32_t end = kNoPoint;
  uint32_t device = 0;    // into RankGraph::exposed
  int64_t bytes = -1;     // of the larger side; -1 = not told
  int64_t elements = -1;  // the same, of which the size need not be told
  int64_t members = 0;    // ranks of the process group; 0 = not told
  bool uneven = false;    // it takes more or less than it gives: of an all-to-all, parts differ
};

// What stays of a rank once its trace is gone. Points are in an order in which edges lead forward.
struct RankGraph {
  std::string file = {};
  std::optional<int64_t> rank = {};
  std::optional<int64_t> world_size = {};
  int64_t device = 0;            // of its first work, as recorded
  std::string device_name = {};  // of that; may be empty
  int64_t start_ns = 0;
  std::vector<int64_t> time_ns = {};      // per point, as recorded
  std::vector<uint32_t> first_edge = {};  // per point + 1
  std::vector<RankEdge> edges = {};
  std::vector<bool> ends = {};  // per point: whether the run may end with it
  std::vector<OwnWork> works = {};
  std::vector<WorkName> names = {};
  RankParts parts = {};
  std::vector<RankPart> part_points = {};
  // Per device: when nothing but communication ran, within the window that is judged.
  std::vector<std::vector<Interval>> exposed = {};

  size_t points() const { return time_ns.size(); }
};

// report's windows: what is judged, per device of the run. steps: iterations, of which only numbers
// that labels gave are the same on all ranks; may be none.
RankGraph make_rank_graph(const FlowRun& run, const FlowGraph& graph,
                          const std::vector<DeviceFlow>& devices, std::span<const Interval> windows,
                          const Windows* steps = nullptr);

// Leaves out points whose time follows from one other point alone: every replay gives the same
// ends of runs and times of parts. make_rank_graph did so already.
void slim_rank_graph(RankGraph& graph);

// How a rank came to a collective, and how it left it: by the common clock.
struct JobVisit {
  uint32_t rank = 0;
  uint32_t part = 0;   // into RankParts::parts
  uint32_t begin = 0;  // points of the job
  uint32_t end = 0;
  int64_t transfer_ns = 0;  // from the last to come to the end of this part
};
struct JobMeeting {
  uint32_t group = 0;  // into Job::groups
  int64_t last_ns = 0;
  bool complete = true;  // all ranks of the process group are in the job, as far as is told
  bool joined = true;  // false: it contradicts another one, and its ranks go on without each other
  std::vector<JobVisit> visits;  // those that wait for all; a part that ended before is no visit
};

// Other durations. Empty vectors: as recorded.
struct JobEdit {
  std::vector<int64_t> work_ns = {};      // per work of the job; -1 = as recorded
  std::vector<int64_t> transfer_ns = {};  // per meeting; -1 = as recorded
  bool apart = false;                     // no rank waits for another one
};

// Whether the ranks' times are of one clock, or of clocks that collectives must bring together.
enum class Clocks : uint8_t { kAlign, kCommon };

// The ranks' clocks against a common one, by collectives in which all wait. Sends and receives join parts of the job
// without common collectives.
struct JobClocks {
  std::vector<int64_t> offsets_ns;  // per rank
  int64_t residual_ns = 0;          // p95; 0 where nothing was aligned
  bool aligned = false;             // else nothing can be said of who waits
};
JobClocks job_clocks(const Meetings& found, size_t ranks);

class Job {
 public:
  explicit Job(std::vector<RankGraph> ranks, Clocks clocks = Clocks::kAlign);

  const std::vector<RankGraph>& ranks() const { return ranks_; }
  const std::vector<JobMeeting>& meetings() const { return meetings_; }
  const std::vector<CollectiveGroup>& groups() const { return groups_; }
  uint64_t unmatched() const { return unmatched_; }
  uint64_t cut() const { return cut_; }  // meetings that are not joined
  const std::vector<int64_t>& offsets_ns() const { return offsets_; }
  // How well the clocks agree: p95 of the residuals; 0 where nothing was aligned.
  int64_t clock_residual_ns() const { return residual_ns_; }
  // Whether the ranks' clocks were brought together: else nothing can be said of who waits.
  bool aligned() const { return aligned_; }
  size_t works() const { return work_base_.back(); }
  size_t work_base(uint32_t rank) const { return work_base_[rank]; }
  const OwnWork& work(size_t w) const {
    return ranks_[rank_of_work_[w]].works[w - work_base_[rank_of_work_[w]]];
  }
  uint32_t rank_of_work(size_t w) const { return rank_of_work_[w]; }

  // When each rank's run ends, after the earliest begin of all.
  std::vector<int64_t> ends_ns(const JobEdit& edit) const;
  // When the last of them ends. A rank that meets none of the others, whose waiting nothing
  // shortens, does not count where others meet.
  int64_t makespan_ns(const JobEdit& edit) const;
  // Points of the replay without edits that are off their recorded time: 0, or there is a bug.
  uint64_t identity_errors() const;

 private:
  struct Stretch {  // points [first, last) of one rank
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
  // Per point of the job: twice its meeting, plus 1 at the end of a part; kNoPoint = none.
  std::vector<uint32_t> meeting_at_;
  std::vector<int64_t> transfer_at_;  // per point: of ends of visits
  std::vector<Stretch> order_;
  std::vector<bool> meets_;  // per rank: takes part in a meeting; empty: nothing was matched
  int64_t start_ns_ = 0;
  int64_t residual_ns_ = 0;
  uint64_t unmatched_ = 0;
  uint64_t cut_ = 0;
  bool aligned_ = false;
};

}  // namespace assay
