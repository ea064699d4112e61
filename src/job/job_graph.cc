#include "job/job_graph.h"

#include <algorithm>
#include <map>
#include <utility>

#include "flow/job.h"

namespace assay {
namespace {

// Converts a fold's parts for match_meetings: within each group, in order of start.
RankParts parts_of(const RankFold& fold) {
  RankParts parts;
  for (const FoldGroup& group : fold.groups) parts.groups.push_back(group.group);
  for (const FoldPart& part : fold.parts) {
    const FoldPoint& begin = fold.points[part.begin];
    parts.parts.push_back({part.group, part.seq, begin.time_ns, fold.points[part.end].time_ns,
                           fold.numbered ? begin.iteration : -1});
  }
  return parts;
}

// Sorts a fold's parts by start, because parts of one group are matched in order.
void sort_parts(RankFold& fold) {
  std::stable_sort(fold.parts.begin(), fold.parts.end(),
                   [&fold](const FoldPart& a, const FoldPart& b) {
                     return fold.points[a.begin].time_ns < fold.points[b.begin].time_ns;
                   });
}

}  // namespace

JobGraph::JobGraph(std::vector<RankFold> folds) : folds_(std::move(folds)) {
  for (uint32_t r = 0; r < folds_.size(); ++r) {
    sort_parts(folds_[r]);
    base_.push_back(static_cast<uint32_t>(rank_of_.size()));
    rank_of_.resize(rank_of_.size() + folds_[r].points.size(), r);
  }
  end_of_.assign(points(), kNoMeet);
  part_adds_.assign(points(), 0);
  match();
  order();
}

// Parts of all ranks for matching. Ambiguous groups get one group per rank, because it is unknown
// which of their parts belong together.
std::vector<RankParts> JobGraph::parts_to_match() {
  struct Members {
    int64_t ranks = 0;
    int64_t recorded = 0;
    bool ambiguous() const { return recorded > 0 && ranks > recorded; }
  };
  std::map<CollectiveGroup, Members> members;
  for (const RankFold& fold : folds_) {
    for (const FoldGroup& group : fold.groups) {
      Members& of = members[group.group];
      ++of.ranks;
      of.recorded = std::max(of.recorded, group.members);
    }
  }
  for (const auto& [group, of] : members) ambiguous_ += of.ambiguous() ? 1 : 0;
  std::vector<RankParts> parts;
  for (size_t r = 0; r < folds_.size(); ++r) {
    parts.push_back(parts_of(folds_[r]));
    if (ambiguous_ == 0) continue;
    std::vector<CollectiveGroup>& own = parts.back().groups;
    for (const CollectivePart& part : parts.back().parts) {
      unmatched_ += members.at(folds_[r].groups[part.group].group).ambiguous() ? 1 : 0;
    }
    for (CollectiveGroup& group : own) {
      if (members.at(group).ambiguous()) group.name += " of rank " + std::to_string(r);
    }
  }
  return parts;
}

void JobGraph::match() {
  const std::vector<RankParts> parts = parts_to_match();
  std::vector<const RankParts*> told;
  for (const RankParts& one : parts) told.push_back(&one);
  const Meetings found = match_meetings(told);
  const JobClocks clocks = job_clocks(found, folds_.size());
  unmatched_ += found.unmatched;
  offsets_ = clocks.offsets_ns;
  residual_ns_ = clocks.residual_ns;
  aligned_ = clocks.aligned;
  int64_t end_ns = INT64_MIN;
  start_ns_ = INT64_MAX;
  for (uint32_t p = 0; p < points(); ++p) {
    start_ns_ = std::min(start_ns_, time_ns(p));
    end_ns = std::max(end_ns, time_ns(p));
  }
  if (points() == 0) start_ns_ = end_ns = 0;
  span_ns_ = end_ns - start_ns_;
  if (!aligned_) return;
  std::map<CollectiveGroup, uint32_t> groups;
  std::vector<bool> joined(points(), false);  // per point: a matched part begins there
  for (const Meeting& meeting : found.all) {
    GraphMeeting made;
    made.last_ns = INT64_MIN;
    int64_t members = 0;
    for (const Visit& visit : meeting.visits) {
      made.last_ns = std::max(made.last_ns, visit.start_ns - offsets_[visit.rank]);
    }
    int64_t first_ns = INT64_MAX;
    for (const Visit& visit : meeting.visits) {
      const RankFold& fold = folds_[visit.rank];
      const FoldPart& part = fold.parts[visit.part];
      members = std::max(members, fold.groups[part.group].members);
      const int64_t left_ns = visit.end_ns - offsets_[visit.rank];
      made.elements = std::max(made.elements, part.elements);
      made.begins.push_back(base_[visit.rank] + part.begin);
      made.ranks.push_back(visit.rank);
      // A rank that left before the last arrival did not wait, if the collective allows that.
      if (left_ns < made.last_ns && !meeting.group.all_wait) continue;
      first_ns = std::min(first_ns, left_ns);
      made.ends.push_back(base_[visit.rank] + part.end);
    }
    if (made.ranks.size() < 2 || made.ends.empty()) continue;
    made.transfer_ns = first_ns - made.last_ns;
    made.complete = meeting.whole &&
                    (members <= 0 || std::cmp_greater_equal(meeting.visits.size(), members));
    for (const uint32_t begin : made.begins) joined[begin] = true;
    add_meeting(meeting.group, members, groups, std::move(made));
  }
  matched_ = meetings_.size();
  for (uint32_t r = 0; r < folds_.size(); ++r) {
    for (const FoldPart& part : folds_[r].parts) {
      const FoldGroup& group = folds_[r].groups[part.group];
      const uint32_t begin = base_[r] + part.begin;
      const uint32_t end = base_[r] + part.end;
      if (joined[begin] || group.members < 2) continue;
      GraphMeeting alone{0, part.elements, {begin}, {end}, {r}, false, time_ns(begin), 0};
      alone.transfer_ns = time_ns(end) - alone.last_ns;
      add_meeting(group.group, group.members, groups, std::move(alone));
    }
  }
  for (GraphGroup& group : groups_) {
    std::sort(group.ranks.begin(), group.ranks.end());
    group.ranks.erase(std::unique(group.ranks.begin(), group.ranks.end()), group.ranks.end());
  }
}

void JobGraph::add_meeting(const CollectiveGroup& group, int64_t members,
                           std::map<CollectiveGroup, uint32_t>& groups, GraphMeeting made) {
  const auto [found, is_new] = groups.try_emplace(group, static_cast<uint32_t>(groups_.size()));
  if (is_new) groups_.push_back({group, 0, 0, {}});
  made.group = found->second;
  GraphGroup& of = groups_[made.group];
  of.recorded = std::max(of.recorded, members);
  of.members = std::max({of.members, members, static_cast<int64_t>(made.ranks.size())});
  of.ranks.insert(of.ranks.end(), made.ranks.begin(), made.ranks.end());
  const auto number = static_cast<uint32_t>(meetings_.size());
  for (const uint32_t end : made.ends) {
    end_of_[end] = number;
    part_adds_[end] = time_ns(end) - made.last_ns - made.transfer_ns;
  }
  meetings_.push_back(std::move(made));
}

// Topological order of the points (Kahn). If collectives wait for each other in a cycle, the
// earliest is not joined: its parts keep their recorded lengths.
void JobGraph::order() {
  std::vector<uint32_t> first(points() + 1, 0);  // per point: its first entry in `followers`
  std::vector<uint32_t> waits(points(), 0);
  std::vector<uint32_t> to_come;
  for (const GraphMeeting& meeting : meetings_) {
    to_come.push_back(static_cast<uint32_t>(meeting.begins.size()));
  }
  std::vector<uint32_t> begin_of(points(), kNoMeet);
  for (uint32_t m = 0; m < meetings_.size(); ++m) {
    for (const uint32_t begin : meetings_[m].begins) begin_of[begin] = m;
  }
  const auto each_edge = [this](const auto& visit) {
    for (uint32_t r = 0; r < folds_.size(); ++r) {
      const RankFold& fold = folds_[r];
      for (uint32_t p = 0; p < fold.points.size(); ++p) {
        for (uint32_t e = fold.points[p].first_edge; e < fold.edge_end(p); ++e) {
          visit(base_[r] + fold.edges[e].source, base_[r] + p);
        }
      }
    }
  };
  each_edge([&](uint32_t source, uint32_t target) {
    ++first[source + 1];
    ++waits[target];
  });
  for (size_t p = 0; p < points(); ++p) first[p + 1] += first[p];
  std::vector<uint32_t> next(first.begin(), first.end() - 1);
  std::vector<uint32_t> followers(first.back());
  each_edge([&](uint32_t source, uint32_t target) { followers[next[source]++] = target; });

  std::vector<bool> done(points(), false);
  sequence_.reserve(points());
  std::vector<uint32_t> ready;
  for (uint32_t p = 0; p < points(); ++p) {
    if (waits[p] == 0) ready.push_back(p);
  }
  const auto release = [&](uint32_t p) {
    // An end is released by the last arrival at its collective.
    if (end_of_[p] != kNoMeet && to_come[end_of_[p]] > 0) return;
    if (waits[p] == 0 && !done[p]) ready.push_back(p);
  };
  size_t oldest = 0;
  std::vector<uint32_t> by_time(meetings_.size());
  for (uint32_t m = 0; m < by_time.size(); ++m) by_time[m] = m;
  std::sort(by_time.begin(), by_time.end(), [this](uint32_t a, uint32_t b) {
    return std::pair(meetings_[a].last_ns, a) < std::pair(meetings_[b].last_ns, b);
  });
  while (true) {
    while (!ready.empty()) {
      const uint32_t p = ready.back();
      ready.pop_back();
      if (done[p]) continue;
      done[p] = true;
      sequence_.push_back(p);
      if (const uint32_t m = begin_of[p]; m != kNoMeet && --to_come[m] == 0) {
        for (const uint32_t end : meetings_[m].ends) {
          if (end_of_[end] == m) release(end);
        }
      }
      for (uint32_t k = first[p]; k < first[p + 1]; ++k) {
        if (--waits[followers[k]] == 0) release(followers[k]);
      }
    }
    if (sequence_.size() == points()) break;
    const auto stuck = [&](uint32_t m) {
      return to_come[m] > 0 && std::any_of(meetings_[m].begins.begin(), meetings_[m].begins.end(),
                                           [&done](uint32_t begin) { return done[begin]; });
    };
    while (oldest < by_time.size() && !stuck(by_time[oldest])) ++oldest;
    if (oldest == by_time.size()) {
      oldest = 0;
      while (oldest < by_time.size() && !stuck(by_time[oldest])) ++oldest;
      if (oldest == by_time.size()) break;
    }
    const uint32_t m = by_time[oldest];
    ++cut_;
    to_come[m] = 0;
    for (const uint32_t begin : meetings_[m].begins) begin_of[begin] = kNoMeet;
    for (const uint32_t end : meetings_[m].ends) {
      end_of_[end] = kNoMeet;
      release(end);
    }
  }
}

std::array<int64_t, kQuestions> JobGraph::replay(const GraphUsual& usual, const GraphAsk& ask,
                                                 std::vector<int64_t>* times) const {
  using Lanes = std::array<int64_t, kQuestions>;
  std::vector<Lanes> at(points());
  // Last arrival at each collective. Computed at its first end, because all its ends share it.
  std::vector<Lanes> came(meetings_.size());
  std::vector<bool> is_known(meetings_.size(), false);
  Lanes spans{};
  const auto usual_part = [](int64_t part_ns, int64_t usual_ns, int64_t whole_ns) {
    if (part_ns == whole_ns) return usual_ns;
    const double factor = static_cast<double>(usual_ns) / static_cast<double>(whole_ns);
    return static_cast<int64_t>(static_cast<double>(part_ns) * factor);
  };
  for (const uint32_t p : sequence_) {
    Lanes& own = at[p];
    own.fill(INT64_MIN);
    if (const uint32_t m = end_of_[p]; m != kNoMeet) {
      const GraphMeeting& meeting = meetings_[m];
      if (!is_known[m]) {
        is_known[m] = true;
        came[m].fill(INT64_MIN);
        for (const uint32_t begin : meeting.begins) {
          for (size_t q = 0; q < kQuestions; ++q) came[m][q] = std::max(came[m][q], at[begin][q]);
        }
      }
      own = came[m];
      const uint8_t mask = ask.transfers.empty() ? 0 : ask.transfers[m];
      for (size_t q = 0; q < kQuestions; ++q) {
        const bool changed = ((mask >> q) & 1) != 0;
        own[q] += part_adds_[p] + (changed ? usual.transfer_ns[m] : meeting.transfer_ns);
      }
    } else {
      const uint32_t r = rank_of_[p];
      const uint32_t base = base_[r];
      const RankFold& fold = folds_[r];
      const uint32_t local = p - base;
      const uint32_t first = fold.points[local].first_edge;
      const uint32_t last = fold.edge_end(local);
      if (first == last) own.fill(time_ns(p));
      for (uint32_t e = first; e < last; ++e) {
        const FoldEdge& edge = fold.edges[e];
        const auto mask_of = [&](uint32_t segment) -> uint8_t {
          return segment == kNoSegment || ask.segments.empty() ? uint8_t{0}
                                                               : ask.segments[base + segment];
        };
        const uint8_t device = mask_of(edge.device);
        const uint8_t host = mask_of(edge.host);
        const Lanes& source = at[base + edge.source];
        for (uint32_t v = edge.first; v < edge.first + edge.count; ++v) {
          const FoldVector& vector = fold.vectors[v];
          const int64_t sum_ns = vector.sum_ns();
          if ((device | host) == 0) {
            for (size_t q = 0; q < kQuestions; ++q) own[q] = std::max(own[q], source[q] + sum_ns);
            continue;
          }
          const auto less_ns = [&](uint32_t segment, uint8_t mask, int64_t part_ns) -> int64_t {
            if (mask == 0 || part_ns == 0) return 0;
            return usual_part(part_ns, usual.work_ns[base + segment],
                              fold.points[segment].work_ns) -
                   part_ns;
          };
          const int64_t device_ns = less_ns(edge.device, device, vector.device_ns);
          const int64_t host_ns = less_ns(edge.host, host, vector.host_ns);
          for (size_t q = 0; q < kQuestions; ++q) {
            const int64_t ns = source[q] + sum_ns + (((device >> q) & 1) != 0 ? device_ns : 0) +
                               (((host >> q) & 1) != 0 ? host_ns : 0);
            own[q] = std::max(own[q], ns);
          }
        }
      }
    }
    for (size_t q = 0; q < kQuestions; ++q) spans[q] = std::max(spans[q], own[q] - start_ns_);
  }
  if (times != nullptr) {
    times->resize(points() * kQuestions);
    for (size_t p = 0; p < points(); ++p) {
      std::copy(at[p].begin(), at[p].end(),
                times->begin() + static_cast<std::ptrdiff_t>(p * kQuestions));
    }
  }
  return spans;
}

uint64_t JobGraph::identity_errors() const {
  std::vector<int64_t> times;
  replay({}, {}, &times);
  uint64_t errors = 0;
  for (uint32_t p = 0; p < points(); ++p) errors += times[p * kQuestions] != time_ns(p) ? 1 : 0;
  return errors;
}

}  // namespace assay
