#pragma once

// All ranks of a job as one graph: their folds (flow/rank_fold.h), joined at collectives. The time
// of a point is the maximum over its edges of time(source) + device + host + fixed. A rank leaves a
// collective at the latest arrival + transfer + its own extra time. The recorded values reproduce
// every recorded time. One replay evaluates kQuestions what-if questions.

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "flow/rank_fold.h"

namespace assay {

constexpr size_t kQuestions = 8;
constexpr uint32_t kNoMeet = UINT32_MAX;

// A collective or transfer of ranks that waited for each other. If members are missing from the
// job, the transfer may include waiting for them, and there may be only one rank.
struct GraphMeeting {
  uint32_t group = 0;            // into JobGraph::groups
  int64_t elements = -1;         // of the larger side; -1 = not recorded
  std::vector<uint32_t> begins;  // points at which each rank arrives
  std::vector<uint32_t> ends;    // points at which ranks leave that waited for all
  std::vector<uint32_t> ranks;   // indices into JobGraph::folds, parallel to begins
  bool complete = true;          // all recorded members of the group are in the job
  int64_t last_ns = 0;           // arrival of the last rank, on the common clock
  int64_t transfer_ns = 0;       // from last_ns to the first end
};

struct GraphGroup {
  CollectiveGroup group;
  int64_t recorded = 0;         // members as recorded; 0 = not recorded
  int64_t members = 0;          // larger of `recorded` and the most ranks in one collective
  std::vector<uint32_t> ranks;  // ranks in any of its collectives, ascending
};

// Values that the questions of a replay change. Bit q of a mask belongs to question q; an empty
// vector changes nothing.
struct GraphAsk {
  std::vector<uint8_t> segments;   // per point: questions in which its work takes its typical time
  std::vector<uint8_t> transfers;  // per collective: likewise its transfer
};
// Typical times: of the local work per point, and of the transfer per collective.
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
  // On the common clock.
  int64_t time_ns(uint32_t p) const { return point(p).time_ns - offsets_[rank_of_[p]]; }
  const std::vector<int64_t>& offsets_ns() const { return offsets_; }
  int64_t start_ns() const { return start_ns_; }
  int64_t span_ns() const { return span_ns_; }  // as recorded
  bool aligned() const { return aligned_; }     // false: clocks unknown, no collectives are joined
  int64_t clock_residual_ns() const { return residual_ns_; }  // p95
  uint64_t matched() const { return matched_; }  // collectives and transfers of two or more ranks
  uint64_t unmatched() const { return unmatched_; }  // parts of ranks in unmatched collectives
  uint64_t cut() const { return cut_; }  // collectives not joined: their order contradicts others
  // Number of groups that more ranks have than they have members; not matched.
  uint64_t ambiguous() const { return ambiguous_; }

  // The job's span in ns for each question. If `times` is given, it receives the time of point p
  // under question q at [p * kQuestions + q].
  std::array<int64_t, kQuestions> replay(const GraphUsual& usual, const GraphAsk& ask,
                                         std::vector<int64_t>* times = nullptr) const;
  // Number of points that differ from their recorded time in an unmodified replay. Any value but 0
  // is a bug.
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
  std::vector<int64_t> part_adds_;  // per end point: time after the collective's first end
  std::vector<uint32_t> sequence_;  // points in topological order
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
