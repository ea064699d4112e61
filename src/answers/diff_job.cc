#include "answers/diff_job.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "diff/waiting.h"
#include "flow/job_verdict.h"

namespace assay {
namespace {

std::set<int64_t> ranks_of(const std::vector<DiffInput>& side) {
  std::set<int64_t> ranks;
  for (const DiffInput& input : side) {
    if (input.whole.rank) ranks.insert(*input.whole.rank);
  }
  return ranks;
}

bool is_job(const std::vector<DiffInput>& side) {
  std::set<int64_t> seen;
  for (const DiffInput& input : side) {
    if (!input.whole.rank || !input.rank_graph) return false;
    if (!seen.insert(*input.whole.rank).second) return false;
  }
  return side.size() > 1;
}

Job job_of(std::vector<DiffInput>& side) {
  std::vector<RankGraph> ranks;
  for (DiffInput& input : side) ranks.push_back(*std::exchange(input.rank_graph, std::nullopt));
  return Job(std::move(ranks));
}

void take_apart(std::vector<DiffInput>& side, const Job& job) {
  std::vector<std::vector<std::vector<Interval>>> waiting = waiting_in(job);
  for (size_t r = 0; r < side.size(); ++r) {
    std::map<int64_t, std::vector<Interval>> of_gpus;
    for (size_t d = 0; d < waiting[r].size(); ++d) {
      of_gpus[side[r].devices[d]] = std::move(waiting[r][d]);
    }
    take_waiting_apart(side[r].whole, of_gpus);
    take_waiting_apart(side[r].by_iteration, of_gpus);
  }
}

}  // namespace

void take_waiting_apart(std::vector<DiffInput>& a, std::vector<DiffInput>& b) {
  // Waits between ranks are comparable only if both jobs have the same ranks.
  if (!is_job(a) || !is_job(b) || ranks_of(a) != ranks_of(b)) return;
  const Job job_a = job_of(a);
  const Job job_b = job_of(b);
  if (!job_a.aligned() || !job_b.aligned()) return;
  take_apart(a, job_a);
  take_apart(b, job_b);
}

}  // namespace assay
