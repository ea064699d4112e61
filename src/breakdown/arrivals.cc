#include "breakdown/arrivals.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "base/stats.h"
#include "flow/meetings.h"

namespace assay {
namespace {

RankParts parts_of(const BreakdownReport& report) {
  RankParts parts{report.groups, {}};
  for (const CollectiveEvent& event : report.collectives) {
    const int32_t iteration =
        report.window_source == WindowSource::kProfilerStep ? event.iter : kNoIteration;
    parts.parts.push_back({event.group, event.seq, event.start_ns, event.end_ns, iteration});
  }
  return parts;
}

Meetings match_all(const std::vector<RankLevels>& ranks) {
  std::vector<RankParts> parts;
  for (const RankLevels& rank : ranks) parts.push_back(parts_of(rank.report));
  std::vector<const RankParts*> all;
  for (const RankParts& one : parts) all.push_back(&one);
  return match_meetings(all);
}

// The phase of a collective is that of its first rank.
LevelPhase phase_of(const std::vector<RankLevels>& ranks, const Meeting& meeting) {
  const Visit& first = meeting.visits.front();
  return ranks[first.rank].report.collectives[first.part].phase;
}

void measure_residuals(const std::vector<const Meeting*>& meetings,
                       const std::vector<int64_t>& offsets, Alignment& alignment) {
  const std::vector<int64_t> residuals = clock_residuals(meetings, offsets);
  alignment.residual_p50_ns = quantile_sorted(residuals, 0.5);
  alignment.residual_p95_ns = quantile_sorted(residuals, 0.95);
  alignment.residual_max_ns = quantile_sorted(residuals, 1.0);
}

// Sums of one GPU's arrivals.
struct ArrivalSums {
  Arrivals row;
  std::vector<int64_t> lags;
};

void add_arrival(const Meeting& meeting, LevelPhase phase, const std::vector<int64_t>& offsets,
                 const std::vector<int64_t>& gpu, bool by_kind,
                 std::map<std::tuple<int64_t, LevelPhase, std::string>, ArrivalSums>& arrivals) {
  std::vector<int64_t> starts;
  for (const Visit& visit : meeting.visits) starts.push_back(visit.start_ns - offsets[visit.rank]);
  std::vector<int64_t> sorted = starts;
  std::sort(sorted.begin(), sorted.end());
  const int64_t last_ns = sorted.back();
  const int64_t second_ns = sorted[sorted.size() - 2];
  const int64_t middle_ns = middle_of(sorted);
  // If several arrive last at the same time, none of them has a margin.
  for (size_t v = 0; v < starts.size(); ++v) {
    const int64_t number = gpu[meeting.visits[v].rank];
    ArrivalSums& sums = arrivals[{number, phase, by_kind ? meeting.group.kind : ""}];
    sums.row.gpu = number;
    sums.row.phase = phase;
    if (by_kind) sums.row.kind = meeting.group.kind;
    ++sums.row.collectives;
    sums.lags.push_back(starts[v] - middle_ns);
    sums.row.waited_ns += last_ns - starts[v];
    if (starts[v] != last_ns || last_ns == second_ns) continue;
    ++sums.row.last;
    sums.row.last_margin_ns += last_ns - second_ns;
  }
}

std::vector<Arrivals> arrivals_of(const std::vector<RankLevels>& ranks,
                                  const std::vector<const Meeting*>& meetings,
                                  const std::vector<int64_t>& offsets,
                                  const std::vector<int64_t>& gpu, bool by_kind) {
  std::map<std::tuple<int64_t, LevelPhase, std::string>, ArrivalSums> sums;
  for (const Meeting* meeting : meetings) {
    const LevelPhase phase = by_kind ? phase_of(ranks, *meeting) : LevelPhase::kNone;
    add_arrival(*meeting, phase, offsets, gpu, by_kind, sums);
  }
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
  const Meetings meetings = match_all(ranks);
  alignment.matched = meetings.all.size();
  alignment.unmatched = meetings.unmatched;
  const std::vector<const Meeting*> aligned = clock_meetings(meetings);
  std::set<std::string> unused_kinds;
  for (const Meeting& meeting : meetings.all) unused_kinds.insert(meeting.group.kind);
  for (const Meeting* meeting : aligned) unused_kinds.erase(meeting->group.kind);
  alignment.unused_kinds.assign(unused_kinds.begin(), unused_kinds.end());
  alignment.used = aligned.size();
  if (aligned.empty()) return;
  const std::vector<int64_t> offsets = clock_offsets(aligned, ranks.size());
  measure_residuals(aligned, offsets, alignment);

  std::vector<uint64_t> visits(ranks.size(), 0);
  for (const Meeting* meeting : aligned) {
    for (const Visit& visit : meeting->visits) ++visits[visit.rank];
  }
  // Collectives are matched per rank; the rank's first device represents it.
  std::vector<int64_t> gpu(ranks.size(), 0);
  for (size_t r = 0; r < ranks.size(); ++r) {
    if (gpu_of[r].empty()) continue;
    gpu[r] = gpu_of[r].begin()->second;
    alignment.offsets.push_back({gpu[r], offsets[r], visits[r]});
  }
  job.arrivals = arrivals_of(ranks, aligned, offsets, gpu, false);
  job.arrivals_by_kind = arrivals_of(ranks, aligned, offsets, gpu, true);
}

}  // namespace assay
