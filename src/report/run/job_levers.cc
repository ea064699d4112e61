#include "report/run/job_levers.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "flow/edits.h"
#include "text/units.h"

namespace assay {
namespace {

// True if an action with this key is on the job's bottleneck.
bool leads(std::string_view key, BoundBy bound) {
  switch (bound) {
    case BoundBy::kGpu:
      return key == "device_work";
    case BoundBy::kHost:
      return key == "cuda_graph" || key == "cheaper_host";
    case BoundBy::kInput:
      return key == "input";
    case BoundBy::kSync:
      return key == "remove_syncs";
    case BoundBy::kAlloc:
      return key == "allocation";
    case BoundBy::kCopy:
      return key == "copies";
    case BoundBy::kCommunication:
      return key == "transfers";
    case BoundBy::kCollectiveWait:
      return key == "late_ranks" || key == "common_pace" || key == "link";
    default:
      return false;
  }
}

// True for actions that have no effect on the job if made on a single rank. Communication includes
// waiting for others, and a faster core in one rank changes nothing.
bool of_one_rank_only(std::string_view key) {
  return key == "communication" || key == "faster_cpu";
}

// Ranks that hardly wait for others set the pace of the job.
std::vector<const RankOfAnswer*> that_set_the_pace(const JobFlow& flow,
                                                   const std::vector<RankOfAnswer>& ranks) {
  std::vector<const RankOfAnswer*> found;
  for (size_t r = 0; r < ranks.size() && r < flow.rank_comm.size(); ++r) {
    if (flow.rank_comm[r].wait_ns * 10 < flow.rank_totals[r].window_ns) found.push_back(&ranks[r]);
  }
  return found;
}

// The same change, shared by several ranks.
struct Shared {
  const AnswerLever* best = nullptr;
  int64_t least_ns = INT64_MAX;
  size_t ranks = 0;
};

std::vector<AnswerLever> own_levers(const std::vector<const RankOfAnswer*>& ranks) {
  std::map<std::pair<std::string, std::string>, Shared> shared;
  for (const RankOfAnswer* rank : ranks) {
    for (const AnswerLever& lever : rank->levers) {
      if (of_one_rank_only(lever.key)) continue;
      Shared& of = shared[{lever.key, lever.edit}];
      if (of.best == nullptr || lever.gain_ns > of.best->gain_ns) of.best = &lever;
      of.least_ns = std::min(of.least_ns, lever.gain_ns);
      ++of.ranks;
    }
  }
  std::vector<AnswerLever> levers;
  for (const auto& [what, of] : shared) {
    if (of.ranks * 2 < ranks.size()) continue;
    levers.push_back(*of.best);
    const bool alike = of.least_ns * 10 >= of.best->gain_ns * 9;
    if (alike) continue;
    std::string& code = levers.back().code;
    code = "by rank " + format_ns(of.least_ns) + " to " + format_ns(of.best->gain_ns) +
           (code.empty() ? "" : "; " + code);
  }
  return levers;
}

}  // namespace

std::vector<AnswerLever> job_levers(const JobFlow& flow, const std::vector<RankOfAnswer>& ranks) {
  constexpr size_t kShown = 3;
  std::vector<AnswerLever> levers = blame_levers(flow);
  for (AnswerLever& lever : own_levers(that_set_the_pace(flow, ranks))) {
    // Stalls of hosts that wait for another host of the job are charged to that host.
    if (flow.hosts && lever.edit == edit_text({.kind = EditKind::kPauses})) continue;
    levers.push_back(std::move(lever));
  }
  int64_t most_ns = 0;
  for (const AnswerLever& lever : levers) most_ns = std::max(most_ns, lever.gain_ns);
  // Stragglers come first if there are any, else the job's bottleneck. The cost of stragglers and
  // slow links is known, while a cheaper kernel is bounded only by its time.
  constexpr double kLeastLate = 0.05;
  const auto place = [&](const AnswerLever& lever) {
    const bool told = lever.key == "late_ranks" || lever.key == "link";
    if (told && lever.share >= kLeastLate) return 0;
    if (lever.gain_ns * 2 < most_ns) return 2;
    if (lever.key == "late_ranks") return 0;
    return leads(lever.key, flow.bound) ? 1 : 2;
  };
  std::stable_sort(levers.begin(), levers.end(), [&](const AnswerLever& a, const AnswerLever& b) {
    if (place(a) != place(b)) return place(a) < place(b);
    return a.gain_ns > b.gain_ns;
  });
  // Cheaper kernels help if the GPUs are the bottleneck; otherwise they come after other actions.
  if (flow.bound != BoundBy::kGpu && !levers.empty() && levers.front().key == "device_work") {
    const auto other = std::find_if(levers.begin(), levers.end(), [](const AnswerLever& lever) {
      return lever.key != "device_work";
    });
    if (other == levers.end()) return {};
    std::rotate(levers.begin(), other, other + 1);
  }
  if (levers.size() > kShown) levers.resize(kShown);
  return levers;
}

}  // namespace assay
