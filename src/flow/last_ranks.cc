#include "flow/last_ranks.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/intervals.h"

namespace assay {
namespace {

// Ranks that arrive after a gap behind all others.
struct LateComers {
  std::vector<uint32_t> ranks;
  int64_t behind_ns = 0;
};

struct Arrival {
  int64_t time_ns = 0;
  uint32_t rank = 0;
};
using Arrivals = std::vector<Arrival>;  // at one meeting, by time

Arrivals arrivals_at(const Job& job, const JobMeeting& meeting) {
  Arrivals arrivals;
  for (const JobVisit& visit : meeting.visits) {
    const RankGraph& rank = job.ranks()[visit.rank];
    const uint32_t begin = rank.part_points[visit.part].begin;
    if (begin == kNoPoint) continue;
    arrivals.push_back({rank.time_ns[begin] - job.offsets_ns()[visit.rank], visit.rank});
  }
  std::stable_sort(arrivals.begin(), arrivals.end(),
                   [](const Arrival& a, const Arrival& b) { return a.time_ns < b.time_ns; });
  return arrivals;
}

// The ranks after the longest gap between successive arrivals; none if they are more than half.
LateComers late_comers(const Arrivals& arrivals) {
  LateComers late;
  size_t first = 0;
  for (size_t i = 1; i < arrivals.size(); ++i) {
    const int64_t step_ns = arrivals[i].time_ns - arrivals[i - 1].time_ns;
    if (step_ns < late.behind_ns) continue;
    late.behind_ns = step_ns;
    first = i;
  }
  if (late.behind_ns <= 0 || 2 * (arrivals.size() - first) > arrivals.size()) return {};
  for (size_t i = first; i < arrivals.size(); ++i) late.ranks.push_back(arrivals[i].rank);
  return late;
}

class LastRanksFinder {
 public:
  explicit LastRanksFinder(const Job& job)
      : last_ns_(job.ranks().size()), met_ns_(job.ranks().size()) {
    for (const JobMeeting& meeting : job.meetings()) met_.push_back(arrivals_at(job, meeting));
    for (const Arrivals& arrivals : met_) {
      LateComers late = late_comers(arrivals);
      if (late.ranks.empty()) continue;
      for (const Arrival& arrival : arrivals) met_ns_[arrival.rank] += late.behind_ns;
      for (const uint32_t r : late.ranks) last_ns_[r] += late.behind_ns;
      sum_ns_ += late.behind_ns;
      late_.push_back(std::move(late));
    }
  }

  LastRanks find() const {
    if (late_.empty()) return {};
    std::vector<uint32_t> order(last_ns_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [this](uint32_t a, uint32_t b) { return last_ns_[a] > last_ns_[b]; });
    LastRanks found;
    found.ranks.assign(order.begin(),
                       order.begin() + static_cast<std::ptrdiff_t>(enough_of(order)));
    std::sort(found.ranks.begin(), found.ranks.end());
    if (!is_few(found)) return {};
    std::vector<Interval> waits;  // may overlap: groups and streams meet independently
    for (const Arrivals& arrivals : met_) {
      const Interval wait = wait_for(arrivals, found.ranks);
      if (wait.end_ns > wait.start_ns) waits.push_back(wait);
    }
    found.times = waits.size();
    found.behind_ns = union_ns(std::move(waits));
    return found;
  }

 private:
  // How many of the first ranks in `order` explain most of the lateness.
  size_t enough_of(const std::vector<uint32_t>& order) const {
    constexpr double kMost = 0.8;
    std::vector<size_t> place(order.size());
    for (size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    std::vector<int64_t> explained_ns(order.size());
    for (const LateComers& late : late_) {
      size_t least = 0;
      for (const uint32_t r : late.ranks) least = std::max(least, place[r]);
      explained_ns[least] += late.behind_ns;
    }
    int64_t reached_ns = 0;
    size_t n = 0;
    while (static_cast<double>(reached_ns) < kMost * static_cast<double>(sum_ns_)) {
      reached_ns += explained_ns[n++];
    }
    return n;
  }

  // From the last arrival of the others to the last arrival of `ranks`; empty if one of them is
  // absent.
  static Interval wait_for(const Arrivals& arrivals, const std::vector<uint32_t>& ranks) {
    int64_t theirs_ns = INT64_MIN;
    int64_t others_ns = INT64_MIN;
    for (const Arrival& arrival : arrivals) {
      const bool of_set = std::binary_search(ranks.begin(), ranks.end(), arrival.rank);
      (of_set ? theirs_ns : others_ns) = arrival.time_ns;
    }
    if (theirs_ns == INT64_MIN || others_ns == INT64_MIN) return {};
    return {others_ns, theirs_ns};
  }

  bool is_few(const LastRanks& found) const {
    constexpr double kEachTime = 0.8;
    const size_t n = last_ns_.size();
    if (found.ranks.size() * 4 <= std::max<size_t>(n, 4)) return true;
    return found.ranks.size() * 2 <= n &&
           std::all_of(found.ranks.begin(), found.ranks.end(), [this](uint32_t r) {
             return static_cast<double>(last_ns_[r]) >= kEachTime * static_cast<double>(met_ns_[r]);
           });
  }

  std::vector<Arrivals> met_;
  std::vector<int64_t> last_ns_;  // per rank: summed gaps that it was behind
  std::vector<int64_t> met_ns_;   // per rank: summed gaps of meetings that it attended
  std::vector<LateComers> late_;
  int64_t sum_ns_ = 0;
};

}  // namespace

LastRanks usually_last(const Job& job) { return LastRanksFinder(job).find(); }

}  // namespace assay
