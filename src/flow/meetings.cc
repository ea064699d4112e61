#include "flow/meetings.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/stats.h"
#include "kernels/book.h"
#include "roof/inputs.h"

namespace assay {
namespace {

// Iterations that refine the offsets of the tree.
constexpr int kRounds = 8;
constexpr double kMostRank = 1e9;

struct Listed {
  uint32_t part = 0;
  const CollectivePart* row = nullptr;
};

// The parts of one group by rank, matched by place or sequence number.
class GroupMatcher {
 public:
  void add(uint32_t rank, Listed listed) { parts_[rank].push_back(listed); }

  // Takes over the parts of `other` if all numbers stay distinct per rank.
  void take_if_numbered(GroupMatcher& other) {
    GroupMatcher both = *this;
    for (const auto& [rank, list] : other.parts_) {
      both.parts_[rank].insert(both.parts_[rank].end(), list.begin(), list.end());
    }
    if (!both.numbered() || !both.distinct_numbers()) return;
    *this = std::move(both);
    other.parts_.clear();
  }

  void match(const CollectiveGroup& group, Meetings& meetings) {
    if (parts_.size() < 2) return;
    bool equal = true;
    for (const auto& [rank, list] : parts_) {
      equal = equal && list.size() == parts_.begin()->second.size();
    }
    // By place only without numbers: ranks recorded at different times may have equally many, but
    // different parts.
    const bool by_number = numbered() && distinct_numbers();
    std::map<Key, Meeting> found;
    for (const auto& [rank, list] : parts_) {
      std::map<int32_t, int64_t> in_iteration;
      for (size_t k = 0; k < list.size(); ++k) {
        const CollectivePart& row = *list[k].row;
        if (!equal && !by_number && row.iteration < 0) continue;
        const Key key = by_number ? Key{0, row.seq}
                        : equal   ? Key{0, static_cast<int64_t>(k)}
                                  : Key{row.iteration, in_iteration[row.iteration]++};
        Meeting& meeting = found[key];
        meeting.group = group;
        meeting.visits.push_back({rank, list[k].part, row.start_ns, row.end_ns});
      }
      if (equal || by_number) continue;
      for (const Listed& one : list) meetings.unmatched += one.row->iteration < 0;
    }
    if (!equal && !by_number) leave_out_uneven(found, meetings);
    if (!by_number && apart(group, found)) {
      for (const auto& [key, meeting] : found) meetings.unmatched += meeting.visits.size();
      return;
    }
    const bool seen = may_be_left(group) && ends_of(found, parts_.size()) == Together::kYes;
    for (auto& [key, meeting] : found) {
      meeting.seen = seen;
      meeting.group.all_wait = group.all_wait || seen;
      meeting.whole = meeting.visits.size() == parts_.size();
      if (meeting.visits.size() < 2) {
        meetings.unmatched += meeting.visits.size();
      } else {
        meetings.all.push_back(std::move(meeting));
      }
    }
  }

 private:
  using Key = std::pair<int32_t, int64_t>;  // iteration; place or sequence number

  // Drops iterations in which ranks have different numbers of parts: which parts match is unknown.
  static void leave_out_uneven(std::map<Key, Meeting>& found, Meetings& meetings) {
    std::map<int32_t, std::map<uint32_t, size_t>> counts;
    for (const auto& [key, meeting] : found) {
      for (const Visit& visit : meeting.visits) ++counts[key.first][visit.rank];
    }
    std::erase_if(found, [&](const auto& one) {
      const auto& of = counts[one.first.first];
      const bool even = std::all_of(of.begin(), of.end(), [&of](const auto& rank) {
        return rank.second == of.begin()->second;
      });
      if (!even) meetings.unmatched += one.second.visits.size();
      return !even;
    });
  }

  // True if the ends of this kind may show that all wait.
  static bool may_be_left(const CollectiveGroup& group) {
    return !group.all_wait && group.kind != kSendRecv;
  }

  bool numbered() const {
    return std::all_of(parts_.begin(), parts_.end(), [](const auto& of_rank) {
      return std::all_of(of_rank.second.begin(), of_rank.second.end(),
                         [](const Listed& one) { return one.row->seq >= 0; });
    });
  }
  // True if no rank has a number twice.
  bool distinct_numbers() const {
    for (const auto& [rank, list] : parts_) {
      std::set<int64_t> seen;
      for (const Listed& one : list) {
        if (!seen.insert(one.row->seq).second) return false;
      }
    }
    return true;
  }

  // True if the process group is unknown and the ranks do not leave together: they are in different
  // groups.
  bool apart(const CollectiveGroup& group, const std::map<Key, Meeting>& found) const {
    if (!group.all_wait || !group.name.empty() || !group.ranks.empty()) return false;
    return ends_of(found, parts_.size()) == Together::kNo;
  }

  // leave_together() over the meetings that all ranks attended.
  static Together ends_of(const std::map<Key, Meeting>& found, size_t ranks) {
    std::vector<std::vector<double>> starts;
    std::vector<std::vector<double>> ends;
    const std::vector<Visit>* first = nullptr;
    for (const auto& [key, meeting] : found) {
      if (meeting.visits.size() != ranks) continue;
      if (first == nullptr) first = &meeting.visits;
      starts.emplace_back();
      ends.emplace_back();
      for (size_t v = 0; v < meeting.visits.size(); ++v) {
        const int64_t base_ns = (*first)[v].start_ns;
        starts.back().push_back(static_cast<double>(meeting.visits[v].start_ns - base_ns));
        ends.back().push_back(static_cast<double>(meeting.visits[v].end_ns - base_ns));
      }
    }
    return leave_together(starts, ends);
  }

  std::map<uint32_t, std::vector<Listed>> parts_;  // by rank
};

// Median of |value - its rank's median|, after subtracting each meeting's mean.
double middle_spread(std::vector<std::vector<double>> by_meeting) {
  const size_t ranks = by_meeting.front().size();
  for (std::vector<double>& values : by_meeting) {
    double mean = 0;
    for (const double value : values) mean += value / static_cast<double>(ranks);
    for (double& value : values) value -= mean;
  }
  std::vector<double> spread;
  for (size_t r = 0; r < ranks; ++r) {
    std::vector<double> own;
    for (const std::vector<double>& values : by_meeting) own.push_back(values[r]);
    const double middle = median(std::move(own));
    for (const std::vector<double>& values : by_meeting) {
      spread.push_back(std::abs(values[r] - middle));
    }
  }
  const auto half = spread.begin() + static_cast<std::ptrdiff_t>(spread.size() / 2);
  std::nth_element(spread.begin(), half, spread.end());
  return *half;
}

int64_t middle_end(const Meeting& meeting, const std::vector<int64_t>& offsets) {
  std::vector<int64_t> ends;
  for (const Visit& visit : meeting.visits) ends.push_back(visit.end_ns - offsets[visit.rank]);
  return middle_of(std::move(ends));
}

// Two ranks with common meetings: how far b's clock is ahead of a's, and how much that varies.
struct ClockPair {
  uint32_t a = 0;
  uint32_t b = 0;
  int64_t ahead_ns = 0;
  int64_t spread_ns = 0;  // median distance from ahead_ns
  size_t meetings = 0;
};

// Pairs each rank of a meeting with its first rank: enough to connect all of them.
std::vector<ClockPair> clock_pairs(const std::vector<const Meeting*>& meetings) {
  std::map<std::pair<uint32_t, uint32_t>, std::vector<int64_t>> ahead;
  for (const Meeting* meeting : meetings) {
    const Visit& first = meeting->visits.front();
    for (const Visit& visit : meeting->visits) {
      if (visit.rank == first.rank) continue;
      ahead[{first.rank, visit.rank}].push_back(visit.end_ns - first.end_ns);
    }
  }
  std::vector<ClockPair> pairs;
  for (auto& [ranks, values] : ahead) {
    ClockPair pair{ranks.first, ranks.second, middle_of(values), 0, values.size()};
    for (int64_t& value : values) value = std::abs(value - pair.ahead_ns);
    pair.spread_ns = middle_of(std::move(values));
    pairs.push_back(pair);
  }
  return pairs;
}

// Offsets along the spanning tree of the pairs with least variation. The median offset of connected
// ranks is 0. Ranks without meetings keep their clocks.
class ClockTree {
 public:
  explicit ClockTree(size_t ranks) : links_(ranks), root_(ranks) {
    for (uint32_t r = 0; r < ranks; ++r) root_[r] = r;
  }

  std::vector<int64_t> offsets(std::vector<ClockPair> pairs) {
    std::stable_sort(pairs.begin(), pairs.end(), [](const ClockPair& a, const ClockPair& b) {
      return a.spread_ns != b.spread_ns ? a.spread_ns < b.spread_ns : a.meetings > b.meetings;
    });
    for (const ClockPair& pair : pairs) {
      const uint32_t a = find(pair.a);
      const uint32_t b = find(pair.b);
      if (a == b) continue;
      root_[b] = a;
      links_[pair.a].push_back({pair.b, pair.ahead_ns});
      links_[pair.b].push_back({pair.a, -pair.ahead_ns});
    }
    std::vector<int64_t> offsets(links_.size(), 0);
    std::vector<bool> seen(links_.size(), false);
    for (uint32_t r = 0; r < links_.size(); ++r) {
      if (!seen[r]) reach(r, seen, offsets);
    }
    return offsets;
  }

 private:
  struct Link {
    uint32_t to = 0;
    int64_t ahead_ns = 0;
  };

  uint32_t find(uint32_t rank) {
    while (root_[rank] != rank) rank = root_[rank] = root_[root_[rank]];
    return rank;
  }

  void reach(uint32_t from, std::vector<bool>& seen, std::vector<int64_t>& offsets) const {
    std::vector<uint32_t> reached = {from};
    seen[from] = true;
    for (size_t i = 0; i < reached.size(); ++i) {
      for (const Link& link : links_[reached[i]]) {
        if (seen[link.to]) continue;
        seen[link.to] = true;
        offsets[link.to] = offsets[reached[i]] + link.ahead_ns;
        reached.push_back(link.to);
      }
    }
    std::vector<int64_t> values;
    for (const uint32_t rank : reached) values.push_back(offsets[rank]);
    const int64_t middle_ns = middle_of(std::move(values));
    for (const uint32_t rank : reached) offsets[rank] -= middle_ns;
  }

  std::vector<std::vector<Link>> links_;
  std::vector<uint32_t> root_;
};

// The ranks of a send, as text.
std::string way(int64_t from, int64_t to) {
  return "[" + std::to_string(from) + ", " + std::to_string(to) + "]";
}

std::optional<int64_t> other_of_two(std::string_view ranks, int64_t own) {
  const auto two = two_ranks(ranks);
  if (!two || (two->first != own && two->second != own)) return std::nullopt;
  return two->first == own ? two->second : two->first;
}

// The two directions of a pair are separate groups. If no rank has a number twice, the numbers
// count both directions: then match by number.
void join_ways(std::map<CollectiveGroup, GroupMatcher>& groups) {
  for (auto& [group, matcher] : groups) {
    if (group.kind != kSendRecv) continue;
    const auto two = two_ranks(group.ranks);
    if (!two || two->first >= two->second) continue;
    CollectiveGroup back = group;
    back.ranks = way(two->second, two->first);
    const auto other = groups.find(back);
    if (other != groups.end()) matcher.take_if_numbered(other->second);
  }
}

}  // namespace

MeetingParty meeting_party(const Trace& trace, size_t row) {
  const CollectiveTable& rows = trace.collectives;
  MeetingParty party{.name = std::string(trace.text(rows.process_group[row])),
                     .ranks = std::string(trace.text(rows.ranks[row])),
                     .members = rows.group_size[row],
                     .seq = rows.seq[row]};
  const std::string_view kind = trace.text(rows.collective[row]);
  if (!trace.distributed.rank || (kind != "send" && kind != "recv")) return party;
  const int64_t own = *trace.distributed.rank;
  const std::optional<int64_t> peer =
      rows.peer[row] >= 0 ? rows.peer[row] : other_of_two(party.ranks, own);
  if (!peer) return party;
  party.ranks = kind == "send" ? way(own, *peer) : way(*peer, own);
  if (party.members > 2) party.seq = -1;
  party.members = 2;
  return party;
}

std::optional<std::pair<int64_t, int64_t>> two_ranks(std::string_view ranks) {
  const auto numbers = read_numbers(ranks);
  if (!numbers || numbers->size() != 2) return std::nullopt;
  for (const double rank : *numbers) {
    if (!(rank >= 0 && rank <= kMostRank)) return std::nullopt;
  }
  return std::pair(static_cast<int64_t>((*numbers)[0]), static_cast<int64_t>((*numbers)[1]));
}

int64_t middle_of(std::vector<int64_t> values) {
  const size_t half = values.size() / 2;
  std::sort(values.begin(), values.end());
  if (values.size() % 2 == 1) return values[half];
  return values[half - 1] + (values[half] - values[half - 1]) / 2;
}

Together leave_together(const std::vector<std::vector<double>>& starts,
                        const std::vector<std::vector<double>>& ends) {
  constexpr double kTogetherNs = 20'000;
  constexpr double kFarCloser = 0.2;
  constexpr size_t kLeast = 2;  // meetings
  if (ends.size() < kLeast) return Together::kUnknown;
  const double most = std::max(kTogetherNs, kFarCloser * middle_spread(starts));
  return middle_spread(ends) <= most ? Together::kYes : Together::kNo;
}

Meetings match_meetings(const std::vector<const RankParts*>& ranks) {
  std::map<CollectiveGroup, GroupMatcher> groups;
  for (uint32_t r = 0; r < ranks.size(); ++r) {
    for (uint32_t p = 0; p < ranks[r]->parts.size(); ++p) {
      const CollectivePart& part = ranks[r]->parts[p];
      groups[ranks[r]->groups[part.group]].add(r, {p, &part});
    }
  }
  join_ways(groups);
  Meetings meetings;
  for (auto& [group, matcher] : groups) matcher.match(group, meetings);
  return meetings;
}

std::vector<const Meeting*> clock_meetings(const Meetings& found) {
  for (const bool seen : {false, true}) {
    std::vector<const Meeting*> sure;
    for (const Meeting& meeting : found.all) {
      if (meeting.group.all_wait && meeting.seen == seen) sure.push_back(&meeting);
    }
    if (!sure.empty()) return sure;
  }
  return {};
}

std::vector<int64_t> clock_offsets(const std::vector<const Meeting*>& meetings, size_t ranks) {
  std::vector<int64_t> offsets = ClockTree(ranks).offsets(clock_pairs(meetings));
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::vector<int64_t>> apart(ranks);
    for (const Meeting* meeting : meetings) {
      const int64_t middle_ns = middle_end(*meeting, offsets);
      for (const Visit& visit : meeting->visits) {
        apart[visit.rank].push_back(visit.end_ns - middle_ns);
      }
    }
    std::vector<int64_t> next = offsets;
    for (size_t r = 0; r < ranks; ++r) {
      if (!apart[r].empty()) next[r] = middle_of(std::move(apart[r]));
    }
    if (next == offsets) break;
    offsets = std::move(next);
  }
  return offsets;
}

std::vector<int64_t> clock_residuals(const std::vector<const Meeting*>& meetings,
                                     const std::vector<int64_t>& offsets) {
  std::vector<int64_t> residuals;
  for (const Meeting* meeting : meetings) {
    const int64_t middle_ns = middle_end(*meeting, offsets);
    for (const Visit& visit : meeting->visits) {
      residuals.push_back(std::abs(visit.end_ns - offsets[visit.rank] - middle_ns));
    }
  }
  std::sort(residuals.begin(), residuals.end());
  return residuals;
}

}  // namespace assay
