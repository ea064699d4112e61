#include "report/job/story.h"

#include <set>

#include "text/units.h"

namespace assay {
namespace {

using findings::JobCause;

std::vector<JobCause> causes_of(const JobSolution& solution, const NameRanks& name) {
  std::set<uint32_t> late;
  std::vector<JobCause> others;
  for (const StoryFinding& one : solution.findings) {
    if (one.kind == StoryKind::kLink) {
      others.push_back(
          {.kind = JobCause::Kind::kSlowLink, .ranks = name(one.ranks), .factor = one.factor});
    } else if (one.kind == StoryKind::kAll) {
      others.push_back({.kind = JobCause::Kind::kAllStop,
                        .iteration = one.iterations.front(),
                        .longest_ns = one.longest_ns});
    } else {
      late.insert(one.ranks.begin(), one.ranks.end());
    }
  }
  std::vector<JobCause> causes;
  if (!late.empty()) causes.push_back({.ranks = name({late.begin(), late.end()})});
  causes.insert(causes.end(), others.begin(), others.end());
  return causes;
}

}  // namespace

void add_solution(const JobSolution& solution, const NameRanks& name, findings::JobFacts& facts) {
  facts.causes = causes_of(solution, name);
  facts.span_ns = solution.span_ns;
  facts.without_ns = solution.span_ns - solution.saved_ns;
  const int64_t most_ns = solution.span_ns - solution.least_saved_ns;
  const bool range = solution.saves_a_range() && format_ns(most_ns) != format_ns(facts.without_ns);
  facts.without_most_ns = range ? most_ns : facts.without_ns;
  facts.decided = solution.decided();
  facts.odds = solution.odds;
  if (!facts.decided) facts.rival = name(solution.rival_ranks).labels;
  facts.rival_link = solution.rival_link;
  facts.common_gain_ns = solution.span_ns - solution.usual_span_ns;
}

}  // namespace assay
