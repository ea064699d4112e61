#pragma once

// All ranks of a job as one graph. Collectives join their folds (flow/rank_fold.h).
// The time of a point is the latest over its edges of time(source) + device + host + fixed. A part
// in a collective ends at the latest begin in it + transfer + own extra time. The recorded values
// give every recorded time. One pass answers eight questions.

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "flow/rank_fold.h"

namespace assay {

constexpr size_t kQuestions = 8;
constexpr uint32_t kNoMeet = UINT32_MAX;

// A collective or transfer. Ranks that took part waited for each other. If members are missing in
// the job, its transfer may hold waiting for them. One rank alone may be in it then.
struct GraphMeeting {
  uint32_t group = 0;            // into JobGraph::groups
  int64_t elements = -1;         // of the larger side; -1 = not recorded
  std::vector<uint32_t> begins;  // points of the graph, one a rank
  std::vector<uint32_t> ends;    // of those that waited for all
  std::vector<uint32_t> ranks;   // into JobGraph::folds
  bool complete = true;          // all recorded members of the group are in the job
  int64_t last_ns = 0;           // when the last of them came
  int64_t transfer_ns = 0;       // from then to the first end
};

struct GraphGroup {
  CollectiveGroup group;
  int64_t recorded = 0;         // members as recorded; 0 = not recorded
  int64_t members = 0;          // as recorded, else the most that took part
  std::vector<uint32_t> ranks;  // that met in it, ascending
};

// The question: a bit each.
struct GraphAsk {
  std::vector<uint8_t> segments;   // per point: which segment takes what is typical
  std::vector<uint8_t> transfers;  // per collective: which takes a typical time
};
// Typical times: per point of own work, per collective of its transfer.
struct GraphUsual {
  std::vector<int64_t> work_ns;
  std::vector<int64_t> transfer_ns;
};

class JobGraph {
 public:
  explicit JobGraph(std::vector<RankFold> folds);

  const std::vector<RankFold>& folds() const { return folds_; }
  const std::vector<GraphMeeting>& meetings() const { return meetings_; }
  const std::vector<GraphGroup>& groups() const { return groups_; }
  size_t points() const { return rank_of_.size(); }
  uint32_t base(uint32_t rank) const { return base_[rank]; }
  uint32_t rank_of(uint32_t point) const { return rank_of_[point]; }
  const FoldPoint& point(uint32_t p) const {
    return folds_[rank_of_[p]].points[p - base_[rank_of_[p]]];
  }
  // By the common clock.
  int64_t time_ns(uint32_t p) const { return point(p).time_ns - offsets_[rank_of_[p]]; }
  const std::vector<int64_t>& offsets_ns() const { return offsets_; }
  int64_t start_ns() const { return start_ns_; }
  int64_t span_ns() const { return span_ns_; }  // as recorded
  bool aligned() const { return aligned_; }     // else nothing can be said of who waits
  int64_t clock_residual_ns() const { return residual_ns_; }  // p95
  uint64_t matched() const { return matched_; }  // collectives and transfers of two ranks and more
  uint64_t unmatched() const { return unmatched_; }  // parts
  uint64_t cut() const { return cut_; }  // collectives taken apart: they contradict others
  // Groups that more ranks have than they have members: they are not matched.
  uint64_t ambiguous() const { return ambiguous_; }

  // The job's span for each question. If `times` is given, it gets the time of each point, question
  // by question.
  std::array<int64_t, kQuestions> replay(const GraphUsual& usual, const GraphAsk& ask,
                                         std::vector<int64_t>* times = nullptr) const;
  // Points of a replay without edits that are off their recorded time: 0, or there is a bug.
  uint64_t identity_errors() const;

 private:
  std::vector<RankParts> parts_to_match();
  void match();
  void add_meeting(const CollectiveGroup& group, int64_t members,
                   std::map<CollectiveGroup, uint32_t>& groups, GraphMeeting made);
  void order();

  std::vector<RankFold> folds_;
  std::vector<GraphMeeting> meetings_;
  std::vector<GraphGroup> groups_;
  std::vector<uint32_t> base_;
  std::vector<uint32_t> rank_of_;
  std::vector<uint32_t> end_of_;    // per point: the collective that it ends, or kNoMeet
  std::vector<int64_t> part_adds_;  // per point: of ends, beyond the first end of the collective
  std::vector<uint32_t> sequence_;  // of points
  std::vector<int64_t> offsets_;
  int64_t start_ns_ = 0;
  int64_t span_ns_ = 0;
  int64_t residual_ns_ = 0;
  uint64_t matched_ = 0;
  uint64_t unmatched_ = 0;
  uint64_t cut_ = 0;
  uint64_t ambiguous_ = 0;
  bool aligned_ = false;
};

}  // namespace assay
