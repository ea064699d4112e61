#include "flow/job_verdict.h"

#include <algorithm>

#include "base/numbers.h"

namespace assay {
namespace {

// By the rank's own clock: intervals in which a complete collective transferred, and intervals in
// which a rank was waited for. After the last arrival, ranks outside the job may still be waited
// for.
struct Spans {
  std::vector<Interval> waits;
  std::vector<Interval> transfers;
};

int64_t common_ns(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  return length_ns(intersect(a, b));
}

// Indexed by rank, then device.
std::vector<std::vector<Spans>> spans_of(const Job& job) {
  const std::vector<RankGraph>& ranks = job.ranks();
  std::vector<std::vector<Spans>> spans;
  for (const RankGraph& rank : ranks) spans.emplace_back(rank.exposed.size());
  for (const JobMeeting& meeting : job.meetings()) {
    for (const JobVisit& visit : meeting.visits) {
      const RankGraph& rank = ranks[visit.rank];
      const CollectivePart& part = rank.parts.parts[visit.part];
      const int64_t last_ns =
          std::clamp(meeting.last_ns + job.offsets_ns()[visit.rank], part.start_ns, part.end_ns);
      Spans& of = spans[visit.rank][rank.part_points[visit.part].device];
      of.waits.push_back({part.start_ns, last_ns});
      if (meeting.complete) of.transfers.push_back({last_ns, part.end_ns});
    }
  }
  for (auto& rank : spans) {
    for (Spans& of : rank) {
      of.transfers = merge_intervals(std::move(of.transfers));
      of.waits = subtract(merge_intervals(std::move(of.waits)), of.transfers);
    }
  }
  return spans;
}

CommSplit split(const std::vector<Interval>& exposed, const Spans& spans) {
  CommSplit split;
  split.transfer_ns = common_ns(exposed, spans.transfers);
  split.wait_ns = common_ns(exposed, spans.waits);
  split.unsplit_ns = length_ns(exposed) - split.transfer_ns - split.wait_ns;
  return split;
}

}  // namespace

std::vector<std::vector<std::vector<Interval>>> waiting_in(const Job& job) {
  std::vector<std::vector<std::vector<Interval>>> waiting;
  for (std::vector<Spans>& rank : spans_of(job)) {
    waiting.emplace_back();
    for (Spans& of : rank) waiting.back().push_back(std::move(of.waits));
  }
  return waiting;
}

std::vector<CommSplit> split_communication(const Job& job) {
  const std::vector<RankGraph>& ranks = job.ranks();
  const std::vector<std::vector<Spans>> spans = spans_of(job);
  std::vector<CommSplit> splits;
  for (size_t r = 0; r < ranks.size(); ++r) {
    CommSplit& sum = splits.emplace_back();
    for (size_t d = 0; d < ranks[r].exposed.size(); ++d) {
      const CommSplit one = split(ranks[r].exposed[d], spans[r][d]);
      sum.wait_ns += one.wait_ns;
      sum.transfer_ns += one.transfer_ns;
      sum.unsplit_ns += one.unsplit_ns;
    }
  }
  return splits;
}

std::vector<size_t> ranks_among(const std::vector<const RankGraph*>& traces,
                                const std::vector<FlowTotals>& totals) {
  const bool any_works = std::any_of(totals.begin(), totals.end(),
                                     [](const FlowTotals& total) { return total.window_ns > 0; });
  std::vector<size_t> ranks;
  for (size_t i = 0; i < traces.size(); ++i) {
    if (!any_works || totals[i].window_ns > 0 || traces[i]->rank) ranks.push_back(i);
  }
  return ranks;
}

JobTotals job_totals(const std::vector<FlowTotals>& ranks, const std::vector<CommSplit>& comm) {
  JobTotals job;
  for (const FlowTotals& rank : ranks) job.sum += rank;
  for (const CommSplit& one : comm) {
    job.comm.wait_ns += one.wait_ns;
    job.comm.transfer_ns += one.transfer_ns;
    job.comm.unsplit_ns += one.unsplit_ns;
  }
  return job;
}

BoundBy bound_of_job(const JobTotals& job, const std::vector<BoundBy>& ranks,
                     const FlowVerdictOptions& options) {
  const FlowTotals& sum = job.sum;
  if (sum.window_ns <= 0) return BoundBy::kNoGpu;
  const int64_t waits_ns = job.comm.wait_ns + job.comm.unsplit_ns;
  if (share(sum.idle_ns + sum.copy_ns + waits_ns, sum.window_ns) <= options.device_bound) {
    return sum.compute_ns >= job.comm.transfer_ns ? BoundBy::kGpu : BoundBy::kCommunication;
  }
  const BoundBy leading = leading_group(sum, waits_ns);
  const bool all_wait = !ranks.empty() && std::all_of(ranks.begin(), ranks.end(), [](BoundBy own) {
    return own == BoundBy::kSync;
  });
  return leading == BoundBy::kHost && all_wait ? BoundBy::kSync : leading;
}

}  // namespace assay
