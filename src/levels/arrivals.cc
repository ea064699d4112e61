#include "levels/arrivals.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "base/stats.h"

namespace assay {
namespace {

// Offsets of ranks that share no collective find each other through others, a step per round.
constexpr int kRounds = 8;

struct Visit {
  size_t rank = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};
// One collective on all ranks that took part.
struct Meeting {
  CollectiveGroup group;
  LevelPhase phase = LevelPhase::kNone;
  std::vector<Visit> visits;  // by rank
};

int64_t middle_of(std::vector<int64_t> values) {
  const size_t half = values.size() / 2;
  std::sort(values.begin(), values.end());
  if (values.size() % 2 == 1) return values[half];
  return values[half - 1] + (values[half] - values[half - 1]) / 2;
}

using EventList = std::vector<const CollectiveEvent*>;

// The events of one group on every rank that has it, matched by place or by sequence number.
class GroupMatcher {
 public:
  void add(size_t rank, const CollectiveEvent& event) { events_[rank].push_back(&event); }

  void match(const CollectiveGroup& group, std::vector<Meeting>& meetings, Alignment& alignment) {
    if (events_.size() < 2) return;
    bool equal = true;
    bool numbered = true;
    for (const auto& [rank, list] : events_) {
      equal = equal && list.size() == events_.begin()->second.size();
      for (const CollectiveEvent* event : list) numbered = numbered && event->seq >= 0;
    }
    if (!equal && !numbered) {
      for (const auto& [rank, list] : events_) alignment.unmatched += list.size();
      return;
    }
    std::map<int64_t, Meeting> found;
    for (const auto& [rank, list] : events_) {
      for (size_t k = 0; k < list.size(); ++k) {
        Meeting& meeting = found[equal ? static_cast<int64_t>(k) : list[k]->seq];
        meeting.group = group;
        if (meeting.visits.empty()) meeting.phase = list[k]->phase;
        meeting.visits.push_back({rank, list[k]->start_ns, list[k]->end_ns});
      }
    }
    for (auto& [key, meeting] : found) {
      if (meeting.visits.size() != events_.size()) {
        alignment.unmatched += meeting.visits.size();
        continue;
      }
      ++alignment.matched;
      meetings.push_back(std::move(meeting));
    }
  }

 private:
  std::map<size_t, EventList> events_;
};

std::vector<Meeting> match_all(const std::vector<RankLevels>& ranks, Alignment& alignment) {
  std::map<CollectiveGroup, GroupMatcher> groups;
  for (size_t r = 0; r < ranks.size(); ++r) {
    const LevelsReport& report = ranks[r].report;
    for (const CollectiveEvent& event : report.collectives) {
      groups[report.groups[event.group]].add(r, event);
    }
  }
  std::vector<Meeting> meetings;
  for (auto& [group, matcher] : groups) {
    matcher.match(group, meetings, alignment);
  }
  return meetings;
}

int64_t middle_end(const Meeting& meeting, const std::vector<int64_t>& offsets) {
  std::vector<int64_t> ends;
  for (const Visit& visit : meeting.visits) ends.push_back(visit.end_ns - offsets[visit.rank]);
  return middle_of(std::move(ends));
}

std::vector<int64_t> find_offsets(const std::vector<const Meeting*>& meetings, size_t ranks) {
  std::vector<int64_t> offsets(ranks, 0);
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

void measure_residuals(const std::vector<const Meeting*>& meetings,
                       const std::vector<int64_t>& offsets, Alignment& alignment) {
  std::vector<int64_t> residuals;
  for (const Meeting* meeting : meetings) {
    const int64_t middle_ns = middle_end(*meeting, offsets);
    for (const Visit& visit : meeting->visits) {
      residuals.push_back(std::abs(visit.end_ns - offsets[visit.rank] - middle_ns));
    }
  }
  std::sort(residuals.begin(), residuals.end());
  alignment.residual_p50_ns = quantile_sorted(residuals, 0.5);
  alignment.residual_p95_ns = quantile_sorted(residuals, 0.95);
  alignment.residual_max_ns = quantile_sorted(residuals, 1.0);
}

// Sums of one GPU's arrivals.
struct ArrivalSums {
  Arrivals row;
  std::vector<int64_t> lags;
};

void add_arrival(const Meeting& meeting, const std::vector<int64_t>& offsets,
                 const std::vector<int64_t>& gpu, bool by_kind,
                 std::map<std::tuple<int64_t, LevelPhase, std::string>, ArrivalSums>& arrivals) {
  std::vector<int64_t> starts;
  for (const Visit& visit : meeting.visits) starts.push_back(visit.start_ns - offsets[visit.rank]);
  std::vector<int64_t> sorted = starts;
  std::sort(sorted.begin(), sorted.end());
  const int64_t last_ns = sorted.back();
  const int64_t second_ns = sorted[sorted.size() - 2];
  const int64_t middle_ns = middle_of(sorted);
  // Of several that come last at once none is to blame.
  for (size_t v = 0; v < starts.size(); ++v) {
    const int64_t number = gpu[meeting.visits[v].rank];
    const LevelPhase phase = by_kind ? meeting.phase : LevelPhase::kNone;
    ArrivalSums& sums = arrivals[{number, phase, by_kind ? meeting.group.kind : ""}];
    sums.row.gpu = number;
    sums.row.phase = phase;
    if (by_kind) sums.row.kind = meeting.group.kind;
    ++sums.row.collectives;
    sums.lags.push_back(starts[v] - middle_ns);
    sums.row.waited_ns += last_ns - starts[v];
    if (starts[v] != last_ns || last_ns == second_ns) continue;
    ++sums.row.last;
    sums.row.caused_ns += last_ns - second_ns;
  }
}

std::vector<Arrivals> arrivals_of(const std::vector<const Meeting*>& meetings,
                                  const std::vector<int64_t>& offsets,
                                  const std::vector<int64_t>& gpu, bool by_kind) {
  std::map<std::tuple<int64_t, LevelPhase, std::string>, ArrivalSums> sums;
  for (const Meeting* meeting : meetings) add_arrival(*meeting, offsets, gpu, by_kind, sums);
  std::vector<Arrivals> rows;
  for (auto& [key, one] : sums) {
    std::sort(one.lags.begin(), one.lags.end());
    one.row.lag_median_ns = quantile_sorted(one.lags, 0.5);
    rows.push_back(one.row);
  }
  return rows;
}

}  // namespace

void align_ranks(const std::vector<RankLevels>& ranks,
                 const std::vector<std::map<int64_t, int64_t>>& gpu_of, JobLevels& job) {
  Alignment& alignment = job.alignment;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  alignment.residual_p50_ns = alignment.residual_p95_ns = alignment.residual_max_ns = nan;
  if (ranks.size() < 2) return;
  const std::vector<Meeting> meetings = match_all(ranks, alignment);
  std::vector<const Meeting*> aligned;
  std::set<std::string> unused_kinds;
  for (const Meeting& meeting : meetings) {
    if (meeting.group.all_wait) {
      aligned.push_back(&meeting);
    } else {
      unused_kinds.insert(meeting.group.kind);
    }
  }
  alignment.unused_kinds.assign(unused_kinds.begin(), unused_kinds.end());
  alignment.used = aligned.size();
  if (aligned.empty()) return;
  const std::vector<int64_t> offsets = find_offsets(aligned, ranks.size());
  measure_residuals(aligned, offsets, alignment);

  // Collectives are matched per rank: of a rank with several devices the first one stands for it.
  std::vector<int64_t> gpu(ranks.size(), 0);
  for (size_t r = 0; r < ranks.size(); ++r) {
    if (gpu_of[r].empty()) continue;
    gpu[r] = gpu_of[r].begin()->second;
    uint64_t visits = 0;
    for (const Meeting* meeting : aligned) {
      visits += static_cast<uint64_t>(std::count_if(meeting->visits.begin(), meeting->visits.end(),
                                                    [r](const Visit& v) { return v.rank == r; }));
    }
    alignment.offsets.push_back({gpu[r], offsets[r], visits});
  }
  job.arrivals = arrivals_of(aligned, offsets, gpu, false);
  job.arrivals_by_kind = arrivals_of(aligned, offsets, gpu, true);
}

}  // namespace assay
