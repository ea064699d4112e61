// Which parts of collectives belong to one meeting, and the order of all meetings.

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/checksum.h"
#include "base/platform/platform.h"
#include "base/random.h"
#include "flow/meetings.h"
#include "job/assemble.h"
#include "job/buckets.h"

namespace assay {
namespace {

constexpr uint32_t kEndSamples = 64;  // meetings of a group that clocks are aligned on
static_assert(kNoMeeting == Buckets::kNone);
constexpr uint32_t kProbeSamples = 16;  // those that tell whether a group is one

struct Part {
  RecordArrival arrival;
  uint32_t group = 0;  // into FleetJob::groups
  uint32_t column = kNoColumn;
  uint32_t place = 0;  // within (iteration, group)
};

// The parts of a rank by their begins, and how many it has in each group and column.
struct PartsOfRank {
  std::vector<Part> parts;
  std::vector<uint32_t> groups;  // into FleetJob::groups, each once: the rows of `counts`
  std::vector<uint32_t> rows;    // per part: its group's
  std::vector<uint32_t> counts;  // row by row: per column, and of parts outside all behind these
  size_t columns = 0;            // of a row

  size_t column_of(size_t p) const {
    return parts[p].column == kNoColumn ? columns - 1 : parts[p].column;
  }
};

PartsOfRank parts_of(const FleetJob& job, const FleetRank& rank) {
  PartsOfRank own;
  own.columns = job.columns.size() + 1;
  std::vector<uint32_t> row_of_group;
  for (const uint32_t group : rank.group_ids) {
    const auto known = std::find(own.groups.begin(), own.groups.end(), group);
    row_of_group.push_back(static_cast<uint32_t>(known - own.groups.begin()));
    if (known == own.groups.end()) own.groups.push_back(group);
  }
  for (const RecordArrival& one : read_record_arrivals(rank.times, rank.group_ids.size())) {
    Part part{.arrival = one, .group = rank.group_ids[one.group]};
    const auto column = std::lower_bound(job.columns.begin(), job.columns.end(), one.iteration);
    if (column != job.columns.end() && *column == one.iteration) {
      part.column = static_cast<uint32_t>(column - job.columns.begin());
    }
    part.place = row_of_group[one.group];
    own.parts.push_back(part);
  }
  const auto before = [](const Part& a, const Part& b) {
    return std::tie(a.arrival.start_ns, a.arrival.end_ns, a.group) <
           std::tie(b.arrival.start_ns, b.arrival.end_ns, b.group);
  };
  // As they come from one stream, mostly.
  if (!std::is_sorted(own.parts.begin(), own.parts.end(), before)) {
    std::stable_sort(own.parts.begin(), own.parts.end(), before);
  }
  own.counts.assign(own.groups.size() * own.columns, 0);
  own.rows.reserve(own.parts.size());
  for (size_t p = 0; p < own.parts.size(); ++p) {
    own.rows.push_back(own.parts[p].place);
    own.parts[p].place = own.counts[own.rows[p] * own.columns + own.column_of(p)]++;
  }
  return own;
}

// How many parts the members of a group have in an iteration.
struct Cell {
  uint32_t parts = 0;
  uint32_t ranks = 0;
  bool agree = true;
};

struct GroupNumbers {
  bool all_numbered = true;
  bool distinct = true;
  int64_t least = INT64_MAX;
  int64_t most = INT64_MIN;
  uint64_t parts = 0;

  // Those of one rank.
  void add(std::vector<int64_t>& numbers) {
    parts += numbers.size();
    std::sort(numbers.begin(), numbers.end());
    all_numbered = all_numbered && !numbers.empty() && numbers.front() >= 0;
    if (!all_numbered) return;
    distinct = distinct && std::adjacent_find(numbers.begin(), numbers.end()) == numbers.end();
    least = std::min(least, numbers.front());
    most = std::max(most, numbers.back());
  }
  // Numbers that lie so far apart that a table of them would be mostly holes are none.
  bool usable() const {
    return parts > 0 && all_numbered && distinct &&
           static_cast<uint64_t>(most - least) <= 4 * parts + 1024;
  }
};

class Matcher {
 public:
  explicit Matcher(FleetJob& job)
      : job_(job), columns_(job.columns.size()), cells_(job.groups.size() * columns_) {
    for (const FleetGroup& group : job.groups) {
      group_kinds_.push_back(mix_seeds(checksum(group.key.kind.data(), group.key.kind.size()),
                                       static_cast<uint64_t>(group.key.size)));
    }
  }

  void run() {
    count_parts();
    probe_untold_groups();
    number_meetings();
    count_visits();
    list_visits();
    put_in_order();
  }

 private:
  Cell& cell(uint32_t group, uint32_t column) { return cells_[group * columns_ + column]; }

  void count_parts() {
    std::vector<GroupNumbers> numbers(job_.groups.size());
    for (const FleetRank& rank : job_.ranks) {
      const PartsOfRank own = parts_of(job_, rank);
      std::vector<std::vector<int64_t>> of_row(own.groups.size());
      for (size_t p = 0; p < own.parts.size(); ++p) {
        of_row[own.rows[p]].push_back(own.parts[p].arrival.seq);
      }
      for (size_t row = 0; row < own.groups.size(); ++row) {
        const uint32_t group = own.groups[row];
        if (!of_row[row].empty()) numbers[group].add(of_row[row]);
        for (uint32_t column = 0; column < columns_; ++column) {
          const uint32_t count = own.counts[row * own.columns + column];
          if (count == 0) continue;
          Cell& one = cell(group, column);
          one.agree = one.agree && (one.ranks == 0 || one.parts == count);
          one.parts = count;
          ++one.ranks;
        }
      }
    }
    for (size_t g = 0; g < job_.groups.size(); ++g) {
      job_.groups[g].by_number = numbers[g].usable();
      least_.push_back(numbers[g].least);
      most_.push_back(numbers[g].most);
    }
  }

  // Whether all ranks of a kind that tells no process group are one group: then they leave each
  // meeting together, far closer than they came.
  void probe_untold_groups() {
    for (uint32_t g = 0; g < job_.groups.size(); ++g) {
      FleetGroup& group = job_.groups[g];
      const RecordGroup& key = group.key;
      if (!key.waits || key.size >= 0 || !key.name.empty() || !key.members.empty()) continue;
      if (group.members.size() < 2 || group.by_number) continue;
      group.untold = !meet_as_one(g);
      job_.counts.untold_groups += group.untold ? 1 : 0;
    }
  }

  bool meet_as_one(uint32_t group) {
    std::vector<std::vector<double>> starts(kProbeSamples);
    std::vector<std::vector<double>> ends(kProbeSamples);
    const std::vector<uint32_t>& members = job_.groups[group].members;
    for (const uint32_t r : members) {
      size_t next = 0;
      int64_t base_ns = 0;
      for (const Part& part : parts_of(job_, job_.ranks[r]).parts) {
        if (part.group != group || part.column == kNoColumn || next == kProbeSamples) continue;
        const Cell& one = cell(group, part.column);
        if (!one.agree || one.ranks != members.size()) continue;
        if (next == 0) base_ns = part.arrival.start_ns;
        starts[next].push_back(static_cast<double>(part.arrival.start_ns - base_ns));
        ends[next++].push_back(static_cast<double>(part.arrival.end_ns - base_ns));
      }
    }
    const auto partial = [&members](const std::vector<double>& values) {
      return values.size() != members.size();
    };
    std::erase_if(starts, partial);
    std::erase_if(ends, partial);
    if (ends.empty()) return false;
    return leave_together(starts, ends) != Together::kNo;
  }

  // Numbers for all meetings that there may be: per group those of its numbers, or the places of
  // each iteration in which its members agree.
  void number_meetings() {
    first_.assign(job_.groups.size(), 0);
    first_of_cell_.assign(cells_.size(), kNoMeeting);
    uint32_t next = 0;
    for (uint32_t g = 0; g < job_.groups.size(); ++g) {
      const FleetGroup& group = job_.groups[g];
      first_[g] = next;
      if (!group.meets()) continue;
      if (group.by_number) {
        next += static_cast<uint32_t>(most_[g] - least_[g] + 1);
        continue;
      }
      for (uint32_t c = 0; c < columns_; ++c) {
        const Cell& one = cell(g, c);
        if (!one.agree || one.ranks < 2) continue;
        first_of_cell_[g * columns_ + c] = next;
        next += one.parts;
      }
    }
    first_.push_back(next);
    visits_of_.assign(next, 0);
  }

  uint32_t meeting_of(const Part& part) const {
    const FleetGroup& group = job_.groups[part.group];
    if (!group.meets()) return kNoMeeting;
    if (group.by_number) {
      return first_[part.group] + static_cast<uint32_t>(part.arrival.seq - least_[part.group]);
    }
    if (part.column == kNoColumn) return kNoMeeting;
    const uint32_t first = first_of_cell_[part.group * columns_ + part.column];
    return first == kNoMeeting ? kNoMeeting : first + part.place;
  }

  void count_visits() {
    size_t all = 0;
    for (const FleetRank& rank : job_.ranks) {
      for (const Part& part : parts_of(job_, rank).parts) {
        const uint32_t meeting = meeting_of(part);
        if (meeting != kNoMeeting) ++visits_of_[meeting];
        ++all;
      }
    }
    meeting_.reserve(all);
    visits_.prev.reserve(all);
    visits_.slot.reserve(all);
    visits_.work_ns.reserve(all);
    for (uint32_t g = 0; g < job_.groups.size(); ++g) {
      FleetGroup& group = job_.groups[g];
      const uint32_t here = first_[g + 1] - first_[g];
      if (here == 0) continue;
      const uint32_t step = (here + kEndSamples - 1) / kEndSamples;
      group.samples = (here + step - 1) / step;
      group.ends.assign(size_t{group.samples} * group.members.size(), kNoEnd);
    }
    meetings_.resize(visits_of_.size());
  }

  // ---- visits, rank by rank ----

  void list_visits() {
    for (uint32_t r = 0; r < job_.ranks.size(); ++r) {
      FleetRank& rank = job_.ranks[r];
      first_of_rank_.push_back(meeting_.size());
      const PartsOfRank own = parts_of(job_, rank);
      rank.times = record_times(rank.times, false);
      list_places(own);
      list_chain(r, own.parts);
      // Arrivals were many small pieces of memory, which would stay with this process.
      constexpr uint32_t kGivenBackAtOnce = 8192;
      if (r % kGivenBackAtOnce == kGivenBackAtOnce - 1) platform::give_back_memory();
    }
    first_of_rank_.push_back(meeting_.size());
  }

  void list_chain(uint32_t r, const std::vector<Part>& parts) {
    FleetChain chain;
    // What began and has not ended, by its end, of equals as they began.
    using Open = std::tuple<int64_t, size_t, uint32_t, int64_t>;  // meeting, chain's length then
    std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
    uint32_t ended = kNoMeeting;
    int64_t ended_at_ns = 0;
    int64_t last_end_ns = INT64_MIN;
    for (const Part& part : parts) {
      const RecordArrival& one = part.arrival;
      while (!open.empty() && std::get<0>(open.top()) <= one.start_ns) {
        std::tie(std::ignore, std::ignore, ended, ended_at_ns) = open.top();
        open.pop();
      }
      if (last_end_ns == INT64_MIN) chain.start_ns = one.start_ns;
      // Parts that begin before any has ended are firsts, too: by how much later, is known.
      const int64_t work_ns =
          ended == kNoMeeting ? one.start_ns - chain.start_ns : std::max<int64_t>(one.work_ns, 0);
      const uint32_t meeting = visit(part);
      meeting_.push_back(meeting);
      visits_.prev.push_back(ended);
      visits_.work_ns.push_back(work_ns);
      const int64_t end_at_ns =
          (ended == kNoMeeting ? 0 : ended_at_ns) + work_ns + (one.end_ns - one.start_ns);
      open.emplace(one.end_ns, meeting_.size(), meeting, end_at_ns);
      if (one.end_ns >= last_end_ns) {
        last_end_ns = one.end_ns;
        chain.last_meeting = meeting;
        chain.length_ns = end_at_ns;
      }
      sample_end(r, part, meeting);
    }
    job_.chains.push_back(chain);
  }

  // The meeting that a part is a visit of: one of its own where it meets nobody.
  uint32_t visit(const Part& part) {
    const int64_t length_ns = part.arrival.end_ns - part.arrival.start_ns;
    FleetGroup& group = job_.groups[part.group];
    uint32_t meeting = meeting_of(part);
    job_.counts.outside += part.column == kNoColumn ? 1 : 0;
    if (meeting == kNoMeeting || visits_of_[meeting] < 2) {
      meeting = static_cast<uint32_t>(meetings_.size());
      meetings_.push_back({.column = part.column, .transfer_ns = length_ns, .visits = 1});
      if (!group.key.waits) {
        ++job_.counts.not_waiting;
      } else if (group.key.size != 1) {
        // It waited for others that are not seen here.
        if (!group.ambiguous && !group.untold) meetings_.back().group = part.group;
        ++group.unmatched;
        ++job_.counts.unmatched;
      }
      return meeting;
    }
    FleetMeeting& one = meetings_[meeting];
    if (one.visits++ == 0) {
      one.group = part.group;
      one.column = part.column;
      one.transfer_ns = length_ns;
      one.complete = group.complete() || group.key.size < 0;
      ++job_.counts.matched;
    }
    one.complete = one.complete && visits_of_[meeting] >= group.members.size();
    one.transfer_ns = std::min(one.transfer_ns, length_ns);
    return meeting;
  }

  void sample_end(uint32_t r, const Part& part, uint32_t meeting) {
    FleetGroup& group = job_.groups[part.group];
    if (group.samples == 0 || meetings_[meeting].group == kAlone) return;
    if (meeting >= first_[part.group + 1]) return;  // unmatched
    const uint32_t here = first_[part.group + 1] - first_[part.group];
    const uint32_t step = (here + kEndSamples - 1) / kEndSamples;
    const uint32_t nth = meeting - first_[part.group];
    if (nth % step != 0) return;
    const auto member = static_cast<size_t>(
        std::lower_bound(group.members.begin(), group.members.end(), r) - group.members.begin());
    group.ends[member * group.samples + nth / step] = part.arrival.end_ns;
  }

  // What a rank does in an iteration: how many of which collectives, in whatever order. Places of
  // two iterations, on one rank or two, are one where these agree.
  void list_places(const PartsOfRank& own) {
    // Groups of one kind and size count as one: which of them comes when may differ.
    std::vector<uint64_t> kinds;
    std::vector<size_t> kind_of_row;
    for (const uint32_t group : own.groups) {
      const auto known = std::find(kinds.begin(), kinds.end(), group_kinds_[group]);
      kind_of_row.push_back(static_cast<size_t>(known - kinds.begin()));
      if (known == kinds.end()) kinds.push_back(group_kinds_[group]);
    }
    const std::vector<uint64_t> hashes = hashes_of(own, kinds, kind_of_row);
    job_.roles.push_back(role_of(hashes));
    std::vector<uint32_t> next(kinds.size() * own.columns, 0);
    for (size_t p = 0; p < own.parts.size(); ++p) {
      const size_t kind = kind_of_row[own.rows[p]];
      const size_t column = own.column_of(p);
      const uint32_t nth = next[kind * own.columns + column]++;
      const uint64_t key = mix_seeds(mix_seeds(hashes[column], kinds[kind]), nth);
      visits_.slot.push_back(slot_of(key, own.parts[p].column));
    }
  }

  uint32_t slot_of(uint64_t place_key, uint32_t column) {
    const auto next = static_cast<uint32_t>(job_.slots.size());
    const auto [slot, is_new] = slot_ids_.try_emplace(mix_seeds(place_key, column), next);
    if (!is_new) return slot->second;
    const auto next_place = static_cast<uint32_t>(place_ids_.size());
    job_.slots.push_back({place_ids_.try_emplace(place_key, next_place).first->second, column});
    return next;
  }

  // Per column what the rank does there; 0 where it does nothing.
  static std::vector<uint64_t> hashes_of(const PartsOfRank& own, const std::vector<uint64_t>& kinds,
                                         const std::vector<size_t>& kind_of_row) {
    std::vector<size_t> by_kind(kinds.size());
    std::iota(by_kind.begin(), by_kind.end(), size_t{0});
    std::sort(by_kind.begin(), by_kind.end(),
              [&kinds](size_t a, size_t b) { return kinds[a] < kinds[b]; });
    std::vector<uint64_t> hashes(own.columns, 0);
    std::vector<uint32_t> counts(kinds.size());
    for (size_t column = 0; column < own.columns; ++column) {
      std::fill(counts.begin(), counts.end(), 0);
      for (size_t row = 0; row < own.groups.size(); ++row) {
        counts[kind_of_row[row]] += own.counts[row * own.columns + column];
      }
      uint64_t& hash = hashes[column];
      for (const size_t k : by_kind) {
        if (counts[k] > 0) hash = mix_seeds(hash ^ kinds[k], counts[k]);
      }
    }
    return hashes;
  }

  // What most iterations have; the last column is none.
  static uint64_t role_of(const std::vector<uint64_t>& hashes) {
    std::map<uint64_t, uint32_t> how_often;
    for (size_t column = 0; column + 1 < hashes.size(); ++column) {
      if (hashes[column] != 0) ++how_often[hashes[column]];
    }
    uint64_t role = 0;
    uint32_t most = 0;
    for (const auto& [hash, often] : how_often) {
      if (often > most) role = hash;
      most = std::max(most, often);
    }
    return role;
  }

  // ---- the order of meetings ----

  void put_in_order() {
    followers_ = Buckets(meetings_.size(), visits_.prev);
    std::vector<uint32_t> waits(meetings_.size(), 0);
    for (size_t v = 0; v < meeting_.size(); ++v) {
      if (visits_.prev[v] != kNoMeeting) ++waits[meeting_[v]];
    }
    std::vector<uint32_t> order;
    order.reserve(meetings_.size());
    for (uint32_t m = 0; m < meetings_.size(); ++m) {
      if (waits[m] == 0 && meetings_[m].visits > 0) order.push_back(m);
    }
    std::vector<bool> done(meetings_.size(), false);
    uint32_t oldest = 0;
    for (size_t at = 0;; ++at) {
      if (at == order.size() && !take_one_apart(oldest, waits, order, done)) break;
      const uint32_t meeting = order[at];
      done[meeting] = true;
      follow(meeting, waits, order);
    }
    write_down(order);
  }

  void follow(uint32_t meeting, std::vector<uint32_t>& waits, std::vector<uint32_t>& order) {
    if (meeting >= followers_.keys()) {
      // A part of a meeting that was taken apart: its rank's visits alone follow.
      for (const uint32_t v : taken_apart_[meeting]) {
        if (--waits[meeting_[v]] == 0) order.push_back(meeting_[v]);
      }
      return;
    }
    for (uint32_t k = followers_.first[meeting]; k < followers_.first[meeting + 1]; ++k) {
      const uint32_t target = meeting_[followers_.rows[k]];
      if (--waits[target] == 0) order.push_back(target);
    }
  }

  size_t rank_of(size_t visit) const {
    return static_cast<size_t>(
               std::upper_bound(first_of_rank_.begin(), first_of_rank_.end(), visit) -
               first_of_rank_.begin()) -
           1;
  }

  // Meetings that wait for each other in a circle: the first of them becomes parts that meet
  // nobody. Returns whether there was one.
  bool take_one_apart(uint32_t& oldest, std::vector<uint32_t>& waits, std::vector<uint32_t>& order,
                      std::vector<bool>& done) {
    std::vector<uint32_t>& prev = visits_.prev;
    const auto known = static_cast<uint32_t>(followers_.keys());
    while (oldest < known && (done[oldest] || meetings_[oldest].visits < 2)) ++oldest;
    if (oldest == known) return false;
    const uint32_t meeting = oldest;
    ++job_.counts.contradicting;
    --job_.counts.matched;
    std::map<size_t, uint32_t> new_of_rank;
    for (size_t v = 0; v < meeting_.size(); ++v) {
      if (meeting_[v] != meeting) continue;
      const auto alone = static_cast<uint32_t>(meetings_.size());
      meetings_.push_back({.column = meetings_[meeting].column,
                           .transfer_ns = meetings_[meeting].transfer_ns,
                           .visits = 1});
      meeting_[v] = alone;
      new_of_rank[rank_of(v)] = alone;
      const bool waits_on = prev[v] != kNoMeeting && !done[prev[v]];
      waits.push_back(waits_on ? 1 : 0);
      done.push_back(false);
      if (!waits_on) order.push_back(alone);
    }
    for (uint32_t k = followers_.first[meeting]; k < followers_.first[meeting + 1]; ++k) {
      const uint32_t v = followers_.rows[k];
      prev[v] = new_of_rank.at(rank_of(v));
      taken_apart_[prev[v]].push_back(v);
    }
    for (FleetChain& chain : job_.chains) {
      if (chain.last_meeting == meeting) {
        chain.last_meeting = new_of_rank.at(static_cast<size_t>(&chain - job_.chains.data()));
      }
    }
    meetings_[meeting].visits = 0;
    done[meeting] = true;
    return true;
  }

  // Meetings in order, each with its visits by rank. A list of all visits is long: one after the
  // other is made, and what it was made of goes.
  void write_down(const std::vector<uint32_t>& order) {
    followers_ = {};
    std::vector<uint32_t> new_id(meetings_.size(), kNoMeeting);
    job_.meetings.reserve(order.size());
    uint32_t visits = 0;
    for (const uint32_t meeting : order) {
      new_id[meeting] = static_cast<uint32_t>(job_.meetings.size());
      job_.meetings.push_back(meetings_[meeting]);
      job_.meetings.back().first_visit = visits;
      visits += meetings_[meeting].visits;
      job_.meetings.back().visits = 0;
    }
    std::vector<FleetMeeting>().swap(meetings_);
    std::vector<uint32_t>& at = meeting_;  // where each visit goes
    for (uint32_t& meeting : at) {
      FleetMeeting& one = job_.meetings[new_id[meeting]];
      meeting = one.first_visit + one.visits++;
    }
    for (uint32_t& prev : visits_.prev) prev = prev == kNoMeeting ? kNoMeeting : new_id[prev];
    for (FleetChain& chain : job_.chains) {
      if (chain.last_meeting != kNoMeeting) chain.last_meeting = new_id[chain.last_meeting];
    }
    PackedTimes::move_rows(visits_.prev, at);
    PackedTimes::move_rows(visits_.slot, at);
    visits_.work_ns.move_to(at);
    visits_.rank.resize(visits);
    for (uint32_t r = 0; r < job_.ranks.size(); ++r) {
      for (size_t v = first_of_rank_[r]; v < first_of_rank_[r + 1]; ++v) visits_.rank[at[v]] = r;
    }
    job_.visits = std::move(visits_);
  }

  FleetJob& job_;
  size_t columns_;
  std::vector<Cell> cells_;            // group by group
  std::vector<uint64_t> group_kinds_;  // hash of kind and size
  std::vector<int64_t> least_;         // number of each group
  std::vector<int64_t> most_;
  std::vector<uint32_t> first_;          // meeting of each group
  std::vector<uint32_t> first_of_cell_;  // as cells_
  std::vector<uint32_t> visits_of_;      // per meeting that there may be
  std::vector<FleetMeeting> meetings_;   // these, and behind them parts that meet nobody
  // Per visit, rank by rank.
  std::vector<uint32_t> meeting_;
  FleetVisits visits_;  // `rank` comes last
  std::vector<size_t> first_of_rank_;
  std::unordered_map<uint64_t, uint32_t> slot_ids_;
  std::unordered_map<uint64_t, uint32_t> place_ids_;
  Buckets followers_;  // visits by the meeting before them
  std::map<uint32_t, std::vector<uint32_t>> taken_apart_;
};

}  // namespace

void match_fleet(FleetJob& job) { Matcher(job).run(); }

}  // namespace assay
