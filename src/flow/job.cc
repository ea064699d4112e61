#include "flow/job.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace assay {
namespace {

// own_ns scaled by new_ns / whole_ns. Exact if own_ns is all of it.
int64_t scaled_part(int64_t own_ns, int64_t new_ns, int64_t whole_ns) {
  if (own_ns == whole_ns) return new_ns;
  if (whole_ns <= 0) return own_ns;
  const double factor = static_cast<double>(new_ns) / static_cast<double>(whole_ns);
  return static_cast<int64_t>(static_cast<double>(own_ns) * factor);
}

// True if no participant is missing. If the group's size is unknown, it may be the whole job.
bool is_complete(const std::vector<RankGraph>& ranks, const Meeting& meeting) {
  if (!meeting.whole) return false;
  for (const Visit& visit : meeting.visits) {
    const RankGraph& rank = ranks[visit.rank];
    const int64_t told = rank.part_points[visit.part].members;
    const int64_t members = told > 0 ? told : rank.world_size.value_or(0);
    if (std::cmp_less(meeting.visits.size(), members)) return false;
  }
  return true;
}

// Connected components of ranks over `meetings`: per rank the lowest rank of its component.
std::vector<uint32_t> parts_of(const std::vector<const Meeting*>& meetings, size_t ranks) {
  std::vector<uint32_t> part(ranks);
  std::iota(part.begin(), part.end(), 0U);
  const auto root = [&part](uint32_t r) {
    while (part[r] != r) r = part[r] = part[part[r]];
    return r;
  };
  for (const Meeting* meeting : meetings) {
    for (const Visit& visit : meeting->visits) {
      const uint32_t a = root(meeting->visits.front().rank);
      const uint32_t b = root(visit.rank);
      part[std::max(a, b)] = std::min(a, b);
    }
  }
  for (uint32_t r = 0; r < ranks; ++r) part[r] = root(r);
  return part;
}

// Clock differences between two components of a job, from sends and receives.
struct ClockTie {
  std::vector<int64_t> apart_ns;  // end of one side minus end of the other
  std::vector<const Meeting*> pairs;

  // True if the clocks agree. Both sides of a transfer end together, or the sender slightly
  // earlier. A sender that need not wait ends at any earlier time: then the difference varies.
  bool agrees() const { return std::abs(middle_of(apart_ns)) <= kAgreeNs; }
  bool ties() const {
    return tight() || (enough() && spread_ns() * 5 <= std::abs(middle_of(apart_ns)));
  }
  // Both sides end together each time: that gives the difference more exactly than agrees().
  bool tight() const {
    constexpr int64_t kTightNs = 3'000;
    return enough() && spread_ns() <= kTightNs;
  }
  bool enough() const {
    constexpr size_t kLeastPairs = 3;
    return pairs.size() >= kLeastPairs;
  }
  int64_t spread_ns() const {
    const int64_t middle_ns = middle_of(apart_ns);
    std::vector<int64_t> spread;
    for (const int64_t ns : apart_ns) spread.push_back(std::abs(ns - middle_ns));
    return middle_of(std::move(spread));
  }

  static constexpr int64_t kAgreeNs = 100'000;
};

// Clock differences by pair of components that sends and receives connect.
std::map<std::pair<uint32_t, uint32_t>, ClockTie> clock_ties(const Meetings& found,
                                                             const std::vector<uint32_t>& part,
                                                             const std::vector<int64_t>& offsets) {
  std::map<std::pair<uint32_t, uint32_t>, ClockTie> ties;
  for (const Meeting& meeting : found.all) {
    if (meeting.group.all_wait || meeting.visits.size() != 2) continue;
    const Visit* one = &meeting.visits[0];
    const Visit* other = &meeting.visits[1];
    if (part[one->rank] == part[other->rank]) continue;
    if (part[one->rank] > part[other->rank]) std::swap(one, other);
    ClockTie& tie = ties[{part[one->rank], part[other->rank]}];
    tie.apart_ns.push_back(one->end_ns - offsets[one->rank] -
                           (other->end_ns - offsets[other->rank]));
    tie.pairs.push_back(&meeting);
  }
  return ties;
}

}  // namespace

JobClocks job_clocks(const Meetings& found, size_t ranks) {
  JobClocks clocks;
  std::vector<const Meeting*> sure = clock_meetings(found);
  clocks.offsets_ns = clock_offsets(sure, ranks);
  clocks.aligned = !sure.empty();
  const std::vector<uint32_t> part = parts_of(sure, ranks);
  const auto ties = clock_ties(found, part, clocks.offsets_ns);
  bool moves = false;
  for (const auto& [ends, tie] : ties) {
    clocks.aligned |= tie.agrees() || tie.ties();
    moves |= tie.tight() || (tie.ties() && !tie.agrees());
  }
  // Components that agree with a shifted one shift with it.
  for (const auto& [ends, tie] : ties) {
    if (moves && tie.ties()) sure.insert(sure.end(), tie.pairs.begin(), tie.pairs.end());
  }
  if (moves) clocks.offsets_ns = clock_offsets(sure, ranks);
  const std::vector<int64_t> residuals = clock_residuals(sure, clocks.offsets_ns);
  if (!residuals.empty()) clocks.residual_ns = residuals[(residuals.size() - 1) * 95 / 100];
  return clocks;
}

Job::Job(std::vector<RankGraph> ranks, Clocks clocks) : ranks_(std::move(ranks)) {
  point_base_.push_back(0);
  work_base_.push_back(0);
  for (uint32_t r = 0; r < ranks_.size(); ++r) {
    const RankGraph& rank = ranks_[r];
    point_base_.push_back(point_base_.back() + static_cast<uint32_t>(rank.points()));
    work_base_.push_back(work_base_.back() + rank.works.size());
    rank_of_work_.resize(work_base_.back(), r);
  }
  meeting_at_.assign(point_base_.back(), kNoPoint);
  transfer_at_.assign(point_base_.back(), 0);
  align(clocks);
  order();
}

void Job::align(Clocks clocks) {
  std::vector<const RankParts*> parts;
  for (const RankGraph& rank : ranks_) parts.push_back(&rank.parts);
  const Meetings found = match_meetings(parts);
  unmatched_ = found.unmatched;
  const bool common = clocks == Clocks::kCommon;
  const JobClocks clocks_found = common ? JobClocks{std::vector<int64_t>(ranks_.size(), 0), 0, true}
                                        : job_clocks(found, ranks_.size());
  offsets_ = clocks_found.offsets_ns;
  residual_ns_ = clocks_found.residual_ns;
  aligned_ = clocks_found.aligned;
  start_ns_ = INT64_MAX;
  for (size_t r = 0; r < ranks_.size(); ++r) {
    if (ranks_[r].points() == 0) continue;
    start_ns_ = std::min(start_ns_, ranks_[r].start_ns - offsets_[r]);
  }
  if (start_ns_ == INT64_MAX) start_ns_ = 0;
  if (aligned_) join(found);
}

void Job::join(const Meetings& found) {
  std::map<CollectiveGroup, uint32_t> groups;
  meets_.assign(ranks_.size(), found.all.empty());
  for (const Meeting& meeting : found.all) {
    const auto [group, is_new] =
        groups.try_emplace(meeting.group, static_cast<uint32_t>(groups_.size()));
    if (is_new) groups_.push_back(meeting.group);
    const auto number = static_cast<uint32_t>(meetings_.size());
    JobMeeting& joined = meetings_.emplace_back();
    joined.group = group->second;
    joined.last_ns = INT64_MIN;
    joined.complete = is_complete(ranks_, meeting);
    for (const Visit& visit : meeting.visits) {
      joined.last_ns = std::max(joined.last_ns, visit.start_ns - offsets_[visit.rank]);
    }
    for (const Visit& visit : meeting.visits) {
      meets_[visit.rank] = true;
      const RankPart& part = ranks_[visit.rank].part_points[visit.part];
      const uint32_t base = point_base_[visit.rank];
      const int64_t transfer_ns = visit.end_ns - offsets_[visit.rank] - joined.last_ns;
      meeting_at_[base + part.begin] = 2 * number;
      // A rank that left before the last arrival waited for nobody, if its collective allows that.
      if (transfer_ns < 0 && !meeting.group.all_wait) continue;
      meeting_at_[base + part.end] = 2 * number + 1;
      transfer_at_[base + part.end] = transfer_ns;
      joined.visits.push_back(
          {visit.rank, visit.part, base + part.begin, base + part.end, transfer_ns});
    }
  }
}

// Orders points for replays: each rank advances until it would leave a collective at which not all
// have arrived. If all ranks are stuck, recorded times contradict each other: the earliest meeting
// is split.
void Job::order() {
  std::vector<uint32_t> at(point_base_.begin(), point_base_.end() - 1);
  std::vector<uint32_t> to_come(meetings_.size(), 0);
  for (const uint32_t mark : meeting_at_) {
    if (mark != kNoPoint && mark % 2 == 0) ++to_come[mark / 2];
  }
  const auto advance = [&](uint32_t r) {
    const uint32_t first = at[r];
    for (; at[r] < point_base_[r + 1]; ++at[r]) {
      const uint32_t mark = meeting_at_[at[r]];
      if (mark == kNoPoint) continue;
      if (mark % 2 == 0) {
        --to_come[mark / 2];
      } else if (to_come[mark / 2] > 0 && meetings_[mark / 2].joined) {
        break;
      }
    }
    if (at[r] > first) order_.push_back({r, first, at[r]});
    return at[r] > first;
  };
  for (;;) {
    bool moved = false;
    uint32_t earliest = kNoPoint;
    for (uint32_t r = 0; r < ranks_.size(); ++r) moved = advance(r) || moved;
    if (moved) continue;
    for (uint32_t r = 0; r < ranks_.size(); ++r) {
      if (at[r] == point_base_[r + 1]) continue;
      const uint32_t meeting = meeting_at_[at[r]] / 2;
      if (earliest == kNoPoint || meetings_[meeting].last_ns < meetings_[earliest].last_ns) {
        earliest = meeting;
      }
    }
    if (earliest == kNoPoint) return;
    meetings_[earliest].joined = false;
    ++cut_;
  }
}

std::vector<int64_t> Job::replay(const JobEdit& edit) const {
  std::vector<int64_t> times(point_base_.back());
  std::vector<int64_t> came(meetings_.size(), INT64_MIN);
  const bool edited = !edit.work_ns.empty();
  for (const Stretch& stretch : order_) {
    const RankGraph& rank = ranks_[stretch.rank];
    const uint32_t base = point_base_[stretch.rank];
    const size_t works = work_base_[stretch.rank];
    const int64_t begin_ns = rank.start_ns - offsets_[stretch.rank];
    for (uint32_t p = stretch.first; p < stretch.last; ++p) {
      const uint32_t first = rank.first_edge[p - base];
      const uint32_t last = rank.first_edge[p - base + 1];
      int64_t time_ns = INT64_MIN;
      const uint32_t mark = meeting_at_[p];
      const bool leaves = mark != kNoPoint && mark % 2 == 1 && meetings_[mark / 2].joined;
      for (uint32_t e = first; e < last; ++e) {
        const RankEdge& edge = rank.edges[e];
        const int64_t from_ns = edge.source == kNoPoint ? begin_ns : times[base + edge.source];
        if (leaves) {
          const int64_t new_ns = edit.transfer_ns.empty() ? -1 : edit.transfer_ns[mark / 2];
          const int64_t all_ns = edit.apart ? from_ns : came[mark / 2];
          time_ns = std::max({time_ns, from_ns, all_ns + (new_ns < 0 ? transfer_at_[p] : new_ns)});
          continue;
        }
        int64_t own_ns = edge.own_ns;
        if (edited && edge.work != kNoWork) {
          const int64_t new_ns = edit.work_ns[works + edge.work];
          if (new_ns >= 0) own_ns = scaled_part(own_ns, new_ns, rank.works[edge.work].ns);
        }
        time_ns = std::max(time_ns, from_ns + edge.fixed_ns + own_ns);
      }
      times[p] = time_ns;
      if (mark != kNoPoint && mark % 2 == 0) came[mark / 2] = std::max(came[mark / 2], time_ns);
    }
  }
  return times;
}

std::vector<int64_t> Job::ends_ns(const JobEdit& edit) const {
  const std::vector<int64_t> times = replay(edit);
  std::vector<int64_t> ends;
  for (size_t r = 0; r < ranks_.size(); ++r) {
    int64_t end_ns = start_ns_;
    for (size_t p = 0; p < ranks_[r].points(); ++p) {
      if (ranks_[r].ends[p]) end_ns = std::max(end_ns, times[point_base_[r] + p]);
    }
    ends.push_back(end_ns - start_ns_);
  }
  return ends;
}

int64_t Job::makespan_ns(const JobEdit& edit) const {
  int64_t makespan_ns = 0;
  const std::vector<int64_t> ends = ends_ns(edit);
  for (size_t r = 0; r < ends.size(); ++r) {
    if (meets_.empty() || meets_[r]) makespan_ns = std::max(makespan_ns, ends[r]);
  }
  return makespan_ns;
}

uint64_t Job::identity_errors() const {
  const std::vector<int64_t> times = replay({});
  uint64_t wrong = 0;
  for (size_t r = 0; r < ranks_.size(); ++r) {
    for (size_t p = 0; p < ranks_[r].points(); ++p) {
      wrong += times[point_base_[r] + p] != ranks_[r].time_ns[p] - offsets_[r];
    }
  }
  return wrong;
}

}  // namespace assay
